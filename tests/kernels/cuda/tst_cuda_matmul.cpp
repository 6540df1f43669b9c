// Tests products on the device, for every weight type, beyond what kernel_checks() compares: extreme weights, and what
// a token may depend on.
#include "kernels/cuda/checks/products.h"
#include "tests/kernels/cuda/on_device.h"
#include "tests/support/test_program.h"

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
            ProductCase one = all;
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
