// Tests that the engine says how likely its tokens were, compared with logits that are computed by themselves.
#include "engine/evaluate.h"
#include "engine/sampling/log_shares.h"
#include "engine/text_tools.h"
#include "engine/tokenizer/utf8_stream.h"
#include "tests/engine/run/loaded_engine.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <limits>

using namespace engine;
using namespace test_support;

namespace {

struct Heard {
    Turn turn;
    std::vector<TokenLogprobs> tokens;
};

Heard ask(const Request& request)
{
    Loaded loaded;
    Heard heard;
    Listener listener;
    listener.on_token = [&](const TokenLogprobs& token) { heard.tokens.push_back(token); };
    const auto turn = loaded.generate(request, listener);
    if (!turn)
        qFatal("%s", turn.error().what.c_str());
    heard.turn = *turn;
    return heard;
}

Request raw_request(float temperature)
{
    Request request;
    request.raw_prompt = "Once upon a time there was";
    request.max_tokens = 12;
    request.top_logprobs = 5;
    request.sampling.temperature = temperature;
    request.sampling.seed = 7;
    request.sampling.repeat_penalty = 1.3f;  // changes what is drawn, and nothing of what is said of it
    return request;
}

/// The logarithm of a token's share, in the plainest way.
double plain_logprob(const std::vector<float>& logits, int id)
{
    long double sum = 0;
    for (const float logit : logits)
        sum += std::exp((long double)(logit));
    return double(logits[std::size_t(id)] - std::log(sum));
}

}  // namespace

class TestTokenLogprobs : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void areThoseOfTheModel_data()
    {
        QTest::addColumn<float>("temperature");
        QTest::newRow("greedy") << 0.0f;
        QTest::newRow("drawn") << 1.2f;
    }

    void areThoseOfTheModel()
    {
        QFETCH(float, temperature);
        const Request request = raw_request(temperature);
        const Heard heard = ask(request);
        QCOMPARE(int(heard.tokens.size()), heard.turn.answer.count());
        QVERIFY(heard.tokens.size() > 3);

        std::vector<int> ids = tokenize(model_file(), request.raw_prompt, {})->ids;
        QCOMPARE(int(ids.size()), heard.turn.prompt.count());
        for (const TokenLogprobs& token : heard.tokens)
            ids.push_back(token.written.id);
        LoadRequest load;
        load.model = model_file();
        auto evaluator = Evaluator::open(load, {});
        QVERIFY(evaluator);
        std::size_t checked = 0;
        std::string text;
        const auto done = evaluator->logits(ids, [&](int position, std::span<const float> row) {
            const int answer = position - heard.turn.prompt.count() + 1;
            if (answer < 0 || answer >= int(heard.tokens.size()))
                return true;
            const TokenLogprobs& token = heard.tokens[std::size_t(answer)];
            const std::vector<float> logits(row.begin(), row.end());
            const auto near = [&](const LikelyToken& likely) {
                return std::abs(likely.logprob - plain_logprob(logits, likely.id)) < 1e-4;
            };
            std::vector<float> larger = logits;
            std::ranges::sort(larger, std::greater());
            bool right = near(token.written) && token.likeliest.size() == 5;
            for (std::size_t i = 0; right && i < 5; ++i)
                right = near(token.likeliest[i]) && logits[std::size_t(token.likeliest[i].id)] == larger[i];
            checked += right ? 1 : 0;
            text += token.written.bytes;
            return true;
        });
        QVERIFY(done);
        QCOMPARE(checked, heard.tokens.size());
        Utf8Stream whole;  // the model is no writer, and stops within characters
        std::string characters = whole.feed(text);
        characters += whole.flush();
        QCOMPARE(characters, heard.turn.text);
    }

    void changeNothingOfTheAnswer()
    {
        Request request = raw_request(0.9f);
        const std::string told = ask(request).turn.text;
        request.top_logprobs.reset();
        const Heard quiet = ask(request);
        QCOMPARE(quiet.turn.text, told);
        QVERIFY(quiet.tokens.empty());
    }

    void aloneWithoutOthers()
    {
        Request request = raw_request(0);
        request.top_logprobs = 0;
        for (const TokenLogprobs& token : ask(request).tokens)
            QVERIFY(token.likeliest.empty() && token.written.logprob <= 0);
    }

    void theTokensAlone()
    {
        Request request = raw_request(0.9f);
        const Heard told = ask(request);
        request.top_logprobs = -1;
        const Heard alone = ask(request);
        QCOMPARE(alone.turn.text, told.turn.text);
        QCOMPARE(alone.tokens.size(), told.tokens.size());
        for (std::size_t i = 0; i < told.tokens.size(); ++i) {
            QCOMPARE(alone.tokens[i].written.id, told.tokens[i].written.id);
            QCOMPARE(alone.tokens[i].written.bytes, told.tokens[i].written.bytes);
            QVERIFY(alone.tokens[i].likeliest.empty());
        }
    }

    void oddLogitsAreNoTrouble()
    {
        constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::nanf("");
        const std::vector<float> logits = {kNan, 1, kInfinity, -kInfinity, 1};
        QCOMPARE(ids_of_largest(logits, 9), (std::vector<int>{2, 1, 4, 0, 3}));
        QCOMPARE(ids_of_largest(logits, -1), std::vector<int>());
        QVERIFY(std::isfinite(log_sum_of_exps(logits)));
        QCOMPARE(log_sum_of_exps(std::vector<float>{0, 0}), std::log(2.0));
    }
};

SPILLWAY_TEST(QCoreApplication, TestTokenLogprobs)
#include "tst_token_logprobs.moc"
