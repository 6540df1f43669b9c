// Products on the device, for every weight type, against the scalar reference on the same rounded
// activations.
#include "tests/kernels/cuda/on_device.h"
#include "tests/kernels/random_rows.h"

#include <limits>

using namespace kernel_rows;
using namespace kernels::cuda;
using kernels::TensorType;

namespace {

struct Case {
    TensorType type;
    int n, rows, tokens;
    std::vector<std::byte> weights;
    ActivationRows x;
};

bool isFloat(TensorType type)
{
    return kernels::activation_of(type) == kernels::Activation::F32;
}

Case makeCase(TensorType type, int n, int rows, int tokens, Fill fill, std::mt19937& rng)
{
    Case c{type, n, rows, tokens, {}, {}};
    if (isFloat(type))
        c.weights = floatRows(type, n, rows, rng);
    for (const TypeFacts& facts : packedTypes())
        if (facts.type == type)
            c.weights = packedRows(facts, n, rows, fill, rng);
    c.x = rounded(kernels::activation_of(type), n, tokens, activations(n, tokens, rng));
    return c;
}

double largestWeight(TensorType type)
{
    for (const TypeFacts& facts : packedTypes())
        if (facts.type == type)
            return double(facts.largest * kScale);
    return 2.0;
}

std::vector<float> scalarProduct(const Case& c)
{
    std::vector<float> out(std::size_t(c.rows * c.tokens));
    kernels::all_cpu_kernels()[0].matmul[std::size_t(c.type)](
        {c.n, c.rows, c.weights.data(), c.tokens, c.x.bytes.data(), c.x.stride, out.data(), std::size_t(c.rows)});
    return out;
}

// Every value that is added is at most the largest weight times |x|. The reference makes at most n / 8 + 8 roundings in
// a chain, a lane and the tree after it fewer.
double tolerance(const Case& c, int token)
{
    const std::byte* row = c.x.bytes.data() + std::size_t(token) * c.x.stride;
    double magnitude = 0;
    for (float x : seen(kernels::activation_of(c.type), c.n, row))
        magnitude += std::abs(double(x));
    return 2 * (c.n / 8.0 + 8) * double(std::numeric_limits<float>::epsilon()) / 2 * largestWeight(c.type) * magnitude;
}

}  // namespace

class TestCudaMatmul : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();

    static std::vector<float> onDevice(OnDevice& on, const Case& c, const std::vector<float>& bias = {},
                                       const std::vector<float>& before = {})
    {
        const int stride = c.rows + 3;
        std::vector<float> start(std::size_t(stride * c.tokens), -12345.0f);
        for (std::size_t i = 0; i < before.size(); ++i)
            start[i / std::size_t(c.rows) * std::size_t(stride) + i % std::size_t(c.rows)] = before[i];
        const DevicePtr out = on.put(start);
        on.must(matmul(on.driver(), on.queue(),
                       {.type = c.type,
                        .n = c.n,
                        .rows = c.rows,
                        .weights = on.put(c.weights),
                        .bias = bias.empty() ? 0 : on.put(bias),
                        .tokens = c.tokens,
                        .x = on.put(c.x.bytes),
                        .x_stride = c.x.stride,
                        .out = {out, stride},
                        .into = before.empty() ? Into::Place : Into::Sum}));
        const std::vector<float> all = on.get<float>(out, start.size());
        std::vector<float> result;
        for (int t = 0; t < c.tokens; ++t) {
            const auto row = all.begin() + t * stride;
            result.insert(result.end(), row, row + c.rows);
            if (row[c.rows] != -12345.0f)
                qFatal("written beyond the rows");
        }
        return result;
    }

    static void compare(const std::vector<float>& actual, const Case& c)
    {
        const std::vector<float> expected = scalarProduct(c);
        for (int t = 0; t < c.tokens; ++t)
            for (int r = 0; r < c.rows; ++r) {
                const auto i = std::size_t(t * c.rows + r);
                QVERIFY2(std::abs(double(actual[i]) - double(expected[i])) <= tolerance(c, t),
                         qPrintable(QString("n=%1 row %2 token %3: %4 instead of %5, tolerance %6")
                                        .arg(c.n)
                                        .arg(r)
                                        .arg(t)
                                        .arg(actual[i])
                                        .arg(expected[i])
                                        .arg(tolerance(c, t))));
            }
    }

    static void addTypes()
    {
        QTest::addColumn<TensorType>("type");
        for (const kernels::TypeTraits& traits : kernels::all_tensor_types())
            QTest::addRow("%s", traits.name) << traits.type;
    }

private slots:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void productsMatchScalar_data() { addTypes(); }
    void productsMatchScalar()
    {
        QFETCH(TensorType, type);
        std::mt19937 rng(m_seed);
        const int block = isFloat(type) ? 8 : kernels::type_traits(type).block_len;
        OnDevice on;
        for (int n : {block, 5 * block, 1024})
            for (auto [rows, tokens] : {std::pair{1, 1}, {7, 1}, {3, 2}, {5, 11}}) {
                const Case c = makeCase(type, n, rows, tokens, Fill::Random, rng);
                compare(onDevice(on, c), c);
            }
    }

    // With tensor cores where weights are packed.
    void manyTokensMatchScalar_data() { addTypes(); }
    void manyTokensMatchScalar()
    {
        QFETCH(TensorType, type);
        std::mt19937 rng(m_seed);
        const int block = kernels::type_traits(type).block_len;
        const int n = block == 256 ? 256 : 160;  // a step of the kernel is 128 weights
        OnDevice on;
        for (auto [rows, tokens] : {std::pair{3, 17}, {70, 131}}) {
            const Case c = makeCase(type, n, rows, tokens, Fill::Random, rng);
            compare(onDevice(on, c), c);
        }
    }

    void extremeWeightsDoNotOverflow_data() { addTypes(); }
    void extremeWeightsDoNotOverflow()
    {
        QFETCH(TensorType, type);
        std::mt19937 rng(m_seed);
        OnDevice on;
        for (Fill fill : {Fill::AllOnes, Fill::AllZeros, Fill::TopBits})
            for (float x : {1.0f, -1.0f})  // every activation at +-127
                for (int tokens : {2, 20}) {
                    Case c = makeCase(type, 512, 4, tokens, fill, rng);
                    c.x = rounded(kernels::activation_of(type), c.n, tokens,
                                  std::vector<float>(std::size_t(512 * tokens), x));
                    compare(onDevice(on, c), c);
                }
    }

    void aTokenDoesNotDependOnTheOthers_data() { addTypes(); }
    void aTokenDoesNotDependOnTheOthers()
    {
        QFETCH(TensorType, type);
        std::mt19937 rng(m_seed);
        const Case all = makeCase(type, 512, 6, 10, Fill::Random, rng);
        OnDevice on;
        const std::vector<float> together = onDevice(on, all);
        for (int t : {0, 7, 9}) {
            Case one = all;
            one.tokens = 1;
            one.x.bytes.assign(all.x.bytes.begin() + t * int(all.x.stride),
                               all.x.bytes.begin() + (t + 1) * int(all.x.stride));
            const std::vector<float> alone = onDevice(on, one);
            QVERIFY(std::equal(alone.begin(), alone.end(), together.begin() + t * all.rows));
        }
    }

    void biasAndSumAreAdded()
    {
        std::mt19937 rng(m_seed);
        for (int tokens : {1, 3, 18}) {
            const Case c = makeCase(TensorType::Q8_0, 256, 6, tokens, Fill::Random, rng);
            const std::vector<float> bias{1, 2, 3, 4, 5, 6};
            const std::vector<float> before(std::size_t(6 * tokens), 0.5f);
            OnDevice on;
            const std::vector<float> plain = onDevice(on, c);
            const std::vector<float> sum = onDevice(on, c, bias, before);
            for (std::size_t i = 0; i < plain.size(); ++i)
                QCOMPARE(sum[i], 0.5f + (plain[i] + bias[i % 6]));
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

QTEST_APPLESS_MAIN(TestCudaMatmul)
#include "tst_cuda_matmul.moc"
