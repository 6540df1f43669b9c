// Tests that messages which a model's chat template would refuse are changed so that it takes them, and that others are
// left as they are.
#include "app/server/template_fit.h"
#include "tests/app/server/running_server.h"
#include "tests/support/chain_model.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QJsonArray>
#include <QRegularExpression>
#include <QTemporaryDir>

using server_test::RunningServer;
using support::ChainModel;

namespace {

// As Qwen3.5 and Qwen3.6 have it.
constexpr const char* kRefusesLateSystem =
    "{% for m in messages %}{% if m.role == 'system' and not loop.first %}"
    "{{ raise_exception('System message must be at the beginning.') }}{% endif %}"
    "<|turn|>{{ m.role }} {{ m.content }}<|over|>{% endfor %}{% if add_generation_prompt %}<|go|>{% endif %}";

// As Mistral Nemo has it.
constexpr const char* kRefusesLongIds =
    "{% macro checked(id) %}{% if not id is defined or id|length != 9 %}"
    "{{ raise_exception('Tool call IDs should be alphanumeric strings with length 9!') }}{% endif %}{{ id }}{% "
    "endmacro %}"
    "{% if tools %}{% endif %}{% for m in messages %}<|turn|>{{ m.content }}"
    "{% for c in m.tool_calls %}[{{ c.function.name }} {{ checked(c.id) }}]{% endfor %}"
    "{% if m.role == 'tool' %}({{ checked(m.tool_call_id) }}){% endif %}<|over|>{% endfor %}<|go|>";

// As Qwen3.8 has it, which refuses late system messages as well.
constexpr const char* kRefusesEfforts =
    "{% set effort = reasoning_effort|default('xhigh') %}{% if effort not in ('xhigh', 'medium', 'low') %}"
    "{{ raise_exception('Unexpected reasoning effort ' + effort + '.') }}{% endif %}<|turn|>{{ effort }}<|over|>"
    "{% for m in messages %}{% if m.role == 'system' and not loop.first %}"
    "{{ raise_exception('System message must be at the beginning.') }}{% endif %}"
    "<|turn|>{{ m.content }}<|over|>{% endfor %}<|go|>";

// As gpt-oss has it.
constexpr const char* kTakesAnyEffort = "<|turn|>{{ reasoning_effort|default(\"medium\") }}<|over|>"
                                        "{% for m in messages %}<|turn|>{{ m.content }}<|over|>{% endfor %}<|go|>";

// As Mistral Small 4 has it, as far as is known.
constexpr const char* kTakesHighOnly =
    "{% if reasoning_effort is defined and reasoning_effort not in ['none', 'high'] %}"
    "{{ raise_exception('reasoning_effort must be none or high.') }}{% endif %}"
    "<|turn|>{{ reasoning_effort|default('unsaid') }}<|over|>"
    "{% for m in messages %}<|turn|>{{ m.content }}<|over|>{% endfor %}<|go|>";

// As Mistral Nemo has it: calls and results are not counted.
constexpr const char* kWantsRolesToAlternate =
    "{% if tools %}{% endif %}{% set ns = namespace() %}{% set ns.index = 0 %}{% for m in messages %}"
    "{% if m.role == 'system' %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}"
    "{% if not (m.role == 'tool' or m.tool_calls) %}{% if (m.role == 'user') != (ns.index % 2 == 0) %}"
    "{{ raise_exception('conversation roles must alternate!') }}{% endif %}{% set ns.index = ns.index + 1 %}{% endif %}"
    "<|turn|>{{ m.role }} {{ m.content }}<|over|>{% endfor %}<|go|>";

// Takes minutes where a conversation is long: the limits grow with it.
constexpr const char* kTakesMinutes =
    "{% for a in messages %}{% for b in messages %}{% for c in range(64) %}{{ '' }}{% endfor %}{% endfor %}{% endfor "
    "%}{% if tools %}{% endif %}<|go|>";

QJsonObject fit_message(const char* role, const char* text)
{
    return {{"role", role}, {"content", text}};
}

QJsonArray with_late_system()
{
    return {fit_message("system", "s"), fit_message("user", "a"), fit_message("assistant", "x"),
            fit_message("user", "b"), fit_message("system", "late")};
}

}  // namespace

class TestTemplateFit : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatTheSystemSaysLateIsTheUsersWhereItIsRefused()
    {
        const auto server = serve(kRefusesLateSystem);
        const QString prompt = "<|turn|>system s<|over|><|turn|>user a<|over|><|turn|>assistant x<|over|>"
                               "<|turn|>user b\n\nlate<|over|><|go|>";
        QCOMPARE(prompt_of(*server, with_late_system()), prompt);
        const QJsonObject chat{{"messages", with_late_system()}, {"max_tokens", 1}, {"stream", false}};
        for (const char* path : {"/v1/chat/completions", "/api/chat", "/v1/messages"})
            QCOMPARE(server->post(path, chat).status, 200);
        const QJsonObject response{{"input", with_late_system()}};
        QCOMPARE(server->post("/v1/responses", response).status, 200);
        const int used = server->post("/v1/chat/completions", chat).json()["usage"].toObject()["prompt_tokens"].toInt();
        QVERIFY(used > 0);
        QCOMPARE(server->post("/v1/responses/input_tokens", response).json()["input_tokens"].toInt(), used);

        // An answer that goes on is none that the template sees.
        QJsonArray messages = with_late_system();
        messages.append(fit_message("assistant", "y"));
        QCOMPARE(server->post("/v1/chat/completions", {{"messages", messages}, {"max_tokens", 1}}).status, 200);
    }

    void itStaysTheSystemsElsewhere()
    {
        const auto server =
            serve("{% for m in messages %}<|turn|>{{ m.role }} {{ m.content }}<|over|>{% endfor %}<|go|>");
        QVERIFY(
            prompt_of(*server, with_late_system()).endsWith("<|turn|>user b<|over|><|turn|>system late<|over|><|go|>"));
    }

    void idsOfCallsAreShortWhereLongOnesAreRefused()
    {
        const auto server = serve(kRefusesLongIds);
        const QJsonArray messages = QJsonDocument::fromJson(R"([{"role": "user", "content": "a"},
            {"role": "assistant", "content": "", "tool_calls": [
                {"id": "call_0123456789abcdef", "function": {"name": "f", "arguments": "{}"}},
                {"id": "Abcdefgh9", "function": {"name": "g", "arguments": "{}"}},
                {"function": {"name": "h", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "call_0123456789abcdef", "content": "r"},
            {"role": "tool", "tool_call_id": "Abcdefgh9", "content": "r"}, {"role": "tool", "content": "r"}])")
                                        .array();
        const QString prompt = prompt_of(*server, messages);
        const auto ids =
            QRegularExpression("^<\\|turn\\|>a<\\|over\\|><\\|turn\\|>\\[f ([0-9a-z]{9})\\]\\[g Abcdefgh9\\]"
                               "\\[h (call00002)\\]<\\|over\\|><\\|turn\\|>r\\((.*)\\)<\\|over\\|><\\|turn\\|>r"
                               "\\(Abcdefgh9\\)<\\|over\\|><\\|turn\\|>r\\(call00002\\)<\\|over\\|><\\|go\\|>$")
                .match(prompt);
        QVERIFY2(ids.hasMatch(), qPrintable(prompt));
        QCOMPARE(ids.captured(1), ids.captured(3));
        QCOMPARE(server->post("/v1/chat/completions", {{"messages", messages}, {"max_tokens", 1}}).status, 200);
    }

    void roundsOfToolsDoNotBreakTheAlternation_data()
    {
        QTest::addColumn<QJsonArray>("behind");
        QTest::addColumn<QString>("result");
        QTest::newRow("the system") << QJsonArray{fit_message("system", "late")} << "r\n\nlate";
        QTest::newRow("the user") << QJsonArray{fit_message("user", "b")} << "r\n\nb";
        QTest::newRow("both") << QJsonArray{fit_message("system", "late"), fit_message("user", "b")}
                              << "r\n\nlate\n\nb";
    }
    void roundsOfToolsDoNotBreakTheAlternation()
    {
        QFETCH(QJsonArray, behind);
        QFETCH(QString, result);
        const auto server = serve(kWantsRolesToAlternate);
        QJsonArray messages = QJsonDocument::fromJson(R"([{"role": "user", "content": "a"},
            {"role": "assistant", "content": "x", "tool_calls": [
                {"id": "Abcdefgh9", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "Abcdefgh9", "content": "r"}])")
                                  .array();
        for (const QJsonValue& message : behind)
            messages.append(message);
        QCOMPARE(prompt_of(*server, messages),
                 "<|turn|>user a<|over|><|turn|>assistant x<|over|><|turn|>tool " + result + "<|over|><|go|>");
        QCOMPARE(server->post("/v1/chat/completions", {{"messages", messages}, {"max_tokens", 1}}).status, 200);
    }

    void theNearestEffortIsAskedForThatTheTemplateTakes_data()
    {
        QTest::addColumn<QByteArray>("source");
        QTest::addColumn<QString>("asked");
        QTest::addColumn<QString>("said");
        const auto row = [](const char* source, const char* asked, const char* said) {
            QTest::addRow("%s, %.20s", asked, source) << QByteArray(source) << QString(asked) << QString(said);
        };
        for (const char* const asked : {"high", "xhigh", "max"}) {
            row(kRefusesEfforts, asked, "xhigh");
            row(kTakesAnyEffort, asked, "high");
            row(kTakesHighOnly, asked, "high");
        }
        row(kRefusesEfforts, "medium", "medium");
        row(kRefusesEfforts, "minimal", "low");
        row(kRefusesEfforts, "odd", "xhigh");
        row(kTakesAnyEffort, "odd", "odd");
        row(kTakesHighOnly, "medium", "unsaid");
    }
    void theNearestEffortIsAskedForThatTheTemplateTakes()
    {
        QFETCH(QByteArray, source);
        QFETCH(QString, asked);
        QFETCH(QString, said);
        const auto server = serve(source.constData());
        const QJsonArray messages{fit_message("user", "a")};
        const QJsonObject chat{{"messages", messages}, {"reasoning_effort", asked}, {"max_tokens", 1}};
        QCOMPARE(server->post("/apply-template", chat).json()["prompt"].toString(),
                 "<|turn|>" + said + "<|over|><|turn|>a<|over|><|go|>");
        QCOMPARE(server->post("/v1/chat/completions", chat).status, 200);
        QCOMPARE(
            server
                ->post("/v1/messages",
                       {{"messages", messages}, {"output_config", QJsonObject{{"effort", asked}}}, {"max_tokens", 1}})
                .status,
            200);
        QCOMPARE(server
                     ->post("/api/chat", {{"messages", messages},
                                          {"think", asked},
                                          {"stream", false},
                                          {"options", QJsonObject{{"num_predict", 1}}}})
                     .status,
                 200);
    }

    /// Each other wording of the prompt would take as long again.
    void aPromptAtTheLimitsIsNotTriedInOtherWays()
    {
        const auto server = serve("{% if reasoning_effort == 'high' %}{% set s = 'a' * 1000000 %}"
                                  "{% for i in range(600) %}{% if 'b' in s %}{% endif %}{% endfor %}{% endif %}"
                                  "{% for m in messages %}<|turn|>{{ m.content }}<|over|>{% endfor %}<|go|>");
        const auto answer = server->post(
            "/apply-template", {{"messages", QJsonArray{fit_message("user", "a")}}, {"reasoning_effort", "high"}});
        QVERIFY2(answer.body.contains("too many steps"), answer.body.constData());
    }

    // Each by itself would be refused.
    void anEffortAndALateSystemAreBothSaidInAnotherWay()
    {
        const auto server = serve(kRefusesEfforts);
        const QJsonObject chat{{"messages", with_late_system()}, {"reasoning_effort", "high"}};
        QCOMPARE(server->post("/apply-template", chat).json()["prompt"].toString(),
                 QString("<|turn|>xhigh<|over|><|turn|>s<|over|><|turn|>a<|over|><|turn|>x<|over|>"
                         "<|turn|>b\n\nlate<|over|><|go|>"));
    }

    // What each template calls it is tried in tst_dialects.
    void aModelThinksWhereItIsAskedTo()
    {
        const auto server = serve("{% for m in messages %}<|turn|>{{ m.content }}<|over|>{% endfor %}<|go|>{% if "
                                  "thinking %}[THINK]{% endif %}");
        QJsonObject body{{"messages", QJsonArray{fit_message("user", "a")}},
                         {"max_tokens", 9},
                         {"stream", false},
                         {"temperature", 0},
                         {"options", QJsonObject{{"temperature", 0}, {"num_predict", 9}}}};
        const auto thoughts = [&](const char* name, const QJsonValue& asked) {
            QJsonObject asking = body;
            asking[name] = asked;
            return server->post("/api/chat", asking).json()["message"].toObject()["thinking"].toString();
        };
        QCOMPARE(thoughts("think", true), QString("a"));
        QCOMPARE(thoughts("think", "high"), QString("a"));
        QCOMPARE(thoughts("think", false), QString());
        body["thinking"] = QJsonObject{{"type", "enabled"}};
        const auto content = server->post("/v1/messages", body).json()["content"].toArray();
        QCOMPARE(content.first().toObject()["thinking"].toString(), QString("a"));
    }

    void renderingEndsWhenItsClientGoes_data()
    {
        QTest::addColumn<QByteArray>("path");
        QTest::addColumn<int>("status");
        QTest::newRow("a chat") << QByteArray("/v1/chat/completions") << 499;
        QTest::newRow("a prompt") << QByteArray("/apply-template") << 503;
        QTest::newRow("a count") << QByteArray("/v1/messages/count_tokens") << 503;
    }

    void renderingEndsWhenItsClientGoes()
    {
        QFETCH(QByteArray, path);
        QFETCH(int, status);
        const auto server = serve(kTakesMinutes);
        QJsonArray messages;
        for (int i = 0; i < 4095; ++i)
            messages.append(fit_message(i % 2 == 0 ? "user" : "assistant", "a"));
        const QJsonObject body{{"messages", messages}, {"reasoning_effort", "low"}};
        server_test::Client(server->port())
            .say(server_test::Client::request("POST", path, QJsonDocument(body).toJson(QJsonDocument::Compact)));
        const QByteArray counted = "path=\"" + path + "\",status=\"" + QByteArray::number(status) + "\"} 1\n";
        QTRY_VERIFY_WITH_TIMEOUT(server->get("/metrics").body.contains(counted), server_test::kPatience_ms);
    }

private:
    std::unique_ptr<RunningServer> serve(const char* chat_template)
    {
        engine::LoadRequest load;
        load.model = folder_.filePath(QString("%1.gguf").arg(++models_)).toStdString();
        ChainModel({"[THINK]", "[/THINK]"})
            .says({ChainModel::kGo, "b", "</s>"})
            .says({"[THINK]", "a", "[/THINK]", "b"})
            .chat_template(chat_template)
            .save(load.model);
        return std::make_unique<RunningServer>(engine::make_engine(), server::ServerOptions(), load);
    }

    static QString prompt_of(const RunningServer& server, const QJsonArray& messages)
    {
        return server.post("/apply-template", {{"messages", messages}}).json()["prompt"].toString();
    }

    QTemporaryDir folder_;
    int models_ = 0;
};

SPILLWAY_TEST(QCoreApplication, TestTemplateFit)
#include "tst_template_fit.moc"
