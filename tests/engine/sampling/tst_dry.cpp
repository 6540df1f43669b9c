// Tests that DRY penalises the right tokens by the right amounts, worked through by hand.
#include "engine/sampling/sampler.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

using engine::DryBreakers;
using engine::DryPenalty;

namespace {

/// One id a letter, and some pieces that hold a breaker.
const std::vector<std::string> kPieces = {"a", "b", "c", "d", "e", "\n", "x\n", "ab", "\nUs", "er", "er:", " "};

std::string piece_of(int id)
{
    return kPieces[static_cast<std::size_t>(id)];
}

/// Longest piece first.
std::vector<int> tokenize(std::string_view text)
{
    std::vector<int> ids;
    while (!text.empty()) {
        int best = -1;
        for (int id = 0; id < int(kPieces.size()); ++id)
            if (text.starts_with(kPieces[std::size_t(id)]) &&
                (best < 0 || kPieces[std::size_t(id)].size() > kPieces[std::size_t(best)].size()))
                best = id;
        if (best < 0)
            return {};
        ids.push_back(best);
        text.remove_prefix(kPieces[std::size_t(best)].size());
    }
    return ids;
}

DryBreakers breakers(const std::vector<std::string>& strings)
{
    return DryBreakers::find(strings, int(kPieces.size()), piece_of, tokenize);
}

using Penalties = std::map<int, double>;

Penalties penalties(const std::vector<int>& history, const std::vector<std::string>& strings = {},
                    DryPenalty::Options options = {.multiplier = 1.0f, .base = 2.0f})
{
    DryPenalty dry(options, breakers(strings));
    std::vector<float> logits(kPieces.size(), 0.0f);
    dry.apply(history, logits);
    Penalties result;
    for (std::size_t i = 0; i < logits.size(); ++i)
        if (logits[i] != 0.0f)
            result[int(i)] = -logits[i];
    return result;
}

/// The definition, quadratic: for every earlier place, how much of the end stands before it.
Penalties slow_penalties(const std::vector<int>& history, int allowed, float base)
{
    std::map<int, int> longest;
    const int length = int(history.size());
    for (int next = 1; next < length; ++next) {
        int same = 0;
        while (same < next && history[std::size_t(next - 1 - same)] == history[std::size_t(length - 1 - same)])
            ++same;
        if (same >= allowed)
            longest[history[std::size_t(next)]] = std::max(longest[history[std::size_t(next)]], same);
    }
    Penalties result;
    for (const auto& [id, n] : longest)
        result[id] = std::pow(double(base), n - allowed);
    return result;
}

}  // namespace

class TestDry : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aRepetitionIsPenalised()
    {
        // "abc ab": after "ab" came "c"; the repetition is 2 long, the power 0.
        QCOMPARE(penalties({0, 1, 2, 0, 1}), (Penalties{{2, 1.0}}));
        // "abcd abc": 3 long, the power 1.
        QCOMPARE(penalties({0, 1, 2, 3, 0, 1, 2}), (Penalties{{3, 2.0}}));
        // One long only: allowed.
        QCOMPARE(penalties({0, 1, 2, 0}), Penalties{});
        QCOMPARE(penalties({}), Penalties{});
        QCOMPARE(penalties({0, 0}), Penalties{});
        // "aaaaa": four of them stand before the last.
        QCOMPARE(penalties({0, 0, 0, 0, 0}), (Penalties{{0, 4.0}}));
        // The longest of several: "eabc" 4 and "dabd" 2, after "eab".
        QCOMPARE(penalties({4, 0, 1, 2, 3, 0, 1, 3, 4, 0, 1}), (Penalties{{2, 2.0}, {3, 1.0}}));
    }

    void optionsSetItsStrength()
    {
        const std::vector<int> history = {0, 1, 2, 3, 0, 1, 2};
        QCOMPARE(penalties(history, {}, {.multiplier = 0.5f, .base = 4.0f}), (Penalties{{3, 2.0}}));
        QCOMPARE(penalties(history, {}, {.multiplier = 1.0f, .base = 2.0f, .allowed_length = 3}),
                 (Penalties{{3, 1.0}}));
        QCOMPARE(penalties(history, {}, {.multiplier = 1.0f, .base = 2.0f, .allowed_length = 4}), Penalties{});
        QCOMPARE(penalties(history, {}, {.multiplier = 1.0f, .base = 1.0f, .allowed_length = 1}),
                 (Penalties{{3, 1.0}}));
        QCOMPARE(penalties(history, {}, {.multiplier = 0.0f, .base = 2.0f}), Penalties{});
        // The window: with 6 tokens "bcd abc" the repetition is 2 long, with 3 there is none.
        QCOMPARE(penalties(history, {}, {.multiplier = 1.0f, .base = 2.0f, .allowed_length = 2, .last_n = 6}),
                 (Penalties{{3, 1.0}}));
        QCOMPARE(penalties(history, {}, {.multiplier = 1.0f, .base = 2.0f, .allowed_length = 2, .last_n = 3}),
                 Penalties{});
        QCOMPARE(penalties(history, {}, {.multiplier = 1.0f, .base = 2.0f, .allowed_length = 2, .last_n = 0}),
                 Penalties{});
    }

    void breakersLimitTheRepetition()
    {
        // "ab\ncde ab\ncd": 5 long without a breaker, 2 long since the last newline.
        const std::vector<int> history = {0, 1, 5, 2, 3, 4, 0, 1, 5, 2, 3};
        QCOMPARE(penalties(history), (Penalties{{4, 8.0}}));
        QCOMPARE(penalties(history, {"\n"}), (Penalties{{4, 1.0}}));
        // One token after a breaker is too short to count.
        QCOMPARE(penalties({0, 1, 5, 2, 3, 0, 1, 5, 2}, {"\n"}), Penalties{});
        // A token that ends with a newline breaks too.
        QCOMPARE(penalties({0, 1, 6, 2, 3, 4, 0, 1, 6, 2, 3}, {"\n"}), (Penalties{{4, 1.0}}));
        // The breaker itself is never penalised.
        QCOMPARE(penalties({0, 1, 5, 0, 1}, {"\n"}), Penalties{});
        QCOMPARE(penalties({0, 1, 5, 0, 1}), (Penalties{{5, 1.0}}));
        // An empty breaker breaks nothing.
        QCOMPARE(penalties(history, {""}), (Penalties{{4, 8.0}}));
    }

    void aBreakerMayTakeSeveralTokens()
    {
        // "User" is "\nUs" + "er"; the repetition ends where it ends.
        const std::vector<int> history = {0, 1, 8, 9, 2, 3, 4, 0, 1, 8, 9, 2, 3};
        QCOMPARE(penalties(history), (Penalties{{4, 16.0}}));
        QCOMPARE(penalties(history, {"User"}), (Penalties{{4, 1.0}}));
        // "\nUs" alone is no breaker, and its tokens may be penalised.
        QCOMPARE(penalties({0, 1, 8, 2, 3, 4, 0, 1, 8, 2, 3}, {"User"}), (Penalties{{4, 8.0}}));
        QCOMPARE(penalties({0, 1, 8, 0, 1}, {"User"}), (Penalties{{8, 1.0}}));
    }

    void longBreakersAreCutOff()
    {
        const DryBreakers long_one = breakers({std::string(1000000, 'a')});
        std::vector<int> history(30, 0);
        history.push_back(1);
        // 1 head and at most 20 more: 21 tokens of "a" break.
        QCOMPARE(long_one.tokens_after_last(history), 1);
        QCOMPARE(long_one.tokens_after_last(std::vector<int>(20, 0)), 20);
        QVERIFY(!long_one.breaks(0));
    }

    void extremePenaltiesStayFinite()
    {
        DryPenalty dry({.multiplier = 1e30f, .base = 1e30f, .allowed_length = 1}, {});
        std::vector<float> logits(3, 0.0f);
        dry.apply(std::vector<int>(1000, 1), logits);
        QCOMPARE(logits[1], -std::numeric_limits<float>::max());
        QCOMPARE(logits[0], 0.0f);
    }

    void idsOutsideTheVocabularyAreHarmless()
    {
        DryPenalty dry({.multiplier = 1.0f, .base = 2.0f}, breakers({"\n"}));
        std::vector<float> logits(2, 0.0f);
        dry.apply(std::vector<int>{-5, 1 << 30, 99, -5, 1 << 30}, logits);
        QCOMPARE(logits, (std::vector<float>{0.0f, 0.0f}));
    }

    void randomHistoriesAgreeWithTheDefinition()
    {
        const unsigned seed = std::random_device()();
        qInfo("seed %u", seed);
        std::mt19937 rng(seed);
        for (int round = 0; round < 500; ++round) {
            std::vector<int> history(rng() % 60);
            const unsigned letters = 1 + rng() % 4;  // few, so that repetitions overlap
            for (int& id : history)
                id = int(rng() % letters);
            const int allowed = int(1 + rng() % 4);
            QCOMPARE(penalties(history, {}, {.multiplier = 1.0f, .base = 1.5f, .allowed_length = allowed}).size(),
                     slow_penalties(history, allowed, 1.5f).size());
            for (const auto& [id, penalty] : slow_penalties(history, allowed, 1.5f)) {
                auto actual = penalties(history, {}, {.multiplier = 1.0f, .base = 1.5f, .allowed_length = allowed});
                QVERIFY(std::abs(actual[id] - penalty) <= 1e-6 * penalty);
            }
        }
    }

    void theSamplerAppliesIt()
    {
        engine::SamplingOptions o;
        o.temperature = 0.0f;
        o.dry_multiplier = 1.0f;
        engine::Sampler sampler(o, int(kPieces.size()), 1, breakers(o.dry_sequence_breakers));
        std::vector<float> logits(kPieces.size(), 0.0f);
        logits[2] = 1.0f;
        logits[3] = 0.5f;
        QCOMPARE(sampler.sample(logits, std::vector<int>{0, 1, 0, 1}), 2);
        QCOMPARE(sampler.sample(logits, std::vector<int>{0, 1, 2, 0, 1}), 3);
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestDry)
#include "tst_dry.moc"
