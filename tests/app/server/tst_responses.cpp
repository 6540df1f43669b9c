// Tests that clients of OpenAI's Responses API get its items and events in their order, and can go on from a kept
// response.
#include "app/server/kept_responses.h"
#include "app/server/openai_responses.h"
#include "tests/app/server/running_server.h"
#include "tests/support/chain_model.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QJsonArray>
#include <QTemporaryDir>

using server_test::Answer;
using server_test::RunningServer;

namespace {

constexpr const char* kResponses = "/v1/responses";
constexpr const char* kResponsesCall = R"({"name":"weather","arguments":{"city":"Rome"}})";

QJsonObject parsed_body(const QByteArray& json)
{
    return QJsonDocument::fromJson(json).object();
}

/// Returns what the dialect asks of the engine.
tl::expected<server::Asked, server::Refusal> read_by(const server::OpenAiResponses& dialect, const QByteArray& body)
{
    const server::Served served{"m", {}, nullptr};
    return dialect.read(*server::parse_body(body.toStdString()), served);
}

/// role: text; and what an assistant thought and called.
QString messages_of(const engine::Request& turn)
{
    QStringList all;
    for (const engine::Message& m : turn.messages)
        all.append(QString::fromStdString(m.role + ": " + m.text +
                                          (m.reasoning.empty() ? "" : " (" + m.reasoning + ")") + m.more_json));
    return all.join('|');
}

}  // namespace

class TestResponses : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        const auto path = std::filesystem::path(folder_.filePath("calls.gguf").toStdString());
        support::ChainModel({"<think>", "</think>", "<tool_call>", "</tool_call>"}, {kResponsesCall})
            .says({support::ChainModel::kGo, "<think>", "a", "</think>", "x", "<tool_call>", kResponsesCall,
                   "</tool_call>", "</s>"})
            .save(path);
        engine::LoadRequest load;
        load.model = path;
        server_ = std::make_unique<RunningServer>(engine::make_engine(), server::ServerOptions(), load);
    }

    void anAnswerHasItsItems()
    {
        const auto json = server_->post(kResponses, asking()).json();
        QCOMPARE(json["object"].toString(), QString("response"));
        QCOMPARE(json["status"].toString(), QString("completed"));
        QVERIFY(json["error"].isNull());
        const auto output = json["output"].toArray();
        QCOMPARE(output.size(), 3);
        QCOMPARE(output[0]["type"].toString(), QString("reasoning"));
        QCOMPARE(output[0]["content"][0]["text"].toString(), QString("a"));
        QCOMPARE(output[1]["type"].toString(), QString("message"));
        QCOMPARE(output[1]["content"][0]["type"].toString(), QString("output_text"));
        QCOMPARE(output[1]["content"][0]["text"].toString(), QString("x"));
        QCOMPARE(output[2]["type"].toString(), QString("function_call"));
        QCOMPARE(output[2]["name"].toString(), QString("weather"));
        QCOMPARE(output[2]["arguments"].toString(), QString(R"({"city":"Rome"})"));
        for (const auto& item : output)
            QCOMPARE(item.toObject()["status"].toString(), QString("completed"));
        const auto usage = json["usage"].toObject();
        QVERIFY(usage["input_tokens"].toInt() > 0);
        QCOMPARE(usage["total_tokens"].toInt(), usage["input_tokens"].toInt() + usage["output_tokens"].toInt());
        // <think>, a, </think>
        QCOMPARE(usage["output_tokens_details"].toObject()["reasoning_tokens"].toInt(), 3);
    }

    void theEventsComeInTheirOrder()
    {
        QJsonObject body = asking();
        body["stream"] = true;
        const Answer stream = server_->post(kResponses, body);
        QStringList types;
        QJsonObject last;
        QString text, thought, arguments;
        for (const QByteArray& event : stream.events()) {
            last = parsed_body(event);
            const QString type = last["type"].toString();
            QVERIFY(stream.body.contains("event: " + type.toUtf8() + '\n'));
            QCOMPARE(last["sequence_number"].toInt(), int(types.size()));
            types.append(type.mid(qstrlen("response.")));
            const QString delta = last["delta"].toString();
            (type.contains("arguments") ? arguments : type.contains("reasoning") ? thought : text) += delta;
        }
        QCOMPARE(types.join(' '),
                 QString("created in_progress "
                         "output_item.added content_part.added reasoning_text.delta reasoning_text.done "
                         "content_part.done output_item.done "
                         "output_item.added content_part.added output_text.delta output_text.done "
                         "content_part.done output_item.done "
                         "output_item.added function_call_arguments.delta function_call_arguments.done "
                         "output_item.done completed"));
        QCOMPARE(thought, QString("a"));
        QCOMPARE(text, QString("x"));
        QCOMPARE(arguments, QString(R"({"city":"Rome"})"));
        const auto usage = last["response"].toObject()["usage"].toObject();
        QCOMPARE(usage["output_tokens_details"].toObject()["reasoning_tokens"].toInt(), 3);
        // The last one holds the same as the answer that is no stream, but for its ids.
        const auto whole = server_->post(kResponses, asking()).json()["output"].toArray();
        const auto streamed = last["response"].toObject()["output"].toArray();
        QCOMPARE(streamed.size(), whole.size());
        for (qsizetype i = 0; i < whole.size(); ++i) {
            QJsonObject one = whole[i].toObject(), other = streamed[i].toObject();
            for (const char* id : {"id", "call_id"}) {
                QCOMPARE(one.contains(id), other.contains(id));
                one.remove(id);
                other.remove(id);
            }
            QCOMPARE(one, other);
        }
    }

    void anAnswerThatIsCutShortSaysSo()
    {
        QJsonObject body = asking();
        body["max_output_tokens"] = 4;
        const auto json = server_->post(kResponses, body).json();
        QCOMPARE(json["status"].toString(), QString("incomplete"));
        QCOMPARE(json["incomplete_details"].toObject()["reason"].toString(), QString("max_output_tokens"));
        QCOMPARE(json["output"].toArray().last().toObject()["status"].toString(), QString("incomplete"));
        body["stream"] = true;
        const auto last = parsed_body(server_->post(kResponses, body).events().last());
        QCOMPARE(last["type"].toString(), QString("response.incomplete"));
    }

    void aResponseGoesOnFromOneThatIsKept()
    {
        for (const bool streams : {false, true}) {
            QJsonObject body = asking();
            body["instructions"] = "old";
            body["stream"] = streams;
            const Answer first = server_->post(kResponses, body);
            const QString id = streams ? parsed_body(first.events().last())["response"].toObject()["id"].toString()
                                       : first.json()["id"].toString();
            const QJsonObject result{{"type", "function_call_output"}, {"call_id", "x"}, {"output", "sunny"}};
            const QJsonObject more{{"previous_response_id", id}, {"input", QJsonArray{result}}, {"temperature", 0}};
            const auto json = server_->post(kResponses, more).json();
            QCOMPARE(json["status"].toString(), QString("completed"));
            QCOMPARE(json["previous_response_id"].toString(), id);
        }
        QJsonObject body = asking();
        body["store"] = false;
        for (const QString& id : {server_->post(kResponses, body).json()["id"].toString(), QString("resp_none")}) {
            const auto answer = server_->post(kResponses, {{"previous_response_id", id}, {"input", "x"}});
            QCOMPARE(answer.status, 400);
            QCOMPARE(answer.json()["error"].toObject()["param"].toString(), QString("previous_response_id"));
        }
    }

    // What comes back from a client, and from the server's own memory, is the same conversation.
    void itemsBecomeMessages_data()
    {
        QTest::addColumn<QByteArray>("body");
        QTest::addColumn<QString>("messages");
        const auto row = [](const char* name, const char* body, const char* messages) {
            QTest::newRow(name) << QByteArray(body) << QString(messages);
        };
        row("a text", R"({"input": "x"})", "user: x");
        row("instructions and a developer", R"({"instructions": "i", "input": [{"role": "developer", "content": "d"},
            {"role": "user", "content": [{"type": "input_text", "text": "q"}]}]})",
            "system: i\n\nd|user: q");
        row("a turn that called",
            R"({"input": [{"role": "user", "content": "q"},
                {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "t"}]},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
                {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
                {"type": "function_call", "call_id": "2", "name": "g", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "2", "output": "r"},
                {"type": "function_call_output", "call_id": "1", "output": [{"type": "input_text", "text": "s"}]}]})",
            R"(user: q|assistant: a (t){"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":{}}},)"
            R"({"id":"2","type":"function","function":{"name":"g","arguments":{}}}]})"
            R"(|tool: r{"tool_call_id":"2","name":"g"}|tool: s{"tool_call_id":"1","name":"f"})");
        row("two answers in turn",
            R"({"input": [{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}]})",
            "assistant: a|assistant: b");
        row("a summary only",
            R"({"input": [{"type": "reasoning", "summary": [], "encrypted_content": "x"}, {"content": "q",
            "role": "user"}]})",
            "user: q");
        row("a thought in words of ours",
            R"({"input": [{"content": "q", "role": "user"}, {"type": "reasoning", "summary": [], "content": null,
                "encrypted_content": "spillway:t\u00e4"}, {"role": "assistant", "content": "a"}]})",
            "user: q|assistant: a (t\xc3\xa4)");
        row("a call in a namespace",
            R"({"input": [{"type": "function_call", "call_id": "1", "namespace": "mcp__x", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "1", "output": "r"}]})",
            R"(assistant: {"tool_calls":[{"id":"1","type":"function","function":{"name":"mcp__x__f","arguments":{}}}]})"
            R"(|tool: r{"tool_call_id":"1","name":"mcp__x__f"})");
    }

    void itemsBecomeMessages()
    {
        QFETCH(QByteArray, body);
        QFETCH(QString, messages);
        const auto asked = read_by({}, body);
        QVERIFY2(asked, asked ? "" : asked.error().sentence.c_str());
        QCOMPARE(messages_of(asked->ask.turn), messages);
        QVERIFY(!asked->ask.turn.continue_last);
    }

    void onlyFunctionsAreTools()
    {
        const auto asked = read_by({}, R"({"input": "x", "tools": [{"type": "web_search"}, {"type": "namespace"},
            {"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": false}]})");
        QVERIFY(asked);
        QCOMPARE(QString::fromStdString(asked->ask.turn.tools_json),
                 QString(R"([{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}])"));
    }

    // Codex sends the tools of each MCP server so, and takes calls of them with both names only.
    void functionsOfNamespacesAreCalledByBothNames()
    {
        const QByteArray body =
            R"({"input": "x", "tool_choice": {"type": "function", "namespace": "mcp__x", "name": "f"},
            "tools": [{"type": "namespace", "name": "mcp__x", "description": "d", "tools": [
                {"type": "function", "name": "f", "parameters": {"type": "object"}}, {"type": "custom", "name": "c"}]},
                {"type": "namespace", "name": "mcp__y__", "tools": [{"type": "function", "name": "f"}]},
                {"type": "function", "name": "g"}]})";
        const server::OpenAiResponses dialect;
        const auto asked = read_by(dialect, body);
        QVERIFY2(asked, asked ? "" : asked.error().sentence.c_str());
        QCOMPARE(asked->ask.callable, std::vector<std::string>{"mcp__x__f"});
        QStringList offered;
        for (const server::Json& tool : server::Json::parse(asked->ask.turn.tools_json))
            offered.append(QString::fromStdString(tool["function"]["name"].get<std::string>()));
        QCOMPARE(offered, QStringList({"mcp__x__f", "mcp__y__f", "g"}));

        const std::vector<server::Call> calls = {{"1", "mcp__x__f", "{}"}, {"2", "mcp__y__f", "{}"}, {"3", "g", "{}"}};
        const auto response = server::Json::parse(asked->wording->whole({"", "", calls, {}, {}}));
        QStringList called;
        for (const server::Json& item : response["output"])
            called.append(QString::fromStdString(item.value("namespace", "-") + ' ' + item["name"].get<std::string>()));
        QCOMPARE(called, QStringList({"mcp__x f", "mcp__y__ f", "- g"}));
        const std::string streamed = read_by(dialect, body)->wording->piece(server::CallBegun{0, "1", "mcp__x__f"});
        QVERIFY(QByteArray::fromStdString(streamed).contains(R"("name":"f","arguments":"","namespace":"mcp__x")"));

        // What is kept of it goes on under the name that the model knows.
        const server::Json more = {{"previous_response_id", response["id"]},
                                   {"input", {{{"type", "function_call_output"}, {"call_id", "2"}, {"output", "r"}}}}};
        const QString messages = messages_of(read_by(dialect, QByteArray::fromStdString(more.dump()))->ask.turn);
        QVERIFY2(messages.endsWith(R"(tool: r{"tool_call_id":"2","name":"mcp__y__f"})"), qPrintable(messages));
    }

    // As the AI SDK does with what it was answered.
    void itemsThatAreKeptMayBeReferredTo()
    {
        const server::OpenAiResponses dialect;
        const auto answer_to = [&](const QByteArray& body) {
            const std::vector<server::Call> calls = {{"1", "f", "{}"}};
            return server::Json::parse(read_by(dialect, body)->wording->whole({"a", "t", calls, {}, {}}))["output"];
        };
        const auto with_result = [](server::Json input) {
            const server::Json question = {{"role", "user"}, {"content", "q"}};
            input.insert(input.begin(), question);
            input.push_back({{"type", "function_call_output"}, {"call_id", "1"}, {"output", "r"}});
            return QByteArray::fromStdString(server::Json::object({{"input", input}}).dump());
        };
        const auto references_to = [](const server::Json& items) {
            server::Json references = server::Json::array();
            for (const server::Json& item : items)
                references.push_back({{"type", "item_reference"}, {"id", item["id"]}});
            return references;
        };
        const server::Json items = answer_to(R"({"input": "q"})");
        QCOMPARE(items.size(), std::size_t(3));
        const auto whole = read_by(dialect, with_result(items));
        const auto referred = read_by(dialect, with_result(references_to(items)));
        QVERIFY2(whole && referred, referred ? "" : referred.error().sentence.c_str());
        QCOMPARE(messages_of(referred->ask.turn), messages_of(whole->ask.turn));
        QVERIFY(messages_of(whole->ask.turn).startsWith("user: q|assistant: a (t)"));

        const auto unkept =
            read_by(dialect, with_result(references_to(answer_to(R"({"input": "q", "store": false})"))));
        QVERIFY(!unkept);
        QCOMPARE(QString::fromStdString(unkept.error().field), QString("input[1].id"));
    }

    // A thought goes encrypted to clients that keep the conversation themselves, and comes back from them.
    void thoughtsComeBackFromClientsThatKeepThem()
    {
        const auto thought_of = [](const QByteArray& body) {
            return server::Json::parse(read_by({}, body)->wording->whole({"a", "t", {}, {}, {}}))["output"][0];
        };
        QVERIFY(!thought_of(R"({"input": "q"})").contains("encrypted_content"));
        for (const char* body :
             {R"({"input": "q", "store": false})", R"({"input": "q", "include": ["reasoning.encrypted_content"]})"}) {
            server::Json item = thought_of(body);
            item.erase("content");
            const server::Json again = {{"input", server::Json::array({item})}};
            QCOMPARE(messages_of(read_by({}, QByteArray::fromStdString(again.dump()))->ask.turn),
                     QString("assistant:  (t)"));
        }
    }

    void whatIsNotUnderstoodIsNamed_data()
    {
        QTest::addColumn<QByteArray>("body");
        QTest::addColumn<QString>("field");
        const auto row = [](const char* field, const char* body) { QTest::newRow(body) << QByteArray(body) << field; };
        row("input", "{}");
        row("input", R"({"input": 1})");
        row("input", R"({"input": []})");
        row("input[0]", R"({"input": [1]})");
        row("input[0].role", R"({"input": [{"content": "x"}]})");
        row("input[0].content", R"({"input": [{"role": "user"}]})");
        row("input[0].content", R"({"input": [{"role": "user", "content": [{"type": "input_image"}]}]})");
        row("input[0].content",
            R"({"input": [{"type": "reasoning", "content": 1}, {"role": "user", "content": "x"}]})");
        row("input[0].type", R"({"input": [{"type": "computer_call", "id": "x"}]})");
        row("input[0].id", R"({"input": [{"type": "item_reference", "id": "x"}]})");
        row("input[0].id", R"({"input": [{"type": "item_reference"}]})");
        row("input[0]", R"({"input": [{"type": "function_call", "name": "x"}]})");
        row("input[0]", R"({"input": [{"type": "function_call_output", "call_id": "x"}]})");
        row("background", R"({"input": "x", "background": true})");
        row("conversation", R"({"input": "x", "conversation": "c"})");
        row("truncation", R"({"input": "x", "truncation": "some"})");
        row("text.format", R"({"input": "x", "text": {"format": {"type": "xml"}}})");
        row("tool_choice", R"({"input": "x", "tool_choice": "required"})");
        row("max_output_tokens", R"({"input": "x", "max_output_tokens": 0})");
        row("reasoning_effort", R"({"input": "x", "reasoning": {"effort": 1}})");
        row("store", R"({"input": "x", "store": "yes"})");
    }

    void whatIsNotUnderstoodIsNamed()
    {
        QFETCH(QByteArray, body);
        QFETCH(QString, field);
        const auto asked = read_by({}, body);
        QVERIFY(!asked);
        QCOMPARE(QString::fromStdString(asked.error().field), field);
    }

    void theOldestResponseLeaves()
    {
        server::KeptResponses kept(40);
        const auto text = [](std::size_t bytes) { return server::Json::array({std::string(bytes - 4, 'x')}); };
        const server::Json none = server::Json::array(), item = {{{"id", "i"}}};  // 10 bytes
        kept.keep("a", text(10), item, "");
        kept.keep("b", text(15), none, "later");
        QVERIFY(kept.find("a") && kept.find("b"));
        QCOMPARE(kept.find("b")->dump().size(), std::size_t(15));
        QVERIFY(kept.find_response("b") == "later");
        QVERIFY(*kept.find_item("i") == item[0]);
        kept.keep("c", text(10), none, "");
        QVERIFY(!kept.find("a") && !kept.find_item("i"));
        QVERIFY(kept.find("b") && kept.find("c"));
        kept.keep("huge", text(31), item, "");
        QVERIFY(!kept.find("huge") && !kept.find_item("i"));
        QVERIFY(kept.find("c"));
    }

    void aKeptResponseIsGivenAgainUntilItIsDeleted()
    {
        const auto at = [&](const char* method, const QString& id) {
            return server_test::Client(server_->port()).ask(method, "/v1/responses/" + id.toLatin1());
        };
        QJsonObject body = asking();
        const QJsonObject whole = server_->post(kResponses, body).json();
        const QString id = whole["id"].toString();
        QCOMPARE(at("GET", id).json(), whole);
        QCOMPARE(server_->get("/responses/" + id.toLatin1()).json(), whole);  // as POST is there without v1
        for (const QString& more : QStringList{id + "/input_items", "x/" + id})
            QCOMPARE(at("DELETE", more).status, 404);
        QCOMPARE(at("DELETE", id).json(),
                 parsed_body(R"({"object": "response", "deleted": true, "id": ")" + id.toLatin1() + R"("})"));
        for (const char* method : {"GET", "DELETE"})
            QCOMPARE(at(method, id).status, 404);
        QCOMPARE(server_->post(kResponses, {{"previous_response_id", id}, {"input", "x"}}).status, 400);

        body["stream"] = true;
        const auto last = parsed_body(server_->post(kResponses, body).events().last())["response"].toObject();
        QCOMPARE(at("GET", last["id"].toString()).json(), last);
        body["store"] = false;
        const auto unkept = parsed_body(server_->post(kResponses, body).events().last())["response"].toObject();
        QCOMPARE(at("GET", unkept["id"].toString()).status, 404);
    }

private:
    static QJsonObject asking()
    {
        const QJsonObject tool = parsed_body(R"({"type": "function", "name": "weather", "parameters": {}})");
        return {{"input", "a"}, {"tools", QJsonArray{tool}}, {"temperature", 0}};
    }

    QTemporaryDir folder_;
    std::unique_ptr<RunningServer> server_;
};

SPILLWAY_TEST(QCoreApplication, TestResponses)
#include "tst_responses.moc"
