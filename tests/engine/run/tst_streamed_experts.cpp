// Tests that experts which lie on the host and come to the device for a step of many rows change no bit, that their
// bytes are counted, and that the host computes on where there is no room for them.
#include "engine/model_info.h"
#include "tests/support/expert_rates.h"
#include "tests/support/placement_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <random>

using namespace test_support;

namespace {

DeviceTelemetry device_now(const LoadedModel& model)
{
    return *model.placement().telemetry();
}

/// All experts on the host, of which some travel. With room for whole steps also where only windows lie on the device.
LoadRequest travelling(const QString& name, int fit_tokens = 0)
{
    LoadRequest request = emulated(name, fit_tokens);
    request.placement.emulated.vram_bytes = fit_tokens > 0 ? 0 : std::int64_t(1) << 30;
    request.placement.host_expert_layers = PlacementOptions::kAllLayers;
    request.placement.rates = rates_of_travelling_experts("emulated");
    return request;
}

/// All lies where it is to before the first step.
Run run_placed(LoadedModel& model, const std::function<void(int)>& between = {})
{
    while (model.placement().advance()) {
    }
    return run(model, between);
}

}  // namespace

class TestStreamedExperts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { qInfo("seed %u", m_seed); }

    // Gates apart and fused, none of them, biases, latent experts, weights on what they read, MXFP4.
    void noLogitChanges_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("copies");
        for (const char* const name :
             {"qwen3moe", "gpt-oss", "gpt-oss-mxfp4", "deepseek2", "nemotron_h_moe", "llama4", "glm4moe"})
            for (const bool copies : {false, true})
                QTest::addRow("%s%s", name, copies ? ", with copies" : "") << QString(name) << copies;
    }
    void noLogitChanges()
    {
        QFETCH(QString, name);
        QFETCH(bool, copies);
        const auto cpu = load(request_for(name));
        QVERIFY(cpu);
        LoadRequest request = travelling(name);
        request.placement.expert_cache_bytes = copies ? 60000 : 0;
        const auto model = load(request);
        QVERIFY(model);
        const Run here = run_placed(*model, [&](int) { model->placement().settle(); });
        QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
        QCOMPARE(first_difference(here.logits, run(*cpu).logits), -1);
        const DeviceTelemetry device = device_now(*model);
        QVERIFY(device.expert_streamed_bytes > 0);
        QCOMPARE(device.cached_experts > 0, copies);
        QVERIFY(device.used_bytes() <= device.budget_bytes);
    }

    // Nothing else comes to the device in these steps: no KV is fetched, and there are no copies.
    void whatComesIsCounted()
    {
        const auto model = load(travelling("qwen3moe"));
        QVERIFY(model);
        while (model->placement().advance()) {
        }
        const DeviceTelemetry before = device_now(*model);
        QCOMPARE(before.expert_streamed_bytes, std::int64_t(0));
        const std::vector<int> ids = some_tokens(*model);
        KvSequence kv;
        QVERIFY(model->append(kv, std::span(ids).first(40)));
        const DeviceTelemetry prompt = device_now(*model);
        QVERIFY(prompt.expert_streamed_bytes > 0);
        QCOMPARE(prompt.to_device_bytes - before.to_device_bytes, prompt.expert_streamed_bytes);
        QCOMPARE(prompt.step_streamed_bytes, std::int64_t(0));       // that is of KV
        QVERIFY(model->append(kv, std::span(ids).subspan(40, 16)));  // few rows wait for no copy
        QCOMPARE(device_now(*model).expert_streamed_bytes, prompt.expert_streamed_bytes);
        QVERIFY(model->append(kv, std::span(ids).subspan(56, 17)));
        QVERIFY(device_now(*model).expert_streamed_bytes > prompt.expert_streamed_bytes);
        model->cache().truncate(kv, 0);
    }

    void nothingComesWhereRatesAreNotKnownOrDoNotPay()
    {
        for (const bool known : {false, true}) {
            LoadRequest request = travelling("qwen3moe");
            MachineRates rates = *request.placement.rates;
            rates.devices["emulated"].unlocked_to_device_bytes_per_s = known ? std::optional(1e3) : std::nullopt;
            request.placement.rates = std::make_shared<const MachineRates>(rates);
            const auto model = load(request);
            QVERIFY(model);
            LoadRequest without = request;
            without.placement.rates = nullptr;
            const auto none = load(without);
            QVERIFY(none && run_placed(*model).status && run_placed(*none).status);
            QCOMPARE(device_now(*model).expert_streamed_bytes, std::int64_t(0));
            QCOMPARE(device_now(*model).ring_bytes, device_now(*none).ring_bytes);
        }
    }

    /// The ring goes with the experts for which it was there.
    void theRingIsThereAsLongAsExpertsLieOnTheHost()
    {
        const LoadRequest request = travelling("qwen3moe");
        const auto model = load(request);
        QVERIFY(model);
        const auto ring_after = [&](const PlacementCommand& command) {
            if (!model->placement().apply(command))
                return std::int64_t(-1);
            while (model->placement().advance()) {
            }
            return device_now(*model).ring_bytes;
        };
        const std::int64_t with = ring_after(SetHostExperts{PlacementOptions::kAllLayers});
        const std::int64_t without = ring_after(SetHostExperts{0});
        QVERIFY(without < with);
        QCOMPARE(ring_after(SetHostExperts{1}), with);
        QCOMPARE(ring_after(SetDeviceLayers{0}), without);
    }

    void changedInMidAnswerNoLogitChanges()
    {
        std::mt19937 random(m_seed);
        const auto below = [&](int n) { return int(random() % unsigned(n)); };
        for (const char* const name : {"qwen3moe", "gpt-oss"}) {
            LoadRequest request = travelling(name, 200);
            request.prefill_chunk_tokens = 20;
            const auto cpu = load(request_for(name)), model = load(request);
            QVERIFY(cpu && model);
            const int layers = model->info().layers;
            const Run here = run(*model, [&](int done) {
                ModelPlacement& placement = model->placement();
                if (below(2) == 0)
                    placement.settle();
                Status asked;
                switch (below(done < kPrefillTokens ? 4 : 16)) {
                case 0:
                    asked = placement.apply(SetHostExperts{below(layers + 2)});
                    break;
                case 1:
                    asked = placement.apply(SetVramBudget{device_now(*model).total_bytes * (40 + below(61)) / 100});
                    break;
                case 2:
                    asked = placement.apply(SetExpertCache{below(3) * device_now(*model).total_bytes / 8});
                    break;
                default:
                    break;
                }
                QVERIFY(asked);
                QVERIFY(device_now(*model).used_bytes() <= device_now(*model).budget_bytes);
            });
            QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
            QCOMPARE(first_difference(here.logits, run(*cpu).logits), -1);
        }
    }

    void aLostDeviceOrARefusedAllocationChangesNoLogit()
    {
        const auto cpu = load(request_for("qwen3moe"));
        QVERIFY(cpu);
        const Run alone = run(*cpu);
        int losses = 0, refusals = 0;
        for (int call = 1; call < 60; call += 3) {
            LoadRequest refused = travelling("qwen3moe", 100), lost = refused;
            refused.placement.emulated.refuse_allocation = call;
            lost.placement.emulated.lose_at_call = 10 * call;
            for (const LoadRequest& request : {refused, lost}) {
                const auto model = load(request);
                if (!model)
                    continue;  // it was lost while it was opened
                const Run here = run(*model);
                QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
                QCOMPARE(first_difference(here.logits, alone.logits), -1);
                losses += test_support::count(here.events, Event::Kind::DeviceLost);
                refusals += int(std::ranges::count_if(here.events, [](const Event& event) {
                    return event.sentence.starts_with("experts find no room ");
                }));
            }
        }
        QVERIFY(losses > 0);
        QVERIFY(refusals > 0);
    }

private:
    const unsigned m_seed = std::random_device{}();
};

SPILLWAY_TEST(QCoreApplication, TestStreamedExperts)
#include "tst_streamed_experts.moc"
