// Tests that what lies on a device beside a conversation's KV is chosen by the time that it saves, for any model,
// machine and room.
#include "engine/plan/device_choice.h"
#include "engine/plan/expert_hits.h"
#include "tests/engine/plan/flat_rate.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <random>

using namespace engine;
using test_support::flat;

namespace {

constexpr int kMixtureBlock = 64;
#ifdef SPILLWAY_SANITIZED
constexpr int kPart = 4;  // one of this many random cases is tried
#else
constexpr int kPart = 1;
#endif

/// A mixture of experts, a machine, and a GPU that is faster but has room for a part of it only.
struct Mixture {
    ModelCosts costs;
    MachineRates rates;
    PlannedPlacement placement;
    DeviceShare& share() { return placement.device->share; }
};

Mixture random_mixture(std::mt19937& random)
{
    const auto number = [&](double least, double most) {
        return std::uniform_real_distribution<double>(least, most)(random);
    };
    Mixture c;
    const int layers = 2 + int(random() % 30), experts = 8 << random() % 5, used = 1 + int(random() % 8);
    const auto expert = std::int64_t(number(1e6, 1e7)), rest = std::int64_t(number(1e7, 6e7));
    const int kv_heads = 1 << random() % 4;
    std::vector<LayerBytes> bytes;
    for (int l = 0; l < layers; ++l) {
        const bool dense = l == 0 && random() % 3 == 0;
        LayerWork work;
        work.reads = {{kernels::TensorType::Q4_K, 4096, rest}};
        work.group = 4;
        work.key_length = work.value_length = 128;
        LayerWork routed;
        if (!dense) {
            routed.reads = {{kernels::TensorType::Q4_K, 4096, used * expert}};
            work.reads.push_back(routed.reads[0]);
        }
        c.costs.layers.push_back(work);
        c.costs.experts.push_back(routed);
        bytes.push_back({.weights = rest + (dense ? 0 : experts * expert),
                         .experts = dense ? 0 : experts * expert,
                         .expert = dense ? 0 : expert,
                         .kv_block = std::int64_t(kv_heads) * 2 * 128 * 2 * kMixtureBlock});
    }
    c.costs.context_length = 1 << 18;
    c.costs.kv_heads.assign(std::size_t(layers), kv_heads);
    c.costs.windows.assign(std::size_t(layers), 0);
    c.rates.dram_read_bytes_per_s = number(2e10, 9e10);
    c.rates.values_per_s = 1e15;
    c.rates.wake_s = c.rates.token_s = c.rates.choice_s_per_value = c.rates.copy_start_s = 0;
    c.rates.products = {{"Q4_K", 4096, flat(number(1e10, 8e10))}};
    c.rates.attention = {{KvType::F16, KvType::F16, 128, 4, flat(number(1e10, 6e10))}};
    DeviceLayout layout(std::move(bytes), kMixtureBlock, 1 << 20, DeviceLayout::Transport::Link);
    const std::int64_t whole = layout.needed(layers, 0, 40).total();
    constexpr KvPolicy kPolicies[] = {KvPolicy::Resident, KvPolicy::Stream, KvPolicy::Merge, KvPolicy::Auto};
    DeviceShare share{std::move(layout)};
    share.high_mark_bytes = share.budget_bytes = std::int64_t(double(whole) * number(0.1, 1.2));
    share.policy = kPolicies[random() % 4];
    share.expert_skew = number(1, 8);
    share.layers = layers_on_device(share, {});
    c.placement = {KvType::F16, KvType::F16, PlannedDevice{std::move(share), DeviceCores::Own, {}}};
    c.placement.device->rates = {.weights_bytes_per_s = number(2e11, 2e12),
                                 .small_kernels_s = 0,
                                 .attention_bytes_per_s = number(2e11, 2e12),
                                 .to_device_bytes_per_s = number(1e10, 5e10),
                                 .to_host_bytes_per_s = 1e10,
                                 .hand_off_s = number(0, 1e-4)};
    return c;
}

/// A room that is planned for; see columns_with_room().
int random_columns(std::mt19937& random)
{
    return columns_with_room(1 + int(random() % 400));
}

std::optional<double> step_of(const Mixture& c, const DeviceShare& share, int columns)
{
    PlannedPlacement placement = c.placement;
    placement.device->share = share;
    return step_seconds(c.costs, placement, c.rates, columns * kMixtureBlock);
}

std::optional<double> chosen_step(const Mixture& c, int columns)
{
    const DeviceChoice choice = choose_tenants(c.costs, c.placement, &c.rates, columns);
    return step_of(c, with_choice(c.placement.device->share, choice), columns);
}

bool has_room(const DeviceShare& share)
{
    return share.layout.needed(share.layers, host_expert_layers(share, 0), DeviceLayout::kFewestColumns).total() <=
           share.high_mark_bytes;
}

}  // namespace

class TestDeviceChoice : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void itIsNeverSlowerThanLayersAloneOrExpertsOnTheHost()
    {
        std::mt19937 random(m_seed);
        int compared = 0, better = 0;
        for (int i = 0; i < 200 / kPart; ++i) {
            Mixture c = random_mixture(random);
            const int columns = random_columns(random);
            const auto chosen = chosen_step(c, columns);
            const auto check = [&](const DeviceShare& share, const char* what) {
                const auto other = has_room(share) ? step_of(c, share, columns) : std::nullopt;
                if (!other)
                    return;
                ++compared;
                better += chosen && *chosen < *other * 0.999;
                QVERIFY2(chosen && *chosen <= *other * (1 + 1e-12), where(i, what));
            };
            DeviceShare share = c.share();
            check(share, "whole layers of experts, as KV asks");
            share.host_expert_layers = share.layers;
            check(share, "all experts on the host");
            share.host_expert_layers = 0;
            if (share.policy == KvPolicy::Resident)
                continue;  // with fewer layers more columns would be resident
            for (const int most = share.layers; share.layers >= 0 && share.layers <= most; --share.layers)
                check(share, "layers alone");
        }
        QVERIFY2(compared > 200 / kPart && better > compared / 4,
                 qPrintable(QString("%1 of %2").arg(better).arg(compared)));
    }

    void moreRoomIsNeverSlower()
    {
        std::mt19937 random(m_seed);
        for (int i = 0; i < 60 / kPart; ++i) {
            Mixture c = random_mixture(random);
            const int columns = random_columns(random);
            // More layers of a `resident` conversation stay, though copies in their place were faster.
            const bool layers_too = random() % 2 == 0 && c.share().policy != KvPolicy::Resident;
            const std::int64_t most = c.share().layout.needed(c.share().layout.num_layers(), 0, columns).total();
            double last = std::numeric_limits<double>::infinity();
            for (int step = 0; step <= 24; ++step) {
                c.share().high_mark_bytes += most / 20;
                c.share().budget_bytes = c.share().high_mark_bytes;
                if (layers_too)
                    c.share().layers = layers_on_device(c.share(), {});
                const auto now = chosen_step(c, columns);
                if (!now)
                    continue;
                QVERIFY2(*now <= last * (1 + 1e-12), where(i, qPrintable(QString("step %1").arg(step))));
                last = *now;
            }
        }
    }

    void whatIsAskedForStays()
    {
        std::mt19937 random(m_seed);
        for (int i = 0; i < 60 / kPart; ++i) {
            Mixture c = random_mixture(random);
            const int columns = random_columns(random);
            for (const int asked : {0, c.share().layers / 2, c.share().layers}) {
                c.share().host_expert_layers = asked;
                const DeviceChoice choice = choose_tenants(c.costs, c.placement, &c.rates, columns, {true});
                QCOMPARE(choice.host_expert_layers, asked);
                QVERIFY(choice.expert_cache_bytes == 0 || has_room(with_choice(c.share(), choice)));
                QCOMPARE(choose_tenants(c.costs, c.placement, &c.rates, columns, {true, 0}).expert_cache_bytes, 0);
            }
        }
    }

    // Nothing is known of the machine: no block leaves for an expert, and what room is left has copies.
    void withoutRatesKvComesFirst()
    {
        std::mt19937 random(m_seed);
        int copies = 0;
        for (int i = 0; i < 100 / kPart; ++i) {
            Mixture c = random_mixture(random);
            const int columns = random_columns(random);
            const DeviceChoice choice = choose_tenants(c.costs, c.placement, nullptr, columns);
            const DeviceShare share = with_choice(c.share(), choice);
            const int tokens = columns * kMixtureBlock;
            QVERIFY2(columns_at(share, tokens).on_host() <= columns_at(c.share(), tokens).on_host(), where(i, "KV"));
            copies += choice.expert_cache_bytes > 0;
            QVERIFY(choice.expert_cache_bytes == 0 || has_room(share));
        }
        QVERIFY(copies > 10 / kPart);
    }

    void whatItBringsIsASentence()
    {
        QCOMPARE(sentence_of({}), std::string());
        ExpertsGain gain;
        gain.bytes = 3'100'000'000;
        QCOMPARE(sentence_of(gain),
                 std::string("3.1 GB of experts have what room KV leaves: how fast this machine is has "
                             "not been measured"));
        gain.saved_s = 0.0093;
        QCOMPARE(sentence_of(gain), std::string("3.1 GB of experts save 9.3 ms a token, and all KV lies beside them"));
        gain.kv_columns_on_host = 3;
        gain.kv_saved_s = 0.0021;
        QCOMPARE(sentence_of(gain), std::string("3.1 GB of experts save 9.3 ms a token, the KV blocks that give way to "
                                                "them would save 2.1 ms"));
    }

    // What is said of a choice is the difference that it makes.
    void theGainIsTheDifferenceOfTwoSteps()
    {
        std::mt19937 random(m_seed);
        int with_kv = 0;
        for (int i = 0; i < 100 / kPart; ++i) {
            Mixture c = random_mixture(random);
            const int columns = random_columns(random);
            const DeviceChoice choice = choose_tenants(c.costs, c.placement, &c.rates, columns);
            PlannedPlacement chosen = c.placement;
            chosen.device->share = with_choice(chosen.device->share, choice);
            const ExpertsGain gain = gain_of(c.costs, chosen, &c.rates, columns);
            const DeviceShare none = with_choice(c.share(), {choice.layers, choice.layers, 0});
            const auto here = step_of(c, chosen.device->share, columns), without = step_of(c, none, columns);
            if (!here || !without || !gain.saved_s || !gain.kv_saved_s)
                continue;
            QVERIFY(std::abs((*gain.saved_s - *gain.kv_saved_s) - (*without - *here)) < 1e-9);
            QVERIFY(gain.share >= 0 && gain.share <= 1);
            with_kv += gain.kv_columns_on_host > 0;
        }
        qInfo("KV gave way in %d cases", with_kv);
    }

    void observedHitsGiveTheirSkew()
    {
        for (const double copied : {0.05, 0.25, 0.5, 0.9})
            for (const double skew : {1.0, 2.0, 5.5}) {
                const double hits = expected_hits(copied, skew);
                if (hits < 1 - 1e-9)
                    QVERIFY(std::abs(observed_skew(copied, hits) - skew) < 1e-6);
            }
        QCOMPARE(expected_hits(1, 2), 1.0);
        QCOMPARE(expected_hits(0, 2), 0.0);
        QCOMPARE(observed_skew(0.5, 0.1), 1.0);  // fewer than by chance are chance
        QCOMPARE(observed_skew(0.5, 1), kGreatestSkew);
    }

private:
    QByteArray where(int number, const char* what) const
    {
        return QString("seed %1, case %2: %3").arg(m_seed).arg(number).arg(what).toUtf8();
    }
    const unsigned m_seed = std::random_device{}();
};

SPILLWAY_TEST(QCoreApplication, TestDeviceChoice)
#include "tst_device_choice.moc"
