// Devices through the engine's front door: what is posted while it talks, what it reports, and how it stops.
#include "engine/engine.h"
#include "tests/support/models.h"

#include <QtTest>

#include <algorithm>

using namespace engine;

namespace {

struct Loaded {
    std::unique_ptr<Engine> engine = make_engine();
    SequenceId sequence = 0;
    std::vector<Event> events;
    Telemetry newest;
    std::string device;  // as the model's facts name it

    explicit Loaded(const PlacementOptions& placement)
    {
        LoadRequest request;
        request.model = (test_support::own_models_folder() + "/gemma3.gguf").toStdString();
        request.kv_block_tokens = 16;
        request.threads = 1;
        request.context_tokens = 512;
        request.placement = placement;
        const auto info = engine->load(request, listener(), {});
        if (!info)
            qWarning("%s", info.error().what.c_str());
        else
            device = info->device;
        sequence = engine->create_sequence().value_or(0);
    }

    Listener listener()
    {
        Listener out;
        out.on_event = [this](const Event& event) { events.push_back(event); };
        out.on_telemetry = [this](const Telemetry& telemetry) { newest = telemetry; };
        return out;
    }
    int count(Event::Kind kind) const { return int(std::ranges::count(events, kind, &Event::kind)); }
    const Event* answer_to(std::uint64_t command) const
    {
        const auto found = std::ranges::find(events, command, &Event::command);
        return found == events.end() ? nullptr : &*found;
    }
};

PlacementOptions emulated(int fit_tokens)
{
    PlacementOptions placement;
    placement.device = PlacementOptions::Device::Emulated;
    placement.emulated.fit_tokens = fit_tokens;
    placement.emulated.link_bytes_per_s = 0;
    return placement;
}

Request raw(int max_tokens)
{
    Request request;
    request.raw_prompt = "Once upon a time there was a machine with two memories, and they did not agree";
    request.max_tokens = max_tokens;
    request.sampling.temperature = 0;  // this model then goes round in a circle and does not end by itself
    return request;
}

}  // namespace

class TestDeviceCommands : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aSplitPostedInMidAnswerMovesLayersAndChangesNoWord()
    {
        const auto alone = [] {
            Loaded cpu({});
            return cpu.engine->generate(cpu.sequence, raw(300), {}, {});
        }();
        QVERIFY(alone);
        Loaded loaded(emulated(96));
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

    void whenIdleLayersMoveAtOnce()
    {
        Loaded loaded(emulated(512));
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

    void telemetrySaysWhereEverythingLies()
    {
        Loaded loaded(emulated(64));
        const auto turn = loaded.engine->generate(loaded.sequence, raw(200), loaded.listener(), {});
        QVERIFY(turn);
        const Telemetry& t = turn->telemetry;
        QVERIFY(t.device);
        QCOMPARE(t.device->id, std::string("emulated"));
        QCOMPARE(loaded.device, std::string("emulated"));
        QVERIFY(Loaded({}).device.empty());
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
        PlacementOptions placement = emulated(160);
        placement.kv_policy = KvPolicy::Resident;
        placement.watermark = 1.0;
        Loaded loaded(placement);
        const auto turn = loaded.engine->generate(loaded.sequence, raw(400), loaded.listener(), {});
        QVERIFY(turn);
        QCOMPARE(turn->reason, StopReason::ContextFull);
        QVERIFY(!turn->text.empty());
        QVERIFY(turn->answer.count() < 400);
    }

    void withoutADeviceASentenceSaysSo()
    {
        Loaded loaded({});
        const std::uint64_t command = loaded.engine->post(SetVramBudget{1 << 20});
        loaded.engine->poll(loaded.listener());
        QVERIFY(!loaded.answer_to(command)->ok);
        QVERIFY(!loaded.answer_to(command)->sentence.empty());
        QVERIFY(!loaded.newest.device);
    }

    void layersThatFindNoRoomAreNamed()
    {
        PlacementOptions placement = emulated(0);
        placement.emulated.vram_bytes = 1 << 10;  // less than the scratch
        placement.device_layers = 2;
        Loaded loaded(placement);
        QVERIFY(loaded.count(Event::Kind::Warning) > 0);
        const auto turn = loaded.engine->generate(loaded.sequence, raw(8), loaded.listener(), {});
        QVERIFY(turn);
        QCOMPARE(turn->telemetry.device->layers, 0);
    }
};

QTEST_GUILESS_MAIN(TestDeviceCommands)
#include "tst_device_commands.moc"
