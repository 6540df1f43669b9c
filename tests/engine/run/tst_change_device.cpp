// Tests that a loaded model can change its device without a bit of what it says changing, and that a device which
// cannot be opened changes nothing.
#include "engine/run/frames.h"
#include "tests/engine/run/device_engine.h"
#include "tests/support/placement_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <map>

Q_DECLARE_METATYPE(engine::PlacementOptions)

using namespace test_support;

namespace {

PlacementOptions small_device(int fit_tokens, double link_bytes_per_s = 0)
{
    PlacementOptions placement = emulated_device(fit_tokens);
    placement.emulated.link_bytes_per_s = link_bytes_per_s;
    return placement;
}

/// The answer of an engine that computes on the CPU alone, and nothing else.
std::string said_by_the_cpu(int tokens)
{
    DeviceEngine cpu({});
    const auto turn = cpu.engine->generate(cpu.sequence, raw(tokens), {}, {});
    return turn ? turn->text : std::string();
}

}  // namespace

class TestChangeDevice : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void nothingIsCountedBelowZero_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* const name : {"qwen3", "qwen35", "gemma4-e", "deepseek2", "type-Q4_K"})
            QTest::addRow("%s", name) << QString(name);
    }
    void nothingIsCountedBelowZero()
    {
        QFETCH(QString, name);
        const auto model = load(emulated(name, 4000));
        QVERIFY(model);
        QCOMPARE(model->placement().layers(), model->info().layers);
        const Telemetry frame = Frames().make(*model, {}, nullptr, Phase::Idle);
        QVERIFY(frame.device);
        for (const std::int64_t bytes :
             {frame.weight_bytes_host, frame.weight_bytes_device, frame.kv_bytes_host, frame.kv_bytes_device,
              frame.state_bytes_host, frame.device->state_bytes, frame.scratch_bytes})
            QVERIFY2(bytes >= 0, qPrintable(QString::number(bytes)));
    }

    void noLogitChangesWithTheDevice_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* const name : {"llama", "gemma3", "gpt-oss", "gemma4-e", "type-Q4_K", "type-Q8_0"})
            QTest::addRow("%s", name) << QString(name);
    }
    void noLogitChangesWithTheDevice()
    {
        QFETCH(QString, name);
        const auto cpu = load(request_for(name));
        QVERIFY(cpu);
        const Run alone = run(*cpu);
        QVERIFY(alone.status);
        for (const KvPolicy policy : {KvPolicy::Stream, KvPolicy::Merge, KvPolicy::CpuDecode}) {
            LoadRequest request = request_for(name);
            request.placement.kv_policy = policy;
            const auto model = load(request);
            QVERIFY(model);
            std::map<int, int> layers;  // by the length at which they were looked at
            const Run here = run(*model, [&](int done) {
                const std::map<int, PlacementOptions> wishes = {
                    {80, small_device(64)}, {200, small_device(200, 1e9)}, {300, {}}, {350, small_device(100)}};
                if (const auto wish = wishes.find(done); wish != wishes.end())
                    if (const Status ok = model->change_device(wish->second, {}); !ok)
                        qWarning("%s", ok.error().what.c_str());
                layers[done] = model->placement().layers();
            });
            QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
            QCOMPARE(first_difference(here.logits, alone.logits), -1);
            QCOMPARE(count(here.events, Event::Kind::DeviceChanged), 4);
            QCOMPARE(count(here.events, Event::Kind::Warning), 0);
            QVERIFY(layers[190] > 0 && layers[290] > 0 && layers[390] > 0);
            QCOMPARE(layers[340], 0);
            QCOMPARE(model->placement().policy(), policy);
            const auto device = *model->placement().telemetry();
            QCOMPARE(device.id, std::string("emulated"));
            QVERIFY(device.used_bytes() <= device.budget_bytes);
        }
    }

    void otherKvTypesOnTheWayAreThoseOfTheNewDevice()
    {
        const auto changed = [](LoadedModel& model, const PlacementOptions& wish) {
            return run(model, [&model, wish](int done) {
                if (done == 200 && !model.change_device(wish, {}))
                    qWarning("the device was not opened");
                if (done == 200 && !model.set_kv_types(KvType::F32, KvType::F32))
                    qWarning("the types were refused");
            });
        };
        const auto cpu = load(request_for("gemma3")), device = load(emulated("gemma3", 64));
        QVERIFY(cpu && device);
        const Run alone = changed(*cpu, {}), here = changed(*device, small_device(200));
        QVERIFY(alone.status && here.status);
        QCOMPARE(first_difference(here.logits, alone.logits), -1);
        QCOMPARE(count(here.events, Event::Kind::DeviceChanged), 1);
        QVERIFY(device->placement().layers() > 0);
    }

    void inMidAnswerNoWordChanges()
    {
        DeviceEngine loaded({});
        QVERIFY(loaded.device.empty());
        Listener listener = loaded.listener();
        std::vector<std::uint64_t> posted;
        std::vector<std::string> seen;  // names of the devices in the frames
        listener.on_telemetry = [&](const Telemetry& frame) {
            seen.push_back(frame.device ? frame.device->id : "cpu");
            loaded.newest = frame;
        };
        listener.on_text = [&, texts = 0](std::string_view) mutable {
            const std::map<int, PlacementOptions> wishes = {
                {10, small_device(96)}, {60, small_device(200, 2e9)}, {120, {}}, {160, small_device(128)}};
            if (const auto wish = wishes.find(++texts); wish != wishes.end())
                posted.push_back(loaded.engine->post(SetDevice{wish->second}));
        };
        const auto turn = loaded.engine->generate(loaded.sequence, raw(300), listener, {});
        QVERIFY(turn);
        QCOMPARE(turn->text, said_by_the_cpu(300));
        QCOMPARE(posted.size(), std::size_t(4));
        for (const std::uint64_t command : posted)
            QVERIFY(loaded.answer_to(command) && loaded.answer_to(command)->ok);
        std::vector<std::string> changes;
        for (const Event& event : loaded.events)
            if (event.kind == Event::Kind::DeviceChanged)
                changes.push_back(event.sentence);
        QCOMPARE(changes, (std::vector<std::string>{"cpu → emulated", "emulated → emulated", "emulated → cpu",
                                                    "cpu → emulated"}));
        QCOMPARE(seen.front(), std::string("cpu"));
        QCOMPARE(seen.back(), std::string("emulated"));
        QVERIFY(turn->telemetry.device->kv_blocks > 0);
    }

    void betweenTurnsTheConversationGoesAlong()
    {
        const auto two_turns = [](DeviceEngine& loaded, const std::vector<PlacementOptions>& devices) {
            QVERIFY(loaded.engine->generate(loaded.sequence, raw(60), loaded.listener(), {}));
            for (const PlacementOptions& device : devices)
                QVERIFY(loaded.ask(SetDevice{device}).ok);
        };
        DeviceEngine alone({}), loaded({});
        two_turns(alone, {});
        two_turns(loaded, {small_device(512)});
        QCOMPARE(loaded.newest.phase, Phase::Idle);
        QVERIFY(loaded.newest.device);
        QCOMPARE(loaded.newest.device->layers, loaded.newest.device->layers_wanted);
        QVERIFY(loaded.newest.device->layers > 0);
        QVERIFY(loaded.newest.device->kv_blocks > 0);  // at once, not with the next question
        two_turns(alone, {});
        two_turns(loaded, {small_device(64), {}});
        QVERIFY(!loaded.newest.device);
        QCOMPARE(loaded.newest.kv_bytes_device, std::int64_t(0));
        const auto one = alone.engine->generate(alone.sequence, raw(80), {}, {});
        const auto other = loaded.engine->generate(loaded.sequence, raw(80), loaded.listener(), {});
        QVERIFY(one && other);
        QCOMPARE(other->text, one->text);
        QCOMPARE(other->telemetry.reused_tokens, one->telemetry.reused_tokens);  // nothing was computed anew
        QVERIFY(!other->telemetry.device);
    }

    void whatCannotBeOpenedChangesNothing_data()
    {
        QTest::addColumn<PlacementOptions>("wish");
        PlacementOptions gpu, negative = emulated_device(64), layers = emulated_device(64);
        gpu.device = PlacementOptions::Device::Cuda;
        gpu.cuda_ordinal = 97;
        negative.emulated.vram_bytes = -1;
        layers.device_layers = -1;
        QTest::newRow("no such GPU") << gpu;
        QTest::newRow("less than no memory") << negative;
        QTest::newRow("less than no layer") << layers;
    }
    void whatCannotBeOpenedChangesNothing()
    {
        QFETCH(PlacementOptions, wish);
        DeviceEngine loaded(emulated_device(512));
        QVERIFY(loaded.engine->generate(loaded.sequence, raw(30), loaded.listener(), {}));
        const Telemetry before = loaded.newest;
        const Event answer = loaded.ask(SetDevice{wish});
        QVERIFY(!answer.ok);
        QVERIFY(!answer.sentence.empty());
        QCOMPARE(loaded.count(Event::Kind::DeviceChanged), 0);
        QCOMPARE(loaded.count(Event::Kind::LayerMove), 0);
        QVERIFY(loaded.ask(SetWatermark{0.96}).ok);  // for a frame
        QCOMPARE(loaded.newest.device->layers, before.device->layers);
        QCOMPARE(loaded.newest.device->total_bytes, before.device->total_bytes);
        DeviceEngine nothing({});
        nothing.engine->unload();
        QVERIFY(!nothing.ask(SetDevice{emulated_device(64)}).ok);
    }

    void halfWayItCanBeGivenUp()
    {
        DeviceEngine loaded(emulated_device(512));
        const int all = loaded.newest.device->layers;
        QVERIFY(all > 2);
        Listener listener = loaded.listener();
        std::uint64_t leave = 0, stay = 0, come = 0, stop = 0;
        listener.on_event = [&](const Event& event) {
            loaded.events.push_back(event);
            const int moves = loaded.count(Event::Kind::LayerMove);
            if (event.kind == Event::Kind::LayerMove && moves == 1)
                stay = loaded.engine->post(SetDeviceLayers{});  // on the device that it was to leave
            if (event.kind == Event::Kind::LayerMove && moves == 2)
                come = loaded.engine->post(SetDevice{emulated_device(400)});
            if (event.kind == Event::Kind::LayerMove && loaded.count(Event::Kind::DeviceChanged) == 1 && stop == 0)
                stop = loaded.engine->post(SetDeviceLayers{1});  // one has come to the other device
        };
        listener.on_text = [&](std::string_view) {
            if (leave == 0)
                leave = loaded.engine->post(SetDevice{});
        };
        const auto turn = loaded.engine->generate(loaded.sequence, raw(120), listener, {});
        QVERIFY(turn);
        QCOMPARE(turn->text, said_by_the_cpu(120));
        for (const std::uint64_t command : {leave, stay, come, stop})
            QVERIFY(loaded.answer_to(command) && loaded.answer_to(command)->ok);
        QCOMPARE(loaded.count(Event::Kind::DeviceChanged), 1);
        QCOMPARE(turn->telemetry.device->layers, 1);
        QCOMPARE(turn->telemetry.device->layers_wanted, 1);
    }

    void aBudgetThatIsChosenOnTheWayIsTheNextDevices()
    {
        DeviceEngine loaded(emulated_device(512));
        const std::int64_t budget = loaded.newest.device->used_bytes() / 2;
        Listener listener = loaded.listener();
        std::uint64_t leave = 0, choose = 0;
        listener.on_event = [&](const Event& event) {
            loaded.events.push_back(event);
            if (event.kind == Event::Kind::LayerMove && choose == 0)
                choose = loaded.engine->post(SetVramBudget{budget});
        };
        listener.on_text = [&](std::string_view) {
            if (leave == 0)
                leave = loaded.engine->post(SetDevice{emulated_device(400)});
        };
        const auto turn = loaded.engine->generate(loaded.sequence, raw(120), listener, {});
        QVERIFY(turn);
        QCOMPARE(turn->text, said_by_the_cpu(120));
        for (const std::uint64_t command : {leave, choose})
            QVERIFY(loaded.answer_to(command) && loaded.answer_to(command)->ok);
        QCOMPARE(loaded.count(Event::Kind::DeviceChanged), 1);
        QCOMPARE(turn->telemetry.device->budget_bytes, budget);
        QVERIFY(turn->telemetry.device->used_bytes() <= budget);
    }

    void aDeviceWithoutRoomForALayerHoldsNone()
    {
        DeviceEngine loaded({});
        PlacementOptions tiny = emulated_device(0);
        tiny.emulated.vram_bytes = 1024;
        QVERIFY(loaded.ask(SetDevice{tiny}).ok);
        QVERIFY(loaded.newest.device);
        QCOMPARE(loaded.newest.device->layers, 0);
        const auto turn = loaded.engine->generate(loaded.sequence, raw(40), loaded.listener(), {});
        QVERIFY(turn);
        QCOMPARE(turn->text, said_by_the_cpu(40));
        QVERIFY(loaded.ask(SetDevice{emulated_device(256)}).ok);
        QVERIFY(loaded.newest.device->layers > 0);
    }

    void theSameDeviceTakesAnotherBudgetWithoutBeingClosed()
    {
        DeviceEngine loaded(emulated_device(512));
        PlacementOptions wish = emulated_device(512);
        wish.vram_budget_bytes = loaded.newest.device->used_bytes() + 1000;
        QVERIFY(loaded.ask(SetDevice{wish}).ok);
        QCOMPARE(loaded.newest.device->budget_bytes, wish.vram_budget_bytes);
        QCOMPARE(loaded.count(Event::Kind::DeviceChanged), 0);
    }

    void aDeviceThatIsLostOnTheWayIsSurvived_data()
    {
        QTest::addColumn<int>("call");
        for (const int call : {1, 20, 60, 200, 900})
            QTest::addRow("at call %d", call) << call;
    }
    void aDeviceThatIsLostOnTheWayIsSurvived()
    {
        QFETCH(int, call);
        DeviceEngine loaded({});
        PlacementOptions failing = emulated_device(200);
        failing.emulated.lose_at_call = call;
        Listener listener = loaded.listener();
        listener.on_text = [&, texts = 0](std::string_view) mutable {
            if (++texts == 10)
                loaded.engine->post(SetDevice{failing});
            if (texts == 60)
                loaded.engine->post(SetDevice{emulated_device(128)});
        };
        const auto turn = loaded.engine->generate(loaded.sequence, raw(160), listener, {});
        QVERIFY(turn);
        QCOMPARE(turn->text, said_by_the_cpu(160));
        QVERIFY(turn->telemetry.device && turn->telemetry.device->layers > 0);  // the second one holds
    }
};

SPILLWAY_TEST(QCoreApplication, TestChangeDevice)
#include "tst_change_device.moc"
