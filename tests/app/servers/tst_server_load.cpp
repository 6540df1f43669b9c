// How busy a server is: read once in a while, only while somebody looks; gaps, restarts, and what is not said.
#include "app/servers/server_load.h"
#include "tests/support/net/look_alike.h"
#include "tests/support/test_program.h"

#include <QSignalSpy>
#include <QTest>

using support::LookAlike;

namespace {

/// A load that follows one server.
struct Followed {
    LookAlike server;
    std::shared_ptr<RemoteDoor> door = remoteDoor();
    ServerLoad load{door, 30};

    Followed() { door->setServers({{server.url(), {}}}); }
    void follow()
    {
        load.onModel(QString::fromStdU16String(door->pathOf(server.url(), "org/model").u16string()), "host");
        load.setShown(true);
    }
    /// Waits for a reading that was asked for after now.
    void read()
    {
        const QSignalSpy changes(&load, &ServerLoad::changed);
        QTRY_VERIFY(changes.size() >= 2);
    }
    std::size_t asked() { return server.server().requests().size(); }
};

}  // namespace

class TestServerLoad : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"})
            qunsetenv(name);
    }

    void onlyWhileSomebodyLooks()
    {
        Followed f;
        f.server.counts("vllm:num_requests_running 1\n");
        f.load.setShown(true);
        QTest::qWait(100);
        QCOMPARE(f.asked(), std::size_t(0));  // the open model runs here
        f.follow();
        QTRY_VERIFY(f.load.measured());
        QCOMPARE(f.load.running().toInt(), 1);
        QVERIFY(!f.load.waiting().isValid() && !f.load.kvPercent().isValid());
        f.load.setShown(false);
        QTest::qWait(100);
        const std::size_t before = f.asked();
        QTest::qWait(150);
        QCOMPARE(f.asked(), before);
        f.load.setShown(true);
        QTRY_VERIFY(f.asked() > before);
        f.load.onModel("/here.gguf", {});
        QVERIFY(!f.load.measured() && f.load.runningHistory().isEmpty());
    }

    void countersAreRatesAndARestartIsAGap()
    {
        Followed f;
        f.server.counts("vllm:generation_tokens_total 1000\nvllm:num_preemptions_total 5\n"
                        "vllm:prefix_cache_queries_total 100\nvllm:prefix_cache_hits_total 50\n");
        f.follow();
        QTRY_VERIFY(f.load.measured());
        QVERIFY(!f.load.preemptions().isValid());  // how many before, is not known to belong to now
        f.read();
        QCOMPARE(f.load.preemptions().toInt(), 0);
        f.server.counts("vllm:generation_tokens_total 1600\nvllm:num_preemptions_total 7\n"
                        "vllm:prefix_cache_queries_total 200\nvllm:prefix_cache_hits_total 125\n");
        QTRY_COMPARE(f.load.preemptions().toInt(), 2);
        QCOMPARE(f.load.hitPercent().toInt(), 75);
        QVERIFY(!f.load.speedHistory().isEmpty());
        f.server.counts("vllm:generation_tokens_total 4\nvllm:num_preemptions_total 0\n");
        QTRY_COMPARE(f.load.restarts(), 1);
        QCOMPARE(f.load.preemptions().toInt(), 2);
        for (const double speed : f.load.speedHistory())
            QVERIFY(speed >= 0);
    }

    void whatCannotBeReadIsAGap()
    {
        Followed f;
        f.server.counts("vllm:num_requests_running 1\n");
        f.follow();
        QTRY_VERIFY(f.load.runningHistory().size() > 2);
        f.server.wants("a key");
        QTRY_VERIFY(!f.load.trouble().isEmpty());
        QVERIFY(!f.load.measured() && f.load.runningHistory().isEmpty());
        f.server.wants({});
        QTRY_VERIFY(f.load.measured());
        QCOMPARE(f.load.trouble(), QString());
    }

    void aServerWithoutNumbersIsLeftAlone()
    {
        Followed f;
        f.follow();
        QTRY_VERIFY(!f.load.trouble().isEmpty());
        const std::size_t before = f.asked();
        QTest::qWait(200);
        QCOMPARE(f.asked(), before);

        Followed other;  // as llama-server without --metrics
        other.server.server().answer_by([](const support::WebRequest&) {
            return support::WebAnswer{501, {}, "{\"error\":{\"message\":\"start it with --metrics\"}}"};
        });
        other.follow();
        QTRY_VERIFY(other.load.trouble().contains("does not show how busy"));
    }

    void withoutTheNetworkThereAreNone()
    {
        ServerLoad load(nullptr);
        load.onModel("http://host/#m", "host");
        load.setShown(true);
        QVERIFY(!load.measured());
    }
};

SPILLWAY_TEST(QCoreApplication, TestServerLoad)
#include "tst_server_load.moc"
