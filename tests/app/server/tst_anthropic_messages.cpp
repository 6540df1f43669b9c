// Tests that clients of Anthropic are answered in the words of its API, with the guide model behind it.
#include "app/server/anthropic_messages.h"
#include "tests/app/server/asked_dialects.h"
#include "tests/app/server/running_server.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QJsonArray>
#include <QRegularExpression>

using server_test::asked_by;
using server_test::kCacheQuestion;
using server_test::messages_by_anthropic;
using server_test::RunningServer;
using server_test::said_to;
using server_test::user_says;

class TestAnthropicMessages : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void anthropicsMessagesAreAnsweredAlikeWholeAndAsAStream()
    {
        const QJsonObject body{
            {"model", "x"}, {"max_tokens", 12}, {"temperature", 0}, {"messages", user_says(kCacheQuestion)}};
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
        QCOMPARE(guide_
                     .post("/v1/messages",
                           {{"max_tokens", 2},
                            {"messages",
                             QJsonArray{user_says("a").first(), QJsonObject{{"role", "system"}, {"content", "b"}}}}})
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
                {"max_tokens", 1}, {"system", QJsonArray{billing, rules}}, {"messages", user_says(kCacheQuestion)}};
            usage = guide_.post("/v1/messages", body).json()["usage"].toObject();
        }
        QVERIFY2(usage["input_tokens"].toInt() < 10, qPrintable(QJsonDocument(usage).toJson()));
        QVERIFY(usage["cache_read_input_tokens"].toInt() > 100);
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
                                                       {"messages", user_says(kCacheQuestion)}})
                                .json();
        QCOMPARE(answer["stop_reason"].toString(), QString("stop_sequence"));
        QCOMPARE(answer["stop_sequence"].toString(), QString("values"));
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

private:
    RunningServer guide_;
};

SPILLWAY_TEST(QCoreApplication, TestAnthropicMessages)
#include "tst_anthropic_messages.moc"
