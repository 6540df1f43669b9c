// Tests that clients of Anthropic, Ollama and llama-server are answered in the words of their own API, with the guide
// model behind it.
#include "app/server/anthropic_messages.h"
#include "app/server/ollama.h"
#include "app/server/openai_chat.h"
#include "app/server/openai_responses.h"
#include "tests/app/server/running_server.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QJsonArray>
#include <QRegularExpression>
#include <QVersionNumber>

using server_test::Answer;
using server_test::RunningServer;

namespace {

const QString kQuestion = QStringLiteral("What is a KV cache?");

QJsonArray asked(const QString& text)
{
    return {QJsonObject{{"role", "user"}, {"content", text}}};
}

QList<QJsonObject> lines_of(const Answer& answer)
{
    QList<QJsonObject> lines;
    for (const QByteArray& line : answer.body.split('\n'))
        if (!line.isEmpty())
            lines.append(QJsonDocument::fromJson(line).object());
    return lines;
}

/// Says whether a time has a part behind the second: OllamaKit, with which programs for macOS are made, reads no other.
bool has_fraction(const QJsonValue& time)
{
    return QRegularExpression("T[0-9:]{8}[.][0-9]{1,9}Z$").match(time.toString()).hasMatch();
}

/// Returns what a dialect asks of the engine; of a body that it takes.
server::Ask asked_by(const server::Dialect& dialect, const QByteArray& body)
{
    auto asked = dialect.read(*server::parse_body(body.toStdString()), {"x", {}, nullptr});
    return asked ? std::move(asked->ask) : server::Ask();
}

using ReadBy = server::Ask (*)(const QByteArray& body);
template <class Dialect>
server::Ask read_with(const QByteArray& body)
{
    return asked_by(Dialect(), body);
}

/// role=text, (thoughts) and what else there is, of each message. + stands for an empty line.
QString said_to(const server::Ask& ask)
{
    QString all;
    for (const engine::Message& m : ask.turn.messages)
        all += QString::fromStdString(m.role + "=" + m.text + (m.reasoning.empty() ? "" : "(" + m.reasoning + ")") +
                                      m.more_json + ";");
    return all.replace("\n\n", "+");
}

QString messages_by_anthropic(const QByteArray& messages)
{
    return said_to(asked_by(server::AnthropicMessages(), R"({"max_tokens": 5, "messages": )" + messages + "}"));
}

}  // namespace

class TestDialects : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void anthropicsMessagesAreAnsweredAlikeWholeAndAsAStream()
    {
        const QJsonObject body{{"model", "x"}, {"max_tokens", 12}, {"temperature", 0}, {"messages", asked(kQuestion)}};
        const auto whole = guide_.post("/v1/messages", body).json();
        QCOMPARE(whole["type"].toString(), QString("message"));
        QCOMPARE(whole["stop_reason"].toString(), QString("max_tokens"));
        const auto block = whole["content"].toArray().first().toObject();
        QCOMPARE(block["type"].toString(), QString("text"));
        QVERIFY(!block["text"].toString().isEmpty());
        QCOMPARE(whole["usage"].toObject()["output_tokens"].toInt(), 12);

        QJsonObject streamed = body;
        streamed["stream"] = true;
        const auto stream = guide_.post("/v1/messages", streamed);
        QStringList kinds;
        QString text;
        for (const QByteArray& event : stream.events()) {
            const auto json = QJsonDocument::fromJson(event).object();
            const QString kind = json["type"].toString();
            QVERIFY(stream.body.contains("event: " + kind.toUtf8() + '\n'));
            if (kinds.isEmpty() || kinds.last() != kind)
                kinds.append(kind);
            text += json["delta"].toObject()["text"].toString();
        }
        QCOMPARE(kinds, QStringList({"message_start", "content_block_start", "content_block_delta",
                                     "content_block_stop", "message_delta", "message_stop"}));
        QCOMPARE(text, block["text"].toString());
    }

    void anthropicsPartsAreRead()
    {
        const QJsonArray parts{
            QJsonObject{{"type", "text"}, {"text", "Hi"}, {"cache_control", QJsonObject{{"type", "ephemeral"}}}}};
        const QJsonArray thought{QJsonObject{{"type", "thinking"}, {"thinking", "hm"}, {"signature", ""}},
                                 QJsonObject{{"type", "text"}, {"text", "Hello"}}};
        const QJsonArray messages{QJsonObject{{"role", "user"}, {"content", parts}},
                                  QJsonObject{{"role", "assistant"}, {"content", thought}},
                                  QJsonObject{{"role", "user"}, {"content", "And?"}}};
        const auto answer = guide_.post("/v1/messages", {{"max_tokens", 2}, {"system", parts}, {"messages", messages}});
        QCOMPARE(answer.status, 200);
    }

    // As Claude Code sends it; templates refuse a system's message that is not the first.
    void whatTheSystemSaysBetweenIsTheUsers()
    {
        const auto said = [](const char* messages) {
            const server::Json body = {{"max_tokens", 5}, {"system", "s"}, {"messages", server::Json::parse(messages)}};
            const auto asked = server::AnthropicMessages().read(body, {"x", {}, nullptr});
            QString all;
            for (const engine::Message& message : asked->ask.turn.messages)
                all += QString::fromStdString(message.role + "=" + message.text + ";");
            return all.replace("\n\n", "+");
        };
        QCOMPARE(said(R"([{"role": "user", "content": "a"}, {"role": "system", "content": "b"},
                          {"role": "system", "content": [{"type": "text", "text": "c"}]}])"),
                 QString("system=s;user=a+b+c;"));
        QCOMPARE(said(R"([{"role": "system", "content": "b"}, {"role": "user", "content": "a"}])"),
                 QString("system=s;user=b+a;"));
        QCOMPARE(said(R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "x"},
                          {"role": "system", "content": "b"}, {"role": "user", "content": "c"}])"),
                 QString("system=s;user=a;assistant=x;user=b+c;"));
        QCOMPARE(said(R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "x"},
                          {"role": "system", "content": "b"}])"),
                 QString("system=s;user=a;assistant=x;user=b;"));
        QCOMPARE(said(R"([{"role": "user", "content": "a"}, {"role": "system", "content": "b"},
                          {"role": "user", "content": "c"}, {"role": "assistant", "content": "x"},
                          {"role": "system", "content": "d"}, {"role": "assistant", "content": "y"}])"),
                 QString("system=s;user=a+b+c;assistant=x;user=d;assistant=y;"));
        QCOMPARE(
            guide_
                .post("/v1/messages",
                      {{"max_tokens", 2},
                       {"messages", QJsonArray{asked("a").first(), QJsonObject{{"role", "system"}, {"content", "b"}}}}})
                .status,
            200);
    }

    // As a message of the user's own it would be the last one, and what was thought before it would no longer belong to
    // this turn.
    void whatTheSystemSaysBehindAResultBelongsToIt()
    {
        QCOMPARE(messages_by_anthropic(R"([{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "1", "content": "r"}]}, {"role": "system", "content": "b"},
            {"role": "user", "content": "c"}])"),
                 QString("tool=r+b{\"tool_call_id\":\"1\"};user=c;"));
    }

    // LiteLLM and Open WebUI pass a frequency penalty of none on as a repeat penalty of 0.
    void noPenaltyIsNone()
    {
        const auto penalty = [](const char* number) {
            const auto ask = asked_by(server::OllamaChat(), R"({"messages": [{"role": "user", "content": "a"}],
                "options": {"repeat_penalty": )" + QByteArray(number) +
                                                                "}}");
            return ask.turn.messages.empty() ? -1 : double(ask.turn.sampling.repeat_penalty);
        };
        QCOMPARE(penalty("0"), 1.0);
        QCOMPARE(penalty("1.5"), 1.5);
        QCOMPARE(penalty("-1"), -1.0);  // refused
    }

    // Prompts with thoughts and without differ only at their end.
    void whoSwitchesThoughtsKeepsWhatWasRead()
    {
        QJsonObject body{{"messages", asked("Once more: " + kQuestion)}, {"max_tokens", 1}, {"temperature", 0}};
        guide_.post("/v1/chat/completions", body);
        body["reasoning_effort"] = "none";
        const auto usage = guide_.post("/v1/chat/completions", body).json()["usage"].toObject();
        QVERIFY(usage["prompt_tokens_details"].toObject()["cached_tokens"].toInt() >
                usage["prompt_tokens"].toInt() - 5);
    }

    void ollamasThoughtsComeBack()
    {
        QCOMPARE(said_to(asked_by(server::OllamaChat(), R"({"messages": [{"role": "user", "content": "a"},
            {"role": "assistant", "content": "b", "thinking": "t"}, {"role": "user", "content": "c"}]})")),
                 QString("user=a;assistant=b(t);user=c;"));
    }

    void claudeCodesBillingIsNoPartOfThePrompt()
    {
        const QByteArray line = "x-anthropic-billing-header: cc_version=2.1.37.f02; cc_entrypoint=cli; cch=%1;";
        const auto with_system = [&](const QByteArray& given) {
            return said_to(asked_by(server::AnthropicMessages(),
                                    R"({"max_tokens": 5, "messages": [{"role": "user", "content": "a"}], "system": )" +
                                        given + "}"));
        };
        QCOMPARE(with_system(R"([{"type": "text", "text": ")" + line + R"("}, {"type": "text", "text": "s"}])"),
                 QString("system=s;user=a;"));
        QCOMPARE(with_system('"' + line + R"(\n\ns")"), QString("system=s;user=a;"));
        QCOMPARE(with_system('"' + line + '"'), QString("user=a;"));
        QCOMPARE(with_system(R"("s\n)" + line + '"'), "system=s\n" + QString(line) + ";user=a;");

        QJsonObject usage;
        for (const char* number : {"0a1b2", "c3d4e"}) {
            const QJsonObject billing{{"type", "text"}, {"text", QString(line).arg(number)}};
            const QJsonObject rules{{"type", "text"}, {"text", QString("many words ").repeated(50)}};
            const QJsonObject body{
                {"max_tokens", 1}, {"system", QJsonArray{billing, rules}}, {"messages", asked(kQuestion)}};
            usage = guide_.post("/v1/messages", body).json()["usage"].toObject();
        }
        QVERIFY2(usage["input_tokens"].toInt() < 10, qPrintable(QJsonDocument(usage).toJson()));
        QVERIFY(usage["cache_read_input_tokens"].toInt() > 100);
    }

    void whetherToThinkIsSaidInAllTemplatesWords_data()
    {
        QTest::addColumn<ReadBy>("dialect");
        QTest::addColumn<QByteArray>("said");
        QTest::addColumn<QString>("arguments");
        QTest::addColumn<bool>("shown");
        const QString on = R"("enable_thinking":true,"thinking":true,"reasoning":true,"thinking_mode":"enabled")";
        const QString off =
            R"("enable_thinking":false,"thinking":false,"reasoning":false,"thinking_mode":"disabled","thinking_budget":0)";
        const auto row = [](ReadBy dialect, const char* said, const QString& arguments, bool shown = true) {
            QTest::newRow(said) << dialect << QByteArray(said) << arguments << shown;
        };
        const ReadBy anthropic = read_with<server::AnthropicMessages>;
        row(anthropic, R"("metadata": {})", "");
        row(anthropic, R"("thinking": {"type": "enabled", "budget_tokens": 2048})", '{' + on + '}');
        row(anthropic, R"("thinking": {"type": "adaptive"}, "output_config": {"effort": "max"})",
            R"({"reasoning_effort":"max",)" + QString(on).replace("enabled", "adaptive") + '}');
        row(anthropic, R"("thinking": {"type": "disabled"})", '{' + off + '}', false);
        row(anthropic, R"("thinking": {"type": "disabled"}, "output_config": {"effort": "high"})", '{' + off + '}',
            false);
        row(anthropic, R"("output_config": {"effort": "low"})", R"({"reasoning_effort":"low"})");
        const ReadBy ollama = read_with<server::OllamaChat>;
        row(ollama, R"("think": true)", '{' + on + '}');
        row(ollama, R"("think": "high")", '{' + on + R"(,"reasoning_effort":"high"})");
        row(ollama, R"("think": false)", '{' + off + '}', false);
        row(ollama, R"("think": "none")", '{' + off + '}', false);
        const ReadBy chat = read_with<server::OpenAiChat>;
        row(chat, R"("reasoning_effort": "medium")", '{' + on + R"(,"reasoning_effort":"medium"})");
        row(chat, R"("reasoning_effort": "none")", '{' + off + '}');
        row(chat, R"("reasoning": {"effort": "medium"})", '{' + on + R"(,"reasoning_effort":"medium"})");
        row(chat, R"("reasoning": {"effort": "low"}, "reasoning_effort": "none")", '{' + off + '}');
        row(chat, R"("reasoning": {"max_tokens": 1024})", "");
        row(chat, R"("reasoning": {"enabled": false})", '{' + off + '}');
        row(chat, R"("reasoning": {"enabled": true})", '{' + on + '}');
        row(chat, R"("reasoning": {"enabled": true, "effort": "low"})", '{' + on + R"(,"reasoning_effort":"low"})");
        row(chat, R"("reasoning": {"effort": "none"})", '{' + off + '}');
        row(chat, R"("thinking": {"type": "disabled"}, "top_p": 1)", '{' + off + '}');
        row(chat, R"("enable_thinking": false)", '{' + off + '}');
        row(chat, R"("think": false, "top_p": 1)", '{' + off + '}');
        row(chat, R"("chat_template_kwargs": {"enable_thinking": false})", '{' + off + '}');
        row(chat, R"("chat_template_kwargs": {"enable_thinking": true, "thinking": false})",
            R"({"enable_thinking":true,"thinking":false})");
        row(chat, R"("reasoning_effort": "none", "chat_template_kwargs": {"thinking": true})", R"({"thinking":true})");
        const ReadBy responses = read_with<server::OpenAiResponses>;
        row(responses, R"("reasoning": {"effort": "low"})", '{' + on + R"(,"reasoning_effort":"low"})");
        row(responses, R"("reasoning": {"effort": "none"}, "top_p": 1)", '{' + off + '}');
        row(responses, R"("reasoning": {"enabled": false}, "top_p": 1)", '{' + off + '}');
        row(responses, R"("chat_template_kwargs": {"enable_thinking": false}, "top_p": 1)", '{' + off + '}');
    }

    void whetherToThinkIsSaidInAllTemplatesWords()
    {
        QFETCH(ReadBy, dialect);
        QFETCH(QByteArray, said);
        QFETCH(QString, arguments);
        QFETCH(bool, shown);
        const QByteArray rest = R"("max_tokens": 5, "input": "a", "messages": [{"role": "user", "content": "a"}])";
        const server::Ask ask = dialect('{' + said + ", " + rest + '}');
        QVERIFY(!ask.turn.messages.empty());
        QCOMPARE(QString::fromStdString(ask.turn.template_arguments_json), arguments);
        QCOMPARE(ask.shows_thoughts, shown);
    }

    // The image comes again with each later request: were it refused, the conversation could not go on.
    void wordsStandForAnImageInAResult()
    {
        const QString words = "(an image, which this model cannot see)";
        const QByteArray image =
            R"({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}})";
        QCOMPARE(messages_by_anthropic(
                     R"([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [
            {"type": "text", "text": "a"}, )" +
                     image + R"(, {"type": "document"}]}]}])"),
                 "tool=a\n" + words + "\n(a document, which this model cannot see){\"tool_call_id\":\"1\"};");
        const server::Ask chat = asked_by(server::OpenAiChat(), R"({"messages": [
            {"role": "tool", "tool_call_id": "1", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]})");
        QCOMPARE(said_to(chat), "tool=" + words + "{\"tool_call_id\":\"1\"};");
        const server::Ask response = asked_by(server::OpenAiResponses(), R"({"input": [
            {"type": "function_call_output", "call_id": "1", "output": [{"type": "input_image", "image_url": "x"}]}]})");
        QCOMPARE(said_to(response), "tool=" + words + "{\"tool_call_id\":\"1\"};");
        // The user's is refused, where the user sees it, but not what a client puts beside a result.
        QCOMPARE(messages_by_anthropic(R"([{"role": "user", "content": [)" + image + "]}]"), QString());
        QCOMPARE(messages_by_anthropic(R"([{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "1", "content": "PDF file read"}]}, {"role": "user", "content": [
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": ""}}]}])"),
                 QString("tool=PDF file read{\"tool_call_id\":\"1\"};"
                         "user=(a document, which this model cannot see);"));
        // A kind of part that is not known here is not refused either.
        QCOMPARE(said_to(asked_by(server::OpenAiChat(), R"({"messages": [{"role": "tool", "tool_call_id": "1",
            "content": [{"type": "text", "text": "a"}, {"type": "resource_link", "uri": "x"}]}]})")),
                 QString("tool=a\n(something of the type 'resource_link', which this model cannot see)"
                         "{\"tool_call_id\":\"1\"};"));
    }

    // As the AI SDK sends a text that is attached, and others what is to be cited.
    void aDocumentOfTextIsRead()
    {
        const QByteArray note = R"({"type": "document", "title": "Notes", "source": {"type": "text",
            "media_type": "text/plain", "data": "b c"}, "citations": {"enabled": true}})";
        const QByteArray plain = R"({"type": "document", "source": {"type": "text", "data": "d"}})";
        QCOMPARE(messages_by_anthropic(R"([{"role": "user", "content": [)" + note + ", " + plain +
                                       R"(, {"type": "text", "text": "a?"}]}])"),
                 QString("user=Notes\nb c\nd\na?;"));
        QCOMPARE(messages_by_anthropic(R"([{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "1", "content": [)" +
                                       note + "]}]}]"),
                 QString("tool=Notes\nb c{\"tool_call_id\":\"1\"};"));
    }

    // Where a turn was interrupted, for one. Templates that want turns to alternate refuse two messages of one role.
    void anthropicsMessagesOfOneRoleAreOne()
    {
        QCOMPARE(messages_by_anthropic(
                     R"([{"role": "user", "content": "a"}, {"role": "user", "content": [{"type": "text", "text": "b"}]},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "c"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "r"}]},
            {"role": "user", "content": "d"}])"),
                 QString(R"(user=a+b;assistant=c(t){"tool_calls":[{"id":"1","type":"function",)"
                         R"("function":{"name":"f","arguments":{}}}]};tool=r{"tool_call_id":"1","name":"f"};user=d;)"));
    }

    void aToolThatFailedIsSaidToHaveFailed()
    {
        QCOMPARE(messages_by_anthropic(R"([{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "1", "is_error": true, "content": "no such file"},
            {"type": "tool_result", "tool_use_id": "2", "is_error": true},
            {"type": "tool_result", "tool_use_id": "3", "is_error": false, "content": "r"}]}])"),
                 QString("tool=(the tool failed)\nno such file{\"tool_call_id\":\"1\"};"
                         "tool=(the tool failed){\"tool_call_id\":\"2\"};tool=r{\"tool_call_id\":\"3\"};"));
    }

    void anthropicsStopIsNamed()
    {
        const auto answer = guide_
                                .post("/v1/messages", {{"max_tokens", 50},
                                                       {"temperature", 0},
                                                       {"stop_sequences", QJsonArray{"zzz", "values", "yyy"}},
                                                       {"messages", asked(kQuestion)}})
                                .json();
        QCOMPARE(answer["stop_reason"].toString(), QString("stop_sequence"));
        QCOMPARE(answer["stop_sequence"].toString(), QString("values"));
    }

    void noDialectTakesStopsWithoutEnd()
    {
        QJsonArray stops;
        for (int i = 0; i < 65; ++i)
            stops.append(QString("stop %1").arg(i));
        const QJsonObject body{{"messages", asked(kQuestion)}, {"max_tokens", 1}};
        QJsonObject anthropics = body, ollamas = body;
        anthropics["stop_sequences"] = stops;
        ollamas["options"] = QJsonObject{{"stop", stops}, {"num_predict", 1}};
        const Answer answers[] = {guide_.post("/v1/messages", anthropics), guide_.post("/api/chat", ollamas)};
        for (const Answer& answer : answers) {
            QCOMPARE(answer.status, 400);
            QVERIFY2(answer.body.contains("has more than 64 texts"), answer.body);
        }
    }

    void tokensAreCountedAsTheyAreUsed()
    {
        const QJsonObject body{{"max_tokens", 1}, {"messages", asked(kQuestion)}};
        const int counted = guide_.post("/v1/messages/count_tokens", body).json()["input_tokens"].toInt();
        const auto usage = guide_.post("/v1/messages", body).json()["usage"].toObject();
        QCOMPARE(counted, usage["input_tokens"].toInt() + usage["cache_read_input_tokens"].toInt());
        QVERIFY(counted > 5);
        const QJsonObject response{{"input", kQuestion}};
        for (const QByteArray root : {"/v1", ""}) {
            QCOMPARE(guide_.post(root + "/chat/completions/input_tokens", body).json()["input_tokens"].toInt(),
                     counted);
            QCOMPARE(guide_.post(root + "/responses/input_tokens", response).json()["input_tokens"].toInt(), counted);
        }
        const QJsonObject later{{"input", kQuestion}, {"previous_response_id", "resp_1"}};
        QCOMPARE(guide_.post("/v1/responses/input_tokens", later).status, 400);
    }

    void tokensOfWhatIsKeptAreCounted()
    {
        const auto first = guide_.post("/v1/responses", {{"input", kQuestion}, {"max_output_tokens", 4}}).json();
        const auto counted = [&](const QJsonObject& body) {
            return guide_.post("/v1/responses/input_tokens", body).json()["input_tokens"].toInt();
        };
        const QJsonArray next = asked("And what is a token?");
        QJsonArray whole = asked(kQuestion), referred = asked(kQuestion);
        for (const QJsonValue item : first["output"].toArray()) {
            whole.append(item);
            referred.append(QJsonObject{{"type", "item_reference"}, {"id", item.toObject()["id"]}});
        }
        whole.append(next.first());
        referred.append(next.first());
        const int all = counted({{"input", whole}});
        QVERIFY(all > counted({{"input", next}}));
        QCOMPARE(counted({{"input", referred}}), all);
        QCOMPARE(counted({{"input", next}, {"previous_response_id", first["id"]}}), all);
    }

    // As vLLM has it. Who says nothing goes on with an answer that comes last.
    void whetherTheLastAnswerGoesOnMayBeSaid()
    {
        QJsonArray messages = asked(kQuestion);
        messages.append(QJsonObject{{"role", "assistant"}, {"content", "It holds"}});
        QJsonObject body{{"messages", messages}, {"max_tokens", 1}, {"temperature", 0}};
        const auto prompt_tokens = [&] {
            return guide_.post("/v1/chat/completions", body).json()["usage"].toObject()["prompt_tokens"].toInt();
        };
        const int unsaid = prompt_tokens();
        body["continue_final_message"] = true;
        QCOMPARE(prompt_tokens(), unsaid);
        body["add_generation_prompt"] = true;
        QCOMPARE(guide_.post("/v1/chat/completions", body).status, 400);
        body["continue_final_message"] = false;
        QVERIFY(prompt_tokens() > unsaid);
        body["messages"] = asked(kQuestion);
        body["continue_final_message"] = true;
        body["add_generation_prompt"] = false;
        QCOMPARE(guide_.post("/v1/chat/completions", body).status, 400);
    }

    void anthropicsClientsReadHowLongAPromptMayBe()
    {
        engine::LoadRequest load;
        load.context_tokens = 64;
        const RunningServer small(engine::make_engine(), {}, load);
        const QJsonArray messages{QJsonObject{{"role", "user"}, {"content", QString("many words ").repeated(100)}}};
        const auto answer = small.post("/v1/messages", {{"max_tokens", 5}, {"messages", messages}});
        QCOMPARE(answer.status, 400);
        const auto error = answer.json()["error"].toObject();
        QCOMPARE(error["type"].toString(), QString("invalid_request_error"));
        const auto numbers =
            QRegularExpression("^prompt is too long: ([0-9]+) tokens > 64 maximum$").match(error["message"].toString());
        QVERIFY2(numbers.hasMatch(), qPrintable(error["message"].toString()));
        QVERIFY(numbers.captured(1).toInt() > 64);
    }

    void anthropicsErrorsAreTheirOwn()
    {
        const auto answer = guide_.post("/v1/messages", {{"max_tokens", 5}, {"messages", "x"}});
        QCOMPARE(answer.status, 400);
        QCOMPARE(answer.json()["type"].toString(), QString("error"));
        QCOMPARE(answer.json()["error"].toObject()["type"].toString(), QString("invalid_request_error"));
        QCOMPARE(guide_.get("/v1/messages").json()["type"].toString(), QString("error"));
    }

    void messagesThatSayNothingAreRefused()
    {
        for (const QJsonValue& content : {QJsonValue(""), QJsonValue(QJsonArray()), QJsonValue(5)})
            for (const char* path : {"/v1/messages", "/v1/messages/count_tokens"}) {
                const QJsonArray messages{QJsonObject{{"role", "system"}, {"content", content}}};
                QCOMPARE(guide_.post(path, {{"max_tokens", 1}, {"messages", messages}}).status, 400);
            }
    }

    void ollamasChatStreamsUnlessAskedNotTo()
    {
        const QJsonObject options{{"temperature", 0}, {"num_predict", 12}, {"num_ctx", 4096}};
        QJsonObject body{{"model", "guide"}, {"messages", asked(kQuestion)}, {"options", options}};
        const auto stream = guide_.post("/api/chat", body);
        QCOMPARE(stream.header("Content-Type"), QByteArray("application/x-ndjson"));
        QString text;
        const auto lines = lines_of(stream);
        for (const QJsonObject& line : lines)
            text += line["message"].toObject()["content"].toString();
        QVERIFY(lines.last()["done"].toBool());
        QCOMPARE(lines.last()["done_reason"].toString(), QString("length"));
        QCOMPARE(lines.last()["eval_count"].toInt(), 12);
        QVERIFY(lines.last()["eval_duration"].toDouble() > 0);
        QVERIFY(QDateTime::fromString(lines.last()["created_at"].toString(), Qt::ISODate)
                    .secsTo(QDateTime::currentDateTime()) < 3600);
        QVERIFY(has_fraction(lines.last()["created_at"]));
        body["stream"] = false;
        QCOMPARE(guide_.post("/api/chat", body).json()["message"].toObject()["content"].toString(), text);
        const QJsonObject generate{{"prompt", kQuestion}, {"options", options}, {"stream", false}};
        QCOMPARE(guide_.post("/api/generate", generate).json()["response"].toString(), text);
    }

    // Zed reads the first call of a line only.
    void ollamasCallsHaveLinesOfTheirOwn()
    {
        using Events = std::vector<server::TurnEvent>;
        const auto told = [](const Events& events) {
            const auto body = server::parse_body(R"({"messages": [{"role": "user", "content": "a"}]})");
            const auto asked = server::OllamaChat().read(*body, {"x", {}, nullptr});
            Answer answer;
            for (const server::TurnEvent& event : events)
                answer.body += QByteArray::fromStdString(asked->wording->piece(event));
            QStringList lines;
            for (const QJsonObject& line : lines_of(answer)) {
                QString said = line["done"].toBool() ? "done" : "";
                for (const QJsonValue call : line["message"].toObject()["tool_calls"].toArray()) {
                    const auto function = call.toObject()["function"].toObject();
                    said += QString::number(function["index"].toInt()) + function["name"].toString() +
                            QJsonDocument(function["arguments"].toObject()).toJson(QJsonDocument::Compact);
                }
                lines.append(said);
            }
            return lines.join(' ');
        };
        const Events calls = {server::CallBegun{0, "i", "f"}, server::CallArguments{0, "{\"a\":"},
                              server::CallArguments{0, "1}"}, server::CallBegun{1, "j", "g"},
                              server::CallArguments{1, "{}"}, server::Ended{}};
        QCOMPARE(told(calls), QString("0f{\"a\":1} 1g{} done"));
        // One that was cut off is none.
        const Events cut = {server::CallBegun{0, "i", "f"}, server::CallArguments{0, "{\"a\":"},
                            server::Ended{.reason = engine::StopReason::MaxTokens}};
        QCOMPARE(told(cut), QString("done"));
    }

    void ollamasModelIsDescribed()
    {
        // What `codex --oss` wants at least.
        QVERIFY(QVersionNumber::fromString(guide_.get("/api/version").json()["version"].toString()) >=
                QVersionNumber(0, 13, 4));
        const auto tag = guide_.get("/api/tags").json()["models"].toArray().first().toObject();
        // With the tag that Open WebUI puts behind a name that has none, and then looks for.
        QCOMPARE(tag["name"].toString(), QString("guide:latest"));
        QCOMPARE(tag["model"].toString(), QString("guide:latest"));
        QCOMPARE(guide_.post("/api/show", {{"model", tag["model"]}}).status, 200);
        QVERIFY(tag["size"].toDouble() > 1e6);
        QVERIFY(has_fraction(tag["modified_at"]));
        QCOMPARE(tag["digest"].toString().size(), 64);  // of which `ollama list` takes a part, and ends without it
        const auto show = guide_.post("/api/show", {{"model", "guide"}}).json();
        const auto facts = show["model_info"].toObject();
        QCOMPARE(facts["general.basename"].toString(), QString("guide"));
        QVERIFY(facts[facts["general.architecture"].toString() + ".context_length"].toInt() > 0);
        QVERIFY(show["capabilities"].toArray().contains("completion"));
        guide_.post("/api/generate", {{"prompt", "x"}, {"options", QJsonObject{{"num_predict", 1}}}});
        const auto running = guide_.get("/api/ps").json()["models"].toArray().first().toObject();
        QVERIFY(running["size"].toDouble() > 1e6);
        QCOMPARE(running["size_vram"].toInt(), 0);
        QCOMPARE(running["digest"].toString(), tag["digest"].toString());
        QVERIFY(QDateTime::fromString(running["expires_at"].toString(), Qt::ISODate) > QDateTime::currentDateTime());
        QVERIFY(has_fraction(running["expires_at"]));
        const auto error = guide_.post("/api/chat", {{"messages", 1}});
        QCOMPARE(error.status, 400);
        QVERIFY(error.json()["error"].isString());
    }

    void whoAsksForEmbeddingsHearsThatThereAreNone()
    {
        const QJsonObject body{{"model", "guide"}, {"input", "x"}};
        for (const char* path : {"/v1/embeddings", "/embeddings", "/api/embed", "/api/embeddings"}) {
            const auto answer = guide_.post(path, body);
            QCOMPARE(answer.status, 400);
            const QJsonValue error = answer.json()["error"];
            const bool ollamas = QByteArray(path).startsWith("/api/");
            const QString sentence = ollamas ? error.toString() : error.toObject()["message"].toString();
            QVERIFY2(sentence.contains("'guide'") && sentence.contains("no embeddings"), qPrintable(sentence));
        }
    }

    void textBecomesTokensAndTextAgain()
    {
        const QString text = QStringLiteral("Grüße, KV cache!\n");
        const auto tokens = guide_.post("/tokenize", {{"content", text}}).json()["tokens"].toArray();
        QVERIFY(tokens.size() > 3);
        QCOMPARE(guide_.post("/detokenize", {{"tokens", tokens}}).json()["content"].toString(), text);
        QCOMPARE(guide_.post("/detokenize", {{"tokens", QJsonArray{999'999'999}}}).json()["content"].toString(),
                 QString());
        QString pieces;
        int i = 0;
        const QJsonObject wanted{{"content", text + u8"\U0001F917"}, {"with_pieces", true}};
        for (const QJsonValue value : guide_.post("/tokenize", wanted).json()["tokens"].toArray()) {
            const QJsonValue piece = value.toObject()["piece"];
            QVERIFY(piece.isString() || !piece.toArray().isEmpty());  // bytes, where a character has several tokens
            pieces += piece.toString();
            if (i < tokens.size() - 1)
                QCOMPARE(value.toObject()["id"], tokens[i++]);
        }
        QVERIFY2(pieces.startsWith("Grüße, KV cache!"), qPrintable(pieces));
        for (const QJsonValue& bad : {QJsonValue("x"), QJsonValue(-1), QJsonValue(1e30), QJsonValue(1.5)})
            QCOMPARE(guide_.post("/detokenize", {{"tokens", QJsonArray{bad}}}).status, 400);
    }

    void theTemplateIsApplied()
    {
        const auto prompt =
            guide_.post("/apply-template", {{"messages", asked(kQuestion)}}).json()["prompt"].toString();
        QVERIFY(prompt.contains(kQuestion) && prompt.size() > kQuestion.size());
        const QJsonObject bare{{"messages", asked(kQuestion)}, {"add_generation_prompt", false}};
        const auto shorter = guide_.post("/apply-template", bare).json()["prompt"].toString();
        QVERIFY(prompt.startsWith(shorter) && prompt.size() > shorter.size());
    }

    void theServerDescribesItself()
    {
        const auto props = guide_.get("/props").json();
        QVERIFY(props["default_generation_settings"].toObject()["n_ctx"].toInt() > 0);
        QVERIFY(!props["chat_template"].toString().isEmpty());
        QCOMPARE(props["model_path"].toString(), QString("guide.gguf"));  // and no folder
        const auto slot = QJsonDocument::fromJson(guide_.get("/slots").body).array().first().toObject();
        QVERIFY(!slot["is_processing"].toBool());
        QVERIFY(slot["n_ctx"].toInt() > 0);
    }

    void aModelThatLeftMemoryIsStillDescribed()
    {
        server::ServerOptions options;
        options.desk.idle_unload = std::chrono::milliseconds(50);
        const RunningServer server(engine::make_engine(), options);
        QTRY_VERIFY_WITH_TIMEOUT(server.get("/props").json()["is_sleeping"].toBool(), server_test::kPatience_ms);
        QVERIFY(server.get("/props").json()["default_generation_settings"].toObject()["n_ctx"].toInt() > 0);
        QVERIFY(!server.get("/props").json()["chat_template"].toString().isEmpty());
        QCOMPARE(server.get("/slots").status, 503);
    }

    void metricsCountWhatWasDone()
    {
        const RunningServer server;
        const QJsonObject body{{"max_tokens", 5}, {"temperature", 0}, {"messages", asked(kQuestion)}};
        server.post("/v1/chat/completions", body);
        server.post("/v1/chat/completions", body);
        server.post("/v1/chat/completions", {});
        // A request is counted when it has been answered.
        Answer answer;
        QTRY_VERIFY_WITH_TIMEOUT((answer = server.get("/metrics")).body.contains("completions\",status=\"200\"} 2") &&
                                     answer.body.contains("completions\",status=\"400\"} 1"),
                                 server_test::kPatience_ms);
        QVERIFY(answer.header("Content-Type").startsWith("text/plain; version=0.0.4"));
        const QByteArray text = answer.body;
        const auto value = [&](const QByteArray& name) {
            const qsizetype at = ('\n' + text).indexOf('\n' + name + ' ');
            return at < 0 ? -1.0
                          : text.mid(at + name.size() + 1, text.indexOf('\n', at) - at - name.size() - 1).toDouble();
        };
        QCOMPARE(value("spillway_turns_total"), 2.0);
        QCOMPARE(value("spillway_answer_tokens_total"), 10.0);
        QVERIFY(value("spillway_prompt_cached_tokens_total") > 0);
        QCOMPARE(value("spillway_http_requests_total{path=\"/v1/chat/completions\",status=\"200\"}"), 2.0);
        QCOMPARE(value("spillway_http_requests_total{path=\"/v1/chat/completions\",status=\"400\"}"), 1.0);
        QCOMPARE(value("spillway_time_to_first_token_seconds_count"), 2.0);
        QCOMPARE(value("spillway_time_to_first_token_seconds_bucket{le=\"+Inf\"}"), 2.0);
        QVERIFY(value("spillway_memory_bytes{device=\"cpu\",tenant=\"weights\"}") > 1e6);
        QVERIFY(value("spillway_kv_blocks{residency=\"host\"}") > 0);
        QCOMPARE(value("spillway_turns_running"), 0.0);
        for (const QByteArray& line : text.split('\n'))
            QVERIFY2(line.isEmpty() || line.startsWith("# HELP ") || line.startsWith("# TYPE ") ||
                         QRegularExpression("^[a-z_]+(\\{[^}]*\\})? [0-9.e+-]+$").match(line).hasMatch(),
                     line.constData());
    }

private:
    RunningServer guide_;
};

SPILLWAY_TEST(QCoreApplication, TestDialects)
#include "tst_dialects.moc"
