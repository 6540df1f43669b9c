// Tests attention over KV blocks: store, attend block by block and merge equals softmax attention in double precision.
#include "kernels/cpu.h"
#include "tests/kernels/tested_tables.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using kernels::CpuKernels;
using kernels::KvType;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Partial {
    std::vector<float> max, sum, out;
};

struct Setup {
    KvType kType, vType;
    int kDim, vDim, group, tokens, blockTokens;
    float softcap;
    std::vector<float> q, k, v;  // (group, kDim) (tokens, kDim) (tokens, vDim)
    std::vector<std::vector<std::byte>> blocks;
    bool valuesInKeys = false;  // v has the first values of k

    kernels::KvBlockLayout layout() const { return {kType, vType, kDim, vDim, blockTokens, valuesInKeys}; }
};

Setup makeSetup(const CpuKernels& table, KvType kType, KvType vType, int kDim, int vDim, int group, int tokens,
                int blockTokens, float softcap, unsigned seed, bool valuesInKeys = false)
{
    std::mt19937 rng(seed);
    std::normal_distribution<float> normal;
    Setup s{kType, vType, kDim, vDim, group, tokens, blockTokens, softcap, {}, {}, {}, {}, valuesInKeys};
    s.q.resize(std::size_t(group * kDim));
    s.k.resize(std::size_t(tokens * kDim));
    s.v.resize(std::size_t(tokens * vDim));
    for (float& x : s.q)
        x = normal(rng) * 2.0f / std::sqrt(float(kDim));
    for (float& x : s.k)
        x = normal(rng) * 2.0f;
    for (float& x : s.v)
        x = normal(rng);
    if (valuesInKeys)
        for (int t = 0; t < tokens; ++t)
            std::copy_n(&s.k[std::size_t(t * kDim)], vDim, &s.v[std::size_t(t * vDim)]);
    for (int first = 0; first < tokens; first += blockTokens) {
        std::vector<std::byte> block(s.layout().bytes(), std::byte(0x7f));
        for (int t = 0; t < std::min(blockTokens, tokens - first); ++t)
            table.store_kv(s.layout(), block.data(), t, &s.k[std::size_t((first + t) * kDim)],
                           valuesInKeys ? nullptr : &s.v[std::size_t((first + t) * vDim)]);
        s.blocks.push_back(std::move(block));
    }
    return s;
}

Partial attend(const CpuKernels& table, const Setup& s, int block, int first, int last, int head = 0, int heads = -1)
{
    const auto group = std::size_t(heads < 0 ? s.group : heads);
    Partial p{std::vector<float>(group), std::vector<float>(group), std::vector<float>(group * std::size_t(s.vDim))};
    std::vector<float> scores(group * std::size_t(s.blockTokens));
    table.attend_block({s.layout(), s.blocks[std::size_t(block)].data(), first, last, int(group),
                        &s.q[std::size_t(head * s.kDim)], s.softcap, scores.data(), p.max.data(), p.sum.data(),
                        p.out.data()});
    return p;
}

void merge(const CpuKernels& table, int dim, const Partial& from, Partial& into)
{
    for (std::size_t g = 0; g < from.max.size(); ++g)
        table.merge_partial(dim, from.max[g], from.sum[g], &from.out[g * std::size_t(dim)], into.max[g], into.sum[g],
                            &into.out[g * std::size_t(dim)]);
}

// NaN where nothing was written yet: an empty accumulator's other values must not be read.
Partial empty(const Setup& s)
{
    const auto group = std::size_t(s.group);
    return {std::vector<float>(group, -kInfinity), std::vector<float>(group, NAN),
            std::vector<float>(group * std::size_t(s.vDim), NAN)};
}

// One value as the cache keeps it.
double kept(KvType type, float x, float largest)
{
    if (type == KvType::F32)
        return double(x);
    if (type == KvType::F16) {
        int exponent;
        std::frexp(double(x), &exponent);
        const double step = std::ldexp(1.0, std::max(exponent - 11, -24));
        return std::nearbyint(double(x) / step) * step;
    }
    const double scale = double(largest / 127.0f);
    return std::nearbyint(double(x * (127.0f / largest))) * scale;
}

std::vector<double> keptRow(KvType type, const float* x, int dim)
{
    float largest = 0;
    for (int d = 0; d < dim; ++d)
        largest = std::max(largest, std::abs(x[d]));
    std::vector<double> row;
    for (int d = 0; d < dim; ++d)
        row.push_back(kept(type, x[d], largest));
    return row;
}

// The keys and values of a set-up as the cache keeps them, a row a token.
struct KeptRows {
    std::vector<std::vector<double>> k, v;

    explicit KeptRows(const Setup& s)
    {
        for (int t = 0; t < s.tokens; ++t) {
            k.push_back(keptRow(s.kType, &s.k[std::size_t(t * s.kDim)], s.kDim));
            v.push_back(s.valuesInKeys ? std::vector(k.back().begin(), k.back().begin() + s.vDim)
                                       : keptRow(s.vType, &s.v[std::size_t(t * s.vDim)], s.vDim));
        }
    }
};

std::vector<double> softmaxAttention(const Setup& s, const KeptRows& kept, int g, int first, int last)
{
    std::vector<double> scores;
    for (int t = first; t < last; ++t) {
        const std::vector<double>& k = kept.k[std::size_t(t)];
        double score = 0;
        for (int d = 0; d < s.kDim; ++d)
            score += double(s.q[std::size_t(g * s.kDim + d)]) * k[std::size_t(d)];
        scores.push_back(s.softcap > 0 ? double(s.softcap) * std::tanh(score / double(s.softcap)) : score);
    }
    const double max = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    std::vector<double> out(std::size_t(s.vDim), 0.0);
    for (int t = first; t < last; ++t) {
        const double weight = std::exp(scores[std::size_t(t - first)] - max);
        const std::vector<double>& v = kept.v[std::size_t(t)];
        sum += weight;
        for (int d = 0; d < s.vDim; ++d)
            out[std::size_t(d)] += weight * v[std::size_t(d)];
    }
    for (double& x : out)
        x /= sum;
    return out;
}

// How far a head's output may lie from the exact one; |v| stays below 6, and where it is a part of k below 12.
double tolerance(const Setup& s, int g)
{
    // A score is a sum of k_dim products, about 4 in size by construction (at most about 30): its rounding, some
    // 2^-24 * 30 * 20, is a relative error of the weights.
    double weightError = 600 * 0x1p-24;
    // Beside 8 bits, queries and weights may be rounded to 16: steps of 2^-15 of the largest. Errors of such steps,
    // evenly spread (variance 1/12) and independent, add up as squares; six deviations are not met by chance.
    const auto sixDeviations = [](double step, double lengthOfFactors) {
        return 6 * step / std::sqrt(12.0) * lengthOfFactors;
    };
    if (s.kType == KvType::Q8_0) {
        float largest = 0;
        for (int d = 0; d < s.kDim; ++d)
            largest = std::max(largest, std::abs(s.q[std::size_t(g * s.kDim + d)]));
        double longest = 0;
        for (int t = 0; t < s.tokens; ++t) {
            double squares = 0;
            for (int d = 0; d < s.kDim; ++d)
                squares += std::pow(double(s.k[std::size_t(t * s.kDim + d)]), 2);
            longest = std::max(longest, std::sqrt(squares));
        }
        weightError += sixDeviations(double(largest) * 0x1p-15, longest);
    }
    if (s.vType == KvType::Q8_0)
        weightError += sixDeviations(0x1p-16, std::sqrt(double(s.tokens)));
    return (s.valuesInKeys ? 12 : 6) * weightError;
}

}  // namespace

class TestAttention : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();

    static void addTables()
    {
        QTest::addColumn<const CpuKernels*>("table");
        for (const CpuKernels& table : test_support::tested_tables())
            QTest::addRow("%s", table.name) << &table;
    }

private slots:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void blocksMergeToSoftmax_data()
    {
        QTest::addColumn<const CpuKernels*>("table");
        QTest::addColumn<KvType>("kType");
        QTest::addColumn<KvType>("vType");
        const std::pair<KvType, const char*> types[] = {
            {KvType::F32, "f32"}, {KvType::F16, "f16"}, {KvType::Q8_0, "q8_0"}};
        for (const CpuKernels& table : test_support::tested_tables())
            for (const auto& [k, kName] : types)
                for (const auto& [v, vName] : types)
                    QTest::addRow("%s k=%s v=%s", table.name, kName, vName) << &table << k << v;
    }
    void blocksMergeToSoftmax()
    {
        QFETCH(const CpuKernels*, table);
        QFETCH(KvType, kType);
        QFETCH(KvType, vType);
        struct Shape {
            int kDim, vDim, group, tokens, blockTokens;
            float softcap;
            bool valuesInKeys = false;
        };
        const Shape shapes[] = {{64, 64, 4, 100, 16, 0},
                                {128, 128, 1, 300, 256, 0},
                                {128, 64, 3, 77, 32, 0},
                                {80, 96, 8, 40, 16, 5.0f},
                                {12, 20, 2, 33, 16, 0},
                                {256, 256, 2, 64, 64, 30.0f},
                                {192, 128, 16, 70, 64, 0},
                                {4, 4, 5, 1, 16, 0},
                                // latent rows; several lengths that are no multiples of a register's
                                {576, 512, 20, 100, 64, 0, true},
                                {28, 24, 5, 75, 32, 0, true},
                                {40, 36, 7, 61, 48, 5.0f, true},
                                {24, 20, 2, 33, 16, 0, true}};
        for (const Shape& shape : shapes) {
            if (shape.valuesInKeys && kType != vType)
                continue;
            const Setup s = makeSetup(*table, kType, vType, shape.kDim, shape.vDim, shape.group, shape.tokens,
                                      shape.blockTokens, shape.softcap, m_seed, shape.valuesInKeys);
            const int window = shape.tokens > 40 ? 21 : 0;  // as a sliding window begins: in the middle of a block
            Partial all = empty(s);
            for (int b = 0; b < int(s.blocks.size()); ++b) {
                const int first = std::max(0, window - b * s.blockTokens);
                const int last = std::min(s.blockTokens, s.tokens - b * s.blockTokens);
                if (first < last)
                    merge(*table, s.vDim, attend(*table, s, b, first, last), all);
            }
            const KeptRows kept(s);
            for (int g = 0; g < s.group; ++g) {
                const std::vector<double> expected = softmaxAttention(s, kept, g, window, s.tokens);
                const double allowed = tolerance(s, g);
                for (int d = 0; d < s.vDim; ++d) {
                    const double actual =
                        double(all.out[std::size_t(g * s.vDim + d)]) / double(all.sum[std::size_t(g)]);
                    QVERIFY2(std::abs(actual - expected[std::size_t(d)]) < allowed,
                             qPrintable(QString("k_dim %1, head %2, value %3: %4 instead of %5")
                                            .arg(s.kDim)
                                            .arg(g)
                                            .arg(d)
                                            .arg(actual)
                                            .arg(expected[std::size_t(d)])));
                }
            }
        }
    }

    void aHeadDoesNotDependOnItsGroup_data() { addTables(); }
    void aHeadDoesNotDependOnItsGroup()
    {
        QFETCH(const CpuKernels*, table);
        for (KvType type : {KvType::F32, KvType::F16, KvType::Q8_0})
            for (const bool inKeys : {false, true}) {
                const Setup s = makeSetup(*table, type, type, 80, 80, 7, 64, 64, 0, m_seed, inKeys);
                const Partial together = attend(*table, s, 0, 3, 61);
                for (int g = 0; g < s.group; ++g) {
                    const Partial alone = attend(*table, s, 0, 3, 61, g, 1);
                    QCOMPARE(alone.max[0], together.max[std::size_t(g)]);
                    QCOMPARE(alone.sum[0], together.sum[std::size_t(g)]);
                    QVERIFY(std::memcmp(alone.out.data(), &together.out[std::size_t(g * s.vDim)],
                                        std::size_t(s.vDim) * 4) == 0);
                }
            }
    }

    // The stale or unwritten rest of a block must not reach the result, whatever bits it holds.
    void tokensOutsideTheRangeAreNotSeen_data() { addTables(); }
    void tokensOutsideTheRangeAreNotSeen()
    {
        QFETCH(const CpuKernels*, table);
        for (KvType type : {KvType::F32, KvType::F16, KvType::Q8_0})
            for (const bool inKeys : {false, true}) {
                Setup s = makeSetup(*table, type, type, 64, 64, 2, 32, 32, 0, m_seed, inKeys);
                const Partial before = attend(*table, s, 0, 5, 23);
                const std::vector<float> nan(64, NAN);
                for (int t = 0; t < 32; ++t)
                    if (t < 5 || t >= 23)
                        table->store_kv(s.layout(), s.blocks[0].data(), t, nan.data(), nan.data());
                const Partial after = attend(*table, s, 0, 5, 23);
                QVERIFY(before.max == after.max && before.sum == after.sum && before.out == after.out);
            }
    }

    // Values that lie in the keys give the bits that they give where they lie apart, but for the floats of AVX-512,
    // which it adds in another order.
    void valuesInKeysAreAsGoodAsApart_data() { addTables(); }
    void valuesInKeysAreAsGoodAsApart()
    {
        QFETCH(const CpuKernels*, table);
        for (KvType type : {KvType::F32, KvType::F16, KvType::Q8_0}) {
            Setup apart = makeSetup(*table, type, type, 72, 64, 5, 48, 48, 0, m_seed, true);
            for (int t = 0; t < apart.tokens; ++t)  // the largest value of a key is one of those that are also values
                apart.k[std::size_t(t * apart.kDim)] = apart.v[std::size_t(t * apart.vDim)] = 20.0f;
            Setup inKeys = apart;
            apart.valuesInKeys = false;
            apart.blocks[0].resize(apart.layout().bytes());
            QVERIFY(inKeys.layout().bytes() + std::size_t(48) * kernels::kv_vector_bytes(type, 64) ==
                    apart.layout().bytes());
            for (Setup* s : {&apart, &inKeys})
                for (int t = 0; t < s->tokens; ++t)
                    table->store_kv(s->layout(), s->blocks[0].data(), t, &s->k[std::size_t(t * s->kDim)],
                                    &s->v[std::size_t(t * s->vDim)]);
            const Partial expected = attend(*table, apart, 0, 3, 45), actual = attend(*table, inKeys, 0, 3, 45);
            QVERIFY(actual.max == expected.max && actual.sum == expected.sum);
            const bool anotherOrder = QByteArray(table->name).startsWith("avx512") || QByteArray(table->name) == "amx";
            for (std::size_t i = 0; i < expected.out.size(); ++i) {
                const double allowed = anotherOrder && type != KvType::Q8_0 ? 48 * 20 * 48 * 0x1p-24 : 0.0;
                QVERIFY2(std::abs(double(actual.out[i]) - double(expected.out[i])) <= allowed,
                         qPrintable(QString("%1 instead of %2").arg(actual.out[i]).arg(expected.out[i])));
            }
        }
    }

    void whatIsReadBackIsWhatIsKept_data() { addTables(); }
    void whatIsReadBackIsWhatIsKept()
    {
        QFETCH(const CpuKernels*, table);
        const KvType types[] = {KvType::F32, KvType::F16, KvType::Q8_0};
        for (const KvType kType : types)
            for (const KvType vType : types) {
                const Setup s = makeSetup(*table, kType, vType, 36, 20, 1, 48, 48, 0, m_seed);
                const Setup inKeys = makeSetup(*table, kType, kType, 36, 20, 1, 48, 48, 0, m_seed, true);
                std::vector<float> k(36), v(20);
                const auto compare = [](KvType type, const std::vector<float>& read, const float* stored) {
                    const std::vector<double> kept = keptRow(type, stored, int(read.size()));
                    for (std::size_t d = 0; d < read.size(); ++d)
                        if (std::abs(double(read[d]) - kept[d]) > std::abs(kept[d]) * 0x1p-24)
                            return false;
                    return true;
                };
                for (int t = 0; t < s.tokens; ++t) {
                    table->load_kv(s.layout(), s.blocks[0].data(), t, k.data(), v.data());
                    QVERIFY2(compare(kType, k, &s.k[std::size_t(t * s.kDim)]), qPrintable(QString::number(m_seed)));
                    QVERIFY2(compare(vType, v, &s.v[std::size_t(t * s.vDim)]), qPrintable(QString::number(m_seed)));
                    table->load_kv(inKeys.layout(), inKeys.blocks[0].data(), t, k.data(), v.data());
                    QVERIFY(std::equal(v.begin(), v.end(), k.begin()));
                }
            }
    }

    void emptyPartsChangeNothing_data() { addTables(); }
    void emptyPartsChangeNothing()
    {
        QFETCH(const CpuKernels*, table);
        const Setup s = makeSetup(*table, KvType::F32, KvType::F32, 64, 64, 1, 16, 16, 0, m_seed);
        const Partial part = attend(*table, s, 0, 0, 16);
        Partial all = empty(s);
        merge(*table, s.vDim, empty(s), all);
        QCOMPARE(all.max[0], -kInfinity);
        merge(*table, s.vDim, part, all);
        merge(*table, s.vDim, empty(s), all);
        QVERIFY(all.max == part.max && all.sum == part.sum && all.out == part.out);
    }

    void farApartPartsNeitherOverflowNorVanish_data() { addTables(); }
    void farApartPartsNeitherOverflowNorVanish()
    {
        QFETCH(const CpuKernels*, table);
        const std::vector<float> small(8, 1.0f);
        const std::vector<float> large(8, 2.0f);
        for (bool largeFirst : {false, true}) {
            float max = -kInfinity;
            float sum = 0;
            std::vector<float> out(8, 0.0f);
            if (largeFirst)
                table->merge_partial(8, 1e4f, 2.0f, large.data(), max, sum, out.data());
            table->merge_partial(8, -1e4f, 1.0f, small.data(), max, sum, out.data());
            if (!largeFirst)
                table->merge_partial(8, 1e4f, 2.0f, large.data(), max, sum, out.data());
            QCOMPARE(max, 1e4f);
            QCOMPARE(sum, 2.0f);
            QVERIFY(out == large);
        }
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestAttention)
#include "tst_attention.moc"
