// Tests products on the device, for every weight type, beyond what kernel_checks() compares: extreme weights, and what
// a token may depend on.
#include "kernels/cuda/checks/products.h"
#include "kernels/cuda/device.h"
#include "tests/kernels/cuda/on_device.h"
#include "tests/support/test_program.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

using namespace kernel_rows;
using namespace kernels::cuda;
using kernels::TensorType;

class TestCudaMatmul : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();

    static std::vector<float> onDevice(OnDevice& on, const ProductCase& c, const std::vector<float>& bias = {},
                                       const std::vector<float>& before = {})
    {
        std::vector<float> out = product_on(on.memory(), c, bias, before);
        on.must(on.memory().status());
        return out;
    }

    /// Returns some of the tokens, which follow each other.
    static ProductCase tokensOf(const ProductCase& all, int first, int count)
    {
        ProductCase some = all;
        const auto begin = all.x.bytes.begin() + first * int(all.x.stride);
        some.tokens = count;
        some.x.bytes.assign(begin, begin + count * int(all.x.stride));
        return some;
    }

    struct Exact {
        double sum = 0, magnitude = 0;  // magnitude: the sum of the absolute values
    };
    /// Computes one result in double precision.
    static Exact exactly(const ProductCase& c, int row, int token)
    {
        std::vector<float> w(static_cast<std::size_t>(c.n));
        kernels::all_cpu_kernels().front().dequantize(
            c.type, c.n, &c.weights[std::size_t(row) * kernels::row_bytes(c.type, c.n)], w.data());
        const std::vector<float> x =
            seen(kernels::activation_of(c.type), c.n, &c.x.bytes[std::size_t(token) * c.x.stride]);
        Exact exact;
        for (std::size_t i = 0; i < w.size(); ++i) {
            exact.sum += double(w[i]) * double(x[i]);
            exact.magnitude += std::abs(double(w[i]) * double(x[i]));
        }
        return exact;
    }

    static void addTypes()
    {
        QTest::addColumn<TensorType>("type");
        for (const kernels::TypeTraits& traits : kernels::all_tensor_types())
            QTest::addRow("%s", traits.name) << traits.type;
    }

private slots:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void extremeWeightsDoNotOverflow_data() { addTypes(); }
    void extremeWeightsDoNotOverflow()
    {
        QFETCH(TensorType, type);
        std::mt19937 rng(m_seed);
        OnDevice on;
        for (Fill fill : {Fill::AllOnes, Fill::AllZeros, Fill::TopBits})
            for (float x : {1.0f, -1.0f})  // every activation at +-127
                for (int tokens : {2, 20}) {
                    ProductCase c = product_case(type, 512, 4, tokens, fill, rng);
                    c.x = rounded(kernels::activation_of(type), c.n, tokens,
                                  std::vector<float>(std::size_t(512 * tokens), x));
                    const double error = product_error(c, onDevice(on, c));
                    QVERIFY2(error <= 1, qPrintable(QString("%1 x the tolerance").arg(error)));
                }
    }

    void aTokenDoesNotDependOnTheOthers_data() { addTypes(); }
    void aTokenDoesNotDependOnTheOthers()
    {
        QFETCH(TensorType, type);
        std::mt19937 rng(m_seed);
        const ProductCase all = product_case(type, 512, 6, 10, Fill::Random, rng);
        OnDevice on;
        const std::vector<float> together = onDevice(on, all);
        for (int t : {0, 7, 9}) {
            const std::vector<float> alone = onDevice(on, tokensOf(all, t, 1));
            QVERIFY(std::equal(alone.begin(), alone.end(), together.begin() + t * all.rows));
        }
    }

    // More tokens than a few are multiplied on tensor cores, which take 8 of them at once.
    void aTokenThatIsNoNumberStaysAlone_data() { addTypes(); }
    void aTokenThatIsNoNumberStaysAlone()
    {
        QFETCH(TensorType, type);
        constexpr int kTokens = kFewTokens + 11, kNone = 5, kSome = kFewTokens + 1;
        std::mt19937 rng(m_seed);
        ProductCase c = product_case(type, 512, 6, kTokens, Fill::Random, rng);
        OnDevice on;
        const std::vector<float> numbers = onDevice(on, c);
        std::fill_n(c.x.bytes.begin() + kNone * int(c.x.stride), c.x.stride, std::byte(0xff));
        const std::vector<float> others = onDevice(on, c);
        for (int t = 0; t < kTokens; ++t)
            for (auto i = std::size_t(t * c.rows); i < std::size_t((t + 1) * c.rows); ++i)
                QVERIFY(t == kNone ? std::isnan(others[i]) : others[i] == numbers[i]);
        const std::vector<float> last = onDevice(on, tokensOf(c, kTokens - kSome, kSome));
        QVERIFY(std::equal(last.begin(), last.end(), numbers.end() - std::ptrdiff_t(last.size())));
    }

    // Rows are longer than what shared memory holds of their offsets at once, and end within that and within a step.
    void longRowsOfLargeAndSmallTokens_data() { addTypes(); }
    void longRowsOfLargeAndSmallTokens()
    {
        QFETCH(TensorType, type);
        constexpr int kTokens = kFewTokens + 1;
        const int block = kernels::type_traits(type).block_len;
        const int n = 1024 + (block == 1 ? 8 : block);
        std::mt19937 rng(m_seed);
        ProductCase c = product_case(type, n, 3, kTokens, Fill::Random, rng);
        std::vector<float> x = activations(n, kTokens, rng);
        for (std::size_t i = 0; i < x.size(); ++i)
            x[i] *= std::array{1.0f, 1e30f, 1e-30f, 0.0f}[i / std::size_t(n) % 4];
        c.x = rounded(kernels::activation_of(type), n, kTokens, x);
        OnDevice on;
        const std::vector<float> actual = onDevice(on, c);
        for (int i = 0; i < c.rows * kTokens; ++i) {
            const double error = std::abs(double(actual[std::size_t(i)]) - exactly(c, i % c.rows, i / c.rows).sum);
            QVERIFY2(error <= product_tolerance(c, i / c.rows),
                     qPrintable(QString("token %1 is off by %2").arg(i / c.rows).arg(error)));
        }
    }

    // A min of six bits under a half has 17 bits, and tensor cores multiply halves. Scales are 0, so that weights are
    // offsets alone.
    void offsetsKeepTheirBits_data()
    {
        QTest::addColumn<TensorType>("type");
        for (const TensorType type :
             {TensorType::Q4_1, TensorType::Q5_1, TensorType::Q2_K, TensorType::Q4_K, TensorType::Q5_K})
            QTest::addRow("%s", kernels::type_traits(type).name) << type;
    }
    void offsetsKeepTheirBits()
    {
        QFETCH(TensorType, type);
        constexpr double kKept = 0x1p-19;  // of the magnitudes that are added; 11 bits alone would lose 2^-12 of each
        const kernels::TypeTraits& traits = kernels::type_traits(type);
        std::mt19937 rng(m_seed);
        ProductCase c = product_case(type, 1024 + traits.block_len, 3, kFewTokens + 1, Fill::Random, rng);
        const TypeFacts& facts = *std::ranges::find(packedTypes(), type, &TypeFacts::type);
        for (std::size_t at = 0; at < c.weights.size(); at += std::size_t(traits.block_bytes)) {
            const std::uint16_t halves[] = {0, std::uint16_t(0x2800 | (rng() & 0x83ff))};  // the scale, the min
            for (std::size_t i = 0; i < 2; ++i)
                std::memcpy(&c.weights[at + std::size_t(facts.half_offsets[i])], &halves[i], sizeof(halves[i]));
        }
        OnDevice on;
        const std::vector<float> actual = onDevice(on, c);
        for (int i = 0; i < c.rows * c.tokens; ++i) {
            const auto [truth, magnitude] = exactly(c, i % c.rows, i / c.rows);
            const double share = std::abs(double(actual[std::size_t(i)]) - truth) / magnitude;
            QVERIFY2(share <= kKept, qPrintable(QString("%1 of the magnitude").arg(share)));
        }
    }

    void biasAndSumAreAdded()
    {
        std::mt19937 rng(m_seed);
        for (int tokens : {1, 3, 18}) {
            const ProductCase c = product_case(TensorType::Q8_0, 256, 6, tokens, Fill::Random, rng);
            const std::vector<float> bias{1, 2, 3, 4, 5, 6};
            const std::vector<float> before(std::size_t(6 * tokens), 0.5f);
            OnDevice on;
            const std::vector<float> plain = onDevice(on, c);
            const std::vector<float> sum = onDevice(on, c, bias, before);
            for (std::size_t i = 0; i < plain.size(); ++i)
                QCOMPARE(sum[i], 0.5f + (plain[i] + bias[i % 6]));
        }
    }

    // By launches of fewer thread blocks than the device holds at once, and of more.
    void launchesAskForAQuarterOfTheCacheAtMost()
    {
        if (qEnvironmentVariable("SPILLWAY_TEST_DEVICE") == "cuda")
            QSKIP("a real device does not count");
        std::mt19937 rng(m_seed);
        OnDevice on;
        DeviceMemory& memory = on.memory();
        const std::size_t quarter = std::size_t(on.driver().info().l2_bytes) / 4;
        QVERIFY(quarter > 0);
        const std::vector<std::byte> weights(3 * quarter);
        const DevicePtr at = memory.put(weights);
        for (const int rows : {32, 1024}) {
            const ProductCase c = product_case(TensorType::Q8_0, 32, rows, 1, Fill::Random, rng);
            const Product p{.type = c.type,
                            .n = c.n,
                            .rows = rows,
                            .weights = memory.put(c.weights),
                            .tokens = 1,
                            .x = memory.put(c.x.bytes),
                            .x_stride = c.x.stride,
                            .out = {memory.room(std::size_t(rows) * sizeof(float)), rows}};
            NormOfResult norm{.weight = memory.put(std::vector<float>(std::size_t(rows), 1.0f)),
                              .epsilon = 1e-5f,
                              .out = {memory.room(std::size_t(rows) * sizeof(float)), rows}};
            const DevicePtr counter = memory.put(std::vector<unsigned>{0});
            for (const std::size_t bytes : {std::size_t(0), std::size_t(16), std::size_t(5008), quarter, 3 * quarter}) {
                norm.next = {at, bytes};
                const std::uint64_t before = host::asked_bytes;
                on.must(matvec_and_norm(on.driver(), on.queue(), p, norm, counter));
                on.must(on.driver().synchronize(on.queue()));
                QCOMPARE(host::asked_bytes - before, std::min(bytes, quarter));
            }
        }
    }

    void oddLengthsAreRefused()
    {
        OnDevice on;
        Product p{.type = TensorType::F16, .n = 20, .rows = 1, .tokens = 1};
        QVERIFY(matvec(on.driver(), on.queue(), p) == Status::InvalidValue);
        p.type = TensorType::Q4_K;
        p.n = 128;
        QVERIFY(matvec(on.driver(), on.queue(), p) == Status::InvalidValue);
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestCudaMatmul)
#include "tst_cuda_matmul.moc"
