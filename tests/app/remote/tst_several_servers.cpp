// Tests that of several servers with the same model the one with the least to do answers, and that one which fails is
// skipped.
#include "app/remote/address.h"
#include "app/remote/remote_engine.h"
#include "tests/support/net/look_alike.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <array>

using remote::ListedServer;
using remote::ServerChoice;
using support::LookAlike;
using support::WebAnswer;
using namespace std::chrono_literals;

namespace {

std::string page(int waiting, int running = 0)
{
    return "vllm:num_requests_waiting " + std::to_string(waiting) + "\nvllm:num_requests_running " +
           std::to_string(running) + '\n';
}

/// Three servers named "cluster" that say by their answers who they are, and an engine with the model of the first.
struct Cluster {
    Cluster()
    {
        for (std::size_t i = 0; i < servers.size(); ++i) {
            urls[i] = servers[i]->url();
            servers[i]->says(LookAlike::stream({LookAlike::content(std::string(1, char('A' + i)))}));
        }
        list({0, 1, 2});
        listener.on_text = [this](std::string_view piece) { text += piece; };
    }
    void list(const std::vector<int>& which, const std::string& name = "cluster")
    {
        std::vector<ListedServer> all;
        for (const int i : which) {
            ListedServer listed{{urls[std::size_t(i)], {}}, name, {}};
            listed.facts.models = {{"org/model", 1000 * (i + 1)}};
            all.push_back(std::move(listed));
        }
        book->set(std::move(all));
    }
    engine::Result<engine::ModelInfo> load()
    {
        engine::LoadRequest request;
        request.model = remote::path_of({urls[0], "org/model"});
        return engine.load(request, {}, {});
    }
    /// Returns whose answer came, or what was wrong, where none did.
    std::string ask(engine::SequenceId sequence = 1)
    {
        text.clear();
        engine::Request request;
        request.messages = {{"user", "Hello", {}, {}}};
        const auto turn = engine.generate(sequence, request, listener, {});
        return turn ? turn->text : turn.error().what;
    }
    std::size_t chats(std::size_t i) const { return servers[i]->chats().size(); }

    std::array<std::unique_ptr<LookAlike>, 3> servers{std::make_unique<LookAlike>(), std::make_unique<LookAlike>(),
                                                      std::make_unique<LookAlike>()};
    std::array<std::string, 3> urls;
    std::shared_ptr<remote::ServerBook> book = std::make_shared<remote::ServerBook>();
    remote::RemoteEngine engine{book, 60s};
    engine::Listener listener;
    std::string text;
};

}  // namespace

class TestSeveralServers : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"})
            qunsetenv(name);
    }

    void theOrder()
    {
        ServerChoice choice;
        const ServerChoice::Clock::time_point now{1h};
        using Urls = std::vector<std::string>;
        QCOMPARE(choice.order({{"a"}, {"b"}}, 1, now), (Urls{"a", "b"}));
        QCOMPARE(choice.order({{"a", 2, 0}, {"b", 1, 9}}, 1, now), (Urls{"b", "a"}));  // a queue is worse than company
        QCOMPARE(choice.order({{"a", 0, 3}, {"b", 0, 2}, {"c"}}, 1, now), (Urls{"c", "b", "a"}));
        choice.answered("a", 1);  // its KV cache knows the conversation
        QCOMPARE(choice.order({{"b", 0, 0}, {"a", 0, 3}}, 1, now), (Urls{"a", "b"}));
        QCOMPARE(choice.order({{"b", 0, 0}, {"a", 1, 0}}, 1, now), (Urls{"b", "a"}));
        QCOMPARE(choice.order({{"b", 0, 0}, {"a", 0, 3}}, 2, now), (Urls{"b", "a"}));
        choice.branch(1, 3);
        QCOMPARE(choice.order({{"b", 0, 0}, {"a", 0, 3}}, 3, now), (Urls{"a", "b"}));
        choice.end_sequence(1);
        QCOMPARE(choice.order({{"b", 0, 0}, {"a", 0, 3}}, 1, now), (Urls{"b", "a"}));
        choice.failed("b", 0s, now);
        QCOMPARE(choice.order({{"b", 0, 0}, {"a", 5, 3}}, 1, now), (Urls{"a", "b"}));
        QVERIFY(choice.rests("b", now + ServerChoice::kRest - 1s) && !choice.rests("b", now + ServerChoice::kRest));
        choice.failed("b", 24h, now);
        QVERIFY(choice.rests("b", now + 9min) && !choice.rests("b", now + 11min));
        choice.answered("b", 1);
        QVERIFY(!choice.rests("b", now));
    }

    void whoHasTheLeastToDoAnswers()
    {
        Cluster c;
        const auto info = c.load();
        QVERIFY(info);
        QCOMPARE(info->context_in_use, 2000);  // the first one, asked anew, does not say; the third has more
        QCOMPARE(info->warnings.size(), std::size_t(2));
        c.servers[0]->counts(page(3));
        c.servers[1]->counts(page(0, 4));
        c.servers[2]->counts(page(0, 2));
        QCOMPARE(c.ask(), std::string("C"));
        QCOMPARE(c.book->answering(c.urls[0], 1)->url, c.urls[2]);
        c.servers[2]->counts(page(0, 7));
        QCOMPARE(c.ask(), std::string("C"));  // it knows the conversation
        QCOMPARE(c.ask(2), std::string("B"));
        QCOMPARE(c.book->answering(c.urls[0], 2)->url, c.urls[1]);
        QCOMPARE(c.book->answering(c.urls[0], 1)->url, c.urls[2]);  // each conversation has its own
        QCOMPARE(c.book->answering(c.urls[0], 7)->url, c.urls[0]);  // nobody was asked for that one
        c.servers[2]->counts(page(1, 7));
        QCOMPARE(c.ask(), std::string("B"));
        QCOMPARE(c.chats(0), std::size_t(0));
    }

    void oneThatFailsIsSkipped_data()
    {
        QTest::addColumn<int>("status");
        QTest::addColumn<bool>("answers");
        QTest::newRow("a fault of its own") << 500 << true;
        QTest::newRow("no time") << 503 << true;
        QTest::newRow("asked too much") << 429 << true;
        QTest::newRow("another key") << 401 << true;
        QTest::newRow("the model is gone") << 404 << true;
        QTest::newRow("a request that no other would take") << 400 << false;
    }
    void oneThatFailsIsSkipped()
    {
        QFETCH(int, status);
        QFETCH(bool, answers);
        Cluster c;
        QVERIFY(c.load());
        c.servers[0]->says({status, {}, "{\"error\":\"no\"}"});
        const std::string answer = c.ask();
        QCOMPARE(answer == "B", answers);
        QCOMPARE(c.chats(0), std::size_t(1));
        c.servers[0]->says(LookAlike::stream({LookAlike::content("A")}));
        QCOMPARE(c.ask(2), std::string(answers ? "B" : "A"));  // it rests for a while
        QCOMPARE(c.chats(2), std::size_t(0));
    }

    void oneThatIsNotThereCostsNoWord()
    {
        Cluster c;
        QVERIFY(c.load());
        c.servers[0].reset();
        QCOMPARE(c.ask(), std::string("B"));
        c.servers[1]->says({503, {}, {}});
        c.servers[2]->says({503, {}, {}});
        const std::string said = c.ask();
        QVERIFY2(said.starts_with("none of the 3 servers named 'cluster' can answer now"), said.c_str());
        c.servers[2]->says(LookAlike::stream({LookAlike::content("C")}));
        QCOMPARE(c.ask(), std::string("C"));  // all of them rest, and are tried all the same
    }

    void theModelOpensWhereItIs()
    {
        Cluster c;
        c.servers[0].reset();
        const auto info = c.load();
        QVERIFY(info);
        QCOMPARE(info->path, remote::path_of({c.urls[0], "org/model"}));
        QCOMPARE(c.ask(), std::string("B"));
        c.servers[1].reset();
        c.servers[2].reset();
        QVERIFY(c.load().error().what.starts_with("none of the 3 servers"));
    }

    /// What has come is shown already: no other answer is put behind it.
    void anAnswerThatBreaksOffIsNotBegunElsewhere()
    {
        Cluster c;
        QVERIFY(c.load());
        c.servers[0]->says(LookAlike::stream({LookAlike::content("Once upon")}, {}));
        const std::string said = c.ask();
        QVERIFY2(said.find("is kept") != std::string::npos, said.c_str());
        QCOMPARE(c.text, std::string("Once upon"));
        QCOMPARE(c.chats(1) + c.chats(2), std::size_t(0));
        QCOMPARE(c.ask(), std::string("B"));  // going on is another turn
    }

    void othersAreAskedNothing()
    {
        Cluster c;
        c.list({0, 1}, {});  // no name in common
        QVERIFY(c.load()->warnings.empty());
        c.servers[0]->says({503, {}, {}});
        QVERIFY(c.ask().find("named") == std::string::npos);
        QVERIFY(c.servers[1]->server().requests().empty());

        std::vector<ListedServer> listed{{{c.urls[0], {}}, "cluster"}, {{c.urls[1], {}}, "cluster"}};
        listed[1].facts.models = {{"org/other"}};
        c.book->set(listed);
        QVERIFY(c.load());
        QVERIFY(c.ask().find("named") == std::string::npos);
        QVERIFY(c.servers[1]->server().requests().empty());
    }

    void aStopStopsTheLookAsWell()
    {
        Cluster c;
        QVERIFY(c.load());
        std::stop_source stop;
        stop.request_stop();
        engine::Request request;
        request.messages = {{"user", "Hello", {}, {}}};
        const auto turn = c.engine.generate(1, request, c.listener, stop.get_token());
        QVERIFY(turn ? turn->reason == engine::StopReason::Cancelled
                     : turn.error().code == engine::Error::Code::Cancelled);
        QCOMPARE(c.chats(0) + c.chats(1) + c.chats(2), std::size_t(0));
        QCOMPARE(c.ask(), std::string("A"));  // nobody was counted as failed for it
    }
};

SPILLWAY_TEST(QCoreApplication, TestSeveralServers)
#include "tst_several_servers.moc"
