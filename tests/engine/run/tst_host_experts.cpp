// Tests that experts can lie on the host while the rest of their layers is on the device: not a bit changes, whoever
// moves them and when.
#include "tests/engine/run/device_engine.h"
#include "tests/support/placement_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <map>
#include <random>

using namespace test_support;

namespace {

const char* const kMixtures[] = {"qwen3moe",   "gpt-oss",    "gpt-oss-mxfp4",  "deepseek2", "qwen3next",
                                 "granitemoe", "gemma4-moe", "nemotron_h_moe", "llama4"};

void add_mixtures()
{
    QTest::addColumn<QString>("name");
    for (const char* const name : kMixtures)
        QTest::addRow("%s", name) << QString(name);
}

LoadRequest with_host_experts(LoadRequest request, std::optional<int> layers)
{
    request.placement.host_expert_layers = layers;
    return request;
}

/// Counts the layers with experts among the first ones.
int mixtures_among(const LoadRequest& request, int first)
{
    const auto model = load(with_host_experts(request, first));
    return model ? model->placement().telemetry()->layers_without_experts : -1;
}

DeviceTelemetry device_of(const LoadedModel& model)
{
    return *model.placement().telemetry();
}

}  // namespace

class TestHostExperts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void noLogitChangesWhereverExpertsLie_data() { add_mixtures(); }
    void noLogitChangesWhereverExpertsLie()
    {
        QFETCH(QString, name);
        const auto cpu = load(request_for(name));
        QVERIFY(cpu);
        const Run alone = run(*cpu);
        QVERIFY(alone.status);
        for (const std::optional<int> asked : {std::optional<int>(PlacementOptions::kAllLayers), std::optional<int>(1),
                                               std::optional<int>(0), std::optional<int>()}) {
            const auto model = load(with_host_experts(emulated(name, 150), asked));
            QVERIFY(model);
            const Run here = run(*model);
            QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
            QCOMPARE(first_difference(here.logits, alone.logits), -1);
            const DeviceTelemetry device = device_of(*model);
            QCOMPARE(device.layers, model->info().layers);
            QVERIFY(device.used_bytes() <= device.budget_bytes);
            if (asked == PlacementOptions::kAllLayers)
                QCOMPARE(device.layers_without_experts, device.expert_layers);
            if (asked == 0)
                QCOMPARE(device.layers_without_experts, 0);
        }
    }

    void movedInMidAnswerNoLogitChanges_data() { add_mixtures(); }
    void movedInMidAnswerNoLogitChanges()
    {
        QFETCH(QString, name);
        std::mt19937 random(m_seed);
        const auto below = [&](int n) { return int(random() % unsigned(n)); };
        const auto cpu = load(request_for(name)), model = load(emulated(name, 200));
        QVERIFY(cpu && model);
        const Run alone = run(*cpu);
        const int layers = model->info().layers;
        int refused = 0;
        int steps = 0;
        const Run here = run(*model, [&](int) {
            ModelPlacement& placement = model->placement();
            Status asked;
            if (++steps == 1)  // at least once
                asked = placement.apply(SetHostExperts{PlacementOptions::kAllLayers});
            else
                switch (below(12)) {
                case 0:
                case 1:
                    asked = placement.apply(SetHostExperts{below(layers + 2)});
                    break;
                case 2:
                    asked = placement.apply(SetHostExperts{});
                    break;
                case 3:
                    asked = placement.apply(SetDeviceLayers{below(layers + 1)});
                    break;
                case 4:
                    asked = placement.apply(SetVramBudget{device_of(*model).total_bytes * (40 + below(61)) / 100});
                    break;
                case 5:
                    asked =
                        placement.apply(SetKvPolicy{KvPolicy(below(2) == 0 ? int(KvPolicy::CpuDecode) : 1 + below(3))});
                    break;
                default:
                    break;
                }
            refused += !asked;
        });
        QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
        QCOMPARE(refused, 0);
        QCOMPARE(first_difference(here.logits, alone.logits), -1);
        QVERIFY(count(here.events, Event::Kind::ExpertsMove) > 0);
    }

    /// A layer without experts is counted among the layers whose experts may leave. So a number of such layers does not
    /// say how many experts have left.
    void theNumberThatKeepsThemIsKnown()
    {
        for (const char* const name : {"glm4moe", "ernie4_5-moe"}) {  // the first of two layers has no experts
            for (int asked = 0; asked <= 2; ++asked) {
                const auto model = load(with_host_experts(emulated(name, 200), asked));
                QVERIFY(model);
                const DeviceTelemetry device = device_of(*model);
                QCOMPARE(device.layers, 2);
                QCOMPARE(device.layers_without_experts, asked == 2 ? 1 : 0);
                QCOMPARE(device.host_expert_layers, asked == 2 ? 2 : 0);
            }
        }
    }

    void eachMoveIsAnEventWithItsBytes()
    {
        const auto model = load(with_host_experts(emulated("gpt-oss", 300), 0));
        QVERIFY(model);
        const DeviceTelemetry before = device_of(*model);
        QVERIFY(before.expert_layers >= 2);
        DeviceTelemetry without, again;
        const Run here = run(*model, [&](int done) {
            if (done == 160)
                QVERIFY(model->placement().apply(SetHostExperts{1}));
            if (done == 180)
                without = device_of(*model);
            if (done == 200)
                QVERIFY(model->placement().apply(SetHostExperts{0}));
            if (done == 220)
                again = device_of(*model);
        });
        QVERIFY(here.status);
        std::vector<Event> moves;
        std::ranges::copy_if(here.events, std::back_inserter(moves),
                             [](const Event& e) { return e.kind == Event::Kind::ExpertsMove; });
        QCOMPARE(int(moves.size()), 2);
        QCOMPARE(moves[0].layer, 0);
        QCOMPARE(moves[0].sentence, std::string("experts of layer 0 moved to the host"));
        QCOMPARE(moves[1].sentence, std::string("experts of layer 0 moved to the device"));
        QCOMPARE(before.layers_without_experts, 0);
        QCOMPARE(without.layers_without_experts, 1);
        QCOMPARE(again.layers_without_experts, 0);
        QCOMPARE(before.weight_bytes - without.weight_bytes, moves[0].bytes);
        QCOMPARE(again.weight_bytes, before.weight_bytes);
        QVERIFY(moves[0].bytes > 0 && moves[0].bytes == moves[1].bytes);
    }

    void moreLayersFindRoomWithoutExperts()
    {
        // Just room for all layers without experts.
        const LoadRequest request = emulated("gpt-oss", 64);
        const auto without = load(with_host_experts(request, PlacementOptions::kAllLayers));
        QVERIFY(without);
        const int layers = without->info().layers;
        QCOMPARE(device_of(*without).layers, layers);
        LoadRequest small = request;
        small.placement.emulated.vram_bytes = device_of(*without).total_bytes;
        const auto with = load(with_host_experts(small, 0)), by_itself = load(small);
        QVERIFY(with && by_itself);
        QVERIFY(device_of(*with).layers < layers);
        QCOMPARE(device_of(*by_itself).layers, layers);  // experts give way to layers
        QCOMPARE(device_of(*by_itself).layers_without_experts, device_of(*by_itself).expert_layers);
    }

    // A short conversation leaves room for experts; as it grows they leave before any of its blocks does, and they come
    // back for the next short one.
    void expertsGiveWayToAGrowingConversation()
    {
        const auto model = load(emulated("gpt-oss", 64)), cpu = load(request_for("gpt-oss"));
        QVERIFY(model && cpu);
        QCOMPARE(device_of(*model).layers, model->info().layers);
        QCOMPARE(device_of(*model).layers_without_experts, 0);
        const Run alone = run(*cpu, {}, {20, kTokens}), here = run(*model, {}, {20, kTokens});
        QVERIFY(here.status);
        QCOMPARE(first_difference(here.logits, alone.logits), -1);
        const auto kind_of = [](Event::Kind kind) { return [kind](const Event& e) { return e.kind == kind; }; };
        const auto experts = std::ranges::find_if(here.events, kind_of(Event::Kind::ExpertsMove));
        const auto blocks = std::ranges::find_if(here.events, kind_of(Event::Kind::Offload));
        QVERIFY(experts != here.events.end());
        QCOMPARE(experts->cause, Event::Cause::Watermark);
        QVERIFY(experts < blocks);
        QVERIFY(device_of(*model).layers_without_experts > 0);
        const Run next = run(*model, {}, {20, 60});
        QVERIFY(next.status);
        QCOMPARE(first_difference(next.logits, Logits(alone.logits.begin(), alone.logits.begin() + 41)), -1);
        QCOMPARE(device_of(*model).layers_without_experts, 0);
    }

    void aLostDeviceTakesItsExpertsAlong()
    {
        const auto cpu = load(request_for("gpt-oss"));
        QVERIFY(cpu);
        const Run alone = run(*cpu);
        for (const int call : {30, 60, 200, 700}) {
            LoadRequest request = with_host_experts(emulated("gpt-oss", 100), 1);
            request.placement.emulated.lose_at_call = call;
            const auto model = load(request);
            if (!model)
                continue;  // it was lost while it was opened
            const Run here =
                run(*model, [&](int done) { (void)model->placement().apply(SetHostExperts{done / 10 % 3}); });
            QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
            QCOMPARE(first_difference(here.logits, alone.logits), -1);
        }
    }

    void aRefusedAllocationLeavesExpertsOnTheHost()
    {
        const auto cpu = load(request_for("qwen3moe"));
        QVERIFY(cpu);
        const Run alone = run(*cpu);
        for (int call = 1; call < 40; call += 3) {
            LoadRequest request = emulated("qwen3moe", 100);
            request.placement.emulated.refuse_allocation = call;
            const auto model = load(request);
            if (!model)
                continue;
            const Run here =
                run(*model, [&](int done) { (void)model->placement().apply(SetHostExperts{done / 10 % 3}); });
            QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
            QCOMPARE(first_difference(here.logits, alone.logits), -1);
        }
    }

    void wordsThatMakeNoSenseAreRefused()
    {
        DeviceEngine cpu({});
        QVERIFY(!cpu.ask(SetHostExperts{1}).ok);  // there is no device
        DeviceEngine device(emulated_device(200));
        QVERIFY(!device.ask(SetHostExperts{-1}).ok);
        QVERIFY(device.ask(SetHostExperts{3}).ok);  // a model without experts takes it, and nothing moves
        QCOMPARE(device.count(Event::Kind::ExpertsMove), 0);
        QCOMPARE(device.newest.device->layers_without_experts, 0);
    }

    void layersWithoutExpertsAreNotCounted()
    {
        const LoadRequest request = emulated("deepseek2", 200);
        const auto model = load(with_host_experts(request, 0));
        QVERIFY(model);
        QVERIFY(device_of(*model).expert_layers < model->info().layers);  // its first layer is dense
        QCOMPARE(mixtures_among(request, 1), 0);
        QCOMPARE(mixtures_among(request, 2), 1);
    }

private:
    const unsigned m_seed = std::random_device{}();
};

SPILLWAY_TEST(QCoreApplication, TestHostExperts)
#include "tst_host_experts.moc"
