// Tests that frames say where experts lie and how often tokens chose them, with the same counts wherever a model is
// computed.
#include "engine/expert_map.h"

#include "tests/engine/run/device_engine.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <numeric>

using namespace test_support;

namespace {

using Place = ExpertMap::Place;

/// An engine with a model of experts, and what its frames say of them.
struct ExpertEngine {
    std::unique_ptr<Engine> engine = make_engine();
    ModelInfo info;
    Telemetry newest;

    explicit ExpertEngine(const char* model, const PlacementOptions& placement = {})
    {
        LoadRequest request;
        request.model = (own_models_folder() + '/' + model + ".gguf").toStdString();
        request.kv_block_tokens = 16;
        request.threads = 1;
        request.context_tokens = 256;
        request.placement = placement;
        if (auto loaded = engine->load(request, listener(), {}))
            info = *loaded;
    }
    Listener listener()
    {
        Listener out;
        out.on_telemetry = [this](const Telemetry& telemetry) { newest = telemetry; };
        return out;
    }
    Result<Turn> answer(SequenceId sequence, const std::string& prompt, int tokens)
    {
        Request request;
        request.raw_prompt = prompt;
        request.max_tokens = tokens;
        request.sampling.temperature = 0;
        return engine->generate(sequence, request, listener(), {});
    }
    void ask(const Command& command)
    {
        engine->post(command);
        engine->poll(listener());
    }
    /// Talks until a copy has come: the link is as fast as the machine has time for it.
    bool copies_come(SequenceId sequence)
    {
        for (int i = 0; i < 1000 && places(Place::Copy) == 0; ++i) {
            QThread::msleep(1);
            if (!answer(sequence, "Once upon a time there was number " + std::to_string(i % 10), 5))
                return false;
        }
        return places(Place::Copy) > 0;
    }
    const ExpertMap& map() const { return *newest.expert_map; }
    std::uint32_t chosen(int layer, const std::vector<std::uint32_t>& counts) const
    {
        const auto first = counts.begin() + std::ptrdiff_t(map().at(layer, 0));
        return std::accumulate(first, first + map().experts, 0U);
    }
    int places(Place place) const { return int(std::ranges::count(map().places, place)); }
};

PlacementOptions with_experts_on_host(std::int64_t cache_bytes)
{
    PlacementOptions placement = emulated_device(250);
    placement.host_expert_layers = PlacementOptions::kAllLayers;
    placement.expert_cache_bytes = cache_bytes;
    return placement;
}

}  // namespace

class TestExpertMap : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void countsAreThoseOfItsOwnTokens()
    {
        ExpertEngine here("deepseek2");
        const SequenceId first = *here.engine->create_sequence(), second = *here.engine->create_sequence();
        const auto turn = here.answer(first, "Once upon a time there was", 12);
        QVERIFY(turn);
        const ExpertMap once = here.map();
        QCOMPARE(once.layers, here.info.layers);
        QCOMPARE(once.experts, here.info.experts);
        QVERIFY(once.counted_on_device);
        const auto used = std::uint32_t(here.info.experts_used);
        // The answer's last token is not computed before it is needed.
        const auto computed = std::uint32_t(turn->answer.count() - 1);
        QVERIFY(computed > 4);
        bool any = false, dense = false;
        for (int l = 0; l < once.layers; ++l) {
            const bool has = once.places[once.at(l, 0)] != Place::None;
            (has ? any : dense) = true;
            QCOMPARE(here.chosen(l, once.in_answer), has ? computed * used : 0);
            QCOMPARE(here.chosen(l, once.in_conversation),
                     has ? (std::uint32_t(turn->prompt.count()) + computed) * used : 0);
        }
        QVERIFY(any && dense);  // its first layer has none

        QVERIFY(here.answer(second, "Twice", 6));
        QVERIFY(here.map().in_conversation != once.in_conversation);
        QVERIFY(here.answer(first, "Once upon a time there was", 12));  // all but a token of the prompt is known
        for (int l = 0; l < once.layers; ++l)
            if (once.places[once.at(l, 0)] != Place::None) {
                QCOMPARE(here.chosen(l, here.map().in_answer), computed * used);
                QCOMPARE(here.chosen(l, here.map().in_conversation),
                         here.chosen(l, once.in_conversation) + (computed + 1) * used);
            }
        QCOMPARE(here.map().in_answer, once.in_answer);
    }

    void answersTogetherCountTheirOwn()
    {
        ExpertEngine alone("qwen3moe"), together("qwen3moe");
        std::vector<std::vector<std::uint32_t>> expected;
        for (const char* const prompt : {"The first of two", "And another one, longer than that"}) {
            QVERIFY(alone.answer(*alone.engine->create_sequence(), prompt, 10));
            expected.push_back(alone.map().in_conversation);
        }
        std::vector<TurnId> turns;
        std::vector<Telemetry> newest(2);
        for (const char* const prompt : {"The first of two", "And another one, longer than that"}) {
            Request request;
            request.raw_prompt = prompt;
            request.max_tokens = 10;
            request.sampling.temperature = 0;
            Listener listener;
            listener.on_telemetry = [&frame = newest[turns.size()]](const Telemetry& t) { frame = t; };
            turns.push_back(*together.engine->begin(*together.engine->create_sequence(), request, listener, {}));
        }
        while (together.engine->step({}).size() < turns.size()) {
        }
        for (const TurnId turn : turns)
            QVERIFY(together.engine->end(turn));
        for (std::size_t i = 0; i < turns.size(); ++i)
            QCOMPARE(newest[i].expert_map->in_conversation, expected[i]);
    }

    void countsAreTheSameOnADevice()
    {
        ExpertEngine cpu("qwen3moe"), device("qwen3moe", emulated_device(250)),
            cached("qwen3moe", with_experts_on_host(1 << 20));
        for (ExpertEngine* const here : {&cpu, &device, &cached})
            QVERIFY(here->answer(*here->engine->create_sequence(), "Once upon a time", 30));
        QCOMPARE(device.map().in_conversation, cpu.map().in_conversation);
        QCOMPARE(cached.map().in_conversation, cpu.map().in_conversation);
        QCOMPARE(cpu.places(Place::Host), cpu.map().layers * cpu.map().experts);
        QCOMPARE(device.places(Place::Device), cpu.map().layers * cpu.map().experts);
        QVERIFY(cached.copies_come(*cached.engine->create_sequence()));
        QCOMPARE(cached.places(Place::Copy) + cached.places(Place::Host), cpu.map().layers * cpu.map().experts);
    }

    void roomForCopiesIsChangedWhileItTalks()
    {
        PlacementOptions placement = with_experts_on_host(0);
        placement.emulated.fit_tokens = 0;
        placement.emulated.vram_bytes = 16 << 20;
        ExpertEngine here("qwen3moe", placement);
        const SequenceId sequence = *here.engine->create_sequence();
        QVERIFY(here.answer(sequence, "Once upon a time", 10));
        QCOMPARE(here.places(Place::Copy), 0);
        QCOMPARE(here.newest.device->expert_cache_bytes, 0);
        here.ask(SetExpertCache{1 << 20});
        QVERIFY(here.answer(sequence, "Once upon a time there was", 30));
        QVERIFY(here.newest.device->expert_cache_bytes > 0);
        QVERIFY(here.copies_come(sequence));
        here.ask(SetExpertCache{});
        QVERIFY(here.answer(sequence, "Once upon a time there was a", 10));
        QCOMPARE(here.newest.device->expert_cache_bytes, 0);
        QCOMPARE(here.places(Place::Copy), 0);
    }

    void layersComeBeforeCopies()
    {
        ExpertEngine here("qwen3moe", with_experts_on_host(std::int64_t(1) << 40));
        const SequenceId sequence = *here.engine->create_sequence();
        QVERIFY(here.answer(sequence, "Once upon a time", 5));
        const DeviceTelemetry all = *here.newest.device;
        QCOMPARE(all.cached_experts, here.info.experts);
        here.ask(SetVramBudget{std::int64_t(double(all.used_bytes() - all.expert_cache_bytes / 2) / 0.95)});
        QVERIFY(here.answer(sequence, "Once upon a time there", 20));
        const DeviceTelemetry less = *here.newest.device;
        QCOMPARE(less.layers, here.info.layers);
        QVERIFY(less.cached_experts > 0 && less.cached_experts < all.cached_experts);
        QVERIFY(less.used_bytes() <= less.budget_bytes);
    }

    void whatCannotBeIsRefused()
    {
        DeviceEngine cpu({}), device(emulated_device(200));
        QVERIFY(!cpu.ask(SetExpertCache{1}).ok);  // there is no device
        QVERIFY(!device.ask(SetExpertCache{-1}).ok);
        QVERIFY(device.ask(SetExpertCache{1 << 20}).ok);  // a model without experts takes it, and keeps none
        QCOMPARE(device.newest.device->expert_cache_bytes, 0);
        QVERIFY(!device.newest.expert_map);
    }
};

SPILLWAY_TEST(QCoreApplication, TestExpertMap)
#include "tst_expert_map.moc"
