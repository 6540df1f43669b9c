// Tests that the rules which divide a device's memory between layers, experts and KV hold for any sizes.
#include "engine/plan/columns.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <random>

using namespace engine;

namespace {

constexpr int kBlock = 16;

/// A model of random sizes, with experts in some of its layers.
DeviceLayout random_layout(std::mt19937& random)
{
    const auto below = [&](int n) { return std::int64_t(random() % unsigned(n)); };
    std::vector<LayerBytes> layers;
    const int count = 1 + int(below(12));
    for (int l = 0; l < count; ++l) {
        LayerBytes layer;
        layer.expert = below(4) == 0 ? 0 : 10 + below(500);
        layer.experts = 10 * layer.expert;
        layer.weights = layer.experts + 50 + below(500);
        layer.kv_block = 1 + below(40);
        layer.window = below(4) == 0 ? int(below(100)) : 0;
        layers.push_back(layer);
    }
    DeviceLayout layout(std::move(layers), kBlock, below(300), DeviceLayout::Transport::Copies);
    if (below(2) == 0)
        layout.set_expert_cache_bytes(below(10000));
    return layout;
}

DeviceShare random_share(std::mt19937& random)
{
    DeviceShare share{random_layout(random)};
    const std::int64_t whole = share.layout.needed(share.layout.num_layers(), 0, 40).total();
    share.high_mark_bytes = whole * std::int64_t(random() % 110) / 100;
    share.budget_bytes = share.high_mark_bytes * 20 / 19;
    share.layers = layers_on_device(share, {});
    limit_expert_cache(share);
    return share;
}

}  // namespace

class TestColumns : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { qInfo("seed %u", m_random_seed); }

    void copiesOfExpertsStayWithinTheirBytes()
    {
        std::mt19937 random(m_random_seed);
        for (int i = 0; i < 500; ++i) {
            DeviceLayout layout = random_layout(random);
            const int layers = layout.num_layers(), on_host = int(random() % unsigned(layers + 1));
            layout.set_expert_cache_bytes(0);
            const DeviceBytes without = layout.needed(layers, on_host, 3);
            QCOMPARE(without.expert_cache, 0);
            std::int64_t one_of_each = 0, last = 0;
            for (int l = 0; l < on_host; ++l)
                one_of_each += layout.layer(l).expert;
            for (const std::int64_t bytes : {1, 500, 3000, 20000, 1000000}) {
                layout.set_expert_cache_bytes(bytes);
                const DeviceBytes with = layout.needed(layers, on_host, 3);
                QVERIFY(with.expert_cache <= bytes && with.expert_cache >= last &&
                        with.expert_cache <= 10 * one_of_each);
                if (one_of_each > 0 && with.expert_cache < 10 * one_of_each)
                    QVERIFY(with.expert_cache + one_of_each > bytes);  // not one more of each finds room
                QCOMPARE(with.total() - without.total(), with.expert_cache);
                last = with.expert_cache;
            }
        }
    }

    void layersComeBeforeCopiesOfExperts()
    {
        std::mt19937 random(m_random_seed);
        int cut = 0;
        for (int i = 0; i < 2000; ++i) {
            DeviceShare share = random_share(random);
            share.layout.set_expert_cache_bytes(0);
            const int layers = layers_on_device(share, {});
            const std::int64_t asked = 1 + std::int64_t(random() % 20000);
            share.layout.set_expert_cache_bytes(asked);
            QCOMPARE(layers_on_device(share, {}), layers);
            limit_expert_cache(share);
            const std::int64_t left = share.layout.expert_cache_bytes();
            QVERIFY(left >= 0 && left <= asked);
            const std::int64_t used = share.layout
                                          .needed(layers, share.host_expert_layers.value_or(share.layout.num_layers()),
                                                  DeviceLayout::kFewestColumns)
                                          .total();
            QVERIFY(left == 0 || used <= share.high_mark_bytes);
            cut += left > 0 && left < asked;
        }
        QVERIFY(cut > 0);
    }

    // Also where most layers slide, and a step of many rows widens all of their windows.
    void whatLiesBesideTheLayersHasRoomForALongStep()
    {
        std::mt19937 random(m_random_seed);
        int some = 0;
        for (int i = 0; i < 2000; ++i) {
            DeviceShare share = random_share(random);
            for (const std::optional<int> asked : {std::optional<int>(), std::optional(share.layout.num_layers())}) {
                share.layers = layers_on_device(share, asked);
                if (share.layers == 0)
                    continue;
                const int most_on_host = share.layout.num_layers();
                const DeviceBytes fixed = share.layout.needed(share.layers, most_on_host, 0);
                const std::int64_t left = share.high_mark_bytes - (fixed.total() - fixed.kv - fixed.expert_cache);
                QVERIFY2(share.layout.step_blocks(share.layers, left) >= (asked ? 1 : DeviceLayout::kStepBlocks),
                         qPrintable(where(i)));
                some += share.layers < share.layout.num_layers();
            }
        }
        QVERIFY(some > 100);
    }

    void slotsOfTheRingAreAsLargeAsWhatTravels()
    {
        constexpr std::int64_t kKiB = 1024, kFull = 512 * kKiB, kSliding = 2048 * kKiB;
        using Layers = std::vector<LayerBytes>;
        const Layers sliding = {{.kv_block = kSliding, .window = 1024}}, full = {{.kv_block = kFull}};
        const DeviceLayout both({sliding[0], full[0]}, 256, 0, DeviceLayout::Transport::Link);
        QCOMPARE(both.largest_block(), kFull);
        QCOMPARE(both.ring_slots(), 32);
        QCOMPARE(DeviceLayout(sliding, 256, 0, DeviceLayout::Transport::Link).largest_block(), kSliding);
    }

    void whatIsPlannedFits()
    {
        std::mt19937 random(m_random_seed);
        for (int i = 0; i < 2000; ++i) {
            const DeviceShare share = random_share(random);
            for (const int tokens : {0, 16, 100, 400, 1600, 6400}) {
                const Columns columns = columns_at(share, tokens);
                const int on_host = host_expert_layers(share, columns.total);
                const std::int64_t kv = columns.on_device * share.layout.column(share.layers) +
                                        share.layout.windows_at(share.layers, std::max(0, tokens - 1));
                const DeviceBytes fixed = share.layout.needed(share.layers, on_host, 0);
                QVERIFY2(share.layers == 0 || fixed.total() - fixed.kv + kv <= share.high_mark_bytes,
                         qPrintable(where(i)));
            }
        }
    }

    void blocksLeaveOnlyWhenExpertsHave()
    {
        std::mt19937 random(m_random_seed);
        for (int i = 0; i < 2000; ++i) {
            const DeviceShare share = random_share(random);
            for (int total = 1; total < 300; total += 7)
                if (columns_at(share, total * kBlock).on_host() > 0)
                    QVERIFY2(host_expert_layers(share, total) == share.layers || !share.layout.has_experts(),
                             qPrintable(where(i)));
        }
    }

    void aLongerConversationNeverHoldsMoreExperts()
    {
        std::mt19937 random(m_random_seed);
        for (int i = 0; i < 2000; ++i) {
            const DeviceShare share = random_share(random);
            int last = 0;
            for (int columns = 0; columns < 300; ++columns) {
                const int on_host = host_expert_layers(share, columns);
                QVERIFY2(on_host >= last && on_host <= share.layers, qPrintable(where(i)));
                last = on_host;
            }
        }
    }

    void moreMemoryNeverHoldsLess()
    {
        std::mt19937 random(m_random_seed);
        for (int i = 0; i < 500; ++i) {
            DeviceShare share = random_share(random);
            int layers = 0, whole = 0;
            for (std::int64_t mark = 0; mark < 60'000; mark += 200) {
                share.high_mark_bytes = share.budget_bytes = mark;
                const int now = share.layers = layers_on_device(share, {});
                const int with_experts = now - host_expert_layers(share, 20);
                QVERIFY2(now > layers || (now == layers && with_experts >= whole), qPrintable(where(i)));
                layers = now;
                whole = with_experts;
            }
        }
    }

    // Neither layers alone nor all experts on the host puts more layers there.
    void noOtherChoiceHoldsMoreLayers()
    {
        std::mt19937 random(m_random_seed);
        for (int i = 0; i < 2000; ++i) {
            DeviceShare share = random_share(random);
            const int by_itself = share.layers;
            for (const int asked : {0, 1, 5, PlacementOptions::kAllLayers}) {
                share.host_expert_layers = asked;
                QVERIFY2(layers_on_device(share, {}) <= by_itself, qPrintable(where(i)));
            }
        }
    }

    void askedForIsWhatIsDone()
    {
        std::mt19937 random(m_random_seed);
        DeviceShare share = random_share(random);
        share.high_mark_bytes = share.budget_bytes = 1'000'000;
        share.layers = share.layout.num_layers();
        for (int asked = 0; asked < 20; ++asked) {
            share.host_expert_layers = asked;
            QCOMPARE(host_expert_layers(share, 4), std::min(asked, share.layers));
        }
    }

private:
    QString where(int i) const { return QStringLiteral("seed %1, case %2").arg(m_random_seed).arg(i); }

    const unsigned m_random_seed = std::random_device{}();
};

SPILLWAY_TEST(QCoreApplication, TestColumns)
#include "tst_columns.moc"
