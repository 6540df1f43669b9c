// Tests that a client can demand calls, forbid them, narrow them to one or hold them to a schema, in the words of each
// API.
#include "app/server/prompted_tools.h"
#include "tests/app/server/running_server.h"
#include "tests/support/chain_model.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QJsonArray>
#include <QTemporaryDir>

using server_test::Answer;
using server_test::kChatPath;
using server_test::RunningServer;
using support::ChainModel;

namespace {

const QJsonArray kQuestion{QJsonObject{{"role", "user"}, {"content", "What is a KV cache?"}}};

/// {"days": 1 to 9, "unit": "C" or "F"}
const QJsonObject kDays{
    {"type", "object"},
    {"properties", QJsonObject{{"days", QJsonObject{{"type", "integer"}, {"minimum", 1}, {"maximum", 9}}},
                               {"unit", QJsonObject{{"type", "string"}, {"enum", QJsonArray{"C", "F"}}}}}},
    {"required", QJsonArray{"days", "unit"}},
    {"additionalProperties", false}};

QJsonObject offered(const QString& name, const QJsonObject& parameters, bool strict = false)
{
    QJsonObject function{{"name", name}, {"description", "Says it."}, {"parameters", parameters}};
    if (strict)
        function["strict"] = true;
    return {{"type", "function"}, {"function", function}};
}

const QJsonArray kTools{offered("forecast", kDays), offered("history", kDays)};

QJsonObject with_tools(const QJsonObject& more)
{
    QJsonObject body{{"messages", kQuestion}, {"tools", kTools}, {"max_tokens", 200}, {"temperature", 1}};
    for (auto at = more.begin(); at != more.end(); ++at)
        body[at.key()] = at.value();
    return body;
}

QJsonObject named(const QString& name)
{
    return {{"type", "function"}, {"function", QJsonObject{{"name", name}}}};
}

QJsonObject first_choice(const Answer& answer)
{
    return answer.json()["choices"].toArray().first().toObject();
}

bool fits_days(const QJsonObject& arguments)
{
    const int days = arguments["days"].toInt();
    const QString unit = arguments["unit"].toString();
    return arguments.size() == 2 && days >= 1 && days <= 9 && (unit == "C" || unit == "F");
}

bool fits_days(const QJsonValue& arguments)
{
    return fits_days(QJsonDocument::fromJson(arguments.toString().toUtf8()).object());
}

}  // namespace

class TestToolChoice : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void callsAreDemanded_data()
    {
        QTest::addColumn<QJsonValue>("choice");
        QTest::addColumn<QStringList>("names");
        const auto row = [](const char* what, const QJsonValue& choice, const QStringList& names) {
            QTest::newRow(what) << choice << names;
        };
        row("any", "required", {"forecast", "history"});
        row("one", named("history"), {"history"});
        row("one, as Responses says it", QJsonObject{{"type", "function"}, {"name", "history"}}, {"history"});
        const QJsonObject allowed{{"mode", "required"}, {"tools", QJsonArray{named("forecast")}}};
        row("of some", QJsonObject{{"type", "allowed_tools"}, {"allowed_tools", allowed}}, {"forecast"});
    }

    void callsAreDemanded()
    {
        QFETCH(QJsonValue, choice);
        QFETCH(QStringList, names);
        for (int seed = 1; seed <= 3; ++seed) {
            QJsonObject body = with_tools({{"tool_choice", choice}, {"seed", seed}});
            if (choice.toObject()["type"] != "function")  // a named one is called once
                body["parallel_tool_calls"] = false;
            const auto whole = guide_.post(kChatPath, body);
            QCOMPARE(whole.status, 200);
            QCOMPARE(first_choice(whole)["finish_reason"].toString(), QString("tool_calls"));
            const auto message = first_choice(whole)["message"].toObject();
            QVERIFY(message["content"].isNull());
            QCOMPARE(message["tool_calls"].toArray().size(), 1);
            const auto call = message["tool_calls"].toArray().first().toObject()["function"].toObject();
            QVERIFY2(names.contains(call["name"].toString()), whole.body);
            QVERIFY2(fits_days(call["arguments"]), whole.body);

            body["stream"] = true;
            QString name, arguments, reason;
            for (const QByteArray& event : guide_.post(kChatPath, body).events()) {
                const auto part = QJsonDocument::fromJson(event).object()["choices"].toArray().first().toObject();
                const auto piece = part["delta"].toObject()["tool_calls"].toArray().first().toObject();
                name += piece["function"].toObject()["name"].toString();
                arguments += piece["function"].toObject()["arguments"].toString();
                reason += part["finish_reason"].toString();
            }
            QCOMPARE(name, call["name"].toString());
            QCOMPARE(arguments, call["arguments"].toString());
            QCOMPARE(reason, QString("tool_calls"));
        }
    }

    void otherApisDemandCalls()
    {
        QJsonArray tools{QJsonObject{{"name", "forecast"}, {"input_schema", kDays}},
                         QJsonObject{{"name", "history"}, {"input_schema", kDays}}};
        for (const QJsonObject& choice :
             {QJsonObject{{"type", "tool"}, {"name", "history"}}, QJsonObject{{"type", "any"}}}) {
            QJsonObject one = choice;
            one["disable_parallel_tool_use"] = true;
            const auto answer = guide_.post(
                "/v1/messages", {{"messages", kQuestion}, {"tools", tools}, {"tool_choice", one}, {"max_tokens", 200}});
            QCOMPARE(answer.json()["stop_reason"].toString(), QString("tool_use"));
            const auto content = answer.json()["content"].toArray();
            QCOMPARE(content.size(), 1);
            QVERIFY(choice["name"].isUndefined() || content.first().toObject()["name"] == choice["name"]);
            QVERIFY2(fits_days(content.first().toObject()["input"].toObject()), answer.body);
        }

        QJsonArray flat;
        for (const char* name : {"forecast", "history"})
            flat.append(QJsonObject{{"type", "function"}, {"name", name}, {"parameters", kDays}});
        const QJsonObject some{{"type", "allowed_tools"},
                               {"mode", "required"},
                               {"tools", QJsonArray{QJsonObject{{"type", "function"}, {"name", "history"}}}}};
        for (const QJsonValue& choice : {QJsonValue("required"), QJsonValue(some)}) {
            const auto answer =
                guide_.post("/v1/responses",
                            {{"input", "x"}, {"tools", flat}, {"tool_choice", choice}, {"parallel_tool_calls", false}});
            const auto output = answer.json()["output"].toArray();
            QCOMPARE(output.size(), 1);
            QCOMPARE(output.first().toObject()["type"].toString(), QString("function_call"));
            QVERIFY2(fits_days(output.first().toObject()["arguments"]), answer.body);
            QVERIFY(choice.isString() || output.first().toObject()["name"] == "history");
        }
    }

    void anAnswerOfAFormOrACall()
    {
        const QJsonObject schema{{"enum", QJsonArray{"yes", "no"}}};
        const QJsonObject format{{"type", "json_schema"}, {"json_schema", QJsonObject{{"schema", schema}}}};
        for (int seed = 1; seed <= 4; ++seed) {
            const auto answer =
                guide_.post(kChatPath, with_tools({{"response_format", format}, {"seed", seed}, {"temperature", 2}}));
            const auto message = first_choice(answer)["message"].toObject();
            const QString text = message["content"].toString();
            QVERIFY2(text == "\"yes\"" || text == "\"no\"" || !message["tool_calls"].toArray().isEmpty(), answer.body);
        }
    }

    /// A model that would rather say something else, with marks that are tokens of their own.
    void aModelIsHeldToItsOwnForm()
    {
        const char *good = R"({"name":"weather","arguments":{"city":"Rome"}})",
                   *bad = R"({"name":"weather","arguments":{"city":1}})";
        engine::LoadRequest load;
        load.model = folder_.filePath("hermes.gguf").toStdString();
        ChainModel({"<tool_call>", "</tool_call>"}, {bad, good})
            .says({ChainModel::kGo, "x", "<tool_call>", bad, "</tool_call>", "</s>"})
            .says({good, "</tool_call>"})
            .chat_template(
                "{# tools <tool_call> #}{% for m in messages %}<|turn|>{{ m.content }}<|over|>{% endfor %}<|go|>")
            .save(load.model);
        const RunningServer server(engine::make_engine(), {}, load);
        const QJsonObject schema{{"type", "object"},
                                 {"properties", QJsonObject{{"city", QJsonObject{{"type", "string"}}}}},
                                 {"required", QJsonArray{"city"}},
                                 {"additionalProperties", false}};
        const auto message_of = [&](bool strict, const char* choice) {
            const auto answer =
                server.post(kChatPath, {{"messages", QJsonArray{QJsonObject{{"role", "user"}, {"content", "a"}}}},
                                        {"tools", QJsonArray{offered("weather", schema, strict)}},
                                        {"tool_choice", choice},
                                        {"max_tokens", 20},
                                        {"temperature", 0}});
            return first_choice(answer)["message"].toObject();
        };
        const auto arguments_of = [](const QJsonObject& message) {
            return message["tool_calls"].toArray().first().toObject()["function"].toObject()["arguments"].toString();
        };
        const auto free = message_of(false, "auto");
        QCOMPARE(free["content"].toString(), QString("x"));
        QCOMPARE(arguments_of(free), QString(R"({"city":1})"));
        const auto strict = message_of(true, "auto");  // no rules until the call begins
        QCOMPARE(strict["content"].toString(), QString("x"));
        QCOMPARE(arguments_of(strict), QString(R"({"city":"Rome"})"));
        const auto demanded = message_of(false, "required");
        QVERIFY(demanded["content"].isNull());
        QCOMPARE(arguments_of(demanded), QString(R"({"city":"Rome"})"));
        QCOMPARE(message_of(true, "none")["tool_calls"], QJsonValue());
    }

    /// gpt-oss calls in a part of its answer that is not the last one.
    void channelsAreHeldToCalls()
    {
        engine::LoadRequest load;
        load.model = folder_.filePath("channels.gguf").toStdString();
        ChainModel({"<|channel|>", "<|constrain|>", "<|message|>", "<|start|>", "<|end|>", "<|call|>", "<|return|>"},
                   {"analysis", "assistant", "json", "=", ".", R"({"city":"Rome"})"})
            .says({ChainModel::kGo, "<|channel|>", "analysis", "<|message|>", "a", "<|end|>", "<|start|>", "assistant",
                   "<|channel|>"})
            .says({R"({"city":"Rome"})", "<|call|>"})
            .chat_template("{# tools functions. <|channel|> #}"
                           "{% for m in messages %}<|turn|>{{ m.content }}<|over|>{% endfor %}<|go|>")
            .save(load.model);
        const RunningServer server(engine::make_engine(), {}, load);
        const QJsonObject city{{"type", "object"},
                               {"properties", QJsonObject{{"city", QJsonObject{{"type", "string"}}}}}};
        const auto answer =
            server.post(kChatPath, {{"messages", QJsonArray{QJsonObject{{"role", "user"}, {"content", "a"}}}},
                                    {"tools", QJsonArray{offered("weather", city)}},
                                    {"tool_choice", "required"},
                                    {"max_tokens", 100},
                                    {"temperature", 0}});
        const auto message = first_choice(answer)["message"].toObject();
        QVERIFY2(message["reasoning_content"] == "a", answer.body);
        const auto call = message["tool_calls"].toArray().first().toObject()["function"].toObject();
        QVERIFY2(call["name"] == "weather", answer.body);
        QCOMPARE(call["arguments"].toString(), QString(R"({"city":"Rome"})"));
    }

    void whereTheTemplateKnowsNoToolsTheyAreTold()
    {
        const QJsonObject function{{"name", "forecast"}, {"arguments", R"({"days": 2})"}};
        QJsonArray messages = kQuestion;
        messages.append(QJsonObject{
            {"role", "assistant"},
            {"content", QJsonValue()},
            {"tool_calls", QJsonArray{QJsonObject{{"id", "1"}, {"type", "function"}, {"function", function}}}}});
        messages.append(QJsonObject{{"role", "tool"}, {"tool_call_id", "1"}, {"content", "sun"}});
        const QString prompt =
            guide_.post("/apply-template", {{"messages", messages}, {"tools", kTools}}).json()["prompt"].toString();
        QVERIFY2(prompt.startsWith("<|im_start|>system\nYou may call functions."), qPrintable(prompt));
        for (const char* said :
             {R"({"description":"Says it.","name":"history",)", R"({"name":"forecast","arguments":{"days":2}})",
              "<|im_start|>user\nforecast returned:\nsun<|im_end|>"})
            QVERIFY2(prompt.contains(said), qPrintable(prompt));
        // The engine is given the same.
        const auto usage = guide_.post(kChatPath, with_tools({{"max_tokens", 1}})).json()["usage"].toObject();
        QVERIFY(usage["prompt_tokens"].toInt() > 100);
    }

    /// Many templates refuse two messages of the user in a row.
    void resultsOfSeveralCallsAreOneMessage()
    {
        engine::Request turn;
        const char* calls =
            R"({"tool_calls": [{"function": {"name": "a", "arguments": {"x": 1}}}, {"function": {"name": "b"}}]})";
        turn.messages = {{"user", "q"},
                         {"assistant", "I look.", {}, calls},
                         {"tool", "1", {}, R"({"name": "a"})"},
                         {"tool", "2", {}, "no JSON"},
                         {"user", "so?"},
                         {"assistant", "y"},
                         {"user", "z"}};
        engine::Request known = turn;
        server::tell_of_tools(turn, "{{ messages }}");
        QString all;
        for (const engine::Message& message : turn.messages)
            all += QString::fromStdString(message.role + "=" + message.text + ";");
        QCOMPARE(all, QString("user=q;assistant=I look.\n[{\"name\":\"a\",\"arguments\":{\"x\":1}},"
                              "{\"name\":\"b\",\"arguments\":{}}];"
                              "user=a returned:\n1\n\nthe function returned:\n2\n\nso?;assistant=y;user=z;"));
        server::tell_of_tools(known, "{{ tools }}");
        QCOMPARE(known.messages.size(), std::size_t(7));
    }

    void whatCannotBeIsNamed_data()
    {
        QTest::addColumn<QJsonObject>("asked");
        QTest::addColumn<QString>("sentence");
        const auto row = [](const QJsonObject& asked, const char* sentence) {
            QTest::addRow("%s", sentence) << asked << QString(sentence);
        };
        row({{"tool_choice", named("x")}}, "'tool_choice' names the function 'x', which is none of the tools");
        row({{"tool_choice", "required"}, {"tools", QJsonArray()}},
            "'tool_choice' asks for a call, and there is no function among the tools");
        row({{"tool_choice", "sometimes"}}, "'tool_choice' must be auto, none, required, or a function with its name");
        row({{"tool_choice", 5}}, "'tool_choice' must be auto, none, required, or a function with its name");
        row({{"tool_choice", QJsonObject{{"type", "function"}}}}, "'tool_choice' must have the name of a function");
        row({{"tool_choice", QJsonObject{{"type", "web_search_preview"}}}},
            "'tool_choice' has the type 'web_search_preview', which is not supported here: only functions are called");
        row({{"tool_choice", QJsonObject{{"type", "allowed_tools"}, {"mode", "auto"}}}},
            "'tool_choice' must say which tools are allowed, and the mode auto or required");
        const QJsonObject odd{{"type", "object"}, {"patternProperties", QJsonObject()}};
        row({{"tools", QJsonArray{offered("f", odd, true)}}},
            "'tools' has the strict function 'f', whose parameters cannot be followed: the schema's "
            "'patternProperties' is not supported");
    }

    void whatCannotBeIsNamed()
    {
        QFETCH(QJsonObject, asked);
        QFETCH(QString, sentence);
        const auto answer = guide_.post(kChatPath, with_tools(asked));
        QCOMPARE(answer.status, 400);
        QCOMPARE(answer.json()["error"].toObject()["message"].toString(), sentence);
    }

    void anthropicsErrorsAreNamed()
    {
        const QJsonArray tools{QJsonObject{{"name", "f"}, {"input_schema", kDays}}};
        for (const QJsonObject& choice : {QJsonObject{{"type", "tool"}, {"name", "g"}}, QJsonObject{{"type", "tool"}},
                                          QJsonObject{{"type", "x"}}}) {
            const auto answer =
                guide_.post("/v1/messages",
                            {{"messages", kQuestion}, {"tools", tools}, {"tool_choice", choice}, {"max_tokens", 20}});
            QCOMPARE(answer.status, 400);
            QVERIFY(answer.json()["error"].toObject()["message"].toString().startsWith("'tool_choice' "));
        }
    }

private:
    QTemporaryDir folder_;
    RunningServer guide_;
};

SPILLWAY_TEST(QCoreApplication, TestToolChoice)
#include "tst_tool_choice.moc"
