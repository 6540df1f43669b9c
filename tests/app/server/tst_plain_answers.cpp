// Tests that clients of llama-server hear of tokens, templates, the model and the state of the server, with the guide
// model behind it.
#include "tests/app/server/asked_dialects.h"
#include "tests/app/server/running_server.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QJsonArray>
#include <QRegularExpression>

using server_test::Answer;
using server_test::kCacheQuestion;
using server_test::RunningServer;
using server_test::user_says;

class TestPlainAnswers : public QObject
{
    Q_OBJECT

private Q_SLOTS:
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

    void piecesOfTokensAreAllOfTheText()
    {
        const QString text = QStringLiteral("KV \"cache\"\n") + u8"\U0001F917";
        const QJsonObject wanted{{"content", text}, {"with_pieces", true}};
        const QByteArray body = guide_.post("/tokenize", wanted).body;
        // As JSON writes it all: without blanks, and with its escapes.
        const auto json = server::Json::parse(body.toStdString());
        QCOMPARE(body, QByteArray::fromStdString(json.dump()));
        std::string said;
        bool has_bytes = false;
        for (const server::Json& token : json["tokens"]) {
            QCOMPARE(token.size(), std::size_t(2));
            QVERIFY(token["id"].is_number_integer());
            if (token["piece"].is_string()) {
                said += token["piece"].get<std::string>();
                continue;
            }
            has_bytes = true;  // of a part of a character
            for (const server::Json& byte : token["piece"])
                said += char(byte.get<int>());
        }
        QVERIFY(has_bytes);
        QCOMPARE(QString::fromStdString(said), text);
        QCOMPARE(guide_.post("/tokenize", {{"content", ""}, {"with_pieces", true}}).body,
                 QByteArray(R"({"tokens":[]})"));
    }

    void theTemplateIsApplied()
    {
        const auto prompt =
            guide_.post("/apply-template", {{"messages", user_says(kCacheQuestion)}}).json()["prompt"].toString();
        QVERIFY(prompt.contains(kCacheQuestion) && prompt.size() > kCacheQuestion.size());
        const QJsonObject bare{{"messages", user_says(kCacheQuestion)}, {"add_generation_prompt", false}};
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
        const QJsonObject body{{"max_tokens", 5}, {"temperature", 0}, {"messages", user_says(kCacheQuestion)}};
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

SPILLWAY_TEST(QCoreApplication, TestPlainAnswers)
#include "tst_plain_answers.moc"
