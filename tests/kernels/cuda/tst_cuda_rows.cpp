// Operations on rows of activations on the device, against the scalar reference: rotations, sums, caps, gates.
#include "kernels/cpu.h"
#include "tests/kernels/cuda/on_device.h"

#include <cmath>
#include <limits>
#include <random>

using namespace kernels::cuda;

namespace {

constexpr double kHalfEpsilon = double(std::numeric_limits<float>::epsilon()) / 2;

const kernels::CpuKernels& scalar()
{
    return kernels::all_cpu_kernels()[0];
}

struct Rectangle {
    int rows, n, stride;
    std::vector<float> values;

    float* row(int r) { return &values[std::size_t(r * stride)]; }
    const float* row(int r) const { return &values[std::size_t(r * stride)]; }
};

/// Every tolerance is `roundings` times half an epsilon of what is said to be rounded.
void compare(const Rectangle& actual, const Rectangle& expected, double roundings,
             const std::function<double(int row, int column)>& magnitude)
{
    for (int r = 0; r < expected.rows; ++r)
        for (int i = 0; i < expected.n; ++i) {
            const double a = double(actual.row(r)[i]);
            const double e = double(expected.row(r)[i]);
            QVERIFY2(std::abs(a - e) <= roundings * kHalfEpsilon * magnitude(r, i),
                     qPrintable(QString("row %1, %2: %3 instead of %4").arg(r).arg(i).arg(a).arg(e)));
        }
    // What lies between the rows belongs to others.
    for (int r = 0; r < expected.rows; ++r)
        for (int i = expected.n; i < expected.stride; ++i)
            QCOMPARE(actual.row(r)[i], expected.row(r)[i]);
}

}  // namespace

class TestCudaRows : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();
    std::mt19937 m_random{m_seed};

    Rectangle random(int rows, int n, int stride, float size = 1.0f)
    {
        std::normal_distribution<float> normal(0.0f, size);
        Rectangle r{rows, n, stride, std::vector<float>(std::size_t(rows * stride))};
        for (float& v : r.values)
            v = normal(m_random);
        return r;
    }
    static Rectangle get(OnDevice& on, DevicePtr at, const Rectangle& shape)
    {
        return {shape.rows, shape.n, shape.stride, on.get<float>(at, shape.values.size())};
    }
    static double largestOf(const float* a, int n)
    {
        double largest = 0;
        for (int i = 0; i < n; ++i)
            largest = std::max(largest, std::abs(double(a[i])));
        return largest;
    }

private slots:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void rotationsMatchScalar_data()
    {
        QTest::addColumn<bool>("neox");
        QTest::addColumn<int>("length");
        QTest::addColumn<int>("pairs");
        for (bool neox : {false, true})
            for (auto [length, pairs] : {std::pair{64, 32}, {128, 64}, {80, 16}, {12, 1}})
                QTest::addRow("%s %d of %d", neox ? "halves" : "neighbours", 2 * pairs, length)
                    << neox << length << pairs;
    }
    void rotationsMatchScalar()
    {
        QFETCH(bool, neox);
        QFETCH(int, length);
        QFETCH(int, pairs);
        const int rows = 3;
        const int heads = 5;
        const Rectangle x = random(rows, heads * length, heads * length + 8);
        std::vector<float> cos;
        std::vector<float> sin;
        for (int i = 0; i < rows * pairs; ++i) {
            cos.push_back(std::cos(0.37f * float(i)));
            sin.push_back(std::sin(0.37f * float(i)));
        }
        OnDevice on;
        const DevicePtr at = on.put(x.values);
        on.must(rope(on.driver(), on.queue(), {at, x.stride}, heads, length, on.put(cos), on.put(sin), pairs,
                     neox ? RopePairs::Halves : RopePairs::Neighbours, rows));
        Rectangle expected = x;
        for (int r = 0; r < rows; ++r)
            for (int h = 0; h < heads; ++h)
                scalar().rope(neox, 2 * pairs, &cos[std::size_t(r * pairs)], &sin[std::size_t(r * pairs)],
                              expected.row(r) + h * length);
        // Two products and their difference, once fused and once not: five roundings of at most the pair's length.
        compare(get(on, at, x), expected, 5, [&](int r, int) { return 2 * largestOf(x.row(r), x.n); });
    }

    void sumsAreTheSame()
    {
        for (int n : {1, 255, 256, 1000}) {
            const Rectangle x = random(2, n, n + 3);
            const Rectangle y = random(2, n, n + 1);
            OnDevice on;
            const DevicePtr at = on.put(x.values);
            on.must(add(on.driver(), on.queue(), {on.put(y.values), y.stride}, 2, n, {at, x.stride}));
            Rectangle expected = x;
            for (int r = 0; r < 2; ++r)
                scalar().add(n, y.row(r), expected.row(r));
            compare(get(on, at, x), expected, 0, [](int, int) { return 1.0; });
        }
    }

    void capsMatch()
    {
        const Rectangle x = random(2, 300, 300, 40.0f);
        OnDevice on;
        const DevicePtr at = on.put(x.values);
        on.must(soft_cap(on.driver(), on.queue(), 30.0f, 2, 300, {at, 300}));
        Rectangle expected = x;
        for (float& v : expected.values)
            v = 30.0f * std::tanh(v / 30.0f);
        compare(get(on, at, x), expected, 8, [](int, int) { return 30.0; });  // tanh: two units in the last place
    }

    void gatesMatchScalar_data()
    {
        QTest::addColumn<int>("gate");
        QTest::addColumn<int>("n");
        const char* names[] = {"silu", "gelu", "swiglu_oai"};
        for (int gate = 0; gate < 3; ++gate)
            for (int n : {1, 77, 256, 700})
                QTest::addRow("%s %d", names[gate], n) << gate << n;
    }
    void gatesMatchScalar()
    {
        QFETCH(int, gate);
        QFETCH(int, n);
        const Rectangle x = random(2, 2 * n, 2 * n, 6.0f);
        OnDevice on;
        const Rows in{on.put(x.values), x.stride};
        const Rows out = n % 2 ? Rows{on.put(std::vector<float>(std::size_t(2 * n))), n} : in;  // or in its place
        Rectangle expected{2, n, n, std::vector<float>(std::size_t(2 * n))};
        for (int r = 0; r < 2; ++r) {
            float* to = expected.row(r);
            if (gate == 0)
                scalar().silu_mul(n, x.row(r), x.row(r) + n, to);
            else if (gate == 1)
                scalar().gelu_mul(n, x.row(r), x.row(r) + n, to);
            else
                scalar().swiglu_oai(n, x.row(r), x.row(r) + n, 1.702f, 7.0f, to);
        }
        on.must(gate == 0   ? silu_mul(on.driver(), on.queue(), in, 2, n, out)
                : gate == 1 ? gelu_mul(on.driver(), on.queue(), in, 2, n, out)
                            : swiglu_oai(on.driver(), on.queue(), in, 1.702f, 7.0f, 2, n, out));
        Rectangle actual{2, n, n, {}};
        const std::vector<float> all = on.get<float>(out.at, std::size_t(2 * out.stride));
        for (int r = 0; r < 2; ++r)
            actual.values.insert(actual.values.end(), all.begin() + r * out.stride, all.begin() + r * out.stride + n);
        // The exponential's argument, up to a few tens, is rounded some four times; the relative error of exp is the
        // absolute one of its argument. A handful more for exp, quotient and products. A sigmoid that small counts
        // for nothing: hence at least one.
        compare(actual, expected, 4 * 40 + 8,
                [&](int r, int i) { return std::max(1.0, std::abs(double(expected.row(r)[i]))); });
    }

    void bytesOfRoundedActivationsAreTheSame_data()
    {
        QTest::addColumn<int>("n");
        for (int n : {32, 64, 96, 288, 1024})
            QTest::addRow("%d", n) << n;
    }
    void bytesOfRoundedActivationsAreTheSame()
    {
        QFETCH(int, n);
        const int rows = 3;
        Rectangle x = random(rows, n, n + 4);
        for (std::size_t i = 0; i < x.values.size(); ++i)  // groups of very different size
            x.values[i] = std::ldexp(x.values[i], int(i / 32 % 40) * 3 - 60);
        std::fill_n(x.row(1), 32, 0.0f);
        x.row(2)[5] = NAN;
        x.row(2)[7] = 3e38f;
        const std::size_t stride = kernels::activation_row_bytes(kernels::Activation::Q8, n);
        OnDevice on;
        const std::vector<std::byte> untouched(stride * std::size_t(rows), std::byte(0x5a));
        const DevicePtr out = on.put(untouched);
        on.must(quantize_q8(on.driver(), on.queue(), {on.put(x.values), x.stride}, rows, n, {out, stride}));
        std::vector<std::byte> expected = untouched;
        for (int r = 0; r < rows; ++r)
            scalar().quantize_q8(n, x.row(r), &expected[std::size_t(r) * stride]);
        QVERIFY(on.get<std::byte>(out, expected.size()) == expected);
    }
};

QTEST_APPLESS_MAIN(TestCudaRows)
#include "tst_cuda_rows.moc"
