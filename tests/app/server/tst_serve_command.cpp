// spillway-cli serve as a script starts it and ends it.
#include "tests/app/server/running_server.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QProcess>
#include <QTemporaryFile>

using server_test::Client;

namespace {

class Serving
{
public:
    explicit Serving(const QStringList& more = {})
    {
        process.start(SPILLWAY_CLI,
                      QStringList{"serve", "-m", server_test::guide_model().c_str(), "--port", "0", "-t", "1"} + more);
        while (!out.contains('\n') && process.waitForReadyRead(server_test::kPatience_ms))
            out += process.readAllStandardOutput();
    }
    ~Serving()
    {
        process.kill();
        process.waitForFinished();
    }
    int port() const { return out.trimmed().split(':').last().toInt(); }

    QProcess process;
    QByteArray out;
};

}  // namespace

class TestServeCommand : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void saysWhereItListensAndEndsInOrder()
    {
        Serving serving;
        QVERIFY2(serving.out.startsWith("listening on http://127.0.0.1:"), serving.out.constData());
        QCOMPARE(Client(serving.port()).ask("GET", "/v1/models").status, 200);
#ifdef Q_OS_UNIX
        serving.process.terminate();  // SIGTERM
        QVERIFY(serving.process.waitForFinished(server_test::kPatience_ms));
        QCOMPARE(serving.process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(serving.process.exitCode(), 0);
#endif
    }

    void anotherAddressAsksForAKey()
    {
        const Serving open({"--host", "0.0.0.0"});
        QVERIFY(open.out.isEmpty());
        Serving& refused = const_cast<Serving&>(open);
        QVERIFY(refused.process.waitForFinished(server_test::kPatience_ms) ||
                refused.process.state() == QProcess::NotRunning);
        QCOMPARE(refused.process.exitCode(), 1);
        QVERIFY(refused.process.readAllStandardError().contains("--api-key"));
    }

    void keysComeFromAFile()
    {
        QTemporaryFile file;
        QVERIFY(file.open());
        file.write("one\r\n\ntwo\n");
        file.flush();
        const Serving serving({"--api-key-file", file.fileName()});
        QCOMPARE(Client(serving.port()).ask("GET", "/v1/models").status, 401);
        for (const char* key : {"one", "two"})
            QCOMPARE(
                Client(serving.port()).ask("GET", "/v1/models", {}, QByteArray("x-api-key: ") + key + "\r\n").status,
                200);
    }
};

SPILLWAY_TEST(QCoreApplication, TestServeCommand)
#include "tst_serve_command.moc"
