// Tests that attention over the longest conversations is divided into launches that end soon on the slowest GPUs, and
// is one launch on others.
#include "engine/exec/launch_work.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace engine;

namespace cuda = kernels::cuda;

namespace {

cuda::DeviceInfo gpu(int major, int multiprocessors, int clock_khz)
{
    cuda::DeviceInfo info;
    info.compute_major = major;
    info.multiprocessors = multiprocessors;
    info.clock_khz = clock_khz;
    return info;
}

const cuda::DeviceInfo kGtx1650 = gpu(7, 14, 1'665'000), kRtx3050 = gpu(8, 20, 1'777'000),
                       kH100 = gpu(9, 132, 1'755'000);
constexpr int kContext = 131072, kBlockTokens = 256;

}  // namespace

class TestLaunchWork : public QObject
{
    Q_OBJECT

    static cuda::Attention attention(int rows, int kv_heads, int group, int k_dim, int v_dim)
    {
        cuda::Attention a;
        a.kv.layout = {kernels::KvType::F16, kernels::KvType::F16, k_dim, v_dim, kBlockTokens};
        a.kv.heads = kv_heads;
        a.group = group;
        a.rows = rows;
        return a;
    }

private Q_SLOTS:
    void launchesOfALongContextEndSoon_data()
    {
        QTest::addColumn<int>("kvHeads");
        QTest::addColumn<int>("group");
        QTest::addColumn<int>("keys");
        QTest::addColumn<int>("values");
        QTest::addRow("7B") << 8 << 4 << 128 << 128;
        QTest::addRow("70B") << 8 << 8 << 128 << 128;
        QTest::addRow("latent, 128 heads") << 1 << 128 << 576 << 512;
    }
    void launchesOfALongContextEndSoon()
    {
        QFETCH(int, kvHeads);
        QFETCH(int, group);
        QFETCH(int, keys);
        QFETCH(int, values);
        constexpr double kHalfASecond = 0.5 * 14 * 1.665e9 * 32;  // with a quarter of the operations that it should do
        for (const int rows : {64, 512, 2048}) {
            const int blocks = blocks_of_launch(attention(rows, kvHeads, group, keys, values), kGtx1650);
            QVERIFY(blocks >= 1);
            const double of_block = 2.0 * rows * kvHeads * group * kBlockTokens * (keys + values);
            QVERIFY2(blocks * of_block <= kHalfASecond,
                     qPrintable(QString("%1 rows, %2 blocks").arg(rows).arg(blocks)));
            QVERIFY(blocks_of_launch(attention(rows, kvHeads, group, keys, values), kH100) > blocks);
        }
    }

    // Each part of attention writes and reads what the next one goes on with.
    void whereOneLaunchEndsSoonThereIsOne()
    {
        QVERIFY(blocks_of_launch(attention(512, 8, 4, 128, 128), kRtx3050) >= kContext / kBlockTokens);
        QVERIFY(blocks_of_launch(attention(2048, 8, 4, 128, 128), kH100) >= kContext / kBlockTokens);
        QVERIFY(blocks_of_launch(attention(512, 8, 4, 128, 128), kGtx1650) < kContext / kBlockTokens);
        QVERIFY(blocks_of_launch(attention(512, 8, 4, 128, 128), kGtx1650) >= 32);
    }

    void aClockThatIsNotKnownIsSlow()
    {
        QVERIFY(most_operations(gpu(7, 14, 0)) > 0);
        QVERIFY(most_operations(gpu(7, 14, 0)) < most_operations(kGtx1650));
    }

    // Rows without keys are not divided by.
    void nothingIsOneLaunch()
    {
        QVERIFY(blocks_of_launch(attention(0, 8, 4, 128, 128), kGtx1650) >= kContext / kBlockTokens);
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestLaunchWork)
#include "tst_launch_work.moc"
