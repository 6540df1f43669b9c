// Tests that a request's tools reach the template, and that the model's call reaches each API's client.
#include "app/server/dialect.h"
#include "app/server/openai_fields.h"
#include "tests/app/server/running_server.h"
#include "tests/support/chain_model.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QJsonArray>
#include <QTemporaryDir>

using server_test::RunningServer;
using support::ChainModel;

namespace {

constexpr const char* kCall = R"({"name":"weather","arguments":{"city":"Rome"}})";
constexpr const char* kTemplate =
    "{% if tools %}has {{ tools[0].function.name }}{% endif %}"
    "{% for m in messages %}<|turn|>{{ m.role }} {{ m.content }}"
    "{% for c in m.tool_calls %}[{{ c.function.name }} {{ c.function.arguments.city }}]{% endfor %}"
    "{% if m.name %}({{ m.name }}){% endif %}<|over|>{% endfor %}<|go|>";

QJsonObject parsed(const char* json)
{
    return QJsonDocument::fromJson(json).object();
}

QJsonArray question()
{
    return {QJsonObject{{"role", "user"}, {"content", "a"}}};
}

QJsonArray openai_tools()
{
    return {QJsonObject{{"type", "function"},
                        {"function", parsed(R"({"name": "weather", "parameters": {"type": "object"}})")}},
            QJsonObject{{"type", "web_search"}}};
}

QJsonArray anthropic_tools()
{
    return {parsed(R"({"name": "weather", "input_schema": {"type": "object"}})"),
            parsed(R"({"type": "web_search_20250305", "name": "web_search"})")};
}

/// Returns an object in brackets, which stands for the arguments of a call.
QString bracketed(const QJsonValue& arguments)
{
    return '[' + QString::fromUtf8(QJsonDocument(arguments.toObject()).toJson(QJsonDocument::Compact)) + ']';
}

/// Returns the text of an answer by Ollama's API, whole or a stream, with the calls where they come.
QString words_by_ollama(const server_test::Answer& answer)
{
    QString words;
    for (const QByteArray& line : answer.body.split('\n')) {
        const auto message = QJsonDocument::fromJson(line).object()["message"].toObject();
        words += message["content"].toString();
        for (const QJsonValue call : message["tool_calls"].toArray())
            words += bracketed(call.toObject()["function"].toObject()["arguments"]);
    }
    return words;
}

/// Does the same for an answer by Anthropic's API that is whole, and adds why it ended.
QString words_by_anthropic(const server_test::Answer& answer)
{
    QString words;
    for (const QJsonValue value : answer.json()["content"].toArray()) {
        const auto part = value.toObject();
        words += part["type"] == "tool_use" ? bracketed(part["input"]) : part["text"].toString();
    }
    return words + ' ' + answer.json()["stop_reason"].toString();
}

}  // namespace

class TestToolCalls : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        const auto path = std::filesystem::path(folder_.filePath("calls.gguf").toStdString());
        ChainModel({"<tool_call>", "</tool_call>"}, {kCall})
            .says({ChainModel::kGo, "x", "<tool_call>", kCall, "</tool_call>", "</s>"})
            .chat_template(kTemplate)
            .save(path);
        engine::LoadRequest load;
        load.model = path;
        server_ = std::make_unique<RunningServer>(engine::make_engine(), server::ServerOptions(), load);
    }

    void openAisClientsGetACall()
    {
        QJsonObject body{{"messages", question()}, {"tools", openai_tools()}, {"temperature", 0}};
        const auto json = server_->post("/v1/chat/completions", body).json();
        const auto choice = json["choices"].toArray().first().toObject();
        const auto message = choice["message"].toObject();
        QCOMPARE(choice["finish_reason"].toString(), QString("tool_calls"));
        QCOMPARE(message["content"].toString(), QString("x"));
        const auto call = message["tool_calls"].toArray().first().toObject();
        QCOMPARE(call["function"].toObject()["name"].toString(), QString("weather"));
        QCOMPARE(call["function"].toObject()["arguments"].toString(), QString(R"({"city":"Rome"})"));
        QCOMPARE(call["id"].toString().size(), 9);

        body["stream"] = true;
        QString name, arguments, reason;
        for (const QByteArray& event : server_->post("/v1/chat/completions", body).events()) {
            const auto part = QJsonDocument::fromJson(event).object()["choices"].toArray().first().toObject();
            const auto piece = part["delta"].toObject()["tool_calls"].toArray().first().toObject();
            QCOMPARE(piece["index"].toInt(), 0);
            name += piece["function"].toObject()["name"].toString();
            arguments += piece["function"].toObject()["arguments"].toString();
            reason += part["finish_reason"].toString();
        }
        QCOMPARE(name, QString("weather"));
        QCOMPARE(arguments, QString(R"({"city":"Rome"})"));
        QCOMPARE(reason, QString("tool_calls"));
    }

    void withoutToolsNothingIsACall()
    {
        for (const QJsonObject& more :
             {QJsonObject(), QJsonObject{{"tools", openai_tools()}, {"tool_choice", "none"}}}) {
            QJsonObject body = more;
            body["messages"] = question();
            body["temperature"] = 0;
            const auto choice =
                server_->post("/v1/chat/completions", body).json()["choices"].toArray().first().toObject();
            QCOMPARE(choice["message"].toObject()["content"].toString(),
                     QString("x<tool_call>") + kCall + "</tool_call>");
            QCOMPARE(choice["finish_reason"].toString(), QString("stop"));
        }
    }

    void anthropicsClientsGetACall()
    {
        QJsonObject body{
            {"messages", question()}, {"tools", anthropic_tools()}, {"temperature", 0}, {"max_tokens", 20}};
        const auto json = server_->post("/v1/messages", body).json();
        QCOMPARE(json["stop_reason"].toString(), QString("tool_use"));
        const auto use = json["content"].toArray().last().toObject();
        QCOMPARE(use["type"].toString(), QString("tool_use"));
        QCOMPARE(use["input"].toObject()["city"].toString(), QString("Rome"));
        body["stream"] = true;
        QStringList kinds;
        QString input;
        for (const QByteArray& event : server_->post("/v1/messages", body).events()) {
            const auto part = QJsonDocument::fromJson(event).object();
            if (part["type"] == "content_block_start")
                kinds.append(part["content_block"].toObject()["type"].toString());
            input += part["delta"].toObject()["partial_json"].toString();
        }
        QCOMPARE(kinds, QStringList({"text", "tool_use"}));
        QCOMPARE(input, QString(R"({"city":"Rome"})"));
    }

    void ollamasClientsGetACall()
    {
        QJsonObject body{{"messages", question()},
                         {"tools", openai_tools()},
                         {"stream", false},
                         {"options", QJsonObject{{"temperature", 0}}}};
        const auto message = server_->post("/api/chat", body).json()["message"].toObject();
        const auto whole_call = message["tool_calls"].toArray().first().toObject();
        QVERIFY(!whole_call["id"].toString().isEmpty());  // without which Zed reads no answer
        const auto call = whole_call["function"].toObject();
        QCOMPARE(call["index"], QJsonValue(0));
        QCOMPARE(call["arguments"].toObject()["city"].toString(), QString("Rome"));
        QVERIFY(server_->post("/api/show", {}).json()["capabilities"].toArray().contains("tools"));
    }

    // A client would execute such a call without arguments.
    void argumentsThatAreNoJsonAreReadOrSaidAsText_data()
    {
        QTest::addColumn<QByteArray>("arguments");
        QTest::addColumn<QString>("words");
        QTest::addColumn<QString>("reason");
        const auto row = [](const char* name, const char* arguments, const char* words, const char* reason) {
            QTest::newRow(name) << QByteArray(arguments) << QString(words) << QString(reason);
        };
        row("JSON", R"({"city":"Rome"})", R"(x[{"city":"Rome"}])", "tool_use");
        row("a line break in a text", "{\"city\":\"Ro\nme\"}", R"(x[{"city":"Ro\nme"}])", "tool_use");
        row("backslashes of a path", R"({"city":"C:\Users\x"})", R"(x[{"city":"C:\\Users\\x"}])", "tool_use");
        row("Python's quotes", R"({"city":'Rome'})", R"(x[{"city":"Rome"}])", "tool_use");
        row("a colon left out", R"({"city" "Rome"})", "x\n{\"name\":\"weather\",\"arguments\":{\"city\" \"Rome\"}}",
            "end_turn");
        row("a quote left out", "{\"city\":\"Rome}",
            "x\n{\"name\":\"weather\",\"arguments\":{\"city\":\"Rome}}</tool_call>}", "end_turn");
    }

    void argumentsThatAreNoJsonAreReadOrSaidAsText()
    {
        QFETCH(QByteArray, arguments);
        QFETCH(QString, words);
        QFETCH(QString, reason);
        const std::string call = R"({"name":"weather","arguments":)" + arguments.toStdString() + '}';
        engine::LoadRequest load;
        load.model = folder_.filePath("no_json.gguf").toStdString();
        ChainModel({"<tool_call>", "</tool_call>"}, {call})
            .says({ChainModel::kGo, "x", "<tool_call>", call, "</tool_call>", "</s>"})
            .chat_template(kTemplate)
            .save(load.model);
        const RunningServer server(engine::make_engine(), {}, load);
        const QJsonObject greedy{{"temperature", 0}};
        QJsonObject body{{"messages", question()}, {"tools", openai_tools()}, {"options", greedy}};
        QCOMPARE(words_by_ollama(server.post("/api/chat", body)), words);
        body["stream"] = false;
        QCOMPARE(words_by_ollama(server.post("/api/chat", body)), words);
        body = {{"messages", question()}, {"tools", anthropic_tools()}, {"temperature", 0}, {"max_tokens", 20}};
        QCOMPARE(words_by_anthropic(server.post("/v1/messages", body)), words + ' ' + reason);
    }

    // Whole or not, since a stream cannot be mended later.
    void lineBreaksInArgumentsAreEscapedForAll()
    {
        engine::LoadRequest load;
        load.model = folder_.filePath("lines.gguf").toStdString();
        const std::string head = "{\"name\":\"weather\",\"arguments\":{\n\"city\":\"Ro", end = "me\\n\"}}";
        ChainModel({"<tool_call>", "</tool_call>"}, {head, "\n", end})
            .says({ChainModel::kGo, "<tool_call>", head, "\n", end, "</tool_call>", "</s>"})
            .chat_template(kTemplate)
            .save(load.model);
        const RunningServer server(engine::make_engine(), {}, load);
        const QString expected = "{\n\"city\":\"Ro\\nme\\n\"}";
        QJsonObject body{{"messages", question()}, {"tools", openai_tools()}, {"temperature", 0}, {"max_tokens", 20}};
        const auto choice = server.post("/v1/chat/completions", body).json()["choices"].toArray().first().toObject();
        const auto call = choice["message"].toObject()["tool_calls"].toArray().first().toObject();
        QCOMPARE(call["function"].toObject()["arguments"].toString(), expected);
        body["stream"] = true;
        QString streamed;
        for (const QByteArray& event : server.post("/v1/chat/completions", body).events()) {
            const auto part = QJsonDocument::fromJson(event).object()["choices"].toArray().first().toObject();
            const auto piece = part["delta"].toObject()["tool_calls"].toArray().first().toObject();
            streamed += piece["function"].toObject()["arguments"].toString();
        }
        QCOMPARE(streamed, expected);
        streamed.clear();
        body["tools"] = anthropic_tools();
        for (const QByteArray& event : server.post("/v1/messages", body).events())
            streamed += QJsonDocument::fromJson(event).object()["delta"].toObject()["partial_json"].toString();
        QCOMPARE(streamed, expected);
    }

    void theTemplateGetsToolsCallsAndResults()
    {
        const QJsonObject function{{"name", "weather"}, {"arguments", R"({"city": "Rome"})"}};
        const QJsonArray calls{QJsonObject{{"id", "1"}, {"type", "function"}, {"function", function}}};
        QJsonArray messages = question();
        messages.append(QJsonObject{{"role", "assistant"}, {"content", QJsonValue()}, {"tool_calls", calls}});
        messages.append(QJsonObject{{"role", "tool"}, {"tool_call_id", "1"}, {"content", "sun"}});
        const QJsonObject body{{"messages", messages}, {"tools", openai_tools()}};
        const QString expected = "has weather<|turn|>user a<|over|><|turn|>assistant [weather Rome]<|over|>"
                                 "<|turn|>tool sun(weather)<|over|><|go|>";
        QCOMPARE(server_->post("/apply-template", body).json()["prompt"].toString(), expected);
        // What the engine makes of it is as long as what the template says.
        const auto usage = server_->post("/v1/chat/completions", body).json()["usage"].toObject();
        const auto alone = server_->post("/v1/chat/completions", {{"messages", question()}}).json()["usage"].toObject();
        QVERIFY(usage["prompt_tokens"].toInt() > alone["prompt_tokens"].toInt() + int(strlen("has weather")));
    }

    // As Home Assistant sends Ollama's. Templates ask for ids and names nevertheless.
    void resultsWithoutIdsAreThoseOfTheCallsInTurn()
    {
        const server::Json body = server::Json::parse(R"({"messages": [{"role": "user", "content": "a"},
            {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}},
                {"function": {"name": "g", "arguments": {}}}, {"function": {"name": "h", "arguments": {}}}]},
            {"role": "tool", "content": "1"}, {"role": "tool", "content": "3", "tool_name": "h"},
            {"role": "tool", "content": "2"}, {"role": "tool", "content": "of none"},
            {"role": "assistant", "tool_calls": [{"id": "x", "function": {"name": "f"}}, {"id": "", "function": {"name": "g"}}]},
            {"role": "tool", "tool_call_id": "x", "content": "4"}, {"role": "tool", "content": "5"}]})");
        server::Fields fields(body);
        engine::Request turn;
        server::read_messages(fields, turn);
        QStringList whose;
        for (const engine::Message& message : turn.messages)
            if (message.role == "tool")
                whose.append(QString::fromStdString(message.text + message.more_json));
        QCOMPARE(
            whose,
            QStringList({R"(1{"tool_call_id":"call00000","name":"f"})", R"(3{"tool_call_id":"call00002","name":"h"})",
                         R"(2{"tool_call_id":"call00001","name":"g"})", "of none",
                         R"(4{"tool_call_id":"x","name":"f"})", R"(5{"tool_call_id":"call00004","name":"g"})"}));
        const auto calls = server::Json::parse(turn.messages[1].more_json)["tool_calls"];
        QCOMPARE(calls[2]["id"].get<std::string>(), std::string("call00002"));
    }

    // The function that writes JSON calls itself for each level of nesting.
    void argumentsThatAreNestedTooDeeplyStayText()
    {
        const QString deep = R"({"a":)" + QString("[").repeated(100'000) + QString("]").repeated(100'000) + '}';
        const QJsonObject call{
            {"id", "1"}, {"type", "function"}, {"function", QJsonObject{{"name", "weather"}, {"arguments", deep}}}};
        QJsonArray messages = question();
        messages.append(QJsonObject{{"role", "assistant"}, {"content", ""}, {"tool_calls", QJsonArray{call}}});
        messages.append(QJsonObject{{"role", "tool"}, {"tool_call_id", "1"}, {"content", "sun"}});
        const QString expected = "<|turn|>user a<|over|><|turn|>assistant [weather ]<|over|>"
                                 "<|turn|>tool sun(weather)<|over|><|go|>";
        const auto answer = server_->post("/apply-template", {{"messages", messages}});
        QCOMPARE(answer.json()["prompt"].toString(), expected);
        for (const char* path : {"/v1/chat/completions", "/api/chat"})
            QCOMPARE(server_->post(path, {{"messages", messages}, {"stream", false}}).status, 200);
    }

    // The names of an object are compared with each other, which takes too long for many of them: in one body, and as
    // well in many of its texts together.
    void argumentsOfManyMembersStayTextInTheEnd()
    {
        std::string many = "{\"0\":0";
        for (int i = 1; i < 5000; ++i)
            many += ",\"" + std::to_string(i) + "\":0";
        server::Json calls = server::Json::array();
        for (const std::string& arguments : {many + '}', many + '}', many + '}', std::string(R"({"city":1})")})
            calls.push_back({{"id", "1"}, {"function", {{"name", "f"}, {"arguments", arguments}}}});
        const server::Json body = {{"messages", {{{"role", "assistant"}, {"tool_calls", calls}}}}};
        server::Fields fields(body);
        engine::Request turn;
        server::read_messages(fields, turn);
        const server::Json taken = server::Json::parse(turn.messages.back().more_json)["tool_calls"];
        const auto members = [&](std::size_t call) { return taken[call]["function"]["arguments"].size(); };
        QCOMPARE(members(0), std::size_t(5000));
        QCOMPARE(members(1), std::size_t(5000));
        QCOMPARE(taken[2]["function"]["arguments"]["text"].get<std::string>(), many + '}');
        QCOMPARE(taken[3]["function"]["arguments"]["city"].get<int>(), 1);
        // The same holds for what a model writes.
        std::string more = many;
        for (int i = 5000; i < 9000; ++i)
            more += ",\"" + std::to_string(i) + "\":0";
        QVERIFY(server::arguments_as_object(many + '}').has_value());
        QVERIFY(!server::arguments_as_object(more + '}').has_value());
    }

    // Looking for each call's name through all messages before would take a minute.
    void manyResultsFindTheirCallsAtOnce()
    {
        server::Json calls = server::Json::array(), messages = {{{"role", "user"}, {"content", "a"}}};
        for (int i = 0; i < 4000; ++i)
            calls.push_back(
                {{"id", std::to_string(i)}, {"function", {{"name", "f" + std::to_string(i)}, {"arguments", "{}"}}}});
        messages.push_back({{"role", "assistant"}, {"tool_calls", calls}});
        for (int i = 0; i < 4000; ++i)
            messages.push_back({{"role", "tool"}, {"tool_call_id", std::to_string(i)}, {"content", "sun"}});
        const server::Json body = {{"messages", messages}};
        QElapsedTimer timer;
        timer.start();
        server::Fields fields(body);
        engine::Request turn;
        server::read_messages(fields, turn);
        QVERIFY2(timer.elapsed() < 3000, qPrintable(QString::number(timer.elapsed())));
        QCOMPARE(turn.messages.back().more_json, std::string(R"({"tool_call_id":"3999","name":"f3999"})"));
    }

    // What is around such calls would be hidden otherwise.
    void callsInControlTokensAreSeen_data()
    {
        QTest::addColumn<QStringList>("control");
        QTest::addColumn<QStringList>("words");
        QTest::newRow("Gemma 4") << QStringList{"<|tool_call>", "<tool_call|>", "<|tool_response>"}
                                 << QStringList{"<|tool_call>", "call:weather{city:'Rome'}", "<tool_call|>",
                                                "<|tool_response>"};
        QTest::newRow("gpt-oss") << QStringList{"<|channel|>", "<|constrain|>", "<|message|>", "<|call|>"}
                                 << QStringList{"<|channel|>",   "commentary\u2581to=functions.weather\u2581",
                                                "<|constrain|>", "json",
                                                "<|message|>",   R"({"city":"Rome"})",
                                                "<|call|>"};
        QTest::newRow("LFM2") << QStringList{"<|tool_call_start|>", "<|tool_call_end|>"}
                              << QStringList{"<|tool_call_start|>", "[weather(city='Rome')]", "<|tool_call_end|>",
                                             "</s>"};
        QTest::newRow("DeepSeek")
            << QStringList{"<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>",
                           "<｜tool▁calls▁end｜>"}
            << QStringList{
                   "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "weather", "<｜tool▁sep｜>", R"({"city":"Rome"})",
                   "<｜tool▁call▁end｜>",    "<｜tool▁calls▁end｜>",  "</s>"};
    }

    void callsInControlTokensAreSeen()
    {
        QFETCH(QStringList, control);
        QFETCH(QStringList, words);
        std::vector<std::string> tokens, normal, says = {ChainModel::kGo};
        for (const QString& word : words) {
            says.push_back(word.toStdString());
            if (word != "</s>" && !control.contains(word))
                normal.push_back(word.toStdString());
        }
        for (const QString& token : control)
            tokens.push_back(token.toStdString());
        engine::LoadRequest load;
        load.model = folder_.filePath("family.gguf").toStdString();
        ChainModel(tokens, normal).says(says).chat_template(kTemplate).save(load.model);
        const RunningServer server(engine::make_engine(), {}, load);
        const QJsonObject body{
            {"messages", question()}, {"tools", openai_tools()}, {"temperature", 0}, {"max_tokens", 20}};
        const auto choice = server.post("/v1/chat/completions", body).json()["choices"].toArray().first().toObject();
        QCOMPARE(choice["finish_reason"].toString(), QString("tool_calls"));
        const auto message = choice["message"].toObject();
        QVERIFY(message["content"].isNull());
        const auto call = message["tool_calls"].toArray().first().toObject()["function"].toObject();
        QCOMPARE(call["name"].toString(), QString("weather"));
        QCOMPARE(call["arguments"].toString(), QString(R"({"city":"Rome"})"));
    }

    // What clients wait for in long calls.
    void argumentsComeInPieces()
    {
        engine::LoadRequest load;
        load.model = folder_.filePath("pieces.gguf").toStdString();
        const std::string head = "{\"name\":\"weather\",\"arguments\":{\"city\":\"", end = "\"}}";
        ChainModel({"<tool_call>", "</tool_call>"}, {head, end})
            .says({ChainModel::kGo, "x", "<tool_call>", head, "r", "o", "m", "e", end, "</tool_call>", "</s>"})
            .chat_template(kTemplate)
            .save(load.model);
        const RunningServer server(engine::make_engine(), {}, load);
        QJsonObject body{{"messages", question()}, {"tools", openai_tools()}, {"temperature", 0}, {"stream", true}};
        const QStringList expected{"{\"city\":\"", "r", "o", "m", "e", "\"}"};
        QStringList pieces;
        for (const QByteArray& event : server.post("/v1/chat/completions", body).events()) {
            const auto part = QJsonDocument::fromJson(event).object()["choices"].toArray().first().toObject();
            const auto piece = part["delta"].toObject()["tool_calls"].toArray().first().toObject();
            QCOMPARE(piece["index"].toInt(), 0);
            QCOMPARE(piece.contains("id"), piece["function"].toObject().contains("name"));
            if (const QString more = piece["function"].toObject()["arguments"].toString(); !more.isEmpty())
                pieces.append(more);
        }
        QCOMPARE(pieces, expected);

        pieces.clear();
        QJsonArray flat{QJsonObject{{"type", "function"}, {"name", "weather"}, {"parameters", QJsonObject()}}};
        QString done;
        for (const QByteArray& event :
             server.post("/v1/responses", {{"input", "a"}, {"tools", flat}, {"temperature", 0}, {"stream", true}})
                 .events()) {
            const auto part = QJsonDocument::fromJson(event).object();
            if (part["type"] == "response.function_call_arguments.delta")
                pieces.append(part["delta"].toString());
            if (part["type"] == "response.function_call_arguments.done")
                done = part["arguments"].toString();
        }
        QCOMPARE(pieces, expected);
        QCOMPARE(done, expected.join(QString()));

        pieces.clear();
        body["max_tokens"] = 20;
        body["tools"] = QJsonArray{QJsonObject{{"name", "weather"}, {"input_schema", QJsonObject()}}};
        for (const QByteArray& event : server.post("/v1/messages", body).events()) {
            const auto part = QJsonDocument::fromJson(event).object();
            if (part["delta"].toObject()["type"] == "input_json_delta")
                pieces.append(part["delta"].toObject()["partial_json"].toString());
        }
        QCOMPARE(pieces, expected);

        // Cut off within a call: OpenAI's clients get what there is, where an object would be another call there is
        // none.
        body["stream"] = false;
        body["max_tokens"] = 5;
        const auto content = server.post("/v1/messages", body).json();
        QCOMPARE(content["stop_reason"].toString(), QString("max_tokens"));
        QCOMPARE(content["content"].toArray().size(), 1);
        body["tools"] = openai_tools();
        const auto choice = server.post("/v1/chat/completions", body).json()["choices"].toArray().first().toObject();
        QCOMPARE(choice["finish_reason"].toString(), QString("length"));
        const auto call =
            choice["message"].toObject()["tool_calls"].toArray().first().toObject()["function"].toObject();
        QCOMPARE(call["arguments"].toString(), QString("{\"city\":\"ro"));
        const QJsonObject options{{"temperature", 0}, {"num_predict", 5}};
        const auto message =
            server.post("/api/chat",
                        {{"messages", question()}, {"tools", openai_tools()}, {"stream", false}, {"options", options}});
        QVERIFY(!message.json()["message"].toObject().contains("tool_calls"));

        // Who says it again is heard, whatever a template does with it.
        QJsonArray messages = question();
        messages.append(QJsonObject{{"role", "assistant"}, {"tool_calls", choice["message"].toObject()["tool_calls"]}});
        messages.append(QJsonObject{{"role", "user"}, {"content", "a"}});
        QCOMPARE(server.post("/v1/chat/completions", {{"messages", messages}, {"max_tokens", 1}}).status, 200);
    }

    void thoughtsAreApart()
    {
        const auto path = std::filesystem::path(folder_.filePath("thought.gguf").toStdString());
        ChainModel({"[THINK]", "[/THINK]"})
            .says({"[THINK]", "a", "[/THINK]", "b", "</s>"})
            .chat_template("{% for m in messages %}<|turn|>{{ m.content }}<|over|>{% endfor %}<|go|>[THINK]")
            .save(path);
        engine::LoadRequest load;
        load.model = path;
        const RunningServer server(engine::make_engine(), {}, load);
        QJsonObject body{{"messages", question()}, {"temperature", 0}, {"max_tokens", 20}};
        const auto choice = server.post("/v1/chat/completions", body).json()["choices"].toArray().first().toObject();
        QCOMPARE(choice["message"].toObject()["reasoning_content"].toString(), QString("a"));
        QCOMPARE(choice["message"].toObject()["content"].toString(), QString("b"));
        const auto content = server.post("/v1/messages", body).json()["content"].toArray();
        QCOMPARE(content.first().toObject()["thinking"].toString(), QString("a"));
        QCOMPARE(content.last().toObject()["text"].toString(), QString("b"));
        // In a stream each piece belongs to the block that was opened last.
        body["stream"] = true;
        int open = -1;
        for (const QByteArray& event : server.post("/v1/messages", body).events()) {
            const auto part = QJsonDocument::fromJson(event).object();
            if (part["type"] == "content_block_start")
                QCOMPARE(part["index"].toInt(), ++open);
            else if (part["type"] == "content_block_delta")
                QCOMPARE(part["index"].toInt(), open);
        }
        QCOMPARE(open, 1);
    }

    // llama-server's reasoning_format: the answer is what the model wrote, and a call is a call all the same.
    void thoughtsInTheTextHideNoCall()
    {
        engine::LoadRequest load;
        load.model = folder_.filePath("both.gguf").toStdString();
        ChainModel({"<think>", "</think>", "<tool_call>", "</tool_call>"}, {kCall})
            .says({ChainModel::kGo, "<think>", "a", "</think>", "x", "<tool_call>", kCall, "</tool_call>", "</s>"})
            .chat_template(kTemplate)
            .save(load.model);
        const RunningServer server(engine::make_engine(), {}, load);
        const QJsonObject body{{"messages", question()},
                               {"tools", openai_tools()},
                               {"temperature", 0},
                               {"max_tokens", 20},
                               {"reasoning_format", "none"}};
        const auto json = server.post("/v1/chat/completions", body).json();
        const auto choice = json["choices"].toArray().first().toObject();
        const auto message = choice["message"].toObject();
        QCOMPARE(message["content"].toString(), QString("<think>a</think>x"));
        QVERIFY(!message.contains("reasoning_content"));
        QCOMPARE(message["tool_calls"].toArray().size(), 1);
        QCOMPARE(choice["finish_reason"].toString(), QString("tool_calls"));
        const auto details = json["usage"].toObject()["completion_tokens_details"].toObject();
        QCOMPARE(details["reasoning_tokens"].toInt(), 3);
    }

    // The mark that a template writes itself is no token of the answer.
    void aThoughtThatTheTemplateOpensHasItsOwnTokensOnly()
    {
        engine::LoadRequest load;
        load.model = folder_.filePath("opened.gguf").toStdString();
        ChainModel({"<think>", "</think>"})
            .says({"<think>", "a", "</think>", "x", "</s>"})
            .chat_template("{% for m in messages %}<|turn|>{{ m.content }}<|over|>{% endfor %}<|go|><think>")
            .save(load.model);
        const RunningServer server(engine::make_engine(), {}, load);
        const auto json =
            server.post("/v1/chat/completions", {{"messages", question()}, {"temperature", 0}, {"max_tokens", 20}})
                .json();
        const auto message = json["choices"].toArray().first().toObject()["message"].toObject();
        QCOMPARE(message["reasoning_content"].toString(), QString("a"));
        QCOMPARE(message["content"].toString(), QString("x"));
        const auto details = json["usage"].toObject()["completion_tokens_details"].toObject();
        QCOMPARE(details["reasoning_tokens"].toInt(), 2);  // a, </think>
    }

    void toolsThatAreNoneAreRefused()
    {
        QJsonObject body{{"messages", question()}};
        for (const QJsonValue& bad : {QJsonValue("x"), QJsonValue(QJsonArray{QJsonObject{{"type", "function"}}})}) {
            body["tools"] = bad;
            QCOMPARE(server_->post("/v1/chat/completions", body).status, 400);
        }
    }

private:
    QTemporaryDir folder_;
    std::unique_ptr<RunningServer> server_;
};

SPILLWAY_TEST(QCoreApplication, TestToolCalls)
#include "tst_tool_calls.moc"
