// Tests that a layer's KV on the host is divided between the link and the CPU in the fastest way, compared with trying
// all ways.
#include "engine/plan/three_way.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <random>

using namespace engine;

namespace {

// An RTX 4060 (reference: an x8 link of 13 GB/s, DRAM at 60 GB/s), Mistral 7B, q8_0 KV: seconds and bytes of a layer.
constexpr double kBlockBytes = 256.0 * 69632 / 32;
constexpr SplitCosts kRtx4060{.resident_s = 130e-6,
                              .ahead_bytes = 219e6 / 32,
                              .cpu_s_per_byte = 1 / 60e9,
                              .link_s_per_byte = 1 / 13e9,
                              .dram_s_per_byte = 1 / 60e9,
                              .hand_off_s = 15e-6};

double seconds_of(int streamed, int blocks, const SplitCosts& costs)
{
    return split_seconds(blocks * kBlockBytes, streamed * kBlockBytes, costs);
}

}  // namespace

class TestThreeWay : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();

private slots:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void noDivisionIsFaster()
    {
        std::mt19937 random(m_seed);
        const auto between = [&](double low, double high) {
            return std::exp(std::uniform_real_distribution(std::log(low), std::log(high))(random));
        };
        for (int time = 0; time < 500; ++time) {
            const SplitCosts costs{.resident_s = between(1e-6, 1e-3),
                                   .ahead_bytes = random() % 4 ? between(1e5, 1e8) : 0,
                                   .cpu_s_per_byte = 1 / between(1e9, 1e11),
                                   .link_s_per_byte = 1 / between(1e9, 1e11),
                                   .dram_s_per_byte = 1 / between(1e10, 2e11),
                                   .hand_off_s = between(1e-7, 1e-4)};
            const int blocks = 1 + int(random() % 200);
            const int chosen = blocks_to_stream(blocks, kBlockBytes, costs);
            QVERIFY(chosen >= 0 && chosen <= blocks);
            double best = seconds_of(chosen, blocks, costs);
            for (int streamed = 0; streamed <= blocks; ++streamed)
                QVERIFY2(best <= seconds_of(streamed, blocks, costs) * (1 + 1e-12),
                         qPrintable(QString("%1 of %2 rather than %3").arg(chosen).arg(blocks).arg(streamed)));
            const ThreeWaySplit fine = three_way_split(blocks * kBlockBytes, costs);
            QVERIFY(fine.seconds <= best * (1 + 1e-12));
            QCOMPARE(fine.seconds, split_seconds(blocks * kBlockBytes, fine.streamed_bytes, costs));
        }
    }

    // What the link carries while the weights are read costs nothing, so a few blocks all travel; of many, both sides
    // take a share; where the link is slow, the CPU takes them.
    void theEndsAreAsExpected()
    {
        QCOMPARE(blocks_to_stream(0, kBlockBytes, kRtx4060), 0);
        QCOMPARE(blocks_to_stream(8, kBlockBytes, kRtx4060), 8);
        const int of_many = blocks_to_stream(300, kBlockBytes, kRtx4060);
        QVERIFY(of_many > 12 && of_many < 100);
        SplitCosts slow = kRtx4060;
        slow.link_s_per_byte = 1 / 1e8;
        slow.ahead_bytes = 0;
        QCOMPARE(blocks_to_stream(300, kBlockBytes, slow), 0);
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestThreeWay)
#include "tst_three_way.moc"
