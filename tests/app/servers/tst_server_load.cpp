// Tests that a server's load is read once in a while and only while somebody looks, and that gaps and restarts are told
// from numbers.
#include "app/servers/server_load.h"
#include "app/system/remote_path.h"
#include "tests/support/fake_engine.h"
#include "tests/support/net/look_alike.h"
#include "tests/support/test_program.h"

#include <QSignalSpy>
#include <QTest>

using support::LookAlike;

namespace {

/// A load that follows one server.
struct Followed {
    LookAlike server;
    std::shared_ptr<RemoteDoor> door = remoteDoor(nullptr);
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

Q_DECLARE_METATYPE(ServerFacts)

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

    void anotherOfTheSameNameHasCountersOfItsOwn()
    {
        Followed f;
        LookAlike other;
        f.door->setServers(
            {{{f.server.url(), {}}, "cluster", {}}, {{other.url(), {}}, "cluster", {{}, {}, {{"org/model"}}}}});
        f.server.counts("vllm:num_requests_running 1\nvllm:generation_tokens_total 5000\n");
        other.counts("vllm:num_requests_running 0\nvllm:generation_tokens_total 10\n");
        const auto engine = f.door->engine(std::make_unique<FakeEngine>(std::make_shared<FakeScript>()));
        f.follow();
        QTRY_VERIFY(f.load.measured());
        QCOMPARE(f.load.server(), "host (" + hostOf(QString::fromStdString(f.server.url())) + ')');

        engine::LoadRequest open;
        open.model = f.door->pathOf(f.server.url(), "org/model");
        QVERIFY(engine->load(open, {}, {}));
        engine::Request request;
        request.messages = {{"user", "Hello", {}, {}}};
        engine::Listener listener;
        listener.on_telemetry = [&](const engine::Telemetry& frame) { f.load.onFrame(1, frame); };
        f.load.onTurn(1, {});
        QVERIFY(engine->generate(*engine->create_sequence(), request, listener, {}));  // by the one with nothing to do
        QTRY_COMPARE(f.load.server(), "host (" + hostOf(QString::fromStdString(other.url())) + ')');
        QCOMPARE(f.load.restarts(), 0);
        QCOMPARE(f.load.running().toInt(), 0);
        QCOMPARE(f.load.runningHistory().count(1), 0);
    }

    void timesOfTheRequestsSinceOneLooks()
    {
        const auto page = [](int fast, int all) {
            std::string text;
            for (const char* name : {"vllm:time_to_first_token_seconds", "vllm:inter_token_latency_seconds"})
                text += std::string(name) + "_bucket{le=\"0.1\"} " + std::to_string(fast) + '\n' + name +
                        "_bucket{le=\"1.0\"} " + std::to_string(all) + '\n' + name + "_bucket{le=\"+Inf\"} " +
                        std::to_string(all) + '\n';
            return text;
        };
        Followed f;
        f.server.counts(page(1000, 5000));
        f.follow();
        QTRY_VERIFY(f.load.measured());
        f.read();
        QVERIFY(!f.load.firstToken().halfMs.isValid());  // nobody has asked anything since
        f.server.counts(page(1010, 5010));
        QTRY_VERIFY(f.load.firstToken().halfMs.isValid());
        QCOMPARE(f.load.firstToken().halfMs.toDouble(), 50.0);
        QCOMPARE(f.load.tokenGap().mostMs.toDouble(), 99.0);
        QVERIFY(!f.load.tokenGap().mostIsMore);
        f.server.counts(page(2, 3));  // started anew
        QTRY_COMPARE(f.load.restarts(), 1);
        QCOMPARE(f.load.firstToken().halfMs.toDouble(), 50.0);
        f.server.counts(page(2, 13));
        QTRY_VERIFY(f.load.firstToken().halfMs.toDouble() > 50.0);
        f.load.onModel("/here.gguf", {});
        QVERIFY(!f.load.firstToken().halfMs.isValid());
    }

    void namesWhatHoldsAnswersBack_data()
    {
        QTest::addColumn<ServerFacts>("facts");
        QTest::addColumn<int>("cause");
        const auto row = [](const char* name, const ServerFacts& facts, ServerCause::Kind kind) {
            QTest::newRow(name) << facts << int(kind);
        };
        using Kind = ServerCause::Kind;
        row("nothing is known", {}, Kind::None);
        row("all is well", {.kvShare = 0.99, .pushedOut = 0, .waiting = 0}, Kind::None);
        row("pushed out of a full cache", {.kvShare = 0.97, .pushedOut = 4, .waiting = 3}, Kind::KvFull);
        row("it does not say how full", {.pushedOut = 1}, Kind::KvFull);
        row("one was pushed out, and there is room again", {.kvShare = 0.4, .pushedOut = 1}, Kind::None);
        row("a queue", {.kvShare = 0.5, .pushedOut = 0, .waiting = 2}, Kind::Queue);
        row("a long way", {.waiting = 0, .firstTokenMs = 2400, .serverFirstTokenMs = 300}, Kind::SlowLink);
        row("slow, and so is the server", {.firstTokenMs = 2400, .serverFirstTokenMs = 1800}, Kind::None);
        row("twice of little", {.firstTokenMs = 90, .serverFirstTokenMs = 20}, Kind::None);
        row("the server does not count", {.firstTokenMs = 9000}, Kind::None);
    }
    void namesWhatHoldsAnswersBack()
    {
        QFETCH(ServerFacts, facts);
        QFETCH(int, cause);
        QCOMPARE(int(findServerCause(facts).kind), cause);
        const QString sentence = serverCauseSentence(facts);
        QCOMPARE(sentence.isEmpty(), cause == int(ServerCause::Kind::None));
        QVERIFY(sentence.isEmpty() || sentence.endsWith('.'));
    }

    void gathersWhatHoldsAnswersBack()
    {
        Followed f;
        f.server.counts("vllm:num_preemptions_total 5\nvllm:kv_cache_usage_perc 0.98\nvllm:num_requests_waiting 2\n");
        f.follow();
        QTRY_VERIFY(f.load.cause().startsWith("2 request(s) wait"));  // after some readings
        f.server.counts("vllm:num_preemptions_total 8\nvllm:kv_cache_usage_perc 0.98\nvllm:num_requests_waiting 2\n");
        QTRY_VERIFY2(f.load.cause().contains("3 request(s) lost"), qPrintable(f.load.cause()));
        f.server.counts("vllm:num_preemptions_total 8\nvllm:kv_cache_usage_perc 0.2\nvllm:num_requests_waiting 0\n");
        QTRY_COMPARE(f.load.cause(), "");
        f.load.onAnswer(1, 3000);
        QCOMPARE(f.load.cause(), "");
        f.load.onModel("/here.gguf", {});
        f.load.onAnswer(1, 9000);
        QVERIFY(!f.load.facts().firstTokenMs);
    }

    void theServerIsThatOfTheShownConversation()
    {
        LookAlike one, two;
        Followed f;
        remote::ListedServer first{{one.url(), {}}, "cluster", {}}, second{{two.url(), {}}, "cluster", {}};
        first.facts.models = second.facts.models = {{"org/model"}};
        f.door->setServers({first, second});
        const auto path = f.door->pathOf(one.url(), "org/model");
        const auto engine = f.door->engine(std::make_unique<FakeEngine>(std::make_shared<FakeScript>()));
        engine::LoadRequest load;
        load.model = path;
        QVERIFY(engine->load(load, {}, {}));
        f.load.onModel(QString::fromStdU16String(path.u16string()), "cluster");
        f.load.setShown(true);
        // Each conversation is answered by the server that has less to do then.
        const auto ask = [&](quint64 turn, const QString& conversation) {
            f.load.onTurn(turn, conversation);
            engine::Listener listener;
            listener.on_telemetry = [&](const engine::Telemetry& frame) { f.load.onFrame(turn, frame); };
            engine::Request request;
            request.messages = {{"user", "Hello", {}, {}}};
            const auto answer = engine->generate(*engine->create_sequence(), request, listener, {});
            f.load.onAnswer(turn, double(1000 * turn));
            return answer.has_value();
        };
        const auto hostOfIt = [](const LookAlike& server) {
            return "cluster (" + hostOf(QString::fromStdString(server.url())) + ')';
        };
        f.load.onConversation("a");
        one.counts("vllm:num_requests_waiting 0\n");
        two.counts("vllm:num_requests_waiting 2\n");
        QVERIFY(ask(1, "a"));
        one.counts("vllm:num_requests_waiting 2\n");
        two.counts("vllm:num_requests_waiting 0\n");
        QVERIFY(ask(2, "b"));
        f.read();
        QCOMPARE(f.load.server(), hostOfIt(one));
        QCOMPARE(f.load.facts().firstTokenMs, 1000.0);
        f.load.onConversation("b");
        QTRY_COMPARE(f.load.server(), hostOfIt(two));
        QCOMPARE(f.load.facts().firstTokenMs, 2000.0);
        f.load.onConversation("a");
        QTRY_COMPARE(f.load.server(), hostOfIt(one));
        f.load.onConversation("new");  // that of the open model, until one is asked
        f.read();
        QCOMPARE(f.load.server(), hostOfIt(one));
        QVERIFY(!f.load.facts().firstTokenMs);
    }

    void aFailedTurnIsForgotten()
    {
        Followed f;
        f.server.counts("vllm:num_requests_running 1\n");
        f.follow();
        f.load.onConversation("a");
        QTRY_VERIFY(f.load.measured());
        f.load.onTurn(1, "a");
        f.load.onTurn(2, "a");
        f.load.onFailed(1);
        f.load.onAnswer(1, 1000);  // nobody's any more
        QVERIFY(!f.load.facts().firstTokenMs);
        f.load.onAnswer(2, 2000);
        QCOMPARE(f.load.facts().firstTokenMs, 2000.0);
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

    void anAnswerThatIsCountedAtItsEndHasNoSpeed()
    {
        Followed f;
        f.server.counts("llamacpp:requests_processing 0\nllamacpp:tokens_predicted_total 100\n");
        f.follow();
        QTRY_VERIFY(f.load.tokensPerSecond().isValid());
        QCOMPARE(f.load.tokensPerSecond().toDouble(), 0.0);
        f.server.counts("llamacpp:requests_processing 1\nllamacpp:tokens_predicted_total 100\n");
        f.read();
        QVERIFY(!f.load.tokensPerSecond().isValid());
        QList<double> speeds;
        connect(&f.load, &ServerLoad::changed, &f.load, [&] {
            if (f.load.tokensPerSecond().isValid())
                speeds.append(f.load.tokensPerSecond().toDouble());
        });
        f.server.counts("llamacpp:requests_processing 0\nllamacpp:tokens_predicted_total 400\n");
        QTRY_VERIFY(!speeds.isEmpty());
        QCOMPARE(speeds.first(), 0.0);  // and not 300 tokens in one interval
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
