// Tests that products of every weight type in every table are right, and have the same bits however the work is
// divided.
#include "kernels/cpu/amx/amx.h"
#include "kernels/cpu/read_ahead.h"
#include "kernels/cuda/checks/random_rows.h"
#include "tests/kernels/tested_tables.h"
#include "tests/support/part_of_all.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

using namespace kernel_rows;
using kernels::CpuKernels;
using kernels::TensorType;

namespace {

struct Case {
    TensorType type;
    int n, rows, tokens;
    std::vector<std::byte> weights;
    ActivationRows x;

    kernels::MatMul product(std::vector<float>& out) const
    {
        out.assign(std::size_t(rows) * std::size_t(tokens), -12345.0f);
        return {n, rows, weights.data(), tokens, x.bytes.data(), x.stride, out.data(), std::size_t(rows)};
    }
};

bool isFloat(TensorType type)
{
    return kernels::activation_of(type) == kernels::Activation::F32;
}

float largestWeight(TensorType type)
{
    for (const TypeFacts& facts : packedTypes())
        if (facts.type == type)
            return facts.largest * kScale;
    return 2.0f;
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

struct Exact {
    double value;
    double magnitude;  // sum of |x|
};

std::vector<float> weightsOf(const Case& c, int row)
{
    std::vector<float> w(static_cast<std::size_t>(c.n));
    const std::byte* packed = c.weights.data() + std::size_t(row) * kernels::row_bytes(c.type, c.n);
    kernels::all_cpu_kernels().front().dequantize(c.type, c.n, packed, w.data());
    return w;
}

Exact exactProduct(const std::vector<float>& w, const std::vector<float>& x)
{
    Exact exact{0, 0};
    for (std::size_t i = 0; i < w.size(); ++i) {
        exact.value += double(w[i]) * double(x[i]);
        exact.magnitude += std::abs(double(x[i]));
    }
    return exact;
}

// Every value that is added is at most largestWeight * |x|, and takes part in at most as many roundings as there are
// additions in a chain (at most four for 32 packed weights, one for 8 float ones) plus a few for scales and for the
// dequantised weight the product is compared with.
double tolerance(const Case& c, const Exact& exact)
{
    const double roundings = c.n / 8.0 + 8;
    return roundings * std::numeric_limits<float>::epsilon() / 2 * double(largestWeight(c.type)) * exact.magnitude;
}

// Those of this machine, and the tiles of AMX in plain C++ where the rest of their table runs.
const std::vector<CpuKernels>& tablesToTest()
{
    static const std::vector<CpuKernels> tables = [] {
        std::vector<CpuKernels> all = test_support::tested_tables();
        for (const CpuKernels& table : test_support::tested_tables())
            if (table.name == std::string_view("avx512")) {
                all.push_back(kernels::amx::improve(table, kernels::amx::Tiles::Emulated));
                all.back().name = "amx, emulated";
            }
        return all;
    }();
    return tables;
}

}  // namespace

class TestMatMul : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();

    static void addTablesAndTypes()
    {
        QTest::addColumn<const CpuKernels*>("table");
        QTest::addColumn<TensorType>("type");
        test_support::PartOfAll part(8);
        for (const CpuKernels& table : tablesToTest())
            for (const kernels::TypeTraits& traits : kernels::all_tensor_types())
                if (part.takes_next())
                    QTest::addRow("%s %s", table.name, traits.name) << &table << traits.type;
    }

    /// Returns the shortest length with whole groups of blocks and a rest: all that the emulated processor has time
    /// for.
    static int oddLength(TensorType type)
    {
        const int block = kernels::type_traits(type).block_len;
        return isFloat(type) ? 77 : block < 256 ? 13 * block : 3 * block;
    }

    void compareWithDoubles(const CpuKernels& table, const Case& c)
    {
        std::vector<float> out;
        table.matmul[std::size_t(c.type)](c.product(out));
        std::vector<std::vector<float>> x;
        for (int t = 0; t < c.tokens; ++t)
            x.push_back(seen(kernels::activation_of(c.type), c.n, c.x.bytes.data() + std::size_t(t) * c.x.stride));
        for (int r = 0; r < c.rows; ++r) {
            const std::vector<float> w = weightsOf(c, r);
            for (int t = 0; t < c.tokens; ++t) {
                const Exact exact = exactProduct(w, x[std::size_t(t)]);
                const double actual = double(out[std::size_t(t) * std::size_t(c.rows) + std::size_t(r)]);
                QVERIFY2(std::abs(actual - exact.value) <= tolerance(c, exact),
                         qPrintable(QString("n=%1 row %2 token %3: %4 instead of %5, tolerance %6")
                                        .arg(c.n)
                                        .arg(r)
                                        .arg(t)
                                        .arg(actual)
                                        .arg(exact.value)
                                        .arg(tolerance(c, exact))));
            }
        }
    }

    // In pieces that begin where a panel of rows does; whether weights are asked for ahead changes nothing.
    void compareWithInterleaved(const CpuKernels& table, const Case& c)
    {
        for (const bool ahead : {true, false})
            if (ahead || c.tokens <= 2) {
                kernels::slower_for_reading_ahead[std::size_t(c.type)] = !ahead;
                compareInterleavedPieces(table, c);
            }
        kernels::slower_for_reading_ahead[std::size_t(c.type)] = false;
    }
    void compareInterleavedPieces(const CpuKernels& table, const Case& c)
    {
        std::vector<std::byte> interleaved(c.weights.size(), std::byte(0xee));
        table.interleave[std::size_t(c.type)](c.n, c.rows, c.weights.data(), interleaved.data());
        std::vector<float> plain, fast;
        table.matmul[std::size_t(c.type)](c.product(plain));
        const kernels::MatMul all = c.product(fast);
        for (const int first : {0, 32}) {
            kernels::MatMul piece = all;
            piece.rows = first == 0 ? std::min(c.rows, 32) : c.rows - 32;
            if (piece.rows <= 0)
                continue;
            piece.weights = interleaved.data() + std::size_t(first) * kernels::row_bytes(c.type, c.n);
            piece.out += first;
            table.matmul_interleaved[std::size_t(c.type)](piece);
        }
        QVERIFY2(std::memcmp(plain.data(), fast.data(), plain.size() * 4) == 0,
                 qPrintable(QString("n=%1, %2 rows, %3 tokens").arg(c.n).arg(c.rows).arg(c.tokens)));
    }

private slots:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void everyTypeHasItsProduct_data() { addTablesAndTypes(); }
    void everyTypeHasItsProduct()
    {
        QFETCH(const CpuKernels*, table);
        QFETCH(TensorType, type);
        QVERIFY(table->matmul[std::size_t(type)]);
    }

    void productsMatchDoubles_data() { addTablesAndTypes(); }
    void productsMatchDoubles()
    {
        QFETCH(const CpuKernels*, table);
        QFETCH(TensorType, type);
        std::mt19937 rng(m_seed);
        const int block = kernels::type_traits(type).block_len;
        const int shortest = isFloat(type) ? 1 : block;
        const int odd = isFloat(type) ? 77 : 13 * block;
        const std::vector<int> lengths =
            test_support::emulated_table() ? std::vector{oddLength(type)} : std::vector{shortest, odd, 1024};
        for (int n : lengths)
            for (auto [rows, tokens] : {std::pair{1, 1}, {3, 2}, {35, 1}, {21, 5}, {33, 19}})
                compareWithDoubles(*table, makeCase(type, n, rows, tokens, Fill::Random, rng));
    }

    void extremeWeightsDoNotSaturate_data() { addTablesAndTypes(); }
    void extremeWeightsDoNotSaturate()
    {
        QFETCH(const CpuKernels*, table);
        QFETCH(TensorType, type);
        std::mt19937 rng(m_seed);
        for (Fill fill : {Fill::AllOnes, Fill::AllZeros, Fill::TopBits})
            for (int tokens : {1, 16}) {
                if (test_support::emulated_table() && tokens == 1)
                    continue;
                Case c = makeCase(type, 512, 4, tokens, fill, rng);
                for (float x : {1.0f, -1.0f}) {  // every activation at +-127
                    const std::vector<float> flat(std::size_t(c.n) * std::size_t(tokens), x);
                    c.x = rounded(kernels::activation_of(type), c.n, tokens, flat);
                    compareWithDoubles(*table, c);
                }
            }
    }

    void bitsDoNotDependOnTheDivision_data() { addTablesAndTypes(); }
    void bitsDoNotDependOnTheDivision()
    {
        QFETCH(const CpuKernels*, table);
        QFETCH(TensorType, type);
        std::mt19937 rng(m_seed);
        const int block = kernels::type_traits(type).block_len;
        const int n = isFloat(type) ? 1000 : 5 * 256 + (block < 256 ? 3 * block : 0);  // eight groups and a rest
        const Case c = makeCase(type, n, 71, 45, Fill::Random, rng);
        const auto matmul = table->matmul[std::size_t(type)];
        std::vector<float> whole;
        matmul(c.product(whole));

        for (int pieceRows : {1, 7, 16, 40})
            for (int pieceTokens : {1, 2, 3, 5, 13, 32}) {
                std::vector<float> pieces;
                const kernels::MatMul all = c.product(pieces);
                for (int r = 0; r < c.rows; r += pieceRows)
                    for (int t = 0; t < c.tokens; t += pieceTokens) {
                        kernels::MatMul piece = all;
                        piece.rows = std::min(pieceRows, c.rows - r);
                        piece.tokens = std::min(pieceTokens, c.tokens - t);
                        piece.weights += std::size_t(r) * kernels::row_bytes(c.type, c.n);
                        piece.x += std::size_t(t) * c.x.stride;
                        piece.out += std::size_t(t) * all.out_stride + std::size_t(r);
                        matmul(piece);
                    }
                QVERIFY2(std::memcmp(whole.data(), pieces.data(), whole.size() * 4) == 0,
                         qPrintable(QString("%1 rows, %2 tokens a piece").arg(pieceRows).arg(pieceTokens)));
            }
    }

    // Whole panels of rows, a rest, odd numbers of blocks, and pieces that begin where a panel does.
    void interleavedRowsGiveTheSameBits_data() { addTablesAndTypes(); }
    void interleavedRowsGiveTheSameBits()
    {
        QFETCH(const CpuKernels*, table);
        QFETCH(TensorType, type);
        QCOMPARE(table->interleave[std::size_t(type)] != nullptr,
                 table->matmul_interleaved[std::size_t(type)] != nullptr);
        if (!table->interleave[std::size_t(type)])
            return;
        std::mt19937 rng(m_seed);
        const int block = kernels::type_traits(type).block_len;
        if (test_support::emulated_table()) {
            for (int rows : {3, 75})
                for (int tokens : {1, 2, 3, 8, 21, 32})
                    compareWithInterleaved(*table, makeCase(type, oddLength(type), rows, tokens, Fill::Random, rng));
            return;
        }
        for (int n : {block, 3 * block, 13 * block, 1024})
            for (int rows : {3, 16, 32, 48, 75})
                for (int tokens : {1, 2, 3, 5, 6, 8, 11, 21, 32})
                    compareWithInterleaved(*table, makeCase(type, n, rows, tokens, Fill::Random, rng));
        for (Fill extreme : {Fill::AllOnes, Fill::AllZeros, Fill::TopBits})
            for (int tokens : {1, 2, 21, 32})
                compareWithInterleaved(*table, makeCase(type, 3 * block, 35, tokens, extreme, rng));
    }

    // A step computes rows of several conversations, and drafted ones: each has the bits that it has alone.
    void anyNumberOfTokensGivesTheBitsOfOne_data() { addTablesAndTypes(); }
    void anyNumberOfTokensGivesTheBitsOfOne()
    {
        QFETCH(const CpuKernels*, table);
        QFETCH(TensorType, type);
        std::mt19937 rng(m_seed);
        constexpr int kMost = 17, kRows = 37;
        const int block = kernels::type_traits(type).block_len;
        const Case c = makeCase(type, 3 * 256 + (block < 256 ? 3 * block : 0), kRows, kMost, Fill::Random, rng);
        std::vector<float> alone;
        const kernels::MatMul all = c.product(alone);
        for (int t = 0; t < kMost; ++t) {
            kernels::MatMul one = all;
            one.tokens = 1;
            one.x += std::size_t(t) * c.x.stride;
            one.out += t * kRows;
            table->matmul[std::size_t(type)](one);
        }
        std::vector<std::byte> interleaved(c.weights.size());
        if (const auto interleave = table->interleave[std::size_t(type)])
            interleave(c.n, kRows, c.weights.data(), interleaved.data());
        for (int tokens = 1; tokens <= kMost; ++tokens)
            for (const auto product :
                 {table->matmul[std::size_t(type)], table->matmul_interleaved[std::size_t(type)]}) {
                if (!product)
                    continue;
                std::vector<float> together;
                kernels::MatMul some = c.product(together);
                some.tokens = tokens;
                if (product != table->matmul[std::size_t(type)])
                    some.weights = interleaved.data();
                product(some);
                QVERIFY2(std::memcmp(alone.data(), together.data(), std::size_t(tokens) * kRows * 4) == 0,
                         qPrintable(QString("%1 tokens").arg(tokens)));
            }
    }

    void writesNothingOutsideItsRows_data() { addTablesAndTypes(); }
    void writesNothingOutsideItsRows()
    {
        QFETCH(const CpuKernels*, table);
        QFETCH(TensorType, type);
        std::mt19937 rng(m_seed);
        for (int tokens : {1, 9}) {
            const Case c = makeCase(type, 256, 5, tokens, Fill::Random, rng);
            const std::size_t stride = 64;
            std::vector<float> out(stride * std::size_t(tokens), -12345.0f);
            table->matmul[std::size_t(type)](
                {c.n, c.rows, c.weights.data(), tokens, c.x.bytes.data(), c.x.stride, out.data(), stride});
            for (std::size_t i = 0; i < out.size(); ++i)
                QCOMPARE(out[i] == -12345.0f, i % stride >= 5);
        }
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestMatMul)
#include "tst_matmul.moc"
