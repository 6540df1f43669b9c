// Tests that OpenAI's clients get several answers to one question, and how likely each token was.
#include "tests/app/server/running_server.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QJsonArray>

#include <cmath>

using server_test::Answer;
using server_test::RunningServer;

namespace {

constexpr const char* kChat = "/v1/chat/completions";
constexpr const char* kCompletions = "/v1/completions";

QJsonObject question(QJsonObject more)
{
    more["messages"] = QJsonArray{QJsonObject{{"role", "user"}, {"content", "What is a KV cache?"}}};
    if (!more.contains("max_tokens"))
        more["max_tokens"] = 12;
    if (!more.contains("temperature"))
        more["temperature"] = 0;
    return more;
}

QJsonArray choices_of(const Answer& answer)
{
    return answer.json()["choices"].toArray();
}

/// A stream's choices, put together again: text, tokens and why each ended.
struct Choice {
    QString text, reason;
    QJsonArray tokens;
};
QList<Choice> put_together(const Answer& stream, int count)
{
    QList<Choice> all(count);
    for (const QByteArray& event : stream.events())
        for (const QJsonValue& value : QJsonDocument::fromJson(event).object()["choices"].toArray()) {
            const auto part = value.toObject();
            Choice& choice = all[part["index"].toInt()];
            choice.text += part["delta"].toObject()["content"].toString() + part["text"].toString();
            choice.reason += part["finish_reason"].toString();
            for (const QJsonValue& token : part["logprobs"].toObject()["content"].toArray())
                choice.tokens.append(token);
        }
    return all;
}

}  // namespace

class TestChoices : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void tokensOfAChatSayHowLikelyTheyWere()
    {
        const auto body = question({{"logprobs", true}, {"top_logprobs", 3}});
        const auto answer = guide_.post(kChat, body);
        const auto choice = choices_of(answer).first().toObject();
        const auto tokens = choice["logprobs"].toObject()["content"].toArray();
        QCOMPARE(tokens.size(), answer.json()["usage"].toObject()["completion_tokens"].toInt());
        QString text;
        for (const QJsonValue& value : tokens) {
            const auto token = value.toObject();
            text += token["token"].toString();
            QByteArray bytes;
            for (const QJsonValue& byte : token["bytes"].toArray())
                bytes += char(byte.toInt());
            QCOMPARE(QString::fromUtf8(bytes), token["token"].toString());
            const auto likeliest = token["top_logprobs"].toArray();
            QCOMPARE(likeliest.size(), 3);
            // The answer is greedy: each token was the likeliest.
            QCOMPARE(likeliest.first().toObject()["token"], token["token"]);
            QCOMPARE(likeliest.first().toObject()["logprob"].toDouble(), token["logprob"].toDouble());
            double sum = 0, before = 0;
            for (const QJsonValue& likely : likeliest) {
                const double logprob = likely.toObject()["logprob"].toDouble();
                QVERIFY(logprob <= before);
                sum += std::exp(before = logprob);
            }
            QVERIFY(sum > 0 && sum <= 1.0001);
        }
        QCOMPARE(text, choice["message"].toObject()["content"].toString());

        auto streamed = body;
        streamed["stream"] = true;
        const auto stream = put_together(guide_.post(kChat, streamed), 1).first();
        QCOMPARE(stream.text, text);
        QCOMPARE(stream.tokens, tokens);
    }

    void nobodyHearsOfTokensUnasked()
    {
        QVERIFY(choices_of(guide_.post(kChat, question({}))).first().toObject()["logprobs"].isNull());
        const auto alone = choices_of(guide_.post(kChat, question({{"logprobs", true}}))).first().toObject();
        const auto first = alone["logprobs"].toObject()["content"].toArray().first().toObject();
        QVERIFY(first["top_logprobs"].isArray() && first["top_logprobs"].toArray().isEmpty());
    }

    void tokensOfAStopAreNoPartOfTheAnswer()
    {
        const auto body = question({{"logprobs", true}, {"max_tokens", 40}, {"stop", "values"}});
        const auto choice = choices_of(guide_.post(kChat, body)).first().toObject();
        QCOMPARE(choice["finish_reason"].toString(), QString("stop"));
        QString text;
        for (const QJsonValue& token : choice["logprobs"].toObject()["content"].toArray())
            text += token.toObject()["token"].toString();
        const QString said = choice["message"].toObject()["content"].toString();
        QVERIFY(!said.isEmpty() && text.startsWith(said));
        QVERIFY2(text.size() < said.size() + 8, qPrintable(text));  // a token may end with the stop's beginning
    }

    void tokensOfACompletionHaveOffsets()
    {
        const QJsonObject body{{"prompt", "A KV cache"}, {"max_tokens", 8}, {"temperature", 0}, {"logprobs", 2}};
        const auto choice = choices_of(guide_.post(kCompletions, body)).first().toObject();
        const auto logprobs = choice["logprobs"].toObject();
        const auto tokens = logprobs["tokens"].toArray();
        QCOMPARE(tokens.size(), 8);
        const QString text = choice["text"].toString();
        for (int i = 0; i < tokens.size(); ++i) {
            const QString token = tokens[i].toString();
            QCOMPARE(text.mid(logprobs["text_offset"].toArray()[i].toInt(), token.size()), token);
            QCOMPARE(logprobs["top_logprobs"].toArray()[i].toObject()[token], logprobs["token_logprobs"].toArray()[i]);
        }
    }

    void severalAnswersAreThoseOfTheirSeeds()
    {
        // Hot enough that even the guide, which is sure of itself, says three things.
        const QJsonObject hot{{"temperature", 5}, {"top_k", 0}, {"top_p", 1}, {"min_p", 0}, {"seed", 40}};
        auto body = question(hot);
        body["n"] = 3;
        const auto answer = guide_.post(kChat, body);
        const auto choices = choices_of(answer);
        QCOMPARE(choices.size(), 3);
        QStringList texts;
        for (int i = 0; i < 3; ++i) {
            QCOMPARE(choices[i].toObject()["index"].toInt(), i);
            texts.append(choices[i].toObject()["message"].toObject()["content"].toString());
            auto one = question(hot);
            one["seed"] = 40 + i;
            const auto alone = guide_.post(kChat, one);
            QCOMPARE(choices_of(alone).first().toObject()["message"].toObject()["content"].toString(), texts.last());
        }
        QCOMPARE(QSet<QString>(texts.begin(), texts.end()).size(), 3);
        const auto usage = answer.json()["usage"].toObject();
        QCOMPARE(usage["total_tokens"].toInt(), usage["prompt_tokens"].toInt() + usage["completion_tokens"].toInt());
        QVERIFY(usage["completion_tokens"].toInt() > 12 && usage["completion_tokens"].toInt() <= 36);

        auto streamed = body;
        streamed["stream"] = true;
        streamed["stream_options"] = QJsonObject{{"include_usage", true}};
        const auto stream = guide_.post(kChat, streamed);
        const auto parts = put_together(stream, 3);
        for (int i = 0; i < 3; ++i) {
            QCOMPARE(parts[i].text, texts[i]);
            QVERIFY(parts[i].reason == "length" || parts[i].reason == "stop");
        }
        const auto events = stream.events();
        QCOMPARE(events.count("[DONE]"), 1);
        const auto last = QJsonDocument::fromJson(events[events.size() - 2]).object()["usage"].toObject();
        QCOMPARE(last["completion_tokens"], usage["completion_tokens"]);
        QCOMPARE(last["prompt_tokens"], usage["prompt_tokens"]);
    }

    void severalCompletionsAreStreamed()
    {
        const QJsonObject body{{"prompt", "A KV cache"}, {"max_tokens", 6}, {"temperature", 1}, {"n", 2}, {"seed", 5},
                               {"stream", true}};
        const auto stream = put_together(guide_.post(kCompletions, body), 2);
        auto whole = body;
        whole["stream"] = false;
        const auto choices = choices_of(guide_.post(kCompletions, whole));
        QCOMPARE(choices.size(), 2);
        for (int i = 0; i < 2; ++i)
            QCOMPARE(stream[i].text, choices[i].toObject()["text"].toString());
    }

    void allEndWhenTheClientGoes()
    {
        auto owned = std::make_unique<server_test::GateEngine>();
        server_test::GateEngine& engine = *owned;
        const RunningServer server(std::move(owned));
        {
            server_test::Client client(server.port());
            const auto body = QJsonDocument(question({{"n", 3}, {"stream", true}})).toJson(QJsonDocument::Compact);
            client.say(server_test::Client::request("POST", kChat, body));
            QVERIFY(engine.wait([&] { return engine.most_together == 3; }));
        }
        QVERIFY(
            engine.wait([&] { return engine.ended_turns.size() == 3 * std::string("What is a KV cache?;").size(); }));
    }

private:
    RunningServer guide_;
};

SPILLWAY_TEST(QCoreApplication, TestChoices)
#include "tst_choices.moc"
