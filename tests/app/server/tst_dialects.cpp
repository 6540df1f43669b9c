// Tests what is said to the engine in the words of OpenAI's APIs, and alike in those of Anthropic and Ollama, with the
// guide model behind them.
#include "app/server/anthropic_messages.h"
#include "app/server/ollama.h"
#include "app/server/openai_chat.h"
#include "app/server/openai_responses.h"
#include "tests/app/server/asked_dialects.h"
#include "tests/app/server/running_server.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QJsonArray>

using server_test::Answer;
using server_test::asked_by;
using server_test::kCacheQuestion;
using server_test::messages_by_anthropic;
using server_test::RunningServer;
using server_test::said_to;
using server_test::user_says;

namespace {

using ReadBy = server::Ask (*)(const QByteArray& body);
template <class Dialect>
server::Ask read_with(const QByteArray& body)
{
    return asked_by(Dialect(), body);
}

}  // namespace

class TestDialects : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    // Prompts with thoughts and without differ only at their end.
    void whoSwitchesThoughtsKeepsWhatWasRead()
    {
        QJsonObject body{
            {"messages", user_says("Once more: " + kCacheQuestion)}, {"max_tokens", 1}, {"temperature", 0}};
        guide_.post("/v1/chat/completions", body);
        body["reasoning_effort"] = "none";
        const auto usage = guide_.post("/v1/chat/completions", body).json()["usage"].toObject();
        QVERIFY(usage["prompt_tokens_details"].toObject()["cached_tokens"].toInt() >
                usage["prompt_tokens"].toInt() - 5);
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

    void noDialectTakesStopsWithoutEnd()
    {
        QJsonArray stops;
        for (int i = 0; i < 65; ++i)
            stops.append(QString("stop %1").arg(i));
        const QJsonObject body{{"messages", user_says(kCacheQuestion)}, {"max_tokens", 1}};
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
        const QJsonObject body{{"max_tokens", 1}, {"messages", user_says(kCacheQuestion)}};
        const int counted = guide_.post("/v1/messages/count_tokens", body).json()["input_tokens"].toInt();
        const auto usage = guide_.post("/v1/messages", body).json()["usage"].toObject();
        QCOMPARE(counted, usage["input_tokens"].toInt() + usage["cache_read_input_tokens"].toInt());
        QVERIFY(counted > 5);
        const QJsonObject response{{"input", kCacheQuestion}};
        for (const QByteArray root : {"/v1", ""}) {
            QCOMPARE(guide_.post(root + "/chat/completions/input_tokens", body).json()["input_tokens"].toInt(),
                     counted);
            QCOMPARE(guide_.post(root + "/responses/input_tokens", response).json()["input_tokens"].toInt(), counted);
        }
        const QJsonObject later{{"input", kCacheQuestion}, {"previous_response_id", "resp_1"}};
        QCOMPARE(guide_.post("/v1/responses/input_tokens", later).status, 400);
    }

    void tokensOfWhatIsKeptAreCounted()
    {
        const auto first = guide_.post("/v1/responses", {{"input", kCacheQuestion}, {"max_output_tokens", 4}}).json();
        const auto counted = [&](const QJsonObject& body) {
            return guide_.post("/v1/responses/input_tokens", body).json()["input_tokens"].toInt();
        };
        const QJsonArray next = user_says("And what is a token?");
        QJsonArray whole = user_says(kCacheQuestion), referred = user_says(kCacheQuestion);
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
        QJsonArray messages = user_says(kCacheQuestion);
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
        body["messages"] = user_says(kCacheQuestion);
        body["continue_final_message"] = true;
        body["add_generation_prompt"] = false;
        QCOMPARE(guide_.post("/v1/chat/completions", body).status, 400);
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

private:
    RunningServer guide_;
};

SPILLWAY_TEST(QCoreApplication, TestDialects)
#include "tst_dialects.moc"
