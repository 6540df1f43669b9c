// Rows of tables of every type on the device: the very floats that the scalar reference makes.
#include "tests/kernels/cuda/on_device.h"
#include "tests/kernels/random_rows.h"

using namespace kernels::cuda;
using kernels::TensorType;

class TestCudaEmbed : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();

private slots:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void rowsAreTheSame_data()
    {
        QTest::addColumn<TensorType>("type");
        for (const kernels::TypeTraits& traits : kernels::all_tensor_types())
            QTest::addRow("%s", traits.name) << traits.type;
    }
    void rowsAreTheSame()
    {
        QFETCH(TensorType, type);
        std::mt19937 rng(m_seed);
        const int block = kernels::type_traits(type).block_len;
        const int n = block == 1 ? 132 : 3 * block;
        const int entries = 5;
        std::vector<std::byte> table;
        for (const kernel_rows::TypeFacts& facts : kernel_rows::packedTypes())
            if (facts.type == type)
                table = kernel_rows::packedRows(facts, n, entries, kernel_rows::Fill::Random, rng);
        if (table.empty())
            table = kernel_rows::floatRows(type, n, entries, rng);
        const std::vector<int> ids{4, 0, 0, 3};
        const float scale = 1.5f;

        OnDevice on;
        const DevicePtr out = on.room(ids.size() * std::size_t(n) * 4);
        on.must(embed(on.driver(), on.queue(), type, on.put(table), on.put(ids), scale, int(ids.size()), n, {out, n}));
        const std::vector<float> actual = on.get<float>(out, ids.size() * std::size_t(n));
        std::vector<float> row(static_cast<std::size_t>(n));
        for (std::size_t r = 0; r < ids.size(); ++r) {
            kernels::all_cpu_kernels()[0].dequantize(
                type, n, table.data() + std::size_t(ids[r]) * kernels::row_bytes(type, n), row.data());
            for (int i = 0; i < n; ++i) {
                const float expected = row[std::size_t(i)] * scale;
                const float value = actual[r * std::size_t(n) + std::size_t(i)];
                QVERIFY2(value == expected,
                         qPrintable(QString("row %1, %2: %3 instead of %4").arg(r).arg(i).arg(value).arg(expected)));
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestCudaEmbed)
#include "tst_cuda_embed.moc"
