// Tests that spillway-cli gives memory back to Linux after large requests, and refuses too much text. The sanitizers
// have an allocator of their own and take more memory.
#include "tests/app/cli/cli_run.h"
#include "tests/app/server/serving.h"

#include <QtTest>

#include <sys/resource.h>

using server_test::Client;
using server_test::Serving;
using test_support::model;

class TestCliMemory : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void tooMuchTextIsASentence()
    {
        QProcess process;
        process.setChildProcessModifier([] {
            const rlimit most = {250 << 20, 250 << 20};
            setrlimit(RLIMIT_AS, &most);
        });
        process.start(SPILLWAY_CLI, {"tokenize", "-m", model("llama")});
        QVERIFY(process.waitForStarted());
        process.write(QByteArray(20 << 20, 'a'));
        process.closeWriteChannel();
        QVERIFY(process.waitForFinished(60000));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 1);
        const QByteArray said = process.readAllStandardError();
        QVERIFY2(said.contains("there is not enough memory for"), said.constData());
        QCOMPARE(said.count('\n'), 1);
    }

    /// The C library gives threads heaps of their own, up to eight for each core, which would keep what a request took.
    void largeRequestsLeaveNoMemoryBehind()
    {
        Serving serving;
        const auto resident_kib = [&] {
            QFile status("/proc/" + QString::number(serving.process.processId()) + "/status");
            if (!status.open(QIODevice::ReadOnly))
                return 0;
            const QByteArray text = status.readAll();
            const qsizetype at = text.indexOf("VmRSS:") + 6;
            return text.mid(at, text.indexOf("kB", at) - at).trimmed().toInt();
        };
        const QByteArray large = Client::request("POST", "/v1/completions",
                                                 R"({"prompt": ")" + QByteArray("word ").repeated(400'000) + R"("})");
        const int before = resident_kib();
        QVERIFY(before > 0);
        std::vector<std::unique_ptr<Client>> clients;
        for (int i = 0; i < 8; ++i)
            clients.push_back(std::make_unique<Client>(serving.port()));
        for (const auto& client : clients)
            client->say(large);
        for (const auto& client : clients)
            QCOMPARE(client->answer().status, 400);
        const int after = resident_kib();
        QVERIFY2(after < before + 24'000, qPrintable(QString("%1 KiB, then %2 KiB").arg(before).arg(after)));
    }
};

QTEST_GUILESS_MAIN(TestCliMemory)
#include "tst_cli_memory.moc"
