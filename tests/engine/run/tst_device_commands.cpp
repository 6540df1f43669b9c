// Tests that devices can be changed through the engine's front door while it talks, report what lies where, and stop
// when they are full.
#include "engine/machine_rates.h"
#include "tests/engine/run/device_engine.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>

using namespace test_support;

class TestDeviceCommands : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aSplitPostedInMidAnswerMovesLayersAndChangesNoWord()
    {
        const auto alone = [] {
            DeviceEngine cpu({});
            return cpu.engine->generate(cpu.sequence, raw(300), {}, {});
        }();
        QVERIFY(alone);
        DeviceEngine loaded(emulated_device(96));
        Listener listener = loaded.listener();
        std::vector<std::uint64_t> posted;
        listener.on_text = [&, texts = 0](std::string_view) mutable {
            ++texts;
            if (texts == 10)
                posted.push_back(loaded.engine->post(SetDeviceLayers{0}));
            if (texts == 40)
                posted.push_back(loaded.engine->post(SetDeviceLayers{std::nullopt}));
            if (texts == 60)
                posted.push_back(loaded.engine->post(SetKvPolicy{KvPolicy::Stream}));
        };
        const auto turn = loaded.engine->generate(loaded.sequence, raw(300), listener, {});
        QVERIFY(turn);
        QCOMPARE(turn->text, alone->text);
        QCOMPARE(posted.size(), std::size_t(3));
        for (const std::uint64_t command : posted) {
            QVERIFY(loaded.answer_to(command));
            QVERIFY(loaded.answer_to(command)->ok);
        }
        const int layers = turn->telemetry.device->layers;
        QVERIFY(layers > 1);
        QCOMPARE(loaded.count(Event::Kind::LayerMove), 2 * layers);
        QVERIFY(loaded.count(Event::Kind::Offload) > 0);
    }

    void ratesAreWelcomeWithoutADeviceAndWithoutAModel()
    {
        DeviceEngine cpu({});
        QVERIFY(cpu.ask(SetRates{std::make_shared<const MachineRates>()}).ok);
        cpu.engine->unload();
        QVERIFY(cpu.ask(SetRates{}).ok);
    }

    void whenIdleLayersMoveAtOnce()
    {
        DeviceEngine loaded(emulated_device(512));
        QVERIFY(loaded.engine->generate(loaded.sequence, raw(4), loaded.listener(), {}));
        const int layers = loaded.newest.device->layers;
        const std::uint64_t command = loaded.engine->post(SetDeviceLayers{0});
        loaded.engine->poll(loaded.listener());
        QVERIFY(loaded.answer_to(command)->ok);
        QCOMPARE(loaded.count(Event::Kind::LayerMove), layers);
        loaded.engine->post(SetDeviceLayers{std::nullopt});
        loaded.engine->poll(loaded.listener());
        QCOMPARE(loaded.count(Event::Kind::LayerMove), 2 * layers);
        QVERIFY(loaded.count(Event::Kind::Fetch) > 0);  // the KV came after them
    }

    /// Where the owner is woken again, a poll() moves a layer or a few, so that a question need not wait for all.
    void whoeverWaitsComesBetweenTwoLayers()
    {
        PlacementOptions placement = emulated_device(512);
        placement.device_layers = 1;
        const std::int64_t layer_bytes = DeviceEngine(placement).newest.device->weight_bytes;
        placement.device_layers.reset();
        placement.emulated.link_bytes_per_s = double(layer_bytes) / 0.04;  // a layer takes so long
        DeviceEngine loaded(placement);
        const int layers = loaded.newest.device->layers;
        QVERIFY(layers > 2);
        loaded.ask(SetDeviceLayers{0});
        QCOMPARE(loaded.newest.device->layers, 0);
        loaded.events.clear();
        int woken = 0;
        loaded.engine->on_posted = [&] { ++woken; };
        loaded.engine->post(SetDeviceLayers{std::nullopt});
        QCOMPARE(woken, 1);
        loaded.engine->poll(loaded.listener());
        QCOMPARE(woken, 2);
        QVERIFY(loaded.count(Event::Kind::LayerMove) > 0 && loaded.count(Event::Kind::LayerMove) < layers);
        QVERIFY(loaded.engine->generate(loaded.sequence, raw(1), loaded.listener(), {}));
        for (int polls = 1; polls < woken; ++polls)
            loaded.engine->poll(loaded.listener());
        QCOMPARE(loaded.newest.device->layers, layers);
        const int before = woken;
        loaded.engine->poll(loaded.listener());
        QCOMPARE(woken, before);
    }

    void betweenTurnsAFrameTellsWhatACommandChanged()
    {
        DeviceEngine loaded(emulated_device(512));
        QCOMPARE(loaded.frames, 1);  // of the load
        QVERIFY(loaded.newest.device && loaded.newest.device->layers > 0);
        QCOMPARE(loaded.newest.kv_map->columns, 0);
        QVERIFY(loaded.engine->generate(loaded.sequence, raw(4), loaded.listener(), {}));
        const int tokens = loaded.newest.context_tokens;
        const auto frames_after = [&](const Command& command) {
            loaded.frames = 0;
            loaded.engine->post(command);
            loaded.engine->poll(loaded.listener());
            return loaded.frames;
        };
        QVERIFY(frames_after(SetDeviceLayers{1}) > 0);
        QCOMPARE(loaded.newest.phase, Phase::Idle);
        QCOMPARE(loaded.newest.device->layers, 1);
        QCOMPARE(loaded.newest.context_tokens, tokens);
        const std::int64_t budget = loaded.newest.device->used_bytes() + 1000;
        QVERIFY(frames_after(SetVramBudget{budget}) > 0);
        QCOMPARE(loaded.newest.device->budget_bytes, budget);
        QVERIFY(frames_after(SetOtherPrograms{1000}) > 0);
        QCOMPARE(loaded.newest.device->other_programs_bytes, std::int64_t(1000));
        QVERIFY(frames_after(SetWatermark{0.5}) > 0);
        QVERIFY(frames_after(SetKvPolicy{KvPolicy::Merge}) > 0);
        QVERIFY(frames_after(SetKvOffloadShare{0.5}) > 0);
        QCOMPARE(frames_after(SetThreads{1}), 0);      // nothing of what lies where
        QCOMPARE(frames_after(SetWatermark{2.0}), 0);  // refused
        QCOMPARE(frames_after(SetWatermark{0.4}), 0);
    }

    void theMapShowsEachBlockWhereItLies()
    {
        DeviceEngine loaded(emulated_device(96));
        Listener listener = loaded.listener();
        const auto turn = loaded.engine->generate(loaded.sequence, raw(300), listener, {});
        QVERIFY(turn);
        const KvMap& map = *turn->telemetry.kv_map;
        QCOMPARE(map.block_tokens, 16);
        QCOMPARE(map.columns, (turn->telemetry.context_tokens + 15) / 16);
        QCOMPARE(map.cells.size(), std::size_t(map.columns) * std::size_t(map.layers));
        int device = 0, host = 0, windows = 0;
        for (int b = 0; b < map.columns; ++b)
            for (int l = 0; l < map.layers; ++l) {
                device += map.place(b, l) != KvMap::Place::Host && map.place(b, l) != KvMap::Place::Window;
                host += map.place(b, l) == KvMap::Place::Host;
                windows += map.place(b, l) == KvMap::Place::Window;
            }
        QCOMPARE(device, turn->telemetry.kv_blocks_device);
        QCOMPARE(host + windows, turn->telemetry.kv_blocks_host);
        QVERIFY(host > 0 && windows > 0);
        for (int l = 0; l < map.layers; ++l)  // the end of the conversation is where it is computed
            QCOMPARE(map.place(map.columns - 1, l), KvMap::Place::Device);

        loaded.engine->post(SetWatermark{0.95});
        loaded.engine->poll(loaded.listener());
        QCOMPARE(loaded.newest.kv_map, turn->telemetry.kv_map);  // nothing moved: it is not made again
        loaded.engine->post(SetDeviceLayers{0});
        loaded.engine->poll(loaded.listener());
        QVERIFY(loaded.newest.kv_map != turn->telemetry.kv_map);
        QVERIFY(std::ranges::all_of(loaded.newest.kv_map->cells, [](std::uint8_t cell) { return cell == 0; }));
    }

    void whileItAnswersTheMapIsMadeFiveTimesASecondAtMost()
    {
        DeviceEngine loaded(emulated_device(96));
        std::vector<std::pair<std::int64_t, std::shared_ptr<const KvMap>>> maps;
        Listener listener;
        listener.on_telemetry = [&](const Telemetry& t) {
            if (t.phase != Phase::Idle && (maps.empty() || maps.back().second != t.kv_map))
                maps.emplace_back(t.time_us, t.kv_map);
        };
        QVERIFY(loaded.engine->generate(loaded.sequence, raw(300), listener, {}));
        QVERIFY(!maps.empty());
        for (std::size_t i = 1; i < maps.size(); ++i)
            QVERIFY(maps[i].first - maps[i - 1].first >= 200'000);
    }

    void telemetrySaysWhereEverythingLies()
    {
        DeviceEngine loaded(emulated_device(64));
        const auto turn = loaded.engine->generate(loaded.sequence, raw(400), loaded.listener(), {});
        QVERIFY(turn);
        const Telemetry& t = turn->telemetry;
        QVERIFY(t.device);
        QCOMPARE(t.device->id, std::string("emulated"));
        QCOMPARE(loaded.device, std::string("emulated"));
        QVERIFY(DeviceEngine({}).device.empty());
        QCOMPARE(t.device->budget_bytes, t.device->total_bytes);
        QVERIFY(t.device->watermark_bytes < t.device->budget_bytes);
        QVERIFY(t.device->used_bytes() <= t.device->budget_bytes);
        QCOMPARE(t.weight_bytes_device, t.device->weight_bytes);
        QVERIFY(t.kv_blocks_host > 0 && t.kv_blocks_device > 0);
        QVERIFY(t.device->step_attended_on_host_bytes > 0);
        QVERIFY(t.device->to_host_bytes > 0);
    }

    void aFullDeviceEndsAResidentAnswerWithWhatItSaid()
    {
        PlacementOptions placement = emulated_device(160);
        placement.kv_policy = KvPolicy::Resident;
        placement.watermark = 1.0;
        DeviceEngine loaded(placement);
        const auto turn = loaded.engine->generate(loaded.sequence, raw(400), loaded.listener(), {});
        QVERIFY(turn);
        QCOMPARE(turn->reason, StopReason::ContextFull);
        QVERIFY(!turn->text.empty());
        QVERIFY(turn->answer.count() < 400);
    }

    /// What others had on the device has left before: to forget them would win nothing.
    void aFullDeviceForgetsNoOtherConversation()
    {
        PlacementOptions placement = emulated_device(160);
        placement.kv_policy = KvPolicy::Resident;
        placement.watermark = 1.0;
        DeviceEngine loaded(placement);
        const SequenceId other = *loaded.engine->create_sequence();
        QVERIFY(loaded.engine->generate(other, raw(4), loaded.listener(), {}));
        loaded.events.clear();
        const auto full = loaded.engine->generate(loaded.sequence, raw(400), loaded.listener(), {});
        QVERIFY(full);
        QCOMPARE(full->reason, StopReason::ContextFull);
        QCOMPARE(loaded.count(Event::Kind::Warning), 1);  // that it is the device
        QVERIFY(loaded.newest.context_tokens < 512);
        const auto again = loaded.engine->generate(other, raw(4), loaded.listener(), {});
        QVERIFY(again);
        QVERIFY(again->telemetry.reused_tokens > 0);
    }

    void withoutADeviceASentenceSaysSo()
    {
        DeviceEngine loaded({});
        const std::uint64_t command = loaded.engine->post(SetVramBudget{1 << 20});
        loaded.engine->poll(loaded.listener());
        QVERIFY(!loaded.answer_to(command)->ok);
        QVERIFY(!loaded.answer_to(command)->sentence.empty());
        QVERIFY(!loaded.newest.device);
    }

    /// KV comes back when memory is freed: after another answer the device holds what it would, had nothing happened.
    void whatLeftForAnotherProgramComesBack_data()
    {
        QTest::addColumn<bool>("by_budget");
        QTest::newRow("the budget shrinks and grows back") << true;
        QTest::newRow("another program comes and goes") << false;
    }
    void whatLeftForAnotherProgramComesBack()
    {
        QFETCH(bool, by_budget);
        const auto answered = [](bool disturbed, bool by_budget) {
            DeviceEngine loaded(emulated_device(64));
            Request request = raw(150);
            (void)loaded.engine->generate(loaded.sequence, request, loaded.listener(), {});
            const std::int64_t half = loaded.newest.device->total_bytes / 2;
            if (disturbed) {
                loaded.ask(by_budget ? Command(SetVramBudget{half}) : Command(SetOtherPrograms{half}));
                if (loaded.newest.device->used_bytes() > half)
                    qWarning("more than half is held");
                loaded.ask(by_budget ? Command(SetVramBudget{0}) : Command(SetOtherPrograms{0}));
            }
            request.max_tokens = 170;
            (void)loaded.engine->generate(loaded.sequence, request, loaded.listener(), {});
            return *loaded.newest.device;
        };
        const DeviceTelemetry before = answered(false, by_budget), after = answered(true, by_budget);
        QVERIFY(before.kv_bytes > 0);
        QCOMPARE(after.layers, before.layers);
        QCOMPARE(after.kv_bytes, before.kv_bytes);
        QCOMPARE(after.ring_bytes, before.ring_bytes);
        // Less than a column of all layers' blocks is left below the mark.
        QVERIFY(after.watermark_bytes - after.used_bytes() <
                2 * after.kv_bytes / std::max(1, after.kv_blocks) * after.layers);
    }

    /// Layers that left for the windows of answers side by side come back when the answers are over, before another
    /// one begins.
    void layersComeBackAfterAnswersSideBySide()
    {
        PlacementOptions placement = emulated_device(64);
        placement.watermark = kHighestWatermark;
        DeviceEngine loaded(placement);
        const int layers = loaded.newest.device->layers;
        int woken = 0, fewest = layers;
        loaded.engine->on_posted = [&] { ++woken; };
        std::vector<TurnId> turns;
        while (int(turns.size()) < kMostRowsTogether) {
            const SequenceId sequence = *loaded.engine->create_sequence();
            const auto turn = loaded.engine->begin(sequence, raw(24), loaded.listener(), {});
            QVERIFY(turn);
            turns.push_back(*turn);
        }
        for (std::size_t over = 0; over < turns.size();) {
            over = loaded.engine->step(loaded.listener()).size();
            fewest = std::min(fewest, loaded.newest.device->layers);
        }
        QVERIFY(fewest < layers);
        for (int polls = 0; polls < woken; ++polls)
            loaded.engine->poll(loaded.listener());
        QCOMPARE(loaded.newest.device->layers, layers);
        for (const TurnId turn : turns)
            QVERIFY(loaded.engine->end(turn));
    }

    void layersThatFindNoRoomAreNamed()
    {
        PlacementOptions placement = emulated_device(0);
        placement.emulated.vram_bytes = 1 << 10;  // less than the scratch
        placement.device_layers = 2;
        DeviceEngine loaded(placement);
        QVERIFY(loaded.count(Event::Kind::Warning) > 0);
        const auto turn = loaded.engine->generate(loaded.sequence, raw(8), loaded.listener(), {});
        QVERIFY(turn);
        QCOMPARE(turn->telemetry.device->layers, 0);
    }
};

SPILLWAY_TEST(QCoreApplication, TestDeviceCommands)
#include "tst_device_commands.moc"
