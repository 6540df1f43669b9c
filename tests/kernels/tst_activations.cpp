// Tests that every table rounds activations to the same 8 bits, which are the nearest ones.
#include "kernels/cpu.h"
#include "tests/kernels/tested_tables.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using kernels::CpuKernels;

class TestActivations : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();

    static void addTables()
    {
        QTest::addColumn<const CpuKernels*>("table");
        for (const CpuKernels& table : test_support::tested_tables())
            QTest::addRow("%s", table.name) << &table;
    }

    static std::vector<std::byte> rounded(const CpuKernels& table, const std::vector<float>& x)
    {
        std::vector<std::byte> row(kernels::activation_row_bytes(kernels::Activation::Q8, int(x.size())));
        table.quantize_q8(int(x.size()), x.data(), row.data());
        return row;
    }

    std::vector<float> randomValues(int n) const
    {
        std::mt19937 rng(m_seed);
        std::normal_distribution<float> normal;
        std::vector<float> x(static_cast<std::size_t>(n));
        for (std::size_t i = 0; i < x.size(); ++i)  // groups of very different size
            x[i] = std::ldexp(normal(rng), int(i / 32 % 40) * 3 - 60);
        std::fill_n(x.begin(), 32, 0.0f);
        return x;
    }

private slots:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void rowsAreWholeCacheLines()
    {
        for (int n : {32, 64, 96, 2048, 14336})
            for (auto form : {kernels::Activation::F32, kernels::Activation::Q8}) {
                const std::size_t bytes = kernels::activation_row_bytes(form, n);
                QCOMPARE(bytes % 64, std::size_t(0));
                QVERIFY(bytes >= std::size_t(n) * (form == kernels::Activation::F32 ? 4 : 1));
            }
    }

    void valuesAreTheNearest_data() { addTables(); }
    void valuesAreTheNearest()
    {
        QFETCH(const CpuKernels*, table);
        const std::vector<float> x = randomValues(32 * 40);
        const std::vector<std::byte> row = rounded(*table, x);
        const kernels::Q8Row q8(row.data(), int(x.size()));
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double scale = double(q8.scale[i / 32]);
            QVERIFY(q8.q[i] >= -127);  // -128 has no opposite: products rely on its absence
            QVERIFY(std::abs(double(q8.q[i]) * scale - double(x[i])) <= scale * 0.5001);
        }
        for (std::size_t group = 0; group < x.size() / 32; ++group) {
            int sums[2] = {};
            int largest = 0;
            for (std::size_t i = 0; i < 32; ++i) {
                sums[i / 16] += q8.q[group * 32 + i];
                largest = std::max(largest, std::abs(int(q8.q[group * 32 + i])));
            }
            QCOMPARE(largest, group == 0 ? 0 : 127);  // all of the range is used
            QCOMPARE(q8.sum16[2 * group], q8.scale[group] * float(sums[0]));
            QCOMPARE(q8.sum16[2 * group + 1], q8.scale[group] * float(sums[1]));
            QCOMPARE(q8.sum32[group], q8.scale[group] * float(sums[0] + sums[1]));
            QCOMPARE(q8.shift16[2 * group], -128 * sums[0]);
            QCOMPARE(q8.shift16[2 * group + 1], -128 * sums[1]);
            QCOMPARE(q8.shift32[group], -128 * (sums[0] + sums[1]));
        }
    }

    void everyTableWritesTheSameBytes_data() { addTables(); }
    void everyTableWritesTheSameBytes()
    {
        QFETCH(const CpuKernels*, table);
        std::vector<float> x = randomValues(32 * 40);
        const float strange[] = {NAN,    INFINITY, -INFINITY, std::numeric_limits<float>::denorm_min(),
                                 1e-37f, 3e38f,    -3e38f};
        for (std::size_t i = 0; i < std::size(strange); ++i)
            x[i * 32 + 3 + 20 * (i % 2)] = strange[i];
        const std::vector<std::byte> expected = rounded(kernels::all_cpu_kernels().front(), x);
        const std::vector<std::byte> actual = rounded(*table, x);
        const std::size_t scales = x.size();  // after the values: a NaN among scales and sums has no fixed bits
        QCOMPARE(std::memcmp(actual.data(), expected.data(), scales), 0);
        for (std::size_t at = scales; at < expected.size(); at += 4) {
            std::uint32_t a;
            std::uint32_t b;
            std::memcpy(&a, &expected[at], 4);
            std::memcpy(&b, &actual[at], 4);
            QVERIFY(a == b || (std::isnan(std::bit_cast<float>(a)) && std::isnan(std::bit_cast<float>(b))));
        }
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestActivations)
#include "tst_activations.moc"
