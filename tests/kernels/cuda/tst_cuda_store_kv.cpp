// Keys and values on their way into KV blocks on the device: the very bytes that the CPU writes.
#include "kernels/cpu.h"
#include "tests/kernels/cuda/on_device.h"

#include <cmath>
#include <random>

using namespace kernels::cuda;
using kernels::KvBlockLayout;
using kernels::KvType;

Q_DECLARE_METATYPE(KvBlockLayout)

class TestCudaStoreKv : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();

private slots:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void bytesAreTheSame_data()
    {
        QTest::addColumn<KvBlockLayout>("layout");
        const std::pair<KvType, const char*> types[] = {
            {KvType::F32, "f32"}, {KvType::F16, "f16"}, {KvType::Q8_0, "q8_0"}};
        for (const auto& [k, kName] : types)
            for (const auto& [v, vName] : types)
                for (auto [kDim, vDim] : {std::pair{64, 64}, {128, 128}, {80, 96}, {12, 20}})
                    QTest::addRow("k %s %d, v %s %d", kName, kDim, vName, vDim) << KvBlockLayout{k, v, kDim, vDim, 16};
    }
    void bytesAreTheSame()
    {
        QFETCH(KvBlockLayout, layout);
        const int heads = 3;
        const int first = 13;  // the tokens go into two blocks, the second of which is not here
        const int tokens = 22;
        const int stride = heads * (layout.k_dim + layout.v_dim) + 8;
        std::mt19937 rng(m_seed);
        std::normal_distribution<float> normal;
        std::vector<float> rows(std::size_t(tokens * stride));
        for (float& x : rows)
            x = normal(rng);
        rows[3] = NAN;
        rows[std::size_t(stride)] = 7e4f;  // beyond a half
        for (int d = 0; d < layout.k_dim; ++d)
            rows[std::size_t(2 * stride + d)] = 0.0f;

        const std::size_t column = std::size_t(heads) * layout.bytes();
        const std::vector<std::byte> untouched(column, std::byte(0x5a));
        OnDevice on;
        const DevicePtr blocks[] = {on.put(untouched), on.put(untouched), on.put(untouched)};
        const DevicePtr at = on.put(rows);
        const KvBlocks kv{layout, heads, on.put(std::vector<std::uint64_t>{blocks[0], 0, blocks[2]})};
        on.must(store_kv(on.driver(), on.queue(), kv, at, at + std::size_t(heads * layout.k_dim) * 4, stride,
                         on.put(std::vector<int>{first}), tokens));

        for (int b = 0; b < 3; ++b) {
            std::vector<std::byte> expected = untouched;
            for (int t = 0; t < tokens && b != 1; ++t)
                for (int h = 0; h < heads && (first + t) / 16 == b; ++h) {
                    const float* row = &rows[std::size_t(t * stride)];
                    kernels::all_cpu_kernels()[0].store_kv(layout, expected.data() + std::size_t(h) * layout.bytes(),
                                                           (first + t) % 16, row + h * layout.k_dim,
                                                           row + heads * layout.k_dim + h * layout.v_dim);
                }
            QVERIFY2(on.get<std::byte>(blocks[b], column) == expected, qPrintable(QString("block %1").arg(b)));
        }
    }
};

QTEST_APPLESS_MAIN(TestCudaStoreKv)
#include "tst_cuda_store_kv.moc"
