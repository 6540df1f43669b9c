// Tests that clients of Ollama are answered in the words of its API, with the guide model behind it.
#include "app/server/ollama.h"
#include "tests/app/server/asked_dialects.h"
#include "tests/app/server/running_server.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QJsonArray>
#include <QRegularExpression>
#include <QVersionNumber>

using server_test::Answer;
using server_test::asked_by;
using server_test::kCacheQuestion;
using server_test::RunningServer;
using server_test::said_to;
using server_test::user_says;

namespace {

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

}  // namespace

class TestOllama : public QObject
{
    Q_OBJECT

private Q_SLOTS:
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

    void ollamasThoughtsComeBack()
    {
        QCOMPARE(said_to(asked_by(server::OllamaChat(), R"({"messages": [{"role": "user", "content": "a"},
            {"role": "assistant", "content": "b", "thinking": "t"}, {"role": "user", "content": "c"}]})")),
                 QString("user=a;assistant=b(t);user=c;"));
    }

    void ollamasChatStreamsUnlessAskedNotTo()
    {
        const QJsonObject options{{"temperature", 0}, {"num_predict", 12}, {"num_ctx", 4096}};
        QJsonObject body{{"model", "guide"}, {"messages", user_says(kCacheQuestion)}, {"options", options}};
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
        const QJsonObject generate{{"prompt", kCacheQuestion}, {"options", options}, {"stream", false}};
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

private:
    RunningServer guide_;
};

SPILLWAY_TEST(QCoreApplication, TestOllama)
#include "tst_ollama.moc"
