// Tests that what the user pins stays on the device while anything else can leave, comes back before anything else, and
// changes no word.
#include "tests/engine/run/device_engine.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace test_support;

namespace {

constexpr TokenRange kPinned{16, 48};  // blocks 1 and 2: the first ones that leave otherwise
constexpr int kPromptTokens = 300;

/// Says whether a column is on the device in all layers that see it.
bool on_device(const KvMap& map, int column)
{
    for (int l = 0; l < map.layers; ++l)
        if (map.place(column, l) == KvMap::Place::Host)
            return false;
    return true;
}

int pinned_events(const std::vector<Event>& events, Event::Kind kind)
{
    return int(std::ranges::count_if(events, [&](const Event& e) { return e.kind == kind && e.pinned; }));
}

/// Does the same for a conversation that begins with other words.
Request another(int max_tokens)
{
    Request request = raw(max_tokens);
    request.raw_prompt = "Another one that begins with other words and goes on like this for more than a block";
    return request;
}

/// An answer, with pins that are set when it has begun.
Turn answer_with_pins(DeviceEngine& here, std::vector<TokenRange> pins)
{
    Listener listener = here.listener();
    listener.on_text = [&, texts = 0](std::string_view) mutable {
        if (++texts == 3)
            here.engine->post(SetPins{pins});
    };
    auto turn = here.engine->generate(here.sequence, raw(kPromptTokens), listener, {});
    return turn ? *turn : Turn();
}

}  // namespace

class TestPins : public QObject
{
    Q_OBJECT

    std::string m_on_cpu;

private Q_SLOTS:
    void initTestCase()
    {
        DeviceEngine cpu({});
        const auto turn = cpu.engine->generate(cpu.sequence, raw(kPromptTokens), {}, {});
        QVERIFY(turn);
        m_on_cpu = turn->text;
        QVERIFY(turn->answer.count() == kPromptTokens);
    }

    void whatIsPinnedStaysWhileTheRestLeaves()
    {
        DeviceEngine here(emulated_device(128));
        const Turn turn = answer_with_pins(here, {kPinned});
        QCOMPARE(turn.text, m_on_cpu);
        const KvMap& map = *turn.telemetry.kv_map;
        for (int b = 0; b < map.columns; ++b)
            QCOMPARE(map.pinned(b), b == 1 || b == 2);
        QVERIFY(on_device(map, 0) && on_device(map, 1) && on_device(map, 2));
        QVERIFY(!on_device(map, 3) && !on_device(map, 4));  // these left in their stead
        QVERIFY(here.count(Event::Kind::Offload) > 3);
        QCOMPARE(pinned_events(here.events, Event::Kind::Offload), 0);
        QCOMPARE(here.count(Event::Kind::Warning), 0);
    }

    void whatHasLeftComesBackWhenItIsPinned()
    {
        DeviceEngine here(emulated_device(128));
        const auto turn = here.engine->generate(here.sequence, raw(kPromptTokens), here.listener(), {});
        QVERIFY(turn);
        QVERIFY(!on_device(*turn->telemetry.kv_map, 1) && !on_device(*turn->telemetry.kv_map, 2));
        // There is no room for one more.
        QVERIFY(here.ask(SetVramBudget{turn->telemetry.device->used_bytes() * 100 / 95 + 100}).ok);
        const std::int64_t bytes = here.newest.device->kv_bytes;
        here.events.clear();

        QVERIFY(here.ask(SetPins{{kPinned}}).ok);
        QVERIFY(on_device(*here.newest.kv_map, 1) && on_device(*here.newest.kv_map, 2));
        QVERIFY(here.newest.kv_map->pinned(1) && here.newest.kv_map->pinned(2));
        QCOMPARE(pinned_events(here.events, Event::Kind::Fetch), 2);
        QCOMPARE(here.newest.device->kv_bytes, bytes);
        QCOMPARE(here.count(Event::Kind::Offload), 2);  // in their stead
        for (const Event& event : here.events)
            QVERIFY(event.kind != Event::Kind::Offload || (event.cause == Event::Cause::User && !event.pinned));
        QVERIFY(here.newest.device->used_bytes() <= here.newest.device->watermark_bytes);

        // They are the conversation's: its next turn keeps them, until they are cleared.
        here.events.clear();
        QVERIFY(here.engine->generate(here.sequence, raw(kPromptTokens), here.listener(), {}));
        QCOMPARE(pinned_events(here.events, Event::Kind::Offload), 0);
        QVERIFY(on_device(*here.newest.kv_map, 1));
        QVERIFY(here.ask(SetPins{}).ok);
        QVERIFY(!here.newest.kv_map->pinned(1));
        QVERIFY(here.ask(SetVramBudget{here.newest.device->budget_bytes * 9 / 10}).ok);
        QVERIFY(!on_device(*here.newest.kv_map, 1));  // the oldest is the first to leave again
    }

    void moreThanFitsLeavesAfterAllAndTheAnswerGoesOn()
    {
        DeviceEngine without(emulated_device(128));
        answer_with_pins(without, {});
        DeviceEngine here(emulated_device(128));
        const Turn turn = answer_with_pins(here, {{0, 100'000}});
        QCOMPARE(turn.text, m_on_cpu);
        QCOMPARE(turn.answer.count(), kPromptTokens);
        QVERIFY(turn.telemetry.device->used_bytes() <= turn.telemetry.device->budget_bytes);
        const int left = pinned_events(here.events, Event::Kind::Offload);
        QVERIFY(left > 3);
        QCOMPARE(left, here.count(Event::Kind::Offload));
        QCOMPARE(left, without.count(Event::Kind::Offload));  // no more than if nothing were pinned
        QCOMPARE(here.count(Event::Kind::Warning), 1);
    }

    void ofAForcedShareTheRestLeavesFirst()
    {
        PlacementOptions placement = emulated_device(512);  // there is room for all
        placement.kv_offload_share = 0.5;
        DeviceEngine here(placement);
        const Turn turn = answer_with_pins(here, {kPinned});
        QCOMPARE(turn.text, m_on_cpu);
        const KvMap& map = *turn.telemetry.kv_map;
        QVERIFY(on_device(map, 1) && on_device(map, 2) && !on_device(map, 3));
        QVERIFY(here.ask(SetKvOffloadShare{1.0}).ok);
        QVERIFY(here.engine->generate(here.sequence, raw(8), here.listener(), {}));
        QVERIFY(!on_device(*here.newest.kv_map, 1));
    }

    void anotherConversationHasItsOwnPins()
    {
        DeviceEngine here(emulated_device(512));
        const SequenceId first = here.sequence;
        QVERIFY(here.engine->generate(first, raw(60), here.listener(), {}));
        QVERIFY(here.ask(SetPins{{kPinned}}).ok);
        here.sequence = here.engine->create_sequence().value_or(0);
        QVERIFY(here.engine->generate(here.sequence, another(60), here.listener(), {}));
        QVERIFY(!here.newest.kv_map->pinned(1));
        QVERIFY(here.engine->generate(first, raw(60), here.listener(), {}));
        QVERIFY(here.newest.kv_map->pinned(1));
    }

    void oneThatDidNotRunLastIsPinned()
    {
        DeviceEngine here(emulated_device(512));
        const SequenceId first = here.sequence, second = here.engine->create_sequence().value_or(0);
        QVERIFY(here.engine->generate(first, raw(60), here.listener(), {}));
        QVERIFY(here.engine->generate(second, another(60), here.listener(), {}));
        QVERIFY(here.ask(SetPins{{kPinned}, first}).ok);
        QVERIFY(!here.newest.kv_map->pinned(1));
        QVERIFY(here.engine->generate(second, another(60), here.listener(), {}));
        QVERIFY(!here.newest.kv_map->pinned(1));
        QVERIFY(here.engine->generate(first, raw(60), here.listener(), {}));
        QVERIFY(here.newest.kv_map->pinned(1));
        QVERIFY(!here.ask(SetPins{{kPinned}, second + 100}).ok);
    }

    /// The one of two that are answered together that goes on alone keeps its own pins.
    void whoGoesOnAloneHasNotTheOthersPins()
    {
        for (const int longer : {0, 1}) {  // either of them was computed last when the other one ends
            DeviceEngine here(emulated_device(512));
            const SequenceId second = here.engine->create_sequence().value_or(0);
            const auto one = here.engine->begin(here.sequence, raw(100), here.listener(), {});
            const auto other = here.engine->begin(second, another(60 + longer), here.listener(), {});
            QVERIFY(one && other);
            here.engine->post(SetPins{{kPinned}, second});
            std::shared_ptr<const KvMap> its, others;
            while (!its)
                for (const TurnId over : here.engine->step(here.listener())) {
                    const auto turn = here.engine->end(over);
                    QVERIFY(turn);
                    (over == *one ? its : others) = turn->telemetry.kv_map;
                }
            QVERIFY(others && others->pinned(1));
            QVERIFY(!its->pinned(1));
        }
    }

    void whatMakesNoSenseIsRefused()
    {
        DeviceEngine here(emulated_device(128));
        QVERIFY(!here.ask(SetPins{{kPinned}}).ok);  // there is no conversation yet
        QVERIFY(here.engine->generate(here.sequence, raw(4), here.listener(), {}));
        QVERIFY(!here.ask(SetPins{{{-1, 4}}}).ok);
        QVERIFY(!here.ask(SetPins{{{8, 4}}}).ok);
        QVERIFY(!here.events.back().sentence.empty());
        DeviceEngine cpu({});
        QVERIFY(!cpu.ask(SetPins{{kPinned}}).ok);
    }
};

SPILLWAY_TEST(QCoreApplication, TestPins)
#include "tst_pins.moc"
