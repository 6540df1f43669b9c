// Tests that the formulas predict the speed of machines that can be worked out by hand, and keep to what must hold for
// all machines.
#include "engine/plan/predict.h"
#include "engine/planner.h"
#include "tests/engine/plan/flat_rate.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <random>

using namespace engine;
using test_support::flat;

namespace {

constexpr int kBlockTokens = 256;
const PlannedPlacement kOnHost{KvType::Q8_0, KvType::Q8_0, {}};

/// A machine whose CPU multiplies and attends at set rates, whatever the size of the set.
MachineRates machine(double products, double attention, double dram)
{
    MachineRates rates;
    rates.dram_read_bytes_per_s = dram;
    rates.values_per_s = 1e15;
    rates.wake_s = 0;
    rates.token_s = rates.choice_s_per_value = rates.copy_start_s = 0;
    rates.products = {{"Q4_K", 4096, flat(products)}};
    rates.attention = {{KvType::Q8_0, KvType::Q8_0, 128, 4, flat(attention)}};
    return rates;
}

/// Returns the shape of Mistral 7B: 32 layers of 8 KV heads. All of the 4.3 GB of weights that a token reads are
/// counted to the layers.
ModelCosts mistral()
{
    ModelCosts costs;
    costs.context_length = 32768;
    costs.kv_heads.assign(32, 8);
    costs.windows.assign(32, 0);
    LayerWork layer;
    layer.reads = {{kernels::TensorType::Q4_K, 4096, std::int64_t(4.3e9 / 32)}};
    layer.group = 4;
    layer.key_length = layer.value_length = 128;
    costs.layers.assign(32, layer);
    return costs;
}

DeviceLayout layout_of(const ModelCosts& costs)
{
    std::vector<LayerBytes> layers;
    for (std::size_t l = 0; l < costs.layers.size(); ++l)
        layers.push_back(
            {.weights = costs.layers[l].read_bytes(),
             .kv_block = std::int64_t(costs.kv_heads[l]) * 2 * (costs.layers[l].key_length + 4) * kBlockTokens,
             .window = costs.windows[l]});
    return {std::move(layers), kBlockTokens, 0, DeviceLayout::Transport::Copies};
}

/// All layers on a device with cores of its own, and room for this many columns of q8_0 KV.
DeviceRates device_rates(double weights, double attention, double link, double hand_off_s)
{
    return {.weights_bytes_per_s = weights,
            .small_kernels_s = 0,
            .attention_bytes_per_s = attention,
            .to_device_bytes_per_s = link,
            .to_host_bytes_per_s = link,
            .hand_off_s = hand_off_s};
}

PlannedPlacement on_device(const ModelCosts& costs, int columns, KvPolicy policy)
{
    const DeviceLayout layout = layout_of(costs);
    const int layers = layout.num_layers();
    const std::int64_t bytes = layout.needed(layers, 0, columns).total();
    return {KvType::Q8_0, KvType::Q8_0,
            PlannedDevice{
                {layout, layers, bytes, bytes, policy, 0}, DeviceCores::Own, device_rates(256e9, 256e9, 13e9, 0.0)}};
}

/// A model, a machine and a device, all at random; the device is faster than the CPU or shares its cores.
struct Case {
    ModelCosts costs;
    MachineRates rates;
    PlannedPlacement placement;
};

Case random_case(std::mt19937& random)
{
    const auto number = [&](double least, double most) {
        return std::uniform_real_distribution<double>(least, most)(random);
    };
    Case c;
    c.costs = mistral();
    c.costs.layers.resize(1 + random() % 32);
    for (LayerWork& layer : c.costs.layers) {
        layer.reads[0].bytes = std::int64_t(number(1e5, 2e8));
        layer.values = std::int64_t(number(0, 1e5));
        layer.operations = 5;
        layer.divided_tokens = number(0, 5000);
        layer.reads[0].alone = random() % 4 == 0;
    }
    c.costs.head = c.costs.layers[0];
    c.costs.kv_heads.assign(c.costs.layers.size(), 1 << random() % 4);
    c.costs.windows.assign(c.costs.layers.size(), 0);
    for (std::size_t l = 0; l + 1 < c.costs.windows.size(); l += 2)
        c.costs.windows[l] = int(random() % 3) * 500;
    c.rates = machine(1, 1, number(5e9, 90e9));
    const double cached = number(10e9, 80e9);
    for (RateCurve* curve : {&c.rates.products[0].curve, &c.rates.attention[0].curve})
        *curve = RateCurve({{1e6, cached}, {16e6, cached * number(0.5, 1.2)}, {128e6, cached * number(0.1, 0.6)}});
    c.rates.values_per_s = number(1e9, 1e10);
    c.rates.wake_s = number(0, 2e-6);
    c.rates.copy_start_s = number(0, 5e-6);
    c.rates.threads = 1 + int(random() % 8);
    constexpr KvPolicy kPolicies[] = {KvPolicy::Resident, KvPolicy::Stream, KvPolicy::Merge, KvPolicy::Auto,
                                      KvPolicy::CpuDecode};
    c.placement = on_device(c.costs, 4 + int(random() % 200), kPolicies[random() % 5]);
    PlannedDevice& device = *c.placement.device;
    device.cores = random() % 2 ? DeviceCores::Own : DeviceCores::HostsToo;
    device.share.layers = 1 + int(random() % c.costs.layers.size());
    device.share.offload_share = random() % 3 == 0 ? 0.3 : 0.0;
    device.rates = device_rates(number(60e9, 3e12), number(60e9, 3e12), number(3e9, 60e9), number(0, 1e-4));
    return c;
}

QByteArray where(unsigned seed, int number, int at)
{
    return QString("seed %1, case %2, at %3").arg(seed).arg(number).arg(at).toUtf8();
}

}  // namespace

class TestPredictedSpeed : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theBoundsWorkedOutByHandComeOut_data()
    {
        // The speeds are worked out by hand for KV in q8_0, of which the device holds 0.5 GiB, for 60 GB/s of DRAM and
        // of the CPU's attention, and for a link of 13 GB/s.
        QTest::addColumn<int>("policy");
        QTest::addColumn<int>("context");
        QTest::addColumn<double>("tok_s");
        QTest::newRow("resident 4K") << int(KvPolicy::Auto) << 4096 << 55.8;
        QTest::newRow("stream 16K") << int(KvPolicy::Stream) << 16384 << 21.5;
        QTest::newRow("stream 32K") << int(KvPolicy::Stream) << 32768 << 7.5;
        QTest::newRow("auto 16K") << int(KvPolicy::Auto) << 16384 << 43.0;
        QTest::newRow("auto 32K") << int(KvPolicy::Auto) << 32768 << 23.7;
        QTest::newRow("auto 64K") << int(KvPolicy::Auto) << 65536 << 12.5;
    }

    void theBoundsWorkedOutByHandComeOut()
    {
        QFETCH(int, policy);
        QFETCH(int, context);
        QFETCH(double, tok_s);
        const ModelCosts costs = mistral();
        constexpr int kColumns = 31;  // 0.5 GiB / 68 KiB a token / 256 tokens, rounded up
        const double here =
            1 / step_seconds(costs, on_device(costs, kColumns, KvPolicy(policy)), machine(60e9, 60e9, 60e9), context)
                    .value_or(1e9);
        // Ours moves whole blocks through a ring of four, so that less hides behind the weights.
        QVERIFY2(here <= tok_s * 1.03, qPrintable(QString::number(here)));
        QVERIFY2(here >= tok_s * 0.80, qPrintable(QString::number(here)));
    }

    void allOnTheHostIsBytesOverRates()
    {
        const double kv = 1000.0 * 32 * 8 * 2 * 132;  // 128 values and a scale
        const double seconds = step_seconds(mistral(), kOnHost, machine(40e9, 20e9, 60e9), 999).value_or(0);
        QVERIFY(std::abs(seconds - (4.3e9 / 40e9 + kv / 20e9)) < 1e-6);
    }

    void aWindowIsAllThatASlidingLayerReads()
    {
        ModelCosts costs = mistral();
        costs.windows.assign(32, 512);
        const MachineRates rates = machine(40e9, 20e9, 60e9);
        QCOMPARE(step_seconds(costs, kOnHost, rates, 511), step_seconds(costs, kOnHost, rates, 100000));
        QVERIFY(step_seconds(costs, kOnHost, rates, 510) < step_seconds(costs, kOnHost, rates, 511));
    }

    void sharedCoresAddUpAndCopiesGoOnMeanwhile()
    {
        const ModelCosts costs = mistral();
        const MachineRates rates = machine(40e9, 20e9, 60e9);
        PlannedPlacement placement = on_device(costs, 16, KvPolicy::Merge);
        placement.device->cores = DeviceCores::HostsToo;
        const auto alone = step_seconds(costs, kOnHost, rates, 20000);
        QVERIFY(alone);
        QCOMPARE(step_seconds(costs, placement, rates, 20000), alone);
        placement.device->share.policy = KvPolicy::Stream;
        placement.device->rates.to_device_bytes_per_s = 1e12;
        QCOMPARE(step_seconds(costs, placement, rates, 20000), alone);
        placement.device->rates.to_device_bytes_per_s = 5e9;
        QVERIFY(*step_seconds(costs, placement, rates, 20000) > 1.3 * *alone);
        QCOMPARE(step_seconds(costs, placement, rates, 4096), step_seconds(costs, kOnHost, rates, 4096));
    }

    // Blocks that are streamed get less of a link than one long copy, where that was measured.
    void streamingHasARateOfItsOwn()
    {
        const ModelCosts costs = mistral();
        const MachineRates rates = machine(40e9, 20e9, 60e9);
        for (const KvPolicy policy : {KvPolicy::Stream, KvPolicy::Auto}) {
            PlannedPlacement placement = on_device(costs, 16, policy);
            const auto by_copies = step_seconds(costs, placement, rates, 20000);
            placement.device->rates.stream_bytes_per_s = 8e9;
            const auto streamed = step_seconds(costs, placement, rates, 20000);
            placement.device->rates.stream_bytes_per_s.reset();
            placement.device->rates.to_device_bytes_per_s = 8e9;
            QVERIFY(by_copies && streamed);
            QVERIFY(*streamed > 1.1 * *by_copies);
            QCOMPARE(streamed, step_seconds(costs, placement, rates, 20000));
        }
    }

    // A quarter of the experts has copies: the device reads a quarter of a token's while the host reads the others.
    void copiesOfExpertsAreReadMeanwhile()
    {
        constexpr double kExperts = 100e6, kShare = 0.25;  // bytes of a token's in a layer
        ModelCosts costs = mistral();
        LayerWork experts;
        experts.reads = {{kernels::TensorType::Q4_K, 4096, std::int64_t(kExperts)}};
        costs.experts.assign(32, experts);
        std::vector<LayerBytes> layers;
        for (int l = 0; l < 32; ++l)
            layers.push_back({.weights = 1 << 20, .experts = 64 << 10, .expert = 1 << 10, .kv_block = 1 << 10});
        PlannedPlacement placement = on_device(costs, 16, KvPolicy::Merge);
        DeviceShare& share = placement.device->share;
        share.layout = {std::move(layers), kBlockTokens, 0, DeviceLayout::Transport::Copies};
        share.budget_bytes = share.high_mark_bytes = std::int64_t(1) << 40;
        share.host_expert_layers = 32;
        const MachineRates rates = machine(40e9, 20e9, 60e9);
        const auto seconds = [&](double of_all, double device_rate) {
            placement.device->rates.weights_bytes_per_s = device_rate;
            share.layout.set_expert_cache_bytes(std::int64_t(of_all * 64 * 1024 * 32));
            return step_seconds(costs, placement, rates, 100).value_or(0);
        };
        const double host = 32 * kExperts / 40e9;
        QVERIFY(std::abs(seconds(0, 256e9) - seconds(kShare, 256e9) - kShare * host) < 1e-6);
        // All are there: nothing of them is left to the host.
        QVERIFY(std::abs(seconds(0, 256e9) - seconds(1, 256e9) - (host - 32 * kExperts / 256e9)) < 1e-6);
        // With half of them there, a device that reads no faster than the host takes as long.
        QVERIFY(std::abs(seconds(0, 40e9) - seconds(0.5, 40e9) - host / 2) < 1e-6);
        QVERIFY(std::abs(seconds(0, 40e9) - seconds(0.75, 40e9) - host / 4) < 1e-6);
    }

    void oneBlockMoreSpills()
    {
        const ModelCosts costs = mistral();
        const MachineRates rates = machine(40e9, 10e9, 60e9);
        const PlannedPlacement placement = on_device(costs, 16, KvPolicy::Merge);
        const DeviceShare& share = placement.device->share;
        QCOMPARE(columns_before_spill(share, 1000), 16);
        QCOMPARE(columns_at(share, 16 * 256).on_device, 16);
        for (const int tokens : {16 * 256 + 1, 18 * 256 + 1, 100 * 256})  // one leaves for each that is begun
            QCOMPARE(columns_at(share, tokens).on_device, 16);
        const auto before = step_seconds(costs, placement, rates, 16 * 256);
        const auto after = step_seconds(costs, placement, rates, 16 * 256 + 1);
        QVERIFY(before && after && *after >= *before);
        // one column at 10 GB/s
        QVERIFY(*after - *before <= 1.01 * double(share.layout.column(32)) / 10e9);
    }

    void whatIsNotKnownIsNotGuessed()
    {
        const ModelCosts costs = mistral();
        const MachineRates known = machine(40e9, 20e9, 60e9);
        QVERIFY(step_seconds(costs, kOnHost, known, 0));
        MachineRates rates = known;
        rates.products[0].type = "Q5_K";
        QVERIFY(!step_seconds(costs, kOnHost, rates, 0));
        rates = known;
        rates.attention.clear();
        QVERIFY(!step_seconds(costs, kOnHost, rates, 0));
        PlannedPlacement placement = on_device(costs, 16, KvPolicy::Merge);
        placement.device->rates.hand_off_s.reset();
        QVERIFY(step_seconds(costs, placement, known, 100));
        QVERIFY(!step_seconds(costs, placement, known, 10000));
        placement.device->rates.small_kernels_s.reset();
        QVERIFY(!step_seconds(costs, placement, known, 100));
        placement.device->rates.small_kernels_s = 0;
        QVERIFY(step_seconds(costs, placement, known, 100));
        placement.device->rates.weights_bytes_per_s.reset();
        QVERIFY(!step_seconds(costs, placement, known, 100));
    }

    // What a fast device spends between its products.
    void smallKernelsCountForEachLayerOfAGpu()
    {
        const ModelCosts costs = mistral();
        const MachineRates rates = machine(40e9, 20e9, 60e9);
        PlannedPlacement placement = on_device(costs, 16, KvPolicy::Merge);
        const auto seconds = [&](double small_kernels_s, int layers) {
            placement.device->rates.small_kernels_s = small_kernels_s;
            placement.device->share.layers = layers;
            return step_seconds(costs, placement, rates, 100).value_or(0);
        };
        const double of_layer = seconds(2e-6, 1) - seconds(0, 1);
        QVERIFY(std::abs(of_layer - 2e-6) < 1e-12);
        QVERIFY(std::abs(seconds(2e-6, 32) - seconds(0, 32) - 32 * of_layer) < 1e-9);
    }

    void autoIsNeverSlowerThanStreamOrMerge()
    {
        const unsigned seed = std::random_device{}();
        std::mt19937 random(seed);
        for (int i = 0; i < 300; ++i) {
            Case c = random_case(random);
            c.placement.device->cores = DeviceCores::Own;
            const int context = int(random() % 60000);
            const auto with = [&](KvPolicy policy) {
                c.placement.device->share.policy = policy;
                return step_seconds(c.costs, c.placement, c.rates, context).value_or(-1);
            };
            const double best = std::min(with(KvPolicy::Stream), with(KvPolicy::Merge));
            QVERIFY2(best > 0, where(seed, i, context));
            QVERIFY2(with(KvPolicy::Auto) <= best * (1 + 1e-12), where(seed, i, context));
        }
    }

    void moreContextIsNeverFaster()
    {
        const unsigned seed = std::random_device{}();
        std::mt19937 random(seed);
        for (int i = 0; i < 100; ++i) {
            const Case c = random_case(random);
            double last = 0;
            for (int context = 0; context < 40000; context += 1 + int(random() % 300)) {
                const auto seconds = step_seconds(c.costs, c.placement, c.rates, context);
                if (!seconds) {
                    QCOMPARE(c.placement.device->share.policy, KvPolicy::Resident);
                    break;
                }
                QVERIFY2(*seconds >= last * (1 - 1e-12), where(seed, i, context));
                last = *seconds;
            }
        }
    }

    void lessVramIsNeverFaster()
    {
        const unsigned seed = std::random_device{}();
        std::mt19937 random(seed);
        for (int i = 0; i < 300; ++i) {
            Case c = random_case(random);
            DeviceShare& share = c.placement.device->share;
            const int context = int(random() % 60000);
            double last = 0;
            for (int columns = 200; columns >= 2; --columns) {
                share.high_mark_bytes = share.layout.needed(share.layers, 0, columns).total();
                share.budget_bytes = share.high_mark_bytes;
                const auto seconds = step_seconds(c.costs, c.placement, c.rates, context);
                if (!seconds) {
                    QCOMPARE(share.policy, KvPolicy::Resident);
                    break;
                }
                QVERIFY2(*seconds >= last * (1 - 1e-12), where(seed, i, columns));
                last = *seconds;
            }
        }
    }

    void moreMemoryNeverFitsFewerLayers()
    {
        const DeviceLayout layout = layout_of(mistral());
        int last = 0;
        for (std::int64_t bytes = 0; bytes < 6'000'000'000; bytes += 50'000'000) {
            const int layers = layers_on_device({layout, 0, bytes, bytes, KvPolicy::Auto, 0}, {});
            QVERIFY(layers >= last);
            QVERIFY(layers == 0 || layout.needed(layers, 0, DeviceLayout::kFewestColumns).total() <= bytes);
            last = layers;
        }
        QCOMPARE(last, 32);
    }

    void theCorrectionFollowsWhatIsObserved()
    {
        PredictionCorrection correction;
        QVERIFY(!correction.factor());
        correction.observe(0, 1);
        QVERIFY(!correction.factor());
        correction.observe(0.010, 0.012);
        QVERIFY(std::abs(*correction.factor() - 1.2) < 1e-12);
        for (int i = 0; i < 100; ++i)
            correction.observe(0.010, 0.009);
        QVERIFY(std::abs(*correction.factor() - 0.9) < 1e-4);
    }
};

SPILLWAY_TEST(QCoreApplication, TestPredictedSpeed)
#include "tst_predicted_speed.moc"
