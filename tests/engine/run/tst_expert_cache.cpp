// Tests that copies of experts on the device, while all experts lie on the host, change no bit, and that experts which
// are chosen often are found there.
#include "engine/model_info.h"
#include "engine/run/frames.h"
#include "tests/engine/run/device_engine.h"
#include "tests/support/part_of_all.h"
#include "tests/support/placement_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <array>
#include <random>

using namespace test_support;

namespace {

/// Lists a model of every architecture that has experts: gates apart and fused, biases, scales, latent experts, MXFP4.
/// What the CPU makes of them is compared with goldens elsewhere.
QStringList models_with_experts()
{
    QStringList names;
    for (const QFileInfo& file : QDir(own_models_folder()).entryInfoList({QStringLiteral("*.gguf")}, QDir::Files))
        if (const auto info = inspect_model(file.filePath().toStdString()); info && info->experts > 0)
            names.append(file.completeBaseName());
    return names;
}

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

/// Room for half of the experts and 60 tokens beside the rest of the model.
LoadRequest with_room_for_half(const QString& name)
{
    LoadRequest request = emulated(name, 60), on_host = request;
    on_host.placement.host_expert_layers = PlacementOptions::kAllLayers;
    const auto whole = load(request), rest = load(on_host);
    if (whole && rest) {
        const std::int64_t experts = device_now(*whole).weight_bytes - device_now(*rest).weight_bytes;
        request.placement.emulated.vram_bytes = device_now(*whole).total_bytes - experts / 2;
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
        const QStringList names = models_with_experts();
        for (const QString& name : names)
            QTest::newRow(qPrintable(name)) << name;
        for (const char* const known :
             {"qwen3moe", "gpt-oss-mxfp4", "deepseek2", "nemotron_h_moe", "llama4", "glm4moe"})
            QVERIFY2(names.contains(QLatin1String(known)), known);
    }
    void noLogitChangesWithCopies()
    {
        QFETCH(QString, name);
        const auto cpu = load(request_for(name));
        QVERIFY(cpu);
        const Run alone = run(*cpu);
        PartOfAll part(3);
        for (const double share : {0.5, 0.75, 1.0})
            for (const int fit_tokens : {60, 450}) {
                if (!part.takes_next())
                    continue;
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

    // As the conversation grows whole layers' experts give way to KV, then copies of them.
    void whatThePlanChoosesChangesNoLogit_data() { noLogitChangesWithCopies_data(); }
    void whatThePlanChoosesChangesNoLogit()
    {
        QFETCH(QString, name);
        const auto cpu = load(request_for(name));
        QVERIFY(cpu);
        const Run alone = run(*cpu);
        LoadRequest request = with_room_for_half(name);
        request.placement.expert_cache_bytes = std::nullopt;
        const auto model = load(request);
        QVERIFY(model);
        int most = 0;
        std::int64_t most_copies = 0;
        const Run here = run(*model, [&](int) {
            wait_for_copies(*model);
            const DeviceTelemetry device = device_now(*model);
            most = std::max(most, device.cached_experts);
            most_copies = std::max(most_copies, device.expert_cache_bytes);
            QVERIFY(device.used_bytes() <= device.budget_bytes);
        });
        QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
        QCOMPARE(first_difference(here.logits, alone.logits), -1);
        const DeviceTelemetry device = device_now(*model);
        QCOMPARE(device.layers, model->info().layers);
        const bool found = device.expert_hits > 0 || most == 1;  // a single copy may not be read again
        QVERIFY2(most > 0 && found,
                 qPrintable(QString("%1 copies, %2 layers without").arg(most).arg(device.layers_without_experts)));
        QVERIFY(model->placement().apply(SetExpertCache{}));
        while (model->placement().advance()) {
        }
        QCOMPARE(device_now(*model).expert_cache_bytes, 0);
        QVERIFY(model->placement().apply(SetExpertCache{std::nullopt}));
        while (model->placement().advance()) {
        }
        QCOMPARE(device_now(*model).expert_cache_bytes, device.expert_cache_bytes);
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
                switch (below(16)) {
                case 4:
                    asked = placement.apply(SetExpertCache{std::nullopt});
                    break;
                case 5:
                    asked = placement.apply(SetExpertCache{below(3) * device_now(*model).total_bytes / 8});
                    break;
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

    // A plan goes by the hits that answers had, and a prediction, too.
    void whatIsObservedIsPlannedWith()
    {
        LoadRequest request = with_cache(emulated("qwen3moe", 450), 0.5);
        request.placement.expert_skew = 9;  // as another model had it
        const auto model = load(request);
        QVERIFY(model);
        ModelPlacement& placement = model->placement();
        const Run here = run(*model, [&](int) { wait_for_copies(*model); });
        QVERIFY(here.status);
        QCOMPARE(device_now(*model).expert_skew, std::optional(9.0));  // as long as the answer goes on
        placement.begin_turn();
        const DeviceTelemetry device = device_now(*model);
        // Random weights choose nearly at random.
        QVERIFY2(device.expert_skew && *device.expert_skew >= 1 && *device.expert_skew < 4,
                 qPrintable(QString("skew %1, %2 copies, %3 hits, %4 misses")
                                .arg(device.expert_skew.value_or(0))
                                .arg(device.cached_experts)
                                .arg(device.expert_hits)
                                .arg(device.expert_misses)));
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
        const auto on_host = [](LoadedModel& of) {
            return Frames().make(of, {}, nullptr, Phase::Idle).weight_bytes_host;
        };
        QVERIFY(on_host(*without) > 0);
        QCOMPARE(on_host(*model), on_host(*without));  // copies leave nothing behind
        QVERIFY(model->placement().apply(SetHostExperts{0}));
        while (model->placement().advance()) {
        }
        QCOMPARE(device_now(*model).expert_cache_bytes, 0);
        QVERIFY(model->placement().apply(SetDeviceLayers{0}));
        while (model->placement().advance()) {
        }
        QCOMPARE(device_now(*model).weight_bytes, 0);
    }

    /// Copies give way to answers that are made side by side, and have their room again when these have ended.
    void copiesThatGaveWayToOtherAnswersComeBack()
    {
        const auto model = load(with_cache(emulated("qwen3moe", kTokens), 1.0));
        QVERIFY(model);
        ModelPlacement& placement = model->placement();
        const auto copies_when_settled = [&] {
            while (placement.advance()) {
            }
            return device_now(*model).expert_cache_bytes;
        };
        const std::int64_t all = copies_when_settled();
        const std::vector<int> ids = some_tokens(*model);
        std::array<KvSequence, 2> answers;
        placement.begin_turn();
        for (KvSequence& kv : answers)
            QVERIFY(model->append(kv, std::span(ids).first(20)));
        while (device_now(*model).expert_cache_bytes == all)  // other things may go before copies
            QVERIFY(placement.give_up_layer());
        QVERIFY(copies_when_settled() < all);
        QCOMPARE(device_now(*model).layers, model->info().layers);
        for (KvSequence& kv : answers)
            model->cache().truncate(kv, 0);
        QCOMPARE(copies_when_settled(), all);
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
                refusals += int(std::ranges::count_if(here.events, [](const Event& event) {
                    return event.sentence.starts_with("copies of experts find ");
                }));
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
