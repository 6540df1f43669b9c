// RMSNorm of rows and of heads on the device, against the scalar reference.
#include "kernels/cpu.h"
#include "tests/kernels/cuda/on_device.h"

#include <limits>
#include <random>

using namespace kernels::cuda;

class TestCudaRmsNorm : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();

    static std::vector<float> randomValues(std::size_t n, std::mt19937& rng)
    {
        std::normal_distribution<float> normal;
        std::vector<float> x(n);
        for (float& v : x)
            v = normal(rng);
        return x;
    }

    // Squares are all positive, so each rounding of the sum is at most a relative half epsilon: as many in a row as a
    // thread or lane adds, and ten for the tree. The square root halves them; the quotient, root and two products add
    // four more.
    static void compare(const std::vector<float>& actual, const std::vector<float>& expected, int addedByAThread)
    {
        const double roundings = (addedByAThread + 10) / 2.0 + 4;
        const double relative = roundings * double(std::numeric_limits<float>::epsilon()) / 2;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const double error = std::abs(double(actual[i]) - double(expected[i]));
            QVERIFY2(error <= relative * std::abs(double(expected[i])),
                     qPrintable(QString("%1: %2 instead of %3").arg(i).arg(actual[i]).arg(expected[i])));
        }
    }

private slots:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void rowsMatchScalar_data()
    {
        QTest::addColumn<int>("dim");
        for (int dim : {1, 31, 64, 512, 1000, 4096})
            QTest::addRow("%d", dim) << dim;
    }
    void rowsMatchScalar()
    {
        QFETCH(int, dim);
        const int rows = 3;
        const int stride = dim + 5;  // the rest of a row belongs to others
        std::mt19937 rng(m_seed);
        const std::vector<float> x = randomValues(std::size_t(rows * stride), rng);
        const std::vector<float> weight = randomValues(std::size_t(dim), rng);
        OnDevice on;
        const DevicePtr at = on.put(x);
        on.must(rms_norm(on.driver(), on.queue(), {at, stride}, on.put(weight), 1e-5f, rows, dim, {at, stride}));
        std::vector<float> expected = x;
        for (int r = 0; r < rows; ++r) {
            float* row = &expected[std::size_t(r * stride)];
            kernels::all_cpu_kernels()[0].rms_norm(dim, row, weight.data(), 1e-5f, row);
        }
        compare(on.get<float>(at, x.size()), expected, (dim + 511) / 512);
    }

    void headsMatchScalar_data()
    {
        QTest::addColumn<int>("heads");
        QTest::addColumn<int>("length");
        for (int heads : {1, 3, 4, 9})
            for (int length : {64, 80, 128})
                QTest::addRow("%d x %d", heads, length) << heads << length;
    }
    void headsMatchScalar()
    {
        QFETCH(int, heads);
        QFETCH(int, length);
        const int rows = 2;
        const int stride = heads * length + 16;
        std::mt19937 rng(m_seed);
        const std::vector<float> x = randomValues(std::size_t(rows * stride), rng);
        const std::vector<float> weight = randomValues(std::size_t(length), rng);
        OnDevice on;
        const DevicePtr at = on.put(x);
        on.must(norm_heads(on.driver(), on.queue(), {at, stride}, heads, length, on.put(weight), 1e-6f, rows));
        std::vector<float> expected = x;
        for (int r = 0; r < rows; ++r)
            for (int h = 0; h < heads; ++h) {
                float* head = &expected[std::size_t(r * stride + h * length)];
                kernels::all_cpu_kernels()[0].rms_norm(length, head, weight.data(), 1e-6f, head);
            }
        compare(on.get<float>(at, x.size()), expected, (length + 31) / 32);
    }
};

QTEST_APPLESS_MAIN(TestCudaRmsNorm)
#include "tst_cuda_rms_norm.moc"
