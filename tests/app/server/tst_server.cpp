// Tests that the server answers OpenAI's clients, lets turns wait in line and ends those whose client has gone: with
// the guide model behind it, or with an engine that waits.
#include "tests/app/server/running_server.h"
#include "tests/support/chain_model.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QJsonArray>
#include <QTemporaryDir>

using server_test::Answer;
using server_test::Client;
using server_test::GateEngine;
using server_test::RunningServer;

namespace {

QJsonArray conversation(std::initializer_list<const char*> texts)
{
    QJsonArray messages;
    for (const char* text : texts)
        messages.append(QJsonObject{{"role", messages.size() % 2 == 0 ? "user" : "assistant"}, {"content", text}});
    return messages;
}

QJsonObject question(const char* text, QJsonObject more = {})
{
    more["messages"] = conversation({text});
    if (!more.contains("temperature"))
        more["temperature"] = 0;
    return more;
}

QJsonObject first_choice(const QJsonObject& json)
{
    return json["choices"].toArray().first().toObject();
}

/// Returns what a stream says in all.
QString text_of(const Answer& answer, const char* field = "content")
{
    QString text;
    for (const QByteArray& event : answer.events())
        text += first_choice(QJsonDocument::fromJson(event).object())["delta"].toObject()[field].toString();
    return text;
}

constexpr const char* kChat = "/v1/chat/completions";

}  // namespace

class TestServer : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void itsModelIsListed()
    {
        const auto list = guide_.get("/v1/models").json();
        QCOMPARE(list["object"].toString(), QString("list"));
        const auto model = list["data"].toArray().first().toObject();
        QCOMPARE(model["id"].toString(), QString("guide"));
        QVERIFY(model["meta"].toObject()["n_ctx"].toInt() > 0);
        QCOMPARE(guide_.get("/v1/models/guide").json()["id"].toString(), QString("guide"));
        QCOMPARE(guide_.get("/v1/models/other").status, 404);
        QCOMPARE(guide_.get("/health").json()["status"].toString(), QString("ok"));
    }

    // As Qwen3.5's template does: the mark is neither thought nor answer.
    void aThoughtThatTheTemplateOpensIsOne()
    {
        QTemporaryDir folder;
        engine::LoadRequest load;
        load.model = folder.filePath("chain.gguf").toStdString();
        load.context_tokens = 256;
        support::ChainModel({"<think>", "</think>"})
            .says({"<think>", "a", "</think>", "b", "</s>"})
            .chat_template("{% for m in messages %}<|turn|>{{ m.content }}<|over|>{% endfor %}"
                           "{% if add_generation_prompt %}<think>{% endif %}")
            .save(load.model);
        const RunningServer server(engine::make_engine(), {}, load);
        const auto message =
            first_choice(server.post(kChat, question("x", {{"max_tokens", 9}})).json())["message"].toObject();
        QCOMPARE(message["reasoning_content"].toString(), QString("a"));
        QCOMPARE(message["content"].toString(), QString("b"));
        const auto stream = server.post(kChat, question("x", {{"max_tokens", 9}, {"stream", true}}));
        QCOMPARE(text_of(stream, "reasoning_content"), QString("a"));
        QCOMPARE(text_of(stream), QString("b"));
    }

    void aChatIsAnsweredAlikeWholeAndAsAStream()
    {
        const auto whole = guide_.post(kChat, question("What is a KV cache?", {{"max_tokens", 30}}));
        QCOMPARE(whole.status, 200);
        const auto json = whole.json();
        const auto message = first_choice(json)["message"].toObject();
        QVERIFY(message["content"].toString().contains("keys and values"));
        QCOMPARE(message["role"].toString(), QString("assistant"));
        const auto usage = json["usage"].toObject();
        QCOMPARE(usage["total_tokens"].toInt(), usage["prompt_tokens"].toInt() + usage["completion_tokens"].toInt());
        QCOMPARE(usage["completion_tokens"].toInt(), 30);
        QCOMPARE(first_choice(json)["finish_reason"].toString(), QString("length"));

        const auto stream = guide_.post(kChat, question("What is a KV cache?", {{"max_tokens", 30}, {"stream", true}}));
        QCOMPARE(stream.header("Content-Type"), QByteArray("text/event-stream"));
        QCOMPARE(text_of(stream), message["content"].toString());
        const auto events = stream.events();
        QCOMPARE(events.last(), QByteArray("[DONE]"));
        QCOMPARE(first_choice(QJsonDocument::fromJson(events.first()).object())["delta"].toObject()["role"].toString(),
                 QString("assistant"));
        const auto last = QJsonDocument::fromJson(events[events.size() - 2]).object();
        QCOMPARE(first_choice(last)["finish_reason"].toString(), QString("length"));
        QVERIFY(!last.contains("usage"));
    }

    void usageIsStreamedWhereItIsAskedFor()
    {
        const auto stream =
            guide_.post(kChat, question("Hi", {{"max_completion_tokens", 3},
                                               {"stream", true},
                                               {"stream_options", QJsonObject{{"include_usage", true}}}}));
        const auto events = stream.events();
        const auto last = QJsonDocument::fromJson(events[events.size() - 2]).object();
        QVERIFY(last["choices"].toArray().isEmpty());
        QCOMPARE(last["usage"].toObject()["completion_tokens"].toInt(), 3);
    }

    // From which clients of llama-server show the speed and the context in use.
    void timingsAreInTheLastPieceOfAStream()
    {
        for (const bool with_usage : {false, true})
            for (const bool chats : {false, true}) {
                QJsonObject body{{"max_tokens", 2},
                                 {"temperature", 0},
                                 {"stream", true},
                                 {"stream_options", QJsonObject{{"include_usage", with_usage}}}};
                if (chats)
                    body["messages"] = conversation({"Hi"});
                else
                    body["prompt"] = "What is a KV";
                auto events = guide_.post(chats ? kChat : "/v1/completions", body).events();
                QCOMPARE(events.takeLast(), QByteArray("[DONE]"));
                const auto last = QJsonDocument::fromJson(events.takeLast()).object();
                QCOMPARE(last.contains("usage"), with_usage);
                QCOMPARE(last["choices"].toArray().isEmpty(), with_usage);
                const auto timings = last["timings"].toObject();
                QCOMPARE(timings["predicted_n"].toInt(), 2);
                QVERIFY(timings["prompt_n"].toInt() + timings["cache_n"].toInt() > 0);
                for (const QByteArray& event : events)
                    QVERIFY2(!event.contains("timings"), event.constData());
            }
    }

    void aConversationThatComesAgainFindsItsKv()
    {
        const char* first = "Tell me how attention over blocks that lie in RAM is computed, in a few words.";
        const auto answer = guide_.post(kChat, question(first, {{"max_tokens", 20}}));
        const QString said = first_choice(answer.json())["message"].toObject()["content"].toString();
        guide_.post(kChat, question("Something quite different comes in between.", {{"max_tokens", 2}}));
        QJsonObject again{{"messages", conversation({first, qPrintable(said), "Why?"})}, {"max_tokens", 2}};
        const auto usage = guide_.post(kChat, again).json()["usage"].toObject();
        const int cached = usage["prompt_tokens_details"].toObject()["cached_tokens"].toInt();
        QVERIFY(cached >= answer.json()["usage"].toObject()["prompt_tokens"].toInt());
        QVERIFY(cached < usage["prompt_tokens"].toInt());
    }

    void stopEndsTheAnswer()
    {
        const auto answer = guide_.post(kChat, question("What is a KV cache?", {{"stop", QJsonArray{"values"}}}));
        const auto choice = first_choice(answer.json());
        QVERIFY(choice["message"].toObject()["content"].toString().endsWith("keys and "));
        QCOMPARE(choice["finish_reason"].toString(), QString("stop"));
    }

    void aSeedRepeatsAnAnswer()
    {
        const QJsonObject hot{{"temperature", 1.5}, {"seed", 7}, {"max_tokens", 12}};
        const auto text = [&] {
            const auto choice = first_choice(guide_.post(kChat, question("Hello there", hot)).json());
            return choice["message"].toObject()["content"].toString();
        };
        const QString first = text();
        QVERIFY(!first.isEmpty());
        QCOMPARE(text(), first);
    }

    void partsAndDevelopersAreRead()
    {
        const QJsonObject part{{"type", "text"}, {"text", "What is a KV cache?"}};
        const QJsonArray messages{QJsonObject{{"role", "system"}, {"content", "Be short."}},
                                  QJsonObject{{"role", "developer"}, {"content", "Be kind."}},
                                  QJsonObject{{"role", "user"}, {"content", QJsonArray{part}}}};
        const auto answer = guide_.post(kChat, {{"messages", messages}, {"max_tokens", 5}});
        QCOMPARE(answer.status, 200);
    }

    void aTextIsContinued()
    {
        const QJsonObject body{{"prompt", "The KV cache"}, {"temperature", 0}, {"max_tokens", 4}};
        const auto whole = guide_.post("/v1/completions", body).json();
        QCOMPARE(whole["object"].toString(), QString("text_completion"));
        QVERIFY(!first_choice(whole)["text"].toString().isEmpty());
        QJsonObject streamed = body;
        streamed["stream"] = true;
        QString text;
        for (const QByteArray& event : guide_.post("/v1/completions", streamed).events())
            text += first_choice(QJsonDocument::fromJson(event).object())["text"].toString();
        QCOMPARE(text, first_choice(whole)["text"].toString());
    }

    void whatIsNotUnderstoodIsNamed_data()
    {
        QTest::addColumn<QString>("field");
        QTest::addColumn<QByteArray>("body");
        const auto row = [](const char* name, const char* field, const QByteArray& body) {
            QTest::newRow(name) << field << body;
        };
        const auto with = [](const QByteArray& fields) {
            return QByteArray(R"({"messages": [{"role": "user", "content": "x"}], )") + fields + "}";
        };
        row("no messages", "messages", "{}");
        row("none of them", "messages", R"({"messages": []})");
        row("messages of another type", "messages", R"({"messages": "x"})");
        row("a message that is none", "messages[0]", R"({"messages": ["x"]})");
        row("no role", "messages[0].role", R"({"messages": [{"content": "x"}]})");
        row("a role of their own", "messages[0].role", R"({"messages": [{"role": "king", "content": "x"}]})");
        row("no content", "messages[0].content", R"({"messages": [{"role": "user"}]})");
        row("a number as content", "messages[0].content", R"({"messages": [{"role": "user", "content": 1}]})");
        row("an image", "messages[0].content",
            R"({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]})");
        row("hot", "temperature", with(R"("temperature": -1)"));
        row("hot in words", "temperature", with(R"("temperature": "hot")"));
        row("no answer", "n", with(R"("n": 0)"));
        row("a thousand answers", "n", with(R"("n": 1000)"));
        row("half of logprobs", "top_logprobs", with(R"("top_logprobs": 3)"));
        row("too many logprobs", "top_logprobs", with(R"("logprobs": true, "top_logprobs": 21)"));
        row("logprobs of no kind", "logprobs", with(R"("logprobs": 3)"));
        row("bias", "logit_bias", with(R"("logit_bias": "x")"));
        row("XML asked for", "response_format", with(R"("response_format": {"type": "xml"})"));
        row("a stream of no kind", "stream", with(R"("stream": "yes")"));
        row("stops of numbers", "stop", with(R"("stop": [1])"));
        row("too many stops", "stop", with(R"("stop": [)" + QByteArray(R"("a",)").repeated(64) + R"("a"])"));
        row("too many breakers", "dry_sequence_breakers",
            with(R"("dry_sequence_breakers": [)" + QByteArray(R"("a",)").repeated(64) + R"("a"])"));
        row("huge answers", "max_tokens", with(R"("max_tokens": 1e30)"));
        row("arguments of no kind", "chat_template_kwargs", with(R"("chat_template_kwargs": [1])"));
    }

    void whatIsNotUnderstoodIsNamed()
    {
        QFETCH(QString, field);
        QFETCH(QByteArray, body);
        const auto answer = Client(guide_.port()).ask("POST", kChat, body);
        QCOMPARE(answer.status, 400);
        const auto error = answer.json()["error"].toObject();
        QCOMPARE(error["param"].toString(), field);
        QVERIFY(error["message"].toString().contains(field));
        QCOMPARE(error["type"].toString(), QString("invalid_request_error"));
    }

    void unknownFieldsAreIgnored()
    {
        const auto answer = guide_.post(
            kChat,
            question("Hi", {{"max_tokens", 1}, {"store", true}, {"service_tier", "x"}, {"whatever", QJsonArray{1}}}));
        QCOMPARE(answer.status, 200);
    }

    void aPromptThatIsTooLongSaysBothNumbers()
    {
        engine::LoadRequest load;
        load.context_tokens = 64;
        const RunningServer small(engine::make_engine(), {}, load);
        const QByteArray words = QByteArray("many words ").repeated(100);
        for (const bool streams : {false, true}) {
            const auto answer = small.post(kChat, question(words.constData(), {{"stream", streams}}));
            QCOMPARE(answer.status, 400);
            const auto error = answer.json()["error"].toObject();
            QCOMPARE(error["code"].toString(), QString("context_length_exceeded"));
            QCOMPARE(error["n_ctx"].toInt(), 64);
            QVERIFY(error["n_prompt_tokens"].toInt() > 64);
            QVERIFY(error["message"].toString().contains(QString::number(error["n_prompt_tokens"].toInt())));
        }
    }

    void pathsAndMethodsAreKnown()
    {
        QCOMPARE(guide_.get("/nowhere").status, 404);
        QCOMPARE(guide_.get(kChat).status, 405);
        QCOMPARE(Client(guide_.port()).ask("DELETE", "/v1/models").status, 405);
        QCOMPARE(guide_.get("/../../etc/passwd").status, 404);
        // With which `ollama` begins whatever it does.
        QCOMPARE(guide_.get("/").body, QByteArray("Ollama is running"));
        Client heartbeat(guide_.port());
        heartbeat.say(Client::request("HEAD", "/"));
        QVERIFY(heartbeat.heard_until("\r\n\r\n").startsWith("HTTP/1.1 200 "));
        QCOMPARE(Client(guide_.port()).ask("POST", kChat, "{").status, 400);
    }

    void everyPathChecksHostOriginAndKey()
    {
        server::ServerOptions options;
        options.door.keys = {"secret"};
        const RunningServer locked(std::make_unique<GateEngine>(), options);
        for (const char* path : {"/v1/models", kChat, "/nowhere", "/health"}) {
            for (const char* method : {"GET", "POST", "OPTIONS"}) {
                Client client(locked.port());
                QCOMPARE(client.ask(method, path, "{}", "Host: evil.example\r\nx-api-key: secret\r\n").status, 403);
                Client page(locked.port());
                QCOMPARE(page.ask(method, path, "{}", "Origin: https://evil.example\r\nx-api-key: secret\r\n").status,
                         403);
            }
        }
        QCOMPARE(locked.get("/v1/models").status, 401);
        QCOMPARE(locked.get("/v1/models", "Authorization: Bearer secret\r\n").status, 200);
        QCOMPARE(locked.get("/health").status, 200);
        const auto page = locked.get("/v1/models", "x-api-key: secret\r\nOrigin: http://localhost:3000\r\n");
        QCOMPARE(page.header("Access-Control-Allow-Origin"), QByteArray("http://localhost:3000"));
        const auto preflight = Client(locked.port()).ask("OPTIONS", kChat, {}, "Origin: http://localhost:3000\r\n");
        QCOMPARE(preflight.status, 204);
        QVERIFY(preflight.header("Access-Control-Allow-Methods").contains("DELETE"));
    }

    void aTurnEndsWhenItsClientGoes_data()
    {
        QTest::addColumn<bool>("streams");
        QTest::addColumn<int>("tokens");
        QTest::newRow("a stream") << true << 0;
        QTest::newRow("a whole answer") << false << 0;
        QTest::newRow("a whole answer, while it is being written") << false << 1'000'000'000;
    }

    void aTurnEndsWhenItsClientGoes()
    {
        QFETCH(bool, streams);
        QFETCH(int, tokens);
        auto owned = std::make_unique<GateEngine>();
        GateEngine& engine = *owned;
        const RunningServer server(std::move(owned));
        {
            Client client(server.port());
            const auto body = QJsonDocument(question("left", {{"stream", streams}})).toJson(QJsonDocument::Compact);
            client.say(Client::request("POST", kChat, body));
            QVERIFY(engine.wait([&] { return engine.running == "left"; }));
            engine.allow(tokens);
        }
        QVERIFY(engine.wait([&] { return engine.ended_turns == "left;"; }));
        engine.finish_all();
        QCOMPARE(server.post(kChat, question("next")).status, 200);
    }

    void turnsWaitInLineAndNoMoreThanMay()
    {
        auto owned = std::make_unique<GateEngine>();
        GateEngine& engine = *owned;
        server::ServerOptions options;
        options.desk.turns = 1;
        options.desk.waiting = 2;
        const RunningServer server(std::move(owned), options);
        std::list<Client> clients;
        for (const char* name : {"first", "second", "third"}) {
            Client& client = clients.emplace_back(server.port());
            const auto body = QJsonDocument(question(name, {{"stream", true}})).toJson(QJsonDocument::Compact);
            client.say(Client::request("POST", kChat, body));
            if (clients.size() == 1)
                QVERIFY(engine.wait([&] { return engine.running == "first"; }));
        }
        QTRY_VERIFY_WITH_TIMEOUT(server.get("/metrics").body.contains("\nspillway_turns_waiting 2\n"),
                                 server_test::kPatience_ms);
        const Answer refused = server.post(kChat, question("fourth"));
        QCOMPARE(refused.status, 503);
        QVERIFY(refused.header("Retry-After").toInt() > 0);
        engine.finish_all();
        for (Client& client : clients)
            QCOMPARE(client.answer().events().last(), QByteArray("[DONE]"));
        QVERIFY(engine.ended_turns.starts_with("first;"));
    }

    void whoeverWaitsForTheEngineIsToldItLives()
    {
        auto owned = std::make_unique<GateEngine>();
        GateEngine& engine = *owned;
        const RunningServer server(std::move(owned));
        Client client(server.port());
        client.say(Client::request("POST", kChat, QJsonDocument(question("x", {{"stream", true}})).toJson()));
        QVERIFY(client.heard_until("assistant").contains("200 OK"));
        engine.allow(1);
        QVERIFY(client.heard_until("\"a\"").contains("\"content\":\"a\""));
        engine.finish_all();
        client.answer();
    }

    void stoppingLetsTurnsFinish()
    {
        auto owned = std::make_unique<GateEngine>();
        GateEngine& engine = *owned;
        server::ServerOptions options;
        options.grace = std::chrono::milliseconds(server_test::kPatience_ms);
        auto server = std::make_unique<RunningServer>(std::move(owned), options);
        Client client(server->port());
        client.say(Client::request("POST", kChat, QJsonDocument(question("x")).toJson()));
        QVERIFY(engine.wait([&] { return engine.running == "x"; }));
        std::jthread stopping([&] { server.reset(); });
        engine.allow(3);
        QVERIFY(engine.wait([&] { return engine.allowed == 0; }));
        engine.finish_all();
        const auto answer = client.answer();
        QCOMPARE(first_choice(answer.json())["message"].toObject()["content"].toString(), QString("aaa"));
        stopping.join();
    }

    // What has come of an answer is not to be taken for the whole.
    void stoppingBreaksOffTurnsThatDoNotFinish_data()
    {
        QTest::addColumn<bool>("streams");
        QTest::newRow("whole") << false;
        QTest::newRow("stream") << true;
    }
    void stoppingBreaksOffTurnsThatDoNotFinish()
    {
        QFETCH(bool, streams);
        auto owned = std::make_unique<GateEngine>();
        GateEngine& engine = *owned;
        server::ServerOptions options;
        options.grace = std::chrono::milliseconds(50);
        auto server = std::make_unique<RunningServer>(std::move(owned), options);
        Client client(server->port());
        client.say(Client::request("POST", kChat, QJsonDocument(question("x", {{"stream", streams}})).toJson()));
        QVERIFY(engine.wait([&] { return engine.running == "x"; }));
        engine.allow(2);
        if (streams)
            QVERIFY(client.heard_until("\"a\"").contains("\"content\":\"a\""));
        server.reset();
        const auto answer = client.answer();
        QCOMPARE(answer.status, streams ? 200 : 503);
        QVERIFY2(answer.body.contains("broken off"), answer.body.constData());
        QVERIFY2(!answer.body.contains("\"finish_reason\":\"stop\"") && !answer.body.contains("[DONE]"),
                 answer.body.constData());
    }

    void conversationsAreNotKeptWithoutEnd()
    {
        auto owned = std::make_unique<GateEngine>();
        GateEngine& engine = *owned;
        engine.finish_all();
        server::ServerOptions options;
        options.desk.conversations = 3;
        const RunningServer server(std::move(owned), options);
        for (const char* name : {"a", "b", "c", "d", "e"})
            QCOMPARE(server.post(kChat, question(name)).status, 200);
        QCOMPARE(engine.sequences, 5);
        QCOMPARE(engine.ended, 2);
    }

private:
    RunningServer guide_;
};

SPILLWAY_TEST(QCoreApplication, TestServer)
#include "tst_server.moc"
