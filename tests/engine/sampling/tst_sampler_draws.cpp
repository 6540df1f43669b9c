// Tests that draws come as often as their probabilities say, and that random vocabularies keep to the filters'
// definitions.
#include "engine/sampling/sampler.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <vector>

using engine::Sampler;
using engine::SamplingOptions;

namespace {

std::uint64_t print_seed()
{
    const std::uint64_t seed = std::random_device()();
    qInfo("seed %llu", static_cast<unsigned long long>(seed));
    return seed;
}

/// Returns how far the counts of n draws are from the probabilities, in chi-square per degree of freedom.
double chi_square(const std::vector<double>& p, const std::vector<int>& counts, int n)
{
    double sum = 0.0;
    for (std::size_t i = 0; i < p.size(); ++i)
        sum += (counts[i] - n * p[i]) * (counts[i] - n * p[i]) / (n * p[i]);
    return sum / static_cast<double>(p.size() - 1);
}

/// The filters again, from their definitions, on (id, probability) in descending order.
using Ranked = std::vector<std::pair<int, double>>;

void normalise(Ranked& ranked)
{
    double sum = 0.0;
    for (const auto& [id, p] : ranked)
        sum += p;
    for (auto& [id, p] : ranked)
        p /= sum;
}

Ranked filtered(const std::vector<float>& logits, const SamplingOptions& o)
{
    Ranked ranked;
    for (std::size_t i = 0; i < logits.size(); ++i)
        ranked.emplace_back(int(i), std::exp(double(logits[i])));
    std::stable_sort(ranked.begin(), ranked.end(), [](auto a, auto b) { return a.second > b.second; });
    if (o.top_k > 0 && std::size_t(o.top_k) < ranked.size())
        ranked.resize(std::size_t(o.top_k));
    normalise(ranked);
    double sum = 0.0;
    std::size_t count = 0;
    while (o.top_p < 1.0f && count < ranked.size() && (count == 0 || sum < o.top_p))
        sum += ranked[count++].second;
    if (o.top_p < 1.0f)
        ranked.resize(count);
    std::erase_if(ranked, [&, best = ranked.front().second](auto r) { return r.second < o.min_p * best; });
    for (auto& [id, p] : ranked)
        p = std::pow(p, 1.0 / o.temperature);
    normalise(ranked);
    return ranked;
}

}  // namespace

class TestSamplerDraws : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void frequenciesAreTheProbabilities_data()
    {
        QTest::addColumn<int>("top_k");
        QTest::newRow("in order of id") << 0;
        QTest::newRow("in order of logits") << 8;
    }

    void frequenciesAreTheProbabilities()
    {
        QFETCH(int, top_k);
        const std::vector<double> p = {0.02, 0.3, 0.08, 0.25, 0.05, 0.1, 0.15, 0.05, 1e-30};
        std::vector<float> logits;
        for (const double x : p)
            logits.push_back(static_cast<float>(std::log(x)));
        SamplingOptions o;
        o.temperature = 1.0f;
        o.top_k = top_k;
        o.top_p = 1.0f;
        o.min_p = 0.0f;
        constexpr int kDraws = 200000;
        Sampler sampler(o, int(p.size()), print_seed());
        std::vector<int> counts(p.size(), 0);
        for (int i = 0; i < kDraws; ++i)
            ++counts[std::size_t(sampler.sample(logits, {}))];
        QCOMPARE(counts.back(), 0);
        const std::vector<double> likely(p.begin(), p.end() - 1);
        // 7 degrees of freedom: more than 6 each (42 in all) happens once in two million runs.
        QVERIFY(chi_square(likely, counts, kDraws) < 6.0);
    }

    void xtcHappensAsOftenAsItsProbability()
    {
        SamplingOptions o;
        o.temperature = 1.0f;
        o.xtc_probability = 0.25f;
        o.xtc_threshold = 0.1f;
        constexpr int kDraws = 40000;
        Sampler sampler(o, 3, print_seed());
        const std::vector<float> logits = {std::log(0.5f), std::log(0.3f), std::log(0.2f)};
        std::vector<int> counts(2, 0);
        for (int i = 0; i < kDraws; ++i) {
            sampler.sample(logits, {});
            ++counts[sampler.candidates().size() == 1 ? 0 : 1];
        }
        QVERIFY(chi_square({0.25, 0.75}, counts, kDraws) < 28.0);  // 5.3 sigma
    }

    // As many of the largest as the sampler says are enough give the ids that all of them give.
    void theLargestGiveTheSameIds()
    {
        std::mt19937_64 rng(print_seed());
        for (int round = 0; round < 100; ++round) {
            const int size = 2 + int(rng() % 500);
            SamplingOptions o;
            o.temperature = rng() % 4 == 0 ? 0.0f : 0.1f + float(rng() % 300) / 100.0f;
            o.top_k = 1 + int(rng() % 60);
            o.top_p = rng() % 2 ? 1.0f : 0.9f;
            o.min_p = rng() % 2 ? 0.0f : 0.1f;
            o.typical_p = rng() % 2 ? 1.0f : 0.8f;
            o.xtc_probability = rng() % 2 ? 0.0f : 0.5f;
            const std::uint64_t seed = rng();
            Sampler from_all(o, size, seed), from_few(o, size, seed);
            const std::optional<int> enough = from_few.enough();
            QCOMPARE(enough.has_value(), o.temperature == 0.0f || o.top_k < size);
            for (int draw = 0; draw < 20 && enough; ++draw) {
                std::vector<float> logits;
                std::vector<engine::RankedLogit> ranked;
                for (int id = 0; id < size; ++id) {
                    logits.push_back(float(rng() % 40) / 4.0f);  // many are equal
                    ranked.push_back({id, logits.back()});
                }
                std::ranges::stable_sort(ranked, std::greater(), &engine::RankedLogit::logit);
                ranked.resize(std::size_t(*enough));
                const engine::RowLogits few{.all = {}, .largest = ranked};
                QCOMPARE(from_few.sample(few, {}), from_all.sample(logits, {}));
            }
        }
    }

    // What changes logits before they are ranked, or looks at all of them, cannot do with the largest.
    void penaltiesNeedAllLogits()
    {
        const auto enough = [](auto change) {
            SamplingOptions o;
            change(o);
            return Sampler(o, 1000, 1).enough();
        };
        QCOMPARE(enough([](SamplingOptions&) {}), std::optional(SamplingOptions().top_k));
        QVERIFY(!enough([](SamplingOptions& o) { o.top_k = 0; }));
        QVERIFY(!enough([](SamplingOptions& o) { o.repeat_penalty = 1.1f; }));
        QVERIFY(!enough([](SamplingOptions& o) { o.presence_penalty = 0.1f; }));
        QVERIFY(!enough([](SamplingOptions& o) { o.frequency_penalty = 0.1f; }));
        QVERIFY(!enough([](SamplingOptions& o) { o.dry_multiplier = 0.8f; }));
    }

    void randomVocabulariesKeepToTheDefinitions()
    {
        std::mt19937_64 rng(print_seed());
        for (int round = 0; round < 300; ++round) {
            const auto size = std::size_t(2 + rng() % 900);
            std::normal_distribution<float> normal(0.0f, 1.0f + float(rng() % 5));
            std::vector<float> logits(size);
            for (float& x : logits)
                x = normal(rng);
            SamplingOptions o;
            o.top_k = rng() % 3 == 0 ? 0 : int(rng() % (size + 5));
            o.top_p = rng() % 3 == 0 ? 1.0f : float(rng() % 1000) / 1000.0f;
            o.min_p = rng() % 3 == 0 ? 0.0f : float(rng() % 1000) / 5000.0f;
            o.temperature = 0.1f + float(rng() % 300) / 100.0f;
            Sampler sampler(o, int(size), rng());
            const int id = sampler.sample(logits, {});
            std::map<int, double> actual;
            for (const engine::Candidate& c : sampler.candidates())
                actual[c.id] = c.probability;
            QVERIFY(actual.contains(id));
            const Ranked expected = filtered(logits, o);
            QCOMPARE(actual.size(), expected.size());
            for (const auto& [token, p] : expected) {
                QVERIFY(actual.contains(token));
                QVERIFY(std::abs(actual[token] - p) < 1e-9);
            }
        }
    }

    void uniformNumbersFillTheRange()
    {
        engine::Random random(print_seed());
        constexpr int kDraws = 160000;
        std::vector<int> counts(16, 0);
        for (int i = 0; i < kDraws; ++i) {
            const double u = random.uniform();
            QVERIFY(u >= 0.0 && u < 1.0);
            ++counts[std::size_t(u * 16)];
        }
        QVERIFY(chi_square(std::vector<double>(16, 1.0 / 16), counts, kDraws) < 4.0);  // once in ten million runs
    }

    void largeVocabulary()
    {
        constexpr int kVocab = 128256;
        std::mt19937_64 rng(1);
        std::normal_distribution<float> normal(0.0f, 3.0f);
        std::vector<float> logits(kVocab);
        for (float& x : logits)
            x = normal(rng);
        Sampler sampler(SamplingOptions{}, kVocab, 1);
        const std::vector<int> history(4096, 5);
        QBENCHMARK
        {
            sampler.sample(logits, history);
        }
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestSamplerDraws)
#include "tst_sampler_draws.moc"
