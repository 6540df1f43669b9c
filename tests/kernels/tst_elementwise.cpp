// Tests norms, sum, rotation and activations of every table against double precision.
#include "kernels/cpu.h"
#include "tests/kernels/tested_tables.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

using kernels::CpuKernels;

namespace {

constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
constexpr float kGuard = -12345.0f;  // behind every result: must survive

// A few roundings, and the table's own exponential (about 1e-7 each).
constexpr double kFewRoundings = 16 * kEpsilon;

std::vector<float> randomValues(int n, float size, std::mt19937& rng)
{
    std::vector<float> x(static_cast<std::size_t>(n));
    std::normal_distribution<float> normal(0.0f, size);
    for (float& v : x)
        v = normal(rng);
    return x;
}

double sigmoid(double x)
{
    return 1 / (1 + std::exp(-x));
}

}  // namespace

class TestElementwise : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();

    static void addTables()
    {
        QTest::addColumn<const CpuKernels*>("table");
        for (const CpuKernels& table : test_support::tested_tables())
            QTest::addRow("%s", table.name) << &table;
    }

    using Gated = std::function<void(int n, const float* gate, const float* up, float* out)>;

    // Magnitude: what the result's error is measured by, since a gate near zero makes a small result of large parts.
    void checkGated(const Gated& gated, const std::function<double(double, double)>& expected)
    {
        std::mt19937 rng(m_seed);
        for (int n : {1, 15, 16, 17, 100}) {
            std::vector<float> gate = randomValues(n, 5.0f, rng);
            const std::vector<float> up = randomValues(n, 5.0f, rng);
            if (n > 90) {
                const float special[] = {0.0f, -0.0f, 100.0f, -100.0f, 1e-20f, -1e-20f, 1e4f, -1e4f, 7.0f, -7.0f};
                std::copy(std::begin(special), std::end(special), gate.begin() + 40);
            }
            std::vector<float> out(std::size_t(n) + 1, kGuard);
            gated(n, gate.data(), up.data(), out.data());
            QCOMPARE(out.back(), kGuard);
            for (int i = 0; i < n; ++i) {
                const double g = double(gate[std::size_t(i)]);
                const double e = expected(g, double(up[std::size_t(i)]));
                // The argument of the exponential is rounded: relative error |g| * a few roundings (gelu: of g^3)
                const double tolerance = std::abs(e) * kFewRoundings * (1 + std::min(100.0, g * g)) + 1e-36;
                const double actual = double(out[std::size_t(i)]);
                QVERIFY2(std::abs(actual - e) <= tolerance,
                         qPrintable(QString("gate %1: %2 instead of %3").arg(g).arg(actual).arg(e)));
            }
            std::vector<float> same = up;
            gated(n, gate.data(), same.data(), same.data());  // out may be up
            same.push_back(kGuard);
            QCOMPARE(std::memcmp(same.data(), out.data(), out.size() * sizeof(float)), 0);
            gated(n, gate.data(), up.data(), gate.data());  // or gate
            gate.push_back(kGuard);
            QCOMPARE(std::memcmp(gate.data(), out.data(), out.size() * sizeof(float)), 0);
        }
    }

private slots:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void rmsNorm_data() { addTables(); }
    void rmsNorm()
    {
        QFETCH(const CpuKernels*, table);
        std::mt19937 rng(m_seed);
        for (int n : {1, 16, 77, 4096}) {
            std::vector<float> x = randomValues(n, 3.0f, rng);
            const std::vector<float> weight = randomValues(n, 1.0f, rng);
            double squares = 0;
            for (float v : x)
                squares += double(v) * double(v);
            const double scale = 1 / std::sqrt(squares / n + 1e-5);
            std::vector<float> out(std::size_t(n) + 1, kGuard);
            table->rms_norm(n, x.data(), weight.data(), 1e-5f, out.data());
            QCOMPARE(out.back(), kGuard);
            for (std::size_t i = 0; i < x.size(); ++i) {
                const double expected = double(x[i]) * scale * double(weight[i]);
                // n / 16 additions of positive numbers, halved by the root
                QVERIFY(std::abs(double(out[i]) - expected) <=
                        std::abs(expected) * (kFewRoundings + n / 32.0 * kEpsilon));
            }
            table->rms_norm(n, x.data(), weight.data(), 1e-5f, x.data());
            x.push_back(kGuard);
            QCOMPARE(std::memcmp(x.data(), out.data(), out.size() * sizeof(float)), 0);
        }
    }

    void rmsNormOfZerosIsZero_data() { addTables(); }
    void rmsNormOfZerosIsZero()
    {
        QFETCH(const CpuKernels*, table);
        std::vector<float> x(33, 0.0f);
        const std::vector<float> weight(33, 2.0f);
        table->rms_norm(33, x.data(), weight.data(), 1e-6f, x.data());
        QVERIFY(x == std::vector<float>(33, 0.0f));
    }

    void l2Norm_data() { addTables(); }
    void l2Norm()
    {
        QFETCH(const CpuKernels*, table);
        std::mt19937 rng(m_seed);
        for (int n : {1, 16, 77, 128, 256}) {
            std::vector<float> x = randomValues(n, 3.0f, rng);
            double squares = 0;
            for (float v : x)
                squares += double(v) * double(v);
            const double scale = double(0.125f) / std::sqrt(squares + double(1e-6f));
            std::vector<float> out(std::size_t(n) + 1, kGuard);
            table->l2_norm(n, x.data(), 1e-6f, 0.125f, out.data());
            QCOMPARE(out.back(), kGuard);
            for (std::size_t i = 0; i < x.size(); ++i) {
                const double expected = double(x[i]) * scale;
                QVERIFY(std::abs(double(out[i]) - expected) <=
                        std::abs(expected) * (kFewRoundings + n / 32.0 * kEpsilon));
            }
            table->l2_norm(n, x.data(), 1e-6f, 0.125f, x.data());
            x.push_back(kGuard);
            QCOMPARE(std::memcmp(x.data(), out.data(), out.size() * sizeof(float)), 0);
        }
        std::vector<float> zeros(33, 0.0f);
        table->l2_norm(33, zeros.data(), 1e-6f, 1.0f, zeros.data());
        QVERIFY(zeros == std::vector<float>(33, 0.0f));
    }

    void layerNorm_data() { addTables(); }
    void layerNorm()
    {
        QFETCH(const CpuKernels*, table);
        std::mt19937 rng(m_seed);
        for (int n : {2, 16, 77, 4096}) {
            std::vector<float> x = randomValues(n, 3.0f, rng);
            for (float& v : x)
                v += 2.0f;
            const std::vector<float> weight = randomValues(n, 1.0f, rng);
            double mean = 0;
            double largest = 0;
            for (float v : x) {
                mean += double(v) / n;
                largest = std::max(largest, std::abs(double(v)));
            }
            double squares = 0;
            for (float v : x)
                squares += (double(v) - mean) * (double(v) - mean);
            const double scale = 1 / std::sqrt(squares / n + 1e-5);
            std::vector<float> out(std::size_t(n) + 1, kGuard);
            table->layer_norm(n, x.data(), weight.data(), 1e-5f, out.data());
            QCOMPARE(out.back(), kGuard);
            // The mean is off by n / 16 roundings of the largest value at most; the differences from it, and their
            // squares' sum, by as much.
            const double off = (kFewRoundings + n / 16.0 * kEpsilon) * largest * scale;
            for (std::size_t i = 0; i < x.size(); ++i) {
                const double expected = (double(x[i]) - mean) * scale * double(weight[i]);
                QVERIFY(std::abs(double(out[i]) - expected) <=
                        off * (std::abs(double(weight[i])) + std::abs(expected) * largest * scale));
            }
            table->layer_norm(n, x.data(), weight.data(), 1e-5f, x.data());  // out may be x
            x.push_back(kGuard);
            QCOMPARE(std::memcmp(x.data(), out.data(), out.size() * sizeof(float)), 0);
        }
    }

    void add_data() { addTables(); }
    void add()
    {
        QFETCH(const CpuKernels*, table);
        std::mt19937 rng(m_seed);
        for (int n : {1, 15, 16, 33, 1000}) {
            const std::vector<float> y = randomValues(n, 1.0f, rng);
            std::vector<float> x = randomValues(n, 1.0f, rng);
            std::vector<float> expected = x;
            for (std::size_t i = 0; i < y.size(); ++i)
                expected[i] += y[i];
            x.push_back(kGuard);
            expected.push_back(kGuard);
            table->add(n, y.data(), x.data());
            QVERIFY(x == expected);
        }
    }

    void rope_data()
    {
        QTest::addColumn<const CpuKernels*>("table");
        QTest::addColumn<bool>("neox");
        for (const CpuKernels& table : test_support::tested_tables())
            for (bool neox : {false, true})
                QTest::addRow("%s %s", table.name, neox ? "halves" : "neighbours") << &table << neox;
    }
    void rope()
    {
        QFETCH(const CpuKernels*, table);
        QFETCH(bool, neox);
        std::mt19937 rng(m_seed);
        for (int n : {2, 10, 32, 64, 90, 128}) {
            std::vector<float> head = randomValues(n + 1, 1.0f, rng);
            const std::vector<float> before = head;
            std::vector<float> cos;
            std::vector<float> sin;
            for (float angle : randomValues(n / 2, 10.0f, rng)) {
                cos.push_back(std::cos(angle));
                sin.push_back(std::sin(angle));
            }
            table->rope(neox, n, cos.data(), sin.data(), head.data());
            QCOMPARE(head.back(), before.back());
            for (std::size_t i = 0; i < cos.size(); ++i) {
                const std::size_t at = neox ? i : 2 * i;
                const std::size_t other = neox ? i + std::size_t(n / 2) : at + 1;
                const double a = double(before[at]);
                const double b = double(before[other]);
                const double tolerance = 2 * kEpsilon * (std::abs(a) + std::abs(b));
                QVERIFY(std::abs(double(head[at]) - (a * double(cos[i]) - b * double(sin[i]))) <= tolerance);
                QVERIFY(std::abs(double(head[other]) - (a * double(sin[i]) + b * double(cos[i]))) <= tolerance);
            }
        }
    }

    void siluMul_data() { addTables(); }
    void siluMul()
    {
        QFETCH(const CpuKernels*, table);
        checkGated(table->silu_mul, [](double g, double u) { return g * sigmoid(g) * u; });
    }

    void geluMul_data() { addTables(); }
    void geluMul()
    {
        QFETCH(const CpuKernels*, table);
        checkGated(table->gelu_mul, [](double g, double u) {
            const double v = std::sqrt(2 / std::acos(-1.0)) * (g + 0.044715 * g * g * g);
            // 0.5 g (1 + tanh v), written so that doubles do not cancel for negative g
            return g * sigmoid(2 * v) * u;
        });
    }

    void sigmoidMul_data() { addTables(); }
    void sigmoidMul()
    {
        QFETCH(const CpuKernels*, table);
        checkGated(table->sigmoid_mul, [](double g, double u) { return sigmoid(g) * u; });
    }

    void reluSquared_data() { addTables(); }
    void reluSquared()
    {
        QFETCH(const CpuKernels*, table);
        std::mt19937 rng(m_seed);
        for (int n : {1, 15, 16, 33, 1000}) {
            std::vector<float> x = randomValues(n, 1.0f, rng);
            if (n > 4) {
                x[1] = -std::numeric_limits<float>::infinity();
                x[2] = NAN;
            }
            std::vector<float> out(std::size_t(n) + 1, kGuard);
            table->relu_squared(n, x.data(), out.data());
            QCOMPARE(out.back(), kGuard);
            for (std::size_t i = 0; i < x.size(); ++i)
                QVERIFY(std::isnan(x[i]) ? std::isnan(out[i]) : out[i] == std::max(x[i], 0.0f) * std::max(x[i], 0.0f));
            table->relu_squared(n, x.data(), x.data());
            x.push_back(kGuard);
            QCOMPARE(std::memcmp(x.data(), out.data(), out.size() * sizeof(float)), 0);
        }
    }

    void swigluOai_data() { addTables(); }
    void swigluOai()
    {
        QFETCH(const CpuKernels*, table);
        const float alpha = 1.702f;
        const float limit = 7.0f;
        std::mt19937 rng(m_seed);
        const int n = 203;
        const std::vector<float> gate = randomValues(n, 6.0f, rng);
        const std::vector<float> up = randomValues(n, 6.0f, rng);
        std::vector<float> out(std::size_t(n) + 1, kGuard);
        table->swiglu_oai(n, gate.data(), up.data(), alpha, limit, out.data());
        QCOMPARE(out.back(), kGuard);
        for (std::size_t i = 0; i < gate.size(); ++i) {
            const double g = std::min(double(gate[i]), 7.0);
            const double u = std::clamp(double(up[i]), -7.0, 7.0);
            const double gated = g * sigmoid(double(alpha) * g);
            QVERIFY(std::abs(double(out[i]) - gated * (u + 1)) <=
                    std::abs(gated) * (8 + std::abs(u)) * kFewRoundings * 4);
        }
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestElementwise)
#include "tst_elementwise.moc"
