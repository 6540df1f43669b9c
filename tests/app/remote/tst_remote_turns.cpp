// Tests that turns which ask servers at the same time each have their own words, their own stop and their own failure.
#include "app/remote/address.h"
#include "app/remote/remote_engine.h"
#include "tests/support/net/look_alike.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QtTest>

#include <map>
#include <thread>

using support::LookAlike;
using support::WebAnswer;
using support::WebRequest;
using namespace std::chrono_literals;

namespace {

/// A server that repeats the word it was asked with. What begins with "slow"
/// comes in many pieces, what begins with "bad" breaks off after some of them,
/// and "no" is refused.
struct Echo {
    Echo()
        : server([](const WebRequest& request) { return answer(request); })
    {
    }
    static WebAnswer answer(const WebRequest& request)
    {
        if (request.target == "/v1/models")
            return {200, {}, "{\"data\":[{\"id\":\"org/model\"}]}"};
        if (request.method != "POST")
            return {404, {}, {}};
        const std::string word = nlohmann::json::parse(request.body)["messages"].back()["content"];
        if (word == "no")
            return {500, {}, "{\"error\":{\"message\":\"not for you\"}}"};
        WebAnswer said = LookAlike::stream(std::vector<std::string>(10, LookAlike::content(word + ' ')));
        said.piece_bytes = int(said.body.size() / 12);
        if (word.starts_with("slow") || word.starts_with("bad"))
            said.pause_ms = 100;
        if (word.starts_with("bad")) {
            said.end = WebAnswer::End::Reset;
            said.sent_bytes = std::int64_t(said.body.size() / 2);
        }
        if (word.starts_with("silent")) {
            said.end = WebAnswer::End::Stall;
            said.sent_bytes = 0;
        }
        return said;
    }
    support::WebServer server;
};

constexpr qint64 kLongestStop_ms = 800;  // some milliseconds, where nobody else wants the processor

std::string ten(const std::string& word)
{
    std::string text;
    for (int i = 0; i < 10; ++i)
        text += word + ' ';
    return text;
}

/// Holds what became of each turn, by its word.
struct Turns {
    explicit Turns(const std::string& url_, std::chrono::milliseconds patience = 60s)
        : url(url_)
        , engine(book, patience)
    {
        book->set({{{url, {}}}});
        engine::LoadRequest request;
        request.model = remote::path_of({url, "org/model"});
        loaded = engine.load(request, {}, {}).has_value();
    }
    engine::TurnId begin(const std::string& word, const std::stop_token& stop = {})
    {
        engine::Request request;
        request.messages = {{"user", word, {}, {}}};
        engine::Listener listener;
        listener.on_text = [this, word](std::string_view piece) {
            elsewhere = elsewhere || std::this_thread::get_id() != here;
            texts[word] += piece;
        };
        listener.on_telemetry = [this, word](const engine::Telemetry& frame) { frames[word] = frame; };
        const auto turn = engine.begin(*engine.create_sequence(), request, listener, stop);
        if (turn)
            words[*turn] = word;
        return turn.value_or(0);
    }
    void step()
    {
        for (const engine::TurnId turn : engine.step({})) {
            over.push_back(words[turn]);
            ends[words[turn]] = engine.end(turn);
        }
    }
    bool runsUntil(const std::function<bool()>& done)
    {
        QElapsedTimer timer;
        timer.start();
        while (!done() && timer.elapsed() < 20'000)
            step();
        return done();
    }

    std::string url;
    std::shared_ptr<remote::ServerBook> book = std::make_shared<remote::ServerBook>();
    std::map<engine::TurnId, std::string> words;
    std::map<std::string, std::string> texts;
    std::map<std::string, engine::Telemetry> frames;
    std::map<std::string, engine::Result<engine::Turn>> ends;
    std::vector<std::string> over;
    const std::thread::id here = std::this_thread::get_id();
    bool elsewhere = false;  // a listener was called on another thread
    bool loaded = false;
    remote::RemoteEngine engine;  // the last: its turns tell what stands above
};

}  // namespace

class TestRemoteTurns : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"})
            qunsetenv(name);
    }

    void eightAreAnsweredAtOnce()
    {
        Echo echo;
        Turns turns(echo.server.url());
        QVERIFY(turns.loaded);
        QElapsedTimer timer;
        timer.start();
        QStringList words;
        for (int i = 0; i < 8; ++i)
            QVERIFY(turns.begin("slow" + std::to_string(i)) != 0);
        QVERIFY(timer.elapsed() < 1000);  // nobody waits for the server to begin
        QVERIFY(turns.runsUntil([&] { return turns.texts.size() == 8; }));
        QVERIFY(turns.over.empty());  // all speak before one has ended
        QVERIFY(turns.runsUntil([&] { return turns.over.size() == 8; }));
        QVERIFY2(timer.elapsed() < 6000,
                 qPrintable(QString::number(timer.elapsed())));  // one takes 1,200 ms
        for (const auto& [word, text] : turns.texts) {
            QCOMPARE(text, ten(word));
            QCOMPARE(turns.ends[word]->text, text);
            QCOMPARE(turns.ends[word]->reason, engine::StopReason::EndOfTurn);
            QVERIFY(turns.frames[word].ttft_ms);
        }
        QVERIFY(!turns.elsewhere);
    }

    void oneIsStoppedAndTheOthersGoOn()
    {
        Echo echo;
        Turns turns(echo.server.url());
        std::stop_source stop, stop_silent;
        turns.begin("slow one");
        turns.begin("slow two", stop.get_token());
        turns.begin("silent", stop_silent.get_token());
        QVERIFY(turns.runsUntil([&] { return !turns.texts["slow two"].empty(); }));
        QElapsedTimer timer;
        timer.start();
        stop.request_stop();
        stop_silent.request_stop();  // before a byte has come
        QVERIFY(turns.runsUntil([&] { return turns.over.size() == 2; }));
        const qint64 took_ms = timer.elapsed();
        qInfo("both are over %lld ms after the stop", took_ms);
        QVERIFY(took_ms < kLongestStop_ms);
        QCOMPARE(turns.ends["slow two"]->reason, engine::StopReason::Cancelled);
        QCOMPARE(turns.ends["slow two"]->text, turns.texts["slow two"]);
        QCOMPARE(turns.ends["silent"]->reason, engine::StopReason::Cancelled);
        QVERIFY(turns.runsUntil([&] { return turns.over.size() == 3; }));
        QCOMPARE(turns.texts["slow one"], ten("slow one"));
    }

    void oneFailsAndTheOthersGoOn()
    {
        Echo echo;
        Turns turns(echo.server.url());
        turns.begin("slow one");
        turns.begin("bad two");
        turns.begin("no");
        turns.begin("slow four");
        QVERIFY(turns.runsUntil([&] { return turns.over.size() == 4; }));
        QVERIFY(!turns.ends["bad two"]);
        QVERIFY(turns.ends["bad two"].error().what.find("what had come of the answer is kept") != std::string::npos);
        QVERIFY(!turns.texts["bad two"].empty() && ten("bad two").starts_with(turns.texts["bad two"]));
        QVERIFY(!turns.ends["no"]);
        QVERIFY(turns.ends["no"].error().what.find("not for you") != std::string::npos);
        for (const char* word : {"slow one", "slow four"}) {
            QVERIFY(turns.ends[word]);
            QCOMPARE(turns.texts[word], ten(word));
        }
    }

    void endedBeforeTheyAreOver()
    {
        Echo echo;
        Turns turns(echo.server.url());
        const engine::TurnId slow = turns.begin("slow");
        const engine::TurnId silent = turns.begin("silent");
        QVERIFY(turns.runsUntil([&] { return !turns.texts["slow"].empty(); }));
        QElapsedTimer timer;
        timer.start();
        const auto ended = turns.engine.end(slow);
        QCOMPARE(ended->reason, engine::StopReason::Cancelled);
        QVERIFY(ended->text.starts_with(turns.texts["slow"]));
        QVERIFY(!turns.engine.end(slow));
        turns.begin("slow too");
        turns.engine.unload();
        QVERIFY(timer.elapsed() < 1000);
        QVERIFY(!turns.engine.end(silent));
        QVERIFY(turns.engine.step({}).empty());
    }

    /// A server that answers one after another says nothing to those behind.
    void whoIsBehindAnotherMayHearNothingForLonger()
    {
        Echo echo;
        Turns turns(echo.server.url(), 1200ms);
        turns.begin("silent");
        turns.begin("silent behind it");
        QVERIFY(turns.runsUntil([&] { return turns.over.size() == 1; }));
        QElapsedTimer timer;
        timer.start();
        QCOMPARE(turns.over.front(), std::string("silent"));
        QVERIFY(turns.runsUntil([&] { return turns.over.size() == 2; }));
        QVERIFY(timer.elapsed() > 400);
    }

    void noMoreThanMayBe()
    {
        Echo echo;
        Turns turns(echo.server.url());
        for (int i = 0; i < engine::kMostRowsTogether; ++i)
            QVERIFY(turns.begin("silent" + std::to_string(i)) != 0);
        QCOMPARE(turns.begin("one more"), engine::TurnId(0));
    }

    void thoseThatBeginTogetherAreSpread_data()
    {
        QTest::addColumn<QByteArray>("page");
        QTest::newRow("where servers say what runs")
            << QByteArray("vllm:num_requests_waiting 0\nvllm:num_requests_running 0\n");
        QTest::newRow("where they do not") << QByteArray();
    }
    void thoseThatBeginTogetherAreSpread()
    {
        QFETCH(QByteArray, page);
        Echo one, two;
        for (Echo* const echo : {&one, &two})
            echo->server.answer_by([page](const WebRequest& request) {
                return request.target == "/metrics" && !page.isEmpty() ? WebAnswer{200, {}, page.toStdString()}
                                                                       : Echo::answer(request);
            });
        Turns turns(one.server.url());
        std::vector<remote::ListedServer> both;
        for (const Echo* echo : {&one, &two}) {
            remote::ListedServer listed{{echo->server.url(), {}}, "cluster", {}};
            listed.facts.models = {{"org/model"}};
            both.push_back(listed);
        }
        turns.book->set(both);
        for (int i = 0; i < 8; ++i)
            turns.begin("slow" + std::to_string(i));
        QVERIFY(turns.runsUntil([&] { return turns.over.size() == 8; }));
        const auto asked = [](const Echo& echo) {
            return std::ranges::count(echo.server.requests(), std::string("POST"), &WebRequest::method);
        };
        QCOMPARE(asked(one), 4);
        QCOMPARE(asked(two), 4);
    }
};

SPILLWAY_TEST(QCoreApplication, TestRemoteTurns)
#include "tst_remote_turns.moc"
