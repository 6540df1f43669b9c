// Tests that `spillway-cli serve` says where it listens, takes its options, and ends in order, as a script starts and
// ends it.
#include "tests/app/server/running_server.h"
#include "tests/app/server/serving.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QFileInfo>
#include <QJsonArray>
#include <QProcess>
#include <QTcpServer>
#include <QTemporaryFile>

using server_test::Client;
using server_test::Serving;

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

    void modelsComeFromAFolderAndNoneIsNeeded()
    {
        const QStringList folder{"--models", QFileInfo(server_test::guide_model().c_str()).path()};
        Serving serving({}, folder);
        QVERIFY2(serving.out.startsWith("listening on "), serving.out.constData());
        const auto list = Client(serving.port()).ask("GET", "/v1/models").json()["data"].toArray();
        QCOMPARE(list.first().toObject()["id"].toString(), QString("guide"));
        const QByteArray body = R"({"model": "guide", "prompt": "A", "max_tokens": 1})";
        QCOMPARE(Client(serving.port()).ask("POST", "/v1/completions", body).status, 200);

        for (const auto& [options, code] :
             {std::pair(QStringList(), 2), std::pair(QStringList{"--models", "/nowhere"}, 1)}) {
            Serving wrong({}, options);
            QVERIFY(wrong.process.state() == QProcess::NotRunning || wrong.process.waitForFinished());
            QCOMPARE(wrong.process.exitCode(), code);
            QVERIFY(wrong.process.readAllStandardError().contains("--models") || code == 1);
        }
    }

    /// A draft model guesses for the model that it was named with, and leaves others alone, whose vocabulary is
    /// another.
    void aDraftModelIsThatOfItsModel()
    {
        const QString llama = QStringLiteral(SPILLWAY_SOURCE_DIR "/tests/data/models/llama.gguf");
        const QStringList folder{"--models", QFileInfo(server_test::guide_model().c_str()).path()};
        Serving serving({"-m", llama, "-md", llama}, folder);
        QVERIFY2(serving.out.startsWith("listening on "), serving.out.constData());
        Client client(serving.port());
        for (const char* const name : {"llama", "guide", "llama"}) {
            const QByteArray body = "{\"model\": \"" + QByteArray(name) + "\", \"prompt\": \"A\", \"max_tokens\": 1}";
            const auto reply = client.ask("POST", "/v1/completions", body);
            QVERIFY2(reply.status == 200, name);
            const bool guessed_for = client.ask("GET", "/metrics").body.contains("tenant=\"draft_model\"");
            QCOMPARE(guessed_for, name == QByteArray("llama"));
        }
    }

    // As systemd does: it listens, and the program is started when somebody asks.
    void theSystemsSocketIsTaken()
    {
#ifdef Q_OS_LINUX
        QTcpServer system;
        QVERIFY(system.listen(QHostAddress::LocalHost));
        Serving serving({"sh", "-c", R"(LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@")"}, int(system.socketDescriptor()));
        QCOMPARE(serving.out.trimmed(),
                 QByteArray("listening on http://127.0.0.1:") + QByteArray::number(system.serverPort()));
        system.close();
        QCOMPARE(Client(serving.port()).ask("GET", "/v1/models").status, 200);

        QTcpServer anywhere;  // which asks for a key, as an address does
        QVERIFY(anywhere.listen(QHostAddress::AnyIPv4));
        Serving refused({"sh", "-c", R"(LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@")"}, int(anywhere.socketDescriptor()));
        QVERIFY(refused.out.isEmpty());
        QVERIFY(refused.process.readAllStandardError().contains("other machines"));
#else
        QSKIP("only systemd hands sockets over");
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

    void aKeyIsNotAskedForWhereThePortIsTaken()
    {
        QTcpServer other;
        QVERIFY(other.listen(QHostAddress::LocalHost));
        Serving refused({"--port", QString::number(other.serverPort())});
        QVERIFY(refused.out.isEmpty());
        QVERIFY(refused.process.state() == QProcess::NotRunning || refused.process.waitForFinished());
        QCOMPARE(refused.process.exitCode(), 1);
        const QByteArray said = refused.process.readAllStandardError();
        QVERIFY2(said.contains("another program listens there") && !said.contains("--api-key"), said.constData());
    }

    /// As SPILLWAY_SERVE of the service does with what its unit says.
    void whatIsSaidLastCounts()
    {
        const Serving serving({"--idle-unload", "15", "--idle-unload", "0"});
        QVERIFY2(serving.out.startsWith("listening on "), serving.out.constData());
    }

    void aFileWithoutAKeyIsRefused()
    {
        QTemporaryFile file;
        QVERIFY(file.open());
        Serving refused({"--api-key-file", file.fileName()});
        QVERIFY(refused.process.state() == QProcess::NotRunning || refused.process.waitForFinished());
        QCOMPARE(refused.process.exitCode(), 1);
        QVERIFY(refused.process.readAllStandardError().contains("there is no key in " + file.fileName().toUtf8()));
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
