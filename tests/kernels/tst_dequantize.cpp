// Tests that every table makes of packed blocks the floats that ggml makes of the same bytes, bit for bit.
#include "kernels/cpu.h"
#include "kernels/half.h"
#include "tests/kernels/tested_tables.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTest>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using kernels::CpuKernels;
using kernels::TensorType;

class TestDequantize : public QObject
{
    Q_OBJECT

private slots:
    // The file holds, for blocks of random bytes under sane scales: the type, the bytes, and the bits of the floats
    // that ggml's own dequantize_row functions (ggml-quants.c) made of them.
    void blocksMatchGgml_data()
    {
        QTest::addColumn<const CpuKernels*>("table");
        QTest::addColumn<TensorType>("type");
        QTest::addColumn<QByteArray>("block");
        QTest::addColumn<QByteArray>("floatBits");
        QFile file(QString(SPILLWAY_SOURCE_DIR) + "/tests/data/dequantized_by_ggml.txt");
        QVERIFY(file.open(QIODevice::ReadOnly));
        QList<QByteArray> lines = file.readAll().split('\n');
        QVERIFY(lines.size() >= 3 * 34);
        for (qsizetype i = 0; i + 2 < lines.size(); i += 3)
            for (const CpuKernels& table : test_support::tested_tables())
                for (const kernels::TypeTraits& traits : kernels::all_tensor_types())
                    if (lines[i].toUpper() == traits.name)
                        QTest::addRow("%s %s %d", table.name, traits.name, int(i / 3))
                            << &table << traits.type << QByteArray::fromHex(lines[i + 1]) << lines[i + 2];
    }
    void blocksMatchGgml()
    {
        QFETCH(const CpuKernels*, table);
        QFETCH(TensorType, type);
        QFETCH(QByteArray, block);
        QFETCH(QByteArray, floatBits);
        const kernels::TypeTraits& traits = kernels::type_traits(type);
        QCOMPARE(block.size(), traits.block_bytes);
        QCOMPARE(floatBits.size(), 8 * traits.block_len);

        for (int blocks : {1, 2, 9}) {  // wider tables take several at a time
            const QByteArray row = block.repeated(blocks);
            std::vector<float> out(std::size_t(blocks * traits.block_len), 12345.0f);
            table->dequantize(type, int(out.size()), reinterpret_cast<const std::byte*>(row.data()), out.data());
            for (int i = 0; i < int(out.size()); ++i) {
                const quint32 bits = floatBits.mid(8 * (i % traits.block_len), 8).toUInt(nullptr, 16);
                float expected;
                std::memcpy(&expected, &bits, 4);
                QCOMPARE(out[std::size_t(i)], expected);
            }
        }
    }

    void everyHalfIsItself_data()
    {
        QTest::addColumn<const CpuKernels*>("table");
        for (const CpuKernels& table : test_support::tested_tables())
            QTest::addRow("%s", table.name) << &table;
    }
    void everyHalfIsItself()
    {
        QFETCH(const CpuKernels*, table);
        std::vector<std::uint16_t> all(65536);
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = std::uint16_t(i);
        std::vector<float> halves(all.size());
        std::vector<float> bfloats(all.size());
        const auto* row = reinterpret_cast<const std::byte*>(all.data());
        table->dequantize(TensorType::F16, int(all.size()), row, halves.data());
        table->dequantize(TensorType::BF16, int(all.size()), row, bfloats.data());
        for (std::size_t i = 0; i < all.size(); ++i) {
            const int sign = i & 0x8000 ? -1 : 1;
            const int exponent = int(i >> 10 & 31);
            const int mantissa = int(i & 1023);
            if (exponent == 31 && mantissa) {
                QVERIFY(std::isnan(halves[i]));
            } else {
                const double value = exponent == 31  ? std::numeric_limits<double>::infinity()
                                     : exponent == 0 ? std::ldexp(mantissa, -24)
                                                     : std::ldexp(1024 + mantissa, exponent - 25);
                QCOMPARE(double(halves[i]), sign * value);
                QCOMPARE(kernels::float_to_half(halves[i]), all[i]);
            }
            const quint32 bits = quint32(i) << 16;
            QVERIFY(std::memcmp(&bfloats[i], &bits, 4) == 0 || std::isnan(bfloats[i]));
        }
    }

    // Between two neighbouring halves the nearer one is taken, the even one in the middle.
    void halvesRoundToNearestEven()
    {
        for (std::uint16_t low = 0; low < 0x7bff; ++low) {
            const float a = kernels::half_to_float(low);
            const float b = kernels::half_to_float(std::uint16_t(low + 1));
            const float middle = a + (b - a) / 2;  // exact: a half has 13 bits less than a float
            QCOMPARE(kernels::float_to_half(middle), std::uint16_t(low % 2 ? low + 1 : low));
            QCOMPARE(kernels::float_to_half(std::nextafter(middle, 0.0f)), low);
            QCOMPARE(kernels::float_to_half(-std::nextafter(middle, 1e9f)), std::uint16_t(0x8000 | (low + 1)));
        }
        QCOMPARE(kernels::float_to_half(65519.0f), std::uint16_t(0x7bff));
        QCOMPARE(kernels::float_to_half(65520.0f), std::uint16_t(0x7c00));
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestDequantize)
#include "tst_dequantize.moc"
