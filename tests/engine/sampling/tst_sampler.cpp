// Tests which tokens each sampling option leaves, and with which probabilities: worked out here by hand or by the
// plainest arithmetic in double precision.
#include "engine/sampling/sampler.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

using engine::Sampler;
using engine::SamplingOptions;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Everything off: the plain softmax.
SamplingOptions plain()
{
    SamplingOptions o;
    o.temperature = 1.0f;
    o.top_k = 0;
    o.top_p = 1.0f;
    o.min_p = 0.0f;
    return o;
}

SamplingOptions greedy()
{
    SamplingOptions o = plain();
    o.temperature = 0.0f;
    return o;
}

/// Logits whose softmax is this.
std::vector<float> logits_of(const std::vector<double>& probabilities)
{
    std::vector<float> logits;
    for (const double p : probabilities)
        logits.push_back(static_cast<float>(std::log(p)));
    return logits;
}

using Distribution = std::map<int, double>;

Distribution distribution(const SamplingOptions& options, const std::vector<float>& logits,
                          const std::vector<int>& history = {})
{
    Sampler sampler(options, static_cast<int>(logits.size()), 1);
    sampler.sample(logits, history);
    Distribution result;
    for (const engine::Candidate& c : sampler.candidates())
        result[c.id] = c.probability;
    return result;
}

void compare(const Distribution& actual, const Distribution& expected)
{
    QCOMPARE(actual.size(), expected.size());
    for (const auto& [id, p] : expected) {
        QVERIFY2(actual.contains(id), qPrintable(QString("token %1 is missing").arg(id)));
        QVERIFY2(std::abs(actual.at(id) - p) < 1e-6,  // logits are rounded to float
                 qPrintable(QString("token %1: %2, expected %3").arg(id).arg(actual.at(id)).arg(p)));
    }
}

Distribution softmax(const std::vector<double>& logits)
{
    Distribution result;
    double sum = 0.0;
    for (const double x : logits)
        sum += std::exp(x);
    for (std::size_t i = 0; i < logits.size(); ++i)
        result[static_cast<int>(i)] = std::exp(logits[i]) / sum;
    return result;
}

const std::vector<double> kSix = {0.05, 0.3, 0.1, 0.4, 0.03, 0.12};

}  // namespace

class TestSampler : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void softmaxIsExact()
    {
        Distribution expected;
        for (std::size_t i = 0; i < kSix.size(); ++i)
            expected[static_cast<int>(i)] = kSix[i];
        compare(distribution(plain(), logits_of(kSix)), expected);
    }

    void temperatureScalesLogits()
    {
        const std::vector<float> logits = {1.0f, -0.5f, 2.0f};
        for (const float t : {0.1f, 0.5f, 2.0f, 50.0f}) {
            SamplingOptions o = plain();
            o.temperature = t;
            compare(distribution(o, logits), softmax({1.0 / t, -0.5 / t, 2.0 / t}));
        }
    }

    void biasIsAddedToTheLogits()
    {
        const std::vector<float> logits = {1.0f, -0.5f, 2.0f};
        SamplingOptions o = plain();
        QVERIFY(!Sampler(o, 3, 1).enough());
        o.top_k = 2;
        QCOMPARE(*Sampler(o, 3, 1).enough(), 2);
        o.top_k = 0;
        o.logit_bias = {{.id = 1, .bias = 2.0f}, {.id = 1, .bias = 1.0f}, {.id = 99, .bias = 5.0f}};
        compare(distribution(o, logits), softmax({1.0, 2.5, 2.0}));
        o.top_k = 2;
        QVERIFY(!Sampler(o, 3, 1).enough());  // the largest logits alone are not all that it takes
        o = greedy();
        o.logit_bias = {{.id = 2, .bias = -kInf}};
        QCOMPARE(Sampler(o, 3, 1).sample(logits, {}), 0);
        o.logit_bias = {{.id = 0, .bias = -kInf}, {.id = 1, .bias = -kInf}, {.id = 2, .bias = -kInf}};
        engine::TokenMask only(3);
        only.allow(1);
        QCOMPARE(Sampler(o, 3, 1).sample(logits, {}, &only), 1);  // a grammar has the last word
    }

    void tinyTemperatureIsGreedy()
    {
        SamplingOptions o = plain();
        o.temperature = std::numeric_limits<float>::denorm_min();
        const Distribution d = distribution(o, {1.0f, 1.0001f, -3.0f});
        QCOMPARE(d.at(1), 1.0);
    }

    void topKKeepsTheLargest_data()
    {
        QTest::addColumn<int>("k");
        QTest::addColumn<QList<int>>("kept");
        QTest::newRow("off") << 0 << QList<int>{0, 1, 2, 3, 4, 5};
        QTest::newRow("one") << 1 << QList<int>{3};
        QTest::newRow("three") << 3 << QList<int>{1, 3, 5};
        QTest::newRow("all but one") << 5 << QList<int>{0, 1, 2, 3, 5};
        QTest::newRow("all") << 6 << QList<int>{0, 1, 2, 3, 4, 5};
        QTest::newRow("more than there are") << 1000 << QList<int>{0, 1, 2, 3, 4, 5};
    }

    void topKKeepsTheLargest()
    {
        QFETCH(int, k);
        QFETCH(QList<int>, kept);
        SamplingOptions o = plain();
        o.top_k = k;
        Distribution expected;
        double sum = 0.0;
        for (const int id : kept)
            sum += kSix[static_cast<std::size_t>(id)];
        for (const int id : kept)
            expected[id] = kSix[static_cast<std::size_t>(id)] / sum;
        compare(distribution(o, logits_of(kSix)), expected);
    }

    void topKPrefersTheLowerIdAmongEquals()
    {
        SamplingOptions o = plain();
        o.top_k = 2;
        compare(distribution(o, {0.0f, 1.0f, 1.0f, 1.0f, 1.0f}), {{1, 0.5}, {2, 0.5}});
    }

    void topPKeepsUntilTheSumIsReached_data()
    {
        QTest::addColumn<float>("p");
        QTest::addColumn<QList<int>>("kept");  // in descending order: 3 1 5 2 0 4, sums 0.4 0.7 0.82 0.92 0.97 1
        QTest::newRow("0 keeps the best") << 0.0f << QList<int>{3};
        QTest::newRow("below the best") << 0.39f << QList<int>{3};
        QTest::newRow("two") << 0.45f << QList<int>{3, 1};
        QTest::newRow("three") << 0.75f << QList<int>{3, 1, 5};
        QTest::newRow("five") << 0.93f << QList<int>{3, 1, 5, 2, 0};
        QTest::newRow("off") << 1.0f << QList<int>{0, 1, 2, 3, 4, 5};
    }

    void topPKeepsUntilTheSumIsReached()
    {
        QFETCH(float, p);
        QFETCH(QList<int>, kept);
        SamplingOptions o = plain();
        o.top_p = p;
        const Distribution d = distribution(o, logits_of(kSix));
        QCOMPARE(d.size(), static_cast<std::size_t>(kept.size()));
        for (const int id : kept)
            QVERIFY(d.contains(id));
        // The same behind a top-k that changes nothing: sorted instead of searched.
        o.top_k = 5;
        if (kept.size() < 5)
            compare(distribution(o, logits_of(kSix)), d);
    }

    void topPSearchesALongTail()  // more tokens than are ordered in the first steps
    {
        SamplingOptions o = plain();
        o.top_p = 0.75f;
        std::vector<float> logits(4000, 0.0f);
        logits[3999] = 0.001f;
        const Distribution d = distribution(o, logits);
        QVERIFY(d.contains(3999));
        QVERIFY(std::abs(static_cast<double>(d.size()) - 3000) <= 1.0);
        for (int id = 0; id < 2999; ++id)
            QVERIFY(d.contains(id));
    }

    void minPIsRelativeToTheBest()
    {
        SamplingOptions o = plain();
        o.min_p = 0.26f;  // times 0.4: 0.104
        compare(distribution(o, logits_of(kSix)), {{1, 0.3 / 0.82}, {3, 0.4 / 0.82}, {5, 0.12 / 0.82}});
        o.min_p = 1.0f;
        compare(distribution(o, logits_of(kSix)), {{3, 1.0}});
        o.top_k = 4;  // the same on ordered candidates
        o.min_p = 0.26f;
        compare(distribution(o, logits_of(kSix)), {{1, 0.3 / 0.82}, {3, 0.4 / 0.82}, {5, 0.12 / 0.82}});
    }

    void typicalKeepsTheExpectedSurprise()
    {
        // Entropy of {0.5, 0.2, 0.15, 0.15} is 1.2376; surprises 0.693, 1.609, 1.897, 1.897;
        // distances 0.544, 0.372, 0.660, 0.660: the order is 1, 0, 2, 3.
        const std::vector<double> p = {0.5, 0.2, 0.15, 0.15};
        SamplingOptions o = plain();
        o.typical_p = 0.1f;
        compare(distribution(o, logits_of(p)), {{1, 1.0}});
        o.typical_p = 0.3f;
        compare(distribution(o, logits_of(p)), {{0, 0.5 / 0.7}, {1, 0.2 / 0.7}});
        o.typical_p = 0.8f;
        compare(distribution(o, logits_of(p)), {{0, 0.5 / 0.85}, {1, 0.2 / 0.85}, {2, 0.15 / 0.85}});
        o.typical_p = 0.0f;
        compare(distribution(o, logits_of(p)), {{1, 1.0}});
    }

    void xtcLeavesTheLeastOfTheTop()
    {
        SamplingOptions o = plain();
        o.xtc_probability = 1.0f;
        o.xtc_threshold = 0.11f;  // 3, 1 and 5 reach it; 5 stays
        const double rest = 0.12 + 0.1 + 0.05 + 0.03;
        compare(distribution(o, logits_of(kSix)),
                {{5, 0.12 / rest}, {2, 0.1 / rest}, {0, 0.05 / rest}, {4, 0.03 / rest}});
        o.top_k = 4;  // ordered; among the four 3, 1, 5, 2 all have more than a tenth
        o.xtc_threshold = 0.1f;
        compare(distribution(o, logits_of(kSix)), {{2, 1.0}});
        o = plain();
        o.xtc_probability = 1.0f;
        o.xtc_threshold = 0.35f;  // one alone reaches it: nothing to choose instead
        QCOMPARE(distribution(o, logits_of(kSix)).size(), std::size_t(6));
        o.xtc_threshold = 0.6f;  // more than half can never be reached by two
        QCOMPARE(distribution(o, logits_of(kSix)).size(), std::size_t(6));
        o.xtc_probability = 0.0f;
        o.xtc_threshold = 0.0f;
        QCOMPARE(distribution(o, logits_of(kSix)).size(), std::size_t(6));
    }

    void filtersRunInOrder()
    {
        // top-k 4 leaves 3 1 5 2 with sum 0.92; top-p 0.9 of that: 0.4/0.92 + 0.3/0.92 + 0.12/0.92 = 0.891 < 0.9, so
        // four stay; min-p 0.28 of the best: 0.112, so 2 goes; temperature comes last.
        SamplingOptions o = plain();
        o.top_k = 4;
        o.top_p = 0.9f;
        o.min_p = 0.28f;
        o.temperature = 0.5f;
        const double sum = 0.4 * 0.4 + 0.3 * 0.3 + 0.12 * 0.12;
        compare(distribution(o, logits_of(kSix)), {{3, 0.16 / sum}, {1, 0.09 / sum}, {5, 0.0144 / sum}});
    }

    void penaltiesCountTheWindow()
    {
        SamplingOptions o = plain();
        const std::vector<float> logits = {1.0f, -1.0f, 2.0f, 0.5f};
        const std::vector<int> history = {2, 2, 0, 1, 0, 0};  // window of 4: 0 three times, 1 once
        o.repeat_last_n = 4;
        o.repeat_penalty = 2.0f;
        compare(distribution(o, logits, history), softmax({0.5, -2.0, 2.0, 0.5}));
        o.repeat_penalty = 1.0f;
        o.frequency_penalty = 0.25f;
        compare(distribution(o, logits, history), softmax({0.25, -1.25, 2.0, 0.5}));
        o.frequency_penalty = 0.0f;
        o.presence_penalty = 0.5f;
        compare(distribution(o, logits, history), softmax({0.5, -1.5, 2.0, 0.5}));
        o.repeat_penalty = 2.0f;
        o.frequency_penalty = 0.25f;
        compare(distribution(o, logits, history), softmax({0.5 - 1.25, -2.0 - 0.75, 2.0, 0.5}));
        o.repeat_last_n = -1;
        compare(distribution(o, logits, history), softmax({0.5 - 1.25, -2.0 - 0.75, 1.0 - 1.0, 0.5}));
        o.repeat_last_n = 0;
        compare(distribution(o, logits, history), softmax({1.0, -1.0, 2.0, 0.5}));
    }

    void penaltiesForgetEarlierCalls()
    {
        SamplingOptions o = greedy();
        o.presence_penalty = 1.0f;
        Sampler sampler(o, 3, 1);
        const std::vector<float> logits = {2.0f, 1.5f, 0.0f};
        QCOMPARE(sampler.sample(logits, std::vector<int>{0}), 1);
        QCOMPARE(sampler.sample(logits, std::vector<int>{1}), 0);
        QCOMPARE(sampler.sample(logits, std::vector<int>{}), 0);
    }

    void greedyTakesTheLowestOfEquals()
    {
        Sampler sampler(greedy(), 5, 1);
        QCOMPARE(sampler.sample(std::vector<float>{0.0f, 3.0f, 1.0f, 3.0f, 3.0f}, {}), 1);
        QVERIFY(sampler.candidates().empty());
        SamplingOptions o = greedy();  // filters that would change the choice have no say
        o.xtc_probability = 1.0f;
        o.xtc_threshold = 0.0f;
        o.typical_p = 0.01f;
        Sampler filtered(o, 5, 1);
        QCOMPARE(filtered.sample(std::vector<float>{0.0f, 3.0f, 1.0f, 3.0f, 3.0f}, {}), 1);
    }

    void badLogitsChooseAValidId_data()
    {
        QTest::addColumn<std::vector<float>>("logits");
        QTest::addColumn<QList<int>>("possible");
        QTest::newRow("all NaN") << std::vector<float>{kNan, kNan, kNan} << QList<int>{0, 1, 2};
        QTest::newRow("all -inf") << std::vector<float>{-kInf, -kInf, -kInf} << QList<int>{0, 1, 2};
        QTest::newRow("all inf") << std::vector<float>{kInf, kInf, kInf} << QList<int>{0, 1, 2};
        QTest::newRow("one number") << std::vector<float>{kNan, 1.0f, -kInf} << QList<int>{1};
        QTest::newRow("one inf") << std::vector<float>{5.0f, kNan, kInf} << QList<int>{2};
        QTest::newRow("NaN first") << std::vector<float>{kNan, -1e30f, 1e30f} << QList<int>{2};
        QTest::newRow("masked") << std::vector<float>{-kInf, 0.0f, 0.0f} << QList<int>{1, 2};
    }

    void badLogitsChooseAValidId()
    {
        QFETCH(std::vector<float>, logits);
        QFETCH(QList<int>, possible);
        SamplingOptions every = plain();
        every.top_k = 2;
        every.top_p = 0.9f;
        every.min_p = 0.05f;
        every.typical_p = 0.9f;
        every.repeat_penalty = 1.5f;
        every.frequency_penalty = 1.0f;
        every.dry_multiplier = 1.0f;
        every.xtc_probability = 0.5f;
        SamplingOptions greedyEvery = every;
        greedyEvery.temperature = 0.0f;
        const std::vector<int> history = {0, 1, 2, -1, 3, 1 << 30, 0, 1, 2};
        for (const SamplingOptions& o : {plain(), greedy(), SamplingOptions(), every, greedyEvery})
            for (std::uint64_t seed = 0; seed < 20; ++seed) {
                Sampler sampler(o, 3, seed);
                QVERIFY(possible.contains(sampler.sample(logits, history)));
            }
    }

    void seedsRepeat()
    {
        std::vector<float> logits(1000);
        for (std::size_t i = 0; i < logits.size(); ++i)
            logits[i] = static_cast<float>((i * 7919) % 1000) / 250.0f;
        const auto draw = [&](std::uint64_t seed) {
            Sampler sampler(SamplingOptions{}, 1000, seed);
            std::vector<int> ids;
            for (int i = 0; i < 50; ++i)
                ids.push_back(sampler.sample(logits, ids));
            return ids;
        };
        QCOMPARE(draw(7), draw(7));
        QVERIFY(draw(7) != draw(8));
    }

    void randomNumbersAreThoseOfThePaper()
    {
        // The published program from the state that splitmix64 makes of 0; rand_xoshiro's tests hold the same values.
        engine::Random random(0);
        QCOMPARE(random.next(), std::uint64_t(0x99ec5f36cb75f2b4u));
        QCOMPARE(random.next(), std::uint64_t(0xbf6e1f784956452au));
        QCOMPARE(random.next(), std::uint64_t(0x1a5f849d4933e6e0u));
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestSampler)
#include "tst_sampler.moc"
