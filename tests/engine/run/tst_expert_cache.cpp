// Copies of experts on the device while all experts lie on the host: not a bit changes, and what is chosen often is
// found there.
#include "tests/engine/run/device_engine.h"
#include "tests/support/placement_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <random>

using namespace test_support;

namespace {

// Mixtures with 4 to 16 experts: gates apart and fused, biases, scales, latent experts, MXFP4.
const char* const kModelsWithExperts[] = {"qwen3moe",   "gpt-oss",    "gpt-oss-mxfp4",  "deepseek2", "qwen3next",
                                          "granitemoe", "gemma4-moe", "nemotron_h_moe", "llama4"};

DeviceTelemetry device_now(const LoadedModel& model)
{
    return *model.placement().telemetry();
}

/// The link is as fast as the model's steps, however busy the machine.
void wait_for_copies(LoadedModel& model)
{
    model.placement().settle();
}

/// All experts on the host, and room for `share` of them on the device.
LoadRequest with_cache(LoadRequest request, double share)
{
    request.placement.host_expert_layers = PlacementOptions::kAllLayers;
    LoadRequest all = request;
    all.placement.expert_cache_bytes = std::int64_t(1) << 40;
    all.placement.emulated.fit_tokens = kTokens;
    const auto model = load(all);
    if (model) {
        while (model->placement().advance()) {
        }
        request.placement.expert_cache_bytes = std::int64_t(share * double(device_now(*model).expert_cache_bytes));
    }
    return request;
}

}  // namespace

class TestExpertCache : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void noLogitChangesWithCopies_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* const name : kModelsWithExperts)
            QTest::addRow("%s", name) << QString(name);
    }
    void noLogitChangesWithCopies()
    {
        QFETCH(QString, name);
        const auto cpu = load(request_for(name));
        QVERIFY(cpu);
        const Run alone = run(*cpu);
        for (const double share : {0.5, 0.75, 1.0})
            for (const int fit_tokens : {60, 450}) {
                const auto model = load(with_cache(emulated(name, fit_tokens), share));
                QVERIFY(model);
                const Run here = run(*model, [&](int) { wait_for_copies(*model); });
                QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
                QCOMPARE(first_difference(here.logits, alone.logits), -1);
                const DeviceTelemetry device = device_now(*model);
                QCOMPARE(device.layers, model->info().layers);
                QCOMPARE(device.layers_without_experts, device.expert_layers);
                QVERIFY(device.cached_experts > 0 && device.expert_cache_bytes > 0);
                QVERIFY2(device.expert_hits > 0, qPrintable(QString("%1 copies").arg(device.cached_experts)));
                QVERIFY(device.used_bytes() <= device.budget_bytes);
            }
    }

    void changedInMidAnswerNoLogitChanges()
    {
        std::mt19937 random(m_seed);
        const auto below = [&](int n) { return int(random() % unsigned(n)); };
        for (const char* const name : {"qwen3moe", "gpt-oss", "deepseek2"}) {
            const auto cpu = load(request_for(name)), model = load(with_cache(emulated(name, 200), 0.5));
            QVERIFY(cpu && model);
            const Run alone = run(*cpu);
            const int layers = model->info().layers;
            const Run here = run(*model, [&](int) {
                ModelPlacement& placement = model->placement();
                if (below(2) == 0)
                    wait_for_copies(*model);
                Status asked;
                switch (below(14)) {
                case 0:
                    asked = placement.apply(SetHostExperts{below(layers + 2)});
                    break;
                case 1:
                    asked = placement.apply(SetDeviceLayers{below(layers + 1)});
                    break;
                case 2:
                    asked = placement.apply(SetVramBudget{device_now(*model).total_bytes * (40 + below(61)) / 100});
                    break;
                case 3:
                    asked = placement.apply(SetKvPolicy{KvPolicy(1 + below(4))});
                    break;
                default:
                    break;
                }
                QVERIFY(asked);
            });
            QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
            QCOMPARE(first_difference(here.logits, alone.logits), -1);
        }
    }

    void whatFitsIsAlwaysFoundInTheEnd()
    {
        const auto model = load(with_cache(emulated("qwen3moe", 450), 1.0));
        QVERIFY(model);
        DeviceTelemetry before;
        const Run here = run(*model, [&](int done) {
            wait_for_copies(*model);
            if (done == kTokens - 50)
                before = device_now(*model);
        });
        QVERIFY(here.status);
        const DeviceTelemetry after = device_now(*model);
        QVERIFY(before.expert_misses > 0);  // nothing was there at first
        const double hits = double(after.expert_hits - before.expert_hits);
        const double misses = double(after.expert_misses - before.expert_misses);
        QVERIFY2(hits > 9 * misses, qPrintable(QString("%1 hits, %2 misses").arg(hits).arg(misses)));
    }

    void memoryIsAsPlannedAndGoesWithItsLayers()
    {
        const LoadRequest request = with_cache(emulated("gpt-oss", 300), 0.5);
        const auto model = load(request), without = load([&] {
                                              LoadRequest none = request;
                                              none.placement.expert_cache_bytes = 0;
                                              return none;
                                          }());
        QVERIFY(model && without);
        while (model->placement().advance() || without->placement().advance()) {
        }
        const DeviceTelemetry device = device_now(*model);
        QVERIFY(device.expert_cache_bytes > 0 && device.expert_cache_bytes <= request.placement.expert_cache_bytes);
        QCOMPARE(device.weight_bytes - device_now(*without).weight_bytes, device.expert_cache_bytes);
        QVERIFY(model->placement().apply(SetHostExperts{0}));
        while (model->placement().advance()) {
        }
        QCOMPARE(device_now(*model).expert_cache_bytes, 0);
        QVERIFY(model->placement().apply(SetDeviceLayers{0}));
        while (model->placement().advance()) {
        }
        QCOMPARE(device_now(*model).weight_bytes, 0);
    }

    void aLostDeviceOrARefusedAllocationChangesNoLogit()
    {
        const auto cpu = load(request_for("qwen3moe"));
        QVERIFY(cpu);
        const Run alone = run(*cpu);
        const LoadRequest cached = with_cache(emulated("qwen3moe", 100), 0.5);
        int losses = 0, refusals = 0;
        for (int call = 1; call < 60; call += 3) {
            LoadRequest refused = cached, lost = cached;
            refused.placement.emulated.refuse_allocation = call;
            lost.placement.emulated.lose_at_call = 20 * call;
            for (const LoadRequest& request : {refused, lost}) {
                const auto model = load(request);
                if (!model)
                    continue;  // it was lost while it was opened
                const Run here = run(*model);
                QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
                QCOMPARE(first_difference(here.logits, alone.logits), -1);
                losses += test_support::count(here.events, Event::Kind::DeviceLost);
                refusals += int(std::ranges::count(here.events, "copies of experts find no room on the device emulated",
                                                   &Event::sentence));
            }
        }
        QVERIFY(losses > 0);
        QVERIFY(refusals > 0);
    }

    void whatCannotBeIsASentence()
    {
        LoadRequest request = emulated("qwen3moe", 100);
        request.placement.expert_cache_bytes = -1;
        QVERIFY(!load(request));
        request.placement.expert_cache_bytes = 1;  // not even one of each layer: no copies, no harm
        const auto model = load(request);
        QVERIFY(model);
        while (model->placement().advance()) {
        }
        QCOMPARE(device_now(*model).cached_experts, 0);
    }

private:
    const unsigned m_seed = std::random_device{}();
};

SPILLWAY_TEST(QCoreApplication, TestExpertCache)
#include "tst_expert_cache.moc"
