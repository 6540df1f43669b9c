// Tests that RemoteEngine takes answers from servers that answer well, badly, too late or not to the end.
#include "app/remote/address.h"
#include "app/remote/here_or_there.h"
#include "app/remote/probe.h"
#include "app/remote/remote_engine.h"
#include "tests/support/fake_engine.h"
#include "tests/support/net/look_alike.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QtTest>

#include <thread>

using remote::Kind;
using support::LookAlike;
using support::WebAnswer;
using support::WebRequest;
using support::WebServer;
using Code = engine::Error::Code;
using namespace std::chrono_literals;

namespace {

/// An engine with one server in its book, and what it was told.
struct Bench {
    explicit Bench(const std::string& url, const std::string& key = {}, std::chrono::milliseconds patience = 60s)
        : url(url)
        , engine(book, patience)
    {
        book->set({{url, key}});
        listener.on_text = [this](std::string_view piece) { text += piece; };
        listener.on_prompt = [this](const engine::PromptLedger& ledger) { prompts.push_back(ledger.total_tokens); };
        listener.on_telemetry = [this](const engine::Telemetry& frame) { frames.push_back(frame); };
        listener.on_event = [this](const engine::Event& event) { events.push_back(event.kind); };
    }
    engine::Result<engine::ModelInfo> load(const std::string& model = "org/model")
    {
        engine::LoadRequest request;
        request.model = remote::path_of({url, model});
        return engine.load(request, {}, {});
    }
    engine::Result<engine::Turn> ask(const std::stop_token& stop = {})
    {
        text.clear();
        engine::Request request;
        request.messages = {{"user", "Hello", {}, {}}};
        return engine.generate(1, request, listener, stop);
    }

    std::string url;
    std::shared_ptr<remote::ServerBook> book = std::make_shared<remote::ServerBook>();
    remote::RemoteEngine engine;
    engine::Listener listener;
    std::string text;
    std::vector<int> prompts;
    std::vector<engine::Telemetry> frames;
    std::vector<engine::Event::Kind> events;
};

}  // namespace

class TestRemoteEngine : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"})
            qunsetenv(name);
    }

    void programsAreKnown_data()
    {
        QTest::addColumn<QByteArray>("owner");
        QTest::addColumn<QByteArray>("more");
        QTest::addColumn<QByteArray>("path");
        QTest::addColumn<QByteArray>("said");
        QTest::addColumn<int>("kind");
        QTest::addColumn<QByteArray>("version");
        QTest::addColumn<int>("context");
        QTest::newRow("vLLM") << QByteArray("vllm") << QByteArray(",\"max_model_len\":4096") << QByteArray("/version")
                              << QByteArray("{\"version\":\"0.30.1\"}") << int(Kind::Vllm) << QByteArray("0.30.1")
                              << 4096;
        QTest::newRow("SGLang") << QByteArray("sglang") << QByteArray(",\"max_model_len\":8192")
                                << QByteArray("/get_server_info") << QByteArray("{\"version\":\"0.6\"}")
                                << int(Kind::SgLang) << QByteArray("0.6") << 8192;
        QTest::newRow("llama-server")
            << QByteArray("llamacpp") << QByteArray(",\"meta\":{\"n_ctx_train\":99}") << QByteArray("/props")
            << QByteArray("{\"build_info\":\"b7000\",\"default_generation_settings\":{\"n_ctx\":512}}")
            << int(Kind::LlamaServer) << QByteArray("b7000") << 512;
        QTest::newRow("TGI") << QByteArray("org/model") << QByteArray() << QByteArray("/info")
                             << QByteArray("{\"model_id\":\"org/model\",\"version\":\"3.3\",\"max_total_tokens\":2048}")
                             << int(Kind::Tgi) << QByteArray("3.3") << 2048;
        QTest::newRow("Ollama") << QByteArray("library") << QByteArray() << QByteArray("/api/version")
                                << QByteArray("{\"version\":\"0.14\"}") << int(Kind::Ollama) << QByteArray("0.14") << 0;
        QTest::newRow("LM Studio") << QByteArray("organization_owner") << QByteArray() << QByteArray("/api/v0/models")
                                   << QByteArray("{\"data\":[{\"id\":\"org/model\",\"max_context_length\":9000,"
                                                 "\"loaded_context_length\":6000}]}")
                                   << int(Kind::LmStudio) << QByteArray() << 6000;
        QTest::newRow("nobody known") << QByteArray("openai") << QByteArray() << QByteArray() << QByteArray()
                                      << int(Kind::Unknown) << QByteArray() << 0;
        QTest::newRow("says it is vLLM and is not")
            << QByteArray("vllm") << QByteArray() << QByteArray("/props") << QByteArray("{\"build_info\":\"b1\"}")
            << int(Kind::LlamaServer) << QByteArray("b1") << 0;
        QTest::newRow("numbers that are none")
            << QByteArray("vllm") << QByteArray(",\"max_model_len\":-1") << QByteArray("/version")
            << QByteArray("{\"version\":7}") << int(Kind::Vllm) << QByteArray() << 0;
    }
    void programsAreKnown()
    {
        QFETCH(QByteArray, owner);
        QFETCH(QByteArray, more);
        QFETCH(QByteArray, path);
        QFETCH(QByteArray, said);
        LookAlike server({"{\"data\":[{\"id\":\"org/model\",\"owned_by\":\"" + owner.toStdString() + "\"" +
                              more.toStdString() + "}]}",
                          path.toStdString(), said.toStdString()});
        net::HttpClient client;
        const auto facts = remote::probe(client, {server.url(), {}}, {});
        QVERIFY(facts);
        QTEST(int(facts->kind), "kind");
        QTEST(QByteArray::fromStdString(facts->version), "version");
        QTEST(facts->models.at(0).context_tokens, "context");
    }

    void whatIsNoServerOfModels_data()
    {
        QTest::addColumn<QByteArray>("list");
        QTest::newRow("a page") << QByteArray("<html>Welcome</html>");
        QTest::newRow("another list") << QByteArray("{\"models\":[]}");
        QTest::newRow("a list of another kind") << QByteArray("{\"data\":{\"id\":\"x\"}}");
    }
    void whatIsNoServerOfModels()
    {
        QFETCH(QByteArray, list);
        LookAlike server({list.toStdString(), {}, {}});
        net::HttpClient client;
        const auto facts = remote::probe(client, {server.url(), {}}, {});
        QVERIFY(!facts);
        QVERIFY(facts.error().what.find("no server of models") != std::string::npos);
    }

    void noModelIsNoFault()
    {
        LookAlike server({"{\"object\":\"list\",\"data\":[{\"id\":7},{\"id\":\"\"},\"x\"]}", {}, {}});
        net::HttpClient client;
        const auto facts = remote::probe(client, {server.url(), {}}, {});
        QVERIFY(facts);
        QVERIFY(facts->models.empty());
    }

    void anAnswerStreams()
    {
        LookAlike server;
        for (const int piece : {1, 3, 7, 4096}) {
            WebAnswer answer =
                LookAlike::stream({"{\"role\":\"assistant\",\"content\":\"\"}", "{\"reasoning_content\":\"Hm\"}",
                                   LookAlike::content("Grüß "), LookAlike::content("Gott 🙂")},
                                  "stop", "{\"prompt_tokens\":10,\"completion_tokens\":4}");
            answer.piece_bytes = piece;
            server.says(answer);
            Bench bench(server.url());
            QVERIFY(bench.load());
            const auto turn = bench.ask();
            QVERIFY2(turn, turn ? "" : turn.error().what.c_str());
            QCOMPARE(bench.text, std::string("<think>\nHm\n</think>\n\nGrüß Gott 🙂"));
            QCOMPARE(turn->text, bench.text);
            QCOMPARE(turn->reason, engine::StopReason::EndOfTurn);
            QCOMPARE(bench.prompts, std::vector<int>{10});
            QCOMPARE(turn->telemetry.prompt_tokens, 10);
            QCOMPARE(turn->telemetry.generated_tokens, 4);
            QCOMPARE(turn->telemetry.context_tokens, 14);
            QVERIFY(turn->telemetry.ttft_ms);
            QVERIFY(!turn->telemetry.device && !turn->telemetry.prefill_tokens_per_s);
            QCOMPARE(bench.frames.front().phase, engine::Phase::Prefill);
            QCOMPARE(bench.frames.back().phase, engine::Phase::Decode);
        }
        QCOMPARE(server.chats().back()["messages"][0]["content"].get<std::string>(), std::string("Hello"));
    }

    void anAnswerThatComesWhole()
    {
        LookAlike server;
        server.says({200,
                     {{"Content-Type", "application/json; charset=utf-8"}},
                     "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"All at "
                     "once\"},\"finish_reason\":\"length\"}],"
                     "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":3}}"});
        Bench bench(server.url());
        QVERIFY(bench.load());
        const auto turn = bench.ask();
        QVERIFY(turn);
        QCOMPARE(bench.text, std::string("All at once"));
        QCOMPARE(turn->reason, engine::StopReason::MaxTokens);
        QCOMPARE(bench.prompts, std::vector<int>{5});
    }

    void aFullContextIsKnown()
    {
        LookAlike server({"{\"data\":[{\"id\":\"org/model\",\"owned_by\":\"vllm\",\"max_model_len\":100}]}", "/version",
                          "{\"version\":\"1\"}"});
        server.says(
            LookAlike::stream({LookAlike::content("a")}, "length", "{\"prompt_tokens\":60,\"completion_tokens\":40}"));
        Bench bench(server.url());
        QCOMPARE(bench.load()->context_in_use, 100);
        QCOMPARE(bench.ask()->reason, engine::StopReason::ContextFull);
        server.says(
            LookAlike::stream({LookAlike::content("a")}, "stop", "{\"prompt_tokens\":80,\"completion_tokens\":1}"));
        QVERIFY(bench.ask());
        QVERIFY(bench.events.empty());
        server.says(
            LookAlike::stream({LookAlike::content("a")}, "stop", "{\"prompt_tokens\":82,\"completion_tokens\":9}"));
        // Nine tenths; what is left is more than servers keep back.
        Bench roomy(server.url());
        QVERIFY(roomy.load());
        QCOMPARE(roomy.ask()->telemetry.context_tokens, 91);
        LookAlike large({"{\"data\":[{\"id\":\"org/model\",\"owned_by\":\"vllm\",\"max_model_len\":1000}]}", "/version",
                         "{\"version\":\"1\"}"});
        large.says(
            LookAlike::stream({LookAlike::content("a")}, "stop", "{\"prompt_tokens\":900,\"completion_tokens\":9}"));
        Bench near(large.url());
        QVERIFY(near.load() && near.ask());
        QCOMPARE(near.events, std::vector{engine::Event::Kind::ContextNearlyFull});
    }

    /// What the server calls done is whole, whatever becomes of the connection.
    void whatTheServerCallsDoneIsWhole()
    {
        LookAlike server;
        WebAnswer answer = LookAlike::stream({LookAlike::content("All of it")});
        answer.sent_bytes = std::int64_t(answer.body.size());
        answer.body += "data: {\"choices\":[{\"delta\":{\"content\":\" and more\"}}]}\n\n";
        answer.end = WebAnswer::End::Close;
        server.says(answer);
        Bench bench(server.url());
        QVERIFY(bench.load());
        QVERIFY(bench.ask());
        QCOMPARE(bench.text, std::string("All of it"));
    }

    void numbersThatCannotBeAreNotAdded()
    {
        LookAlike server;
        server.says(LookAlike::stream({LookAlike::content("a"), LookAlike::content("b")}, "stop",
                                      "{\"prompt_tokens\":2147483646,\"completion_tokens\":2147483646}"));
        Bench bench(server.url());
        QVERIFY(bench.load());
        const auto turn = bench.ask();
        QVERIFY(turn);
        QCOMPARE(turn->telemetry.prompt_tokens, 0);
        QCOMPARE(turn->answer.last, 2);
    }

    void answersThatBreakOff_data()
    {
        QTest::addColumn<int>("end");
        QTest::addColumn<bool>("hasLength");
        QTest::newRow("closed") << int(WebAnswer::End::Close) << true;
        QTest::newRow("reset") << int(WebAnswer::End::Reset) << true;
        QTest::newRow("stalled") << int(WebAnswer::End::Stall) << true;
        QTest::newRow("ended as if whole") << int(WebAnswer::End::Whole) << false;
    }
    void answersThatBreakOff()
    {
        QFETCH(int, end);
        QFETCH(bool, hasLength);
        LookAlike server;
        WebAnswer answer = LookAlike::stream({LookAlike::content("One "), LookAlike::content("two")}, "");
        answer.sent_bytes = std::int64_t(answer.body.size());
        if (hasLength)
            answer.body += "data: {\"choices\":[{\"delta\":{\"content\":\" three\"}}]}\n\n";
        answer.end = WebAnswer::End(end);
        const bool stalls = answer.end == WebAnswer::End::Stall;
        answer.pause_ms = answer.end == WebAnswer::End::Reset ? 1000 : 0;  // it takes along what has not been read yet
        answer.has_length = hasLength;
        server.says(answer);
        Bench bench(server.url(), {}, stalls ? 1500ms : 60'000ms);
        QVERIFY(bench.load());
        const auto turn = bench.ask();
        QVERIFY(!turn);
        QVERIFY(turn.error().code == Code::DeviceLost);  // the model stays open, and may be asked again
        QVERIFY2(turn.error().what.find("is kept") != std::string::npos, turn.error().what.c_str());
        QCOMPARE(bench.text, std::string("One two"));
        // And there is a way to go on.
        server.says(LookAlike::stream({LookAlike::content(" three")}));
        QVERIFY(bench.ask());
        QCOMPARE(bench.text, std::string(" three"));
    }

    void nothingOfAnAnswer_data()
    {
        QTest::addColumn<int>("status");
        QTest::addColumn<QByteArray>("type");
        QTest::addColumn<QByteArray>("body");
        QTest::addColumn<QByteArray>("words");
        QTest::newRow("401") << 401 << QByteArray() << QByteArray() << QByteArray("asks for a key");
        QTest::newRow("404") << 404 << QByteArray() << QByteArray("{\"error\":{\"message\":\"no model x\"}}")
                             << QByteArray("no model x");
        QTest::newRow("429") << 429 << QByteArray() << QByteArray() << QByteArray("later");
        QTest::newRow("500") << 500 << QByteArray() << QByteArray("oops") << QByteArray("a fault of its own");
        QTest::newRow("a page") << 200 << QByteArray("text/html") << QByteArray("<html>") << QByteArray("a page");
        QTest::newRow("nothing") << 200 << QByteArray("text/event-stream") << QByteArray() << QByteArray("broke off");
        QTest::newRow("an error in the stream")
            << 200 << QByteArray("text/event-stream") << QByteArray("data: {\"error\":{\"message\":\"no memory\"}}\n\n")
            << QByteArray("no memory");
        QTest::newRow("no JSON in the stream") << 200 << QByteArray("text/event-stream") << QByteArray("data: {{{\n\n")
                                               << QByteArray("no piece of an answer");
        QTest::newRow("elsewhere") << 302 << QByteArray() << QByteArray() << QByteArray("elsewhere");
    }
    void nothingOfAnAnswer()
    {
        QFETCH(int, status);
        QFETCH(QByteArray, type);
        QFETCH(QByteArray, body);
        QFETCH(QByteArray, words);
        LookAlike server;
        WebAnswer answer{status, {}, body.toStdString()};
        if (!type.isEmpty())
            answer.headers.emplace_back("Content-Type", type.toStdString());
        if (status == 302)
            answer.headers.emplace_back("Location", "/v1/other");
        server.says(answer);
        Bench bench(server.url());
        QVERIFY(bench.load());
        const auto turn = bench.ask();
        QVERIFY(!turn);
        QVERIFY2(QByteArray::fromStdString(turn.error().what).contains(words), turn.error().what.c_str());
        QVERIFY(turn.error().what.find("kept") == std::string::npos);
        // At these errors the window would close a model of its own.
        QVERIFY(turn.error().code != Code::NotLoaded && turn.error().code != Code::CannotRead);
    }

    void nobodyThere()
    {
        std::string url;
        {
            LookAlike gone;
            url = gone.url();
        }
        Bench bench(url);
        const auto model = bench.load();
        QVERIFY(!model);
        QVERIFY2(model.error().what.find("refuses the connection") != std::string::npos, model.error().what.c_str());
        QVERIFY(!bench.engine.loaded());
        QVERIFY(bench.ask().error().code == Code::NotLoaded);
    }

    void aStopIsSeenAtOnce()
    {
        LookAlike server;
        WebAnswer answer = LookAlike::stream({LookAlike::content("One ")}, "");
        answer.sent_bytes = std::int64_t(answer.body.size());
        answer.body += std::string(1000, ' ');
        answer.end = WebAnswer::End::Stall;
        server.says(answer);
        Bench bench(server.url());
        QVERIFY(bench.load());
        std::stop_source stop;
        bench.listener.on_text = [&](std::string_view piece) {
            bench.text += piece;
            stop.request_stop();
        };
        QElapsedTimer timer;
        timer.start();
        const auto turn = bench.ask(stop.get_token());
        QVERIFY(turn);
        QCOMPARE(turn->reason, engine::StopReason::Cancelled);
        QCOMPARE(turn->text, std::string("One "));
        QVERIFY(timer.elapsed() < 20'000);
    }

    void theKeyStaysWithItsServer()
    {
        LookAlike stranger;
        LookAlike server;
        server.wants("secret");
        Bench without(server.url());
        const auto refused = without.load();
        QVERIFY(!refused);
        QVERIFY(refused.error().what.find("asks for a key") != std::string::npos);
        Bench wrong(server.url(), "other");
        QVERIFY(wrong.load().error().what.find("does not accept the key") != std::string::npos);

        Bench bench(server.url(), "secret");
        QVERIFY(bench.load());
        QVERIFY(bench.ask());
        for (const int status : {301, 302, 303, 307, 308}) {
            WebAnswer away{status, {{"Location", stranger.server().url("/v1/chat/completions")}}, {}};
            server.says(away);
            const auto turn = bench.ask();
            QVERIFY(!turn);
            QVERIFY(turn.error().what.find("secret") == std::string::npos);
        }
        WebServer away([&](const WebRequest& request) -> WebAnswer {
            return {302, {{"Location", stranger.server().url(request.target)}}, {}};
        });
        QVERIFY(!Bench(away.url(), "secret").load());
        QVERIFY(stranger.server().requests().empty());  // neither the key nor a word
    }

    void anotherPathOfTheSameServerIsFollowed()
    {
        WebServer server([](const WebRequest& request) -> WebAnswer {
            if (request.target == "/v1/models")
                return {200, {}, "{\"data\":[{\"id\":\"org/model\"}]}"};
            if (request.target == "/v1/chat/completions")
                return {308, {{"Location", "/moved"}}, {}};
            return request.target == "/moved" && request.method == "POST" && !request.body.empty()
                       ? LookAlike::stream({LookAlike::content("moved")})
                       : WebAnswer{404, {}, {}};
        });
        Bench bench(server.url());
        QVERIFY(bench.load());
        QVERIFY(bench.ask());
        QCOMPARE(bench.text, std::string("moved"));
    }

    void onlyServersOfTheBookAreAsked()
    {
        LookAlike server;
        Bench bench(server.url());
        QVERIFY(bench.load());
        QVERIFY(bench.load("org/other").error().what.find("has no model 'org/other'") != std::string::npos);
        QVERIFY(bench.load());
        bench.book->set({});
        const std::size_t asked = server.server().requests().size();
        QVERIFY(bench.ask().error().what.find("none of your servers") != std::string::npos);
        QVERIFY(!bench.load());
        QCOMPARE(server.server().requests().size(), asked);
    }

    void connectionsAreListed()
    {
        LookAlike server;
        Bench bench(server.url());
        QVERIFY(bench.book->connections().empty());
        QVERIFY(bench.load());
        QVERIFY(bench.ask());
        std::vector<std::string> purposes;
        for (const net::Connection& c : bench.book->connections()) {
            purposes.push_back(c.purpose);
            QVERIFY(c.bytes_received > 0 && c.bytes_sent > 0);
        }
        QCOMPARE(purposes, (std::vector<std::string>{"what a server is", "answers of a model"}));
    }

    void whatIsNotSentIsNotCounted()
    {
        LookAlike server;
        Bench bench(server.url());
        QVERIFY(bench.load());
        const std::size_t asked = server.server().requests().size();
        QVERIFY(!bench.engine.count_tokens("a draft", {}));
        QVERIFY(!bench.engine.count_prompt({}, {}));
        QCOMPARE(server.server().requests().size(), asked);
    }

    void turnsByStepsAsWell()
    {
        LookAlike server;
        Bench bench(server.url());
        engine::Request request;
        request.messages = {{"user", "Hello", {}, {}}};
        QVERIFY(!bench.engine.begin(1, request, bench.listener, {}));
        QVERIFY(bench.load());
        const auto first = bench.engine.begin(1, request, bench.listener, {});
        QVERIFY(first && *first != 0);
        QTRY_COMPARE(bench.engine.step({}), std::vector<engine::TurnId>{*first});
        QCOMPARE(bench.text, std::string("Hello"));
        QCOMPARE(bench.engine.end(*first)->text, std::string("Hello"));
        QVERIFY(!bench.engine.end(*first));
        QVERIFY(bench.engine.step({}).empty());
    }

    void aModelHereAndOneThereTakeTurns()
    {
        LookAlike server;
        auto book = std::make_shared<remote::ServerBook>();
        book->set({{server.url(), {}}});
        const auto script = std::make_shared<FakeScript>();
        remote::HereOrThere engine(std::make_unique<FakeEngine>(script), book);
        int posted = 0;
        engine.on_posted = [&] { ++posted; };
        engine::LoadRequest here, there;
        here.model = "here.gguf";
        there.model = remote::path_of({server.url(), "org/model"});
        engine::Request request;
        request.messages = {{"user", "Hi", {}, {}}};

        QVERIFY(engine.load(here, {}, {}));
        QCOMPARE(engine.generate(*engine.create_sequence(), request, {}, {})->text, std::string("one two three"));
        QVERIFY(engine.load(there, {}, {}));
        QCOMPARE(engine.generate(*engine.create_sequence(), request, {}, {})->text, std::string("Hello"));
        QCOMPARE(script->requests().size(), std::size_t(1));
        QVERIFY(engine.post(engine::SetThreads{2}) != 0);
        QCOMPARE(posted, 1);
        QVERIFY(engine.load(here, {}, {}));
        QCOMPARE(engine.generate(*engine.create_sequence(), request, {}, {})->text, std::string("one two three"));
        QCOMPARE(server.chats().size(), std::size_t(1));
        engine.unload();
        QVERIFY(!engine.loaded());
    }
};

SPILLWAY_TEST(QCoreApplication, TestRemoteEngine)
#include "tst_remote_engine.moc"
