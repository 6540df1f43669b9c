// Tests that window and server share one engine: neither waits long for the other, reaches what is the other's, or
// changes its words.
#include "app/server/shared_engine.h"
#include "engine/expert_map.h"
#include "tests/app/server/running_server.h"
#include "tests/support/fake_engine.h"
#include "tests/support/models.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <atomic>
#include <numeric>
#include <thread>

using namespace std::chrono_literals;

namespace {

using Seat = std::unique_ptr<engine::Engine>;

engine::Event event_of(engine::Event::Kind kind, std::uint64_t command = 0)
{
    engine::Event event;
    event.kind = kind;
    event.command = command;
    return event;
}

/// Each of its steps says "a" in every turn, which ends after as many as it was asked for.
class PlainEngine : public engine::Engine
{
public:
    engine::Result<engine::ModelInfo> load(const engine::LoadRequest& request, const engine::Listener&,
                                           std::stop_token stop) override
    {
        loads = true;
        while (load_waits && !stop.stop_requested())
            std::this_thread::sleep_for(1ms);
        loads = false;
        there = !request.model.empty();
        if (!there)
            return engine::fail(engine::Error::Code::NotFound, "there is no such file");
        engine::ModelInfo info;
        info.path = request.model;
        return info;
    }
    void unload() override { there = false; }
    bool loaded() const override { return there; }
    engine::Result<engine::SequenceId> create_sequence() override
    {
        ++live;
        return ++sequences;
    }
    engine::Result<engine::SequenceId> branch(engine::SequenceId, int) override { return create_sequence(); }
    void end_sequence(engine::SequenceId) override { --live; }
    engine::Result<engine::TurnId> begin(engine::SequenceId sequence, const engine::Request& request,
                                         const engine::Listener& listener, std::stop_token stop) override
    {
        turns.push_back({++last, sequence, request.max_tokens, listener, std::move(stop)});
        if (listener.on_prompt)
            listener.on_prompt({});
        return last;
    }
    std::vector<engine::TurnId> step(const engine::Listener& listener) override
    {
        std::this_thread::sleep_for(step_time.load());
        ++steps;
        std::vector<engine::TurnId> over;
        for (PlainTurn& turn : turns)
            if (turn.left-- > 0 && !turn.stop.stop_requested()) {
                turn.listener.on_text("a");
                engine::Telemetry frame;
                frame.phase = engine::Phase::Decode;
                frame.sequence = turn.sequence;
                frame.context_tokens = turn.left;
                frame.kv_bytes_host = steps;
                turn.listener.on_telemetry(frame);
            } else {
                over.push_back(turn.id);
            }
        if (const engine::SequenceId of = moves_of.exchange(0)) {
            engine::Event event = event_of(engine::Event::Kind::Offload);
            event.sequences = {of};
            event.tokens = {16, 32};
            turns.front().listener.on_event(event);
        }
        if (const auto command = posted.exchange(0))
            listener.on_event(event_of(engine::Event::Kind::CommandDone, command));
        if (file_goes)
            there = false;
        return over;
    }
    engine::Result<engine::Turn> end(engine::TurnId id) override
    {
        const auto found = std::ranges::find(turns, id, &PlainTurn::id);
        if (found == turns.end())
            return engine::fail(engine::Error::Code::BadRequest, "there is no such turn");
        if (last_frame && found->listener.on_telemetry)
            found->listener.on_telemetry(*last_frame);
        turns.erase(found);
        return engine::Turn{};
    }
    engine::Result<engine::Turn> generate(engine::SequenceId, const engine::Request&, const engine::Listener&,
                                          std::stop_token) override
    {
        return engine::fail(engine::Error::Code::Unsupported, "turns run by steps");
    }
    engine::Result<int> count_tokens(std::string_view, std::stop_token) const override { return 1; }
    engine::Result<engine::PromptLedger> count_prompt(const engine::Request&, std::stop_token) const override
    {
        return engine::PromptLedger{};
    }
    std::uint64_t post(engine::Command) override
    {
        posted = 7;
        on_posted();
        return 7;
    }
    void poll(const engine::Listener& listener) override
    {
        if (const auto command = posted.exchange(0))
            listener.on_event(event_of(engine::Event::Kind::CommandDone, command));
    }

    struct PlainTurn {
        engine::TurnId id;
        engine::SequenceId sequence;
        int left;
        engine::Listener listener;
        std::stop_token stop;
    };
    std::vector<PlainTurn> turns;
    engine::TurnId last = 0;
    std::optional<engine::Telemetry> last_frame;  // told when a turn ends
    int sequences = 0;
    bool there = false;
    std::atomic<int> steps = 0, live = 0;
    std::atomic<std::uint64_t> posted = 0;
    std::atomic<std::chrono::microseconds> step_time = 0us;
    std::atomic<bool> loads = false, load_waits = false, file_goes = false;
    std::atomic<engine::SequenceId> moves_of = 0;  // a block of it does in the next step
};

engine::Request so_many(int tokens)
{
    engine::Request request;
    request.max_tokens = tokens;
    return request;
}

engine::Listener quiet()
{
    return {};
}

/// Ends the turns of a seat as their owner does, until none is left.
void run_all(engine::Engine& seat, std::size_t turns, const engine::Listener& listener = {})
{
    while (turns > 0)
        for (const engine::TurnId turn : seat.step(listener)) {
            (void)seat.end(turn);
            --turns;
        }
}

}  // namespace

class TestSharedEngine : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        changes = 0;
        plain = new PlainEngine;
        shared = std::make_unique<server::SharedEngine>(std::unique_ptr<engine::Engine>(plain),
                                                        [](const engine::ModelInfo& m) { return m.path != "far"; });
        window = shared->owner();
        port = shared->guest([this] { ++changes; });
    }
    void cleanup()
    {
        port.reset();
        window.reset();
        shared.reset();
    }

    // Every number of an answer depends on its own conversation only.
    void answersAreThoseOfEachAlone()
    {
        struct Asked {
            engine::Request request;
            std::string alone = {}, beside = {};
        };
        std::vector<Asked> asked;
        for (const char* question :
             {"What is a KV cache?", "Why is it slow?", "What does offloading do?", "Hello!", "How do I stop it?"}) {
            engine::Request request = so_many(16 + 5 * int(asked.size()));
            request.messages = {{"user", question}};
            request.sampling.seed = 41 + asked.size();
            request.sampling.temperature = 1.2f;
            asked.push_back({request});
        }
        const auto load = [](engine::Engine& engine) {
            engine::LoadRequest load;
            load.model = server_test::guide_model();
            load.threads = 1;
            return engine.load(load, {}, {}).has_value();
        };
        {
            const auto engine = engine::make_engine();
            QVERIFY(load(*engine));
            for (Asked& one : asked)
                one.alone = engine->generate(*engine->create_sequence(), one.request, {}, {})->text;
        }
        server::SharedEngine both(engine::make_engine());
        const Seat owner = both.owner();
        QVERIFY(load(*owner));
        {
            const std::jthread guest([&] {
                const auto seat = both.guest({});
                seat->look();
                std::map<engine::TurnId, std::size_t> turns;
                for (std::size_t i = 1; i < asked.size(); ++i) {
                    const auto on_text = [&asked, i](std::string_view text) { asked[i].beside += text; };
                    turns[*seat->begin(*seat->create_sequence(), asked[i].request, {.on_text = on_text}, {})] = i;
                }
                run_all(*seat, turns.size());
            });
            for (int round = 0; round < 3; ++round)
                asked[0].beside = owner->generate(*owner->create_sequence(), asked[0].request, {}, {})->text;
        }
        for (const Asked& one : asked) {
            QVERIFY(!one.alone.empty());
            QCOMPARE(one.beside, one.alone);
        }
    }

    void theWindowIsToldSoonWhileThePortIsBusy()
    {
        open();
        plain->step_time = 1ms;
        std::atomic<bool> ends = false;
        const std::jthread guest([&] {
            std::vector<std::stop_source> stops(8);
            for (const std::stop_source& stop : stops)
                (void)*port->begin(*port->create_sequence(), so_many(1'000'000), {}, stop.get_token());
            while (!ends)
                QVERIFY(port->step({}).empty());
            for (std::stop_source& stop : stops)
                stop.request_stop();
            run_all(*port, 8);
        });
        QTRY_VERIFY_WITH_TIMEOUT(plain->steps > 5, 5000);
        const int begun = plain->steps;
        int said = 0;
        engine::Listener listener;
        listener.on_text = [&](std::string_view) { ++said; };
        QVERIFY(window->generate(*window->create_sequence(), so_many(200), listener, {}));
        const int taken = plain->steps - begun;
        QCOMPARE(said, 200);
        // The window asks for counts now, and is let in between two steps.
        const int before = plain->steps;
        for (int i = 0; i < 100; ++i)
            QVERIFY(window->count_tokens("x", {}));
        const int waited = plain->steps - before;
        ends = true;
        qInfo("200 tokens took %d steps, 100 counts %d", taken, waited);
        QVERIFY(taken < 3 * 200);
        QVERIFY(waited < 3 * 100);
    }

    void aSeatIsToldOnItsOwnThread()
    {
        open();
        plain->step_time = 100us;
        std::atomic<int> told = 0, elsewhere = 0;
        const auto run = [&](engine::Engine& seat) {
            const auto here = std::this_thread::get_id();
            const auto note = [&told, &elsewhere, here] {
                ++told;
                elsewhere += std::this_thread::get_id() == here ? 0 : 1;
            };
            engine::Listener listener;
            listener.on_prompt = [=](const engine::PromptLedger&) { note(); };
            listener.on_text = [=](std::string_view) { note(); };
            listener.on_telemetry = [=](const engine::Telemetry&) { note(); };
            listener.on_event = [=](const engine::Event&) { note(); };
            for (int i = 0; i < 20; ++i) {
                const auto sequence = seat.create_sequence();
                plain->moves_of = 1;
                (void)seat.generate(*sequence, so_many(20), listener, {});
                seat.end_sequence(*sequence);
            }
        };
        {
            const std::jthread guest([&] { run(*port); });
            run(*window);
        }
        QVERIFY(told >= 2 * 20 * (1 + 20 + 20));
        QCOMPARE(elsewhere.load(), 0);
        QCOMPARE(plain->live.load(), 0);
    }

    void noneReachesWhatIsAnothers()
    {
        open();
        const auto mine = window->create_sequence();
        const auto second = window->create_sequence();
        QVERIFY(!port->begin(*second, so_many(1), {}, {}));
        QVERIFY(!port->branch(*mine, -1));
        port->end_sequence(*second);
        QCOMPARE(plain->live.load(), 2);
        const auto turn = window->begin(*mine, so_many(5), quiet(), {});
        QVERIFY(turn);
        QCOMPARE(port->end(*turn).error().code, engine::Error::Code::BadRequest);
        QVERIFY(window->end(*turn));
        QCOMPARE(window->end(*turn).error().code, engine::Error::Code::BadRequest);
    }

    void whichModelIsOpenIsDecidedInTheWindow()
    {
        QCOMPARE(port->load({.model = "b"}, {}, {}).error().code, engine::Error::Code::Unsupported);
        QVERIFY(!port->loaded());
        QCOMPARE(port->create_sequence().error().code, engine::Error::Code::NotLoaded);
        open();
        QVERIFY(port->loaded() && window->loaded());
        QCOMPARE(changes, 2);  // nothing, and then a model
        QCOMPARE(shared->open().model->path, std::filesystem::path("a"));
        port->unload();
        QVERIFY(port->loaded());
        QCOMPARE(port->post(engine::SetThreads{1}), std::uint64_t(0));
        QVERIFY(!window->load({}, {}, {}));
        QVERIFY(!port->loaded() && !window->loaded());
        QVERIFY(window->load({.model = "far"}, {}, {}));  // what is open elsewhere is not shared
        port->look();
        QVERIFY(!port->loaded() && window->loaded() && !shared->open().model);
        QCOMPARE(port->create_sequence().error().code, engine::Error::Code::NotLoaded);
    }

    void anotherModelEndsTheTurnsOfThePort()
    {
        open();
        std::string said;
        engine::Listener listener;
        listener.on_text = [&](std::string_view text) { said += text; };
        const auto sequence = port->create_sequence();
        const auto turn = port->begin(*sequence, so_many(100), listener, {});
        QVERIFY(port->step({}).empty());
        const auto generation = shared->open().generation;
        QVERIFY(window->load({.model = "b"}, {}, {}));
        QCOMPARE(port->create_sequence().error().code, engine::Error::Code::NotLoaded);  // it has not looked since
        QCOMPARE(port->look().model->path, std::filesystem::path("b"));
        QVERIFY(shared->open().generation > generation);
        QCOMPARE(plain->turns.size(), std::size_t(0));
        QCOMPARE(plain->live.load(), 0);
        const auto over = port->step({});
        QCOMPARE(over.size(), std::size_t(1));
        const auto result = port->end(over.front());
        QCOMPARE(over.front(), *turn);
        QCOMPARE(result.error().code, engine::Error::Code::NotLoaded);
        QVERIFY(QString::fromStdString(result.error().what).contains("window"));
        QCOMPARE(said, std::string("a"));
        // Its number is nobody's now, although the engine's may be another conversation's.
        QVERIFY(!port->begin(*sequence, so_many(1), {}, {}));
        QVERIFY(port->begin(*port->create_sequence(), so_many(1), {}, {}));
    }

    void whileAModelIsOpenedNobodyWaits()
    {
        open();
        plain->load_waits = true;
        const std::jthread loading([&] { QVERIFY(window->load({.model = "a"}, {}, {})); });
        QTRY_VERIFY_WITH_TIMEOUT(plain->loads, 5000);
        QElapsedTimer timer;
        timer.start();
        QCOMPARE(port->create_sequence().error().code, engine::Error::Code::NotLoaded);
        QVERIFY(port->step({}).empty());
        QVERIFY(!port->count_prompt({}, {}));
        port.reset();
        port = shared->guest([this] { ++changes; });
        QVERIFY(timer.elapsed() < 5000);
        plain->load_waits = false;
    }

    void aModelWhoseFileGoesEndsTheTurnsToo()
    {
        open();
        const auto turn = port->begin(*port->create_sequence(), so_many(100), quiet(), {});
        plain->file_goes = true;
        QVERIFY(window->generate(*window->create_sequence(), so_many(0), quiet(), {}));
        plain->file_goes = false;
        QVERIFY(!window->loaded() && !port->loaded());
        QCOMPARE(port->step({}).size(), std::size_t(1));
        QCOMPARE(port->end(*turn).error().code, engine::Error::Code::NotLoaded);
    }

    void onePlaceIsTheWindows()
    {
        open();
        for (int i = 1; i < engine::kMostRowsTogether; ++i)
            QVERIFY(port->begin(*port->create_sequence(), so_many(3), quiet(), {}));
        QCOMPARE(port->begin(*port->create_sequence(), so_many(3), quiet(), {}).error().code,
                 engine::Error::Code::BadRequest);
        QVERIFY(window->generate(*window->create_sequence(), so_many(3), quiet(), {}));
        run_all(*port, engine::kMostRowsTogether - 1);
        QVERIFY(port->begin(*port->create_sequence(), so_many(3), quiet(), {}));
    }

    // Whoever measures the machine must not do so beside them.
    void turnsOfThePortAreCountedAndSaid()
    {
        int said = 0;
        shared->set_on_guest_turn([&] { ++said; });
        open();
        QVERIFY(window->generate(*window->create_sequence(), so_many(3), quiet(), {}));
        QCOMPARE(said, 0);
        QCOMPARE(shared->guest_turns(), 0);
        QVERIFY(port->begin(*port->create_sequence(), so_many(3), quiet(), {}));
        QVERIFY(port->begin(*port->create_sequence(), so_many(3), quiet(), {}));
        QCOMPARE(said, 2);
        QCOMPARE(shared->guest_turns(), 2);
        run_all(*port, 2);
        QCOMPARE(shared->guest_turns(), 0);
        QCOMPARE(said, 2);
    }

    void aSeatThatGoesTakesItsTurnsAlong()
    {
        open();
        QVERIFY(port->begin(*port->create_sequence(), so_many(3), quiet(), {}));
        QVERIFY(port->create_sequence());
        QVERIFY(window->create_sequence());
        port.reset();
        QCOMPARE(plain->turns.size(), std::size_t(0));
        QCOMPARE(plain->live.load(), 1);
        port = shared->guest({});
        QVERIFY(!port->create_sequence());  // it has not looked
        port->look();
        QVERIFY(port->begin(*port->create_sequence(), so_many(3), quiet(), {}));
        window.reset();  // the engine ends
        QVERIFY(!port->create_sequence());
        QCOMPARE(port->step({}).size(), std::size_t(1));
    }

    // What the port's turns do to memory is shown in the window, whose own conversation stays what it shows.
    void theWindowHearsOfTheModelAtAnyTime()
    {
        int woken = 0;
        window->on_posted = [&] { ++woken; };
        open();
        QVERIFY(window->generate(*window->create_sequence(), so_many(3), quiet(), {}));
        QVERIFY(port->begin(*port->create_sequence(), so_many(50), quiet(), {}));
        const auto id = window->post(engine::SetThreads{1});
        QCOMPARE(woken, 1);
        plain->moves_of = 1;
        for (int i = 0; i < 10; ++i)
            QVERIFY(port->step({}).empty());
        QCOMPARE(woken, 1);  // it has not come yet
        std::vector<engine::Event> events;
        std::vector<engine::Telemetry> frames;
        engine::Listener listener;
        listener.on_event = [&](const engine::Event& event) { events.push_back(event); };
        listener.on_telemetry = [&](const engine::Telemetry& frame) { frames.push_back(frame); };
        window->poll(listener);
        QCOMPARE(events.size(), std::size_t(2));
        QVERIFY(events[0].kind == engine::Event::Kind::Offload);
        QCOMPARE(events[1].command, id);
        QVERIFY(!frames.empty() && frames.size() <= 3);  // of many only the newest
        QVERIFY(frames.back().phase == engine::Phase::Idle);
        QCOMPARE(frames.back().kv_bytes_host, std::int64_t(plain->steps));
        QCOMPARE(frames.back().sequence, 1);
        QCOMPARE(frames.back().context_tokens, 0);
        QVERIFY(port->step({}).empty());
        QCOMPARE(woken, 2);
        window->on_posted = {};
    }

    void theWindowHearsNothingOfAModelThatIsGone()
    {
        open();
        QVERIFY(port->begin(*port->create_sequence(), so_many(50), quiet(), {}));
        plain->last_frame.emplace().kv_bytes_host = 1'000'000;
        open();  // another one: the port's turn ends
        std::vector<engine::Telemetry> frames;
        window->poll({.on_telemetry = [&](const engine::Telemetry& frame) { frames.push_back(frame); }});
        QVERIFY(frames.empty());
    }

    // Conversations are told apart by each seat's own numbers; of another seat's it learns only that something moved.
    void eachSeatLearnsWhatMovedOfItsOwn()
    {
        open();
        std::vector<engine::Event> seen_by_port, seen_by_window;
        engine::Listener listener = quiet();
        listener.on_event = [&](const engine::Event& event) { seen_by_port.push_back(event); };
        const engine::SequenceId of_port = *port->create_sequence();  // the engine's first
        const engine::SequenceId of_window = *window->create_sequence();
        QCOMPARE(of_port, of_window);
        QVERIFY(port->begin(of_port, so_many(50), listener, {}));
        for (const engine::SequenceId in_engine : {1, 2}) {
            plain->moves_of = in_engine;
            QVERIFY(port->step({}).empty());
        }
        listener.on_event = [&](const engine::Event& event) { seen_by_window.push_back(event); };
        window->poll(listener);
        QCOMPARE(seen_by_port.size(), std::size_t(2));
        QCOMPARE(seen_by_window.size(), std::size_t(2));
        const auto knows = [](const engine::Event& event) {
            return event.sequences == std::vector{1} && event.tokens.first == 16 && event.tokens.last == 32;
        };
        const auto is_told_nothing = [](const engine::Event& event) {
            return event.sequences.empty() && event.tokens.count() == 0;
        };
        QVERIFY(knows(seen_by_port[0]) && is_told_nothing(seen_by_port[1]));
        QVERIFY(is_told_nothing(seen_by_window[0]) && knows(seen_by_window[1]));
    }

    // Which experts lie where is the model's; which of them tokens chose is each conversation's.
    void theWindowCountsOnlyItsOwnChoicesOfExperts()
    {
        server::SharedEngine both(engine::make_engine());
        const Seat owner = both.owner();
        engine::LoadRequest load;
        load.model = (test_support::own_models_folder() + "/qwen3moe.gguf").toStdString();
        load.threads = 1;
        QVERIFY(owner->load(load, {}, {}));
        const auto guest = both.guest({});
        guest->look();
        using Map = std::shared_ptr<const engine::ExpertMap>;
        const auto chosen = [](const Map& map) {
            return std::accumulate(map->in_conversation.begin(), map->in_conversation.end(), 0LL);
        };
        Map seen;
        const auto note = [&seen](const engine::Telemetry& frame) { seen = frame.expert_map; };
        engine::Request request = so_many(8);
        request.messages = {{"user", "Hello!"}};
        const auto conversation = owner->create_sequence();
        auto answer = owner->generate(*conversation, request, {.on_telemetry = note}, {});
        QVERIFY(answer);
        const auto own = chosen(answer->telemetry.expert_map);
        QVERIFY(own > 0);

        request.messages = {{"user", "What is a KV cache, and why is it slow?"}};
        seen.reset();
        QVERIFY(guest->begin(*guest->create_sequence(), request, quiet(), {}));
        run_all(*guest, 1);
        owner->poll({.on_telemetry = note});
        QVERIFY(seen);
        QVERIFY(!seen->places.empty());
        QCOMPARE(chosen(seen), own);
    }

private:
    void open()
    {
        QVERIFY(window->load({.model = "a"}, {}, {}));
        port->look();
    }

    PlainEngine* plain = nullptr;
    std::unique_ptr<server::SharedEngine> shared;
    Seat window;
    std::unique_ptr<server::GuestEngine> port;
    std::atomic<int> changes = 0;
};

SPILLWAY_TEST(QCoreApplication, TestSharedEngine)
#include "tst_shared_engine.moc"
