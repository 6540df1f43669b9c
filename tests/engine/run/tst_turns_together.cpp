// Tests that turns of several conversations that advance in the same steps say what each says alone, and leave the same
// keys and values, whatever is begun, drafted, cancelled and ended beside them.
#include "engine/kv/lost_tokens.h"
#include "engine/run/conversations.h"
#include "engine/run/running_turns.h"
#include "tests/support/placement_run.h"
#include "tests/support/test_program.h"

#include <QRandomGenerator>
#include <QtTest>

#include <list>

using namespace test_support;

namespace {

const QString kWords =
    QStringLiteral("the cat sat on the mat and the dog sat on the cat and the cat sat on the mat while rain fell ");

/// A turn to be run, and what is done to it.
struct TurnPlan {
    Request request;
    int stop_at = -1;  // the piece of text at which it is stopped
    std::uint64_t seed = 0;
};

/// Holds what can be seen of a turn.
struct Said {
    std::string text;
    StopReason reason = StopReason::EndOfTurn;
    std::vector<int> ids;       // in the KV cache at the end
    std::vector<float> logits;  // of one more token behind them: other keys and values give others
    int generated = 0;
};

bool operator==(const Said& a, const Said& b)
{
    return a.text == b.text && a.reason == b.reason && a.ids == b.ids && a.generated == b.generated &&
           a.logits.size() == b.logits.size() &&
           std::memcmp(a.logits.data(), b.logits.data(), a.logits.size() * sizeof(float)) == 0;
}

std::vector<TurnPlan> plans(std::mt19937& random, int count)
{
    std::vector<TurnPlan> out(static_cast<std::size_t>(count));
    const std::string words = kWords.toStdString();
    for (TurnPlan& plan : out) {
        for (std::size_t length = random() % 4; plan.request.raw_prompt.size() < 20 + length * words.size() / 2;)
            plan.request.raw_prompt += words.substr(random() % (words.size() / 2));
        plan.request.max_tokens = int(random() % 40);
        plan.request.most_drafted = random() % 2 ? 1 + int(random() % 15) : 0;
        plan.request.sampling.temperature = random() % 2 ? 0.0f : 0.2f * float(random() % 5);
        plan.stop_at = random() % 4 ? -1 : 1 + int(random() % 20);
        plan.seed = random();
    }
    return out;
}

/// A conversation with a turn that is made of a plan.
struct Running {
    Conversation conversation;
    std::stop_source stop;
    int pieces = 0;
    std::vector<int> frames_of;
    std::function<void()> on_end = {};
    TurnId id = 0;

    std::unique_ptr<TurnStepper> make(LoadedModel& model, const TurnPlan& plan, int number)
    {
        Listener listener;
        listener.on_text = [this, at = plan.stop_at](std::string_view) {
            if (++pieces == at)
                stop.request_stop();
        };
        listener.on_telemetry = [this](const Telemetry& t) {
            frames_of.push_back(t.sequence);
            if (t.phase == Phase::Idle && on_end)
                on_end();
        };
        TurnHost host{model, conversation.frames, listener, stop.get_token(), [](Conversation&) { return false; }};
        host.sequence = number;
        return std::make_unique<TurnStepper>(std::move(host), conversation, plan.request, plan.seed);
    }
};

Said said_of(LoadedModel& model, const Result<Turn>& turn, KvSequence& kv)
{
    if (!turn)
        qFatal("%s", turn.error().what.c_str());
    Said said{turn->text, turn->reason, kv.ids, {}, turn->telemetry.generated_tokens};
    const int one = 1;
    if (const Status ok = model.append(kv, std::span(&one, 1)); ok) {
        const auto logits = model.logits(kv, 0);
        said.logits.assign(logits->begin(), logits->end());
    }
    model.cache().truncate(kv, 0);
    return said;
}

Said alone(LoadedModel& model, const TurnPlan& plan)
{
    Running running;
    model.placement().begin_turn();
    const auto stepper = running.make(model, plan, 1);
    const auto turn = stepper->run([&] { model.placement().advance(); });
    return said_of(model, turn, running.conversation.kv);
}

/// A plan of an answer that has this many tokens.
TurnPlan long_plan(const QString& prompt, int tokens)
{
    TurnPlan plan;
    plan.request.raw_prompt = prompt.toStdString();
    plan.request.sampling.temperature = 0;
    plan.request.max_tokens = tokens;
    plan.request.ignore_end = true;
    plan.request.most_drafted = 0;
    return plan;
}

TurnStepper& begin_beside(RunningTurns& turns, LoadedModel& model, Running& running, const TurnPlan& plan, int number)
{
    model.placement().begin_turn();
    RunningTurn& turn = turns.add(number, running.conversation, {});
    running.id = turn.id;
    turn.stepper = running.make(model, plan, number);
    if (const Status ok = turn.stepper->begin(); !ok)
        qFatal("%s", ok.error().what.c_str());
    return *turn.stepper;
}

/// Computes steps until this holds for all turns.
void step_until(RunningTurns& turns, LoadedModel& model, bool (TurnStepper::*holds)() const)
{
    while (!std::ranges::all_of(turns.all(), [&](const RunningTurn& turn) { return ((*turn.stepper).*holds)(); }))
        turns.step(model);
}

/// A model whose steps have few rows, so that what is lost returns in several pieces.
LoadRequest small_steps(const QString& model)
{
    LoadRequest request = request_for(model);
    request.prefill_chunk_tokens = 16;
    return request;
}

LoadRequest placed(const QString& model, const QString& where)
{
    LoadRequest request = where == "cpu"      ? request_for(model)
                          : where == "merge"  ? emulated(model, 100, KvPolicy::Merge)
                          : where == "stream" ? emulated(model, 100, KvPolicy::Stream)
                                              : emulated(model, 100, KvPolicy::CpuDecode);
    return request;
}

}  // namespace

class TestTurnsTogether : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void eachSaysWhatItSaysAlone_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("where");
        for (const char* const name :
             {"llama", "gemma3", "qwen3moe", "qwen35", "qwen35-mtp", "falcon-h1", "deepseek2", "qwen4exp"})
            for (const char* const where : {"cpu", "merge", "stream", "decode"})
                if (QString(where) == "cpu" || QString(name) == "gemma3" || QString(name) == "qwen35")
                    QTest::addRow("%s %s", name, where) << name << where;
    }

    /// Turns are begun at random steps; some are stopped, and on a device layers move meanwhile.
    void eachSaysWhatItSaysAlone()
    {
        QFETCH(const QString, name);
        QFETCH(const QString, where);
        bool given = false;
        const auto wanted = quint32(qEnvironmentVariableIntValue("SPILLWAY_SEED", &given));
        const quint32 seed = given ? wanted : QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        const auto model = load(placed(name, where));
        QVERIFY(model);
        // More rounds where somebody wants to look longer.
        const int rounds = std::max(1, qEnvironmentVariableIntValue("SPILLWAY_ROUNDS"));
        for (int round = 0; round < rounds; ++round) {
            const std::vector<TurnPlan> all = plans(random, 9);
            std::vector<Said> expected;
            for (const TurnPlan& plan : all)
                expected.push_back(alone(*model, plan));

            RunningTurns turns;
            std::list<Running> running;
            std::size_t begun = 0, ended = 0;
            int most_together = 0;
            while (ended < all.size()) {
                while (begun < all.size() && turns.running() < kMostRowsTogether && random() % 3 == 0) {
                    Running& next = running.emplace_back();
                    model->placement().begin_turn();
                    RunningTurn& turn = turns.add(int(begun) + 1, next.conversation, {});
                    next.id = turn.id;
                    turn.stepper = next.make(*model, all[begun], int(begun) + 1);
                    QVERIFY(turn.stepper->begin());
                    ++begun;
                }
                if (model->placement().has_device() && random() % 8 == 0)
                    QVERIFY(
                        model->placement().apply(SetDeviceLayers{int(random() % unsigned(model->info().layers + 1))}));
                model->placement().advance();
                most_together = std::max(most_together, turns.running());
                turns.step(*model);
                std::size_t number = 0;
                for (Running& one : running) {
                    RunningTurn* const turn = turns.find(one.id);
                    if (turn && turn->stepper->over()) {
                        const Said said = said_of(*model, turn->stepper->result(), one.conversation.kv);
                        QVERIFY2(said == expected[number],
                                 qPrintable(QString("turn %1 says '%2' after %3 tokens, and alone '%4' after %5")
                                                .arg(number)
                                                .arg(QString::fromStdString(said.text))
                                                .arg(said.generated)
                                                .arg(QString::fromStdString(expected[number].text))
                                                .arg(expected[number].generated)));
                        for (const int of : one.frames_of)
                            QCOMPARE(of, int(number) + 1);
                        turns.remove(one.id);
                        ++ended;
                    }
                    ++number;
                }
            }
            QVERIFY(most_together > 1);
            QCOMPARE(model->cache().used_pages(), 0);
            QCOMPARE(model->cache().states().used(), 0);
        }
    }

    void lostTokensHoldUpNoAnswer_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("damaged");  // a page is; else another turn has taken all of them
        for (const char* const name : {"llama", "qwen35"})
            for (const bool damaged : {false, true})
                QTest::addRow("%s, %s", name, damaged ? "damaged" : "taken") << QString(name) << damaged;
    }

    /// Lost tokens are computed again like a prompt, a piece in each step, and the answer beside them has a token in
    /// each.
    void lostTokensHoldUpNoAnswer()
    {
        QFETCH(const QString, name);
        QFETCH(const bool, damaged);
        const auto model = load(small_steps(name));
        QVERIFY(model);
        const TurnPlan longer = long_plan(kWords + kWords, 60), other = long_plan(kWords.left(40), 100);
        const std::vector<Said> expected{alone(*model, longer), alone(*model, other)};
        RunningTurns turns;
        Running loses, answers;
        begin_beside(turns, *model, loses, longer, 1);
        begin_beside(turns, *model, answers, other, 2);
        step_until(turns, *model, &TurnStepper::answers);

        KvSequence& kv = loses.conversation.kv;
        const int length = kv.length();
        if (damaged)
            model->cache().mark_damaged(kv.pages.front());
        else
            lose_tokens(model->cache(), kv, 0);
        int left = length, pieces = 0;
        do {
            const int answered = answers.conversation.kv.length();
            turns.step(*model);
            const int still = int(kv.lost.size());
            QVERIFY(still < left);
            QVERIFY(left - still <= model->max_rows());
            QCOMPARE(kv.length(), length - still);
            QCOMPARE(answers.conversation.kv.length(), answered + 1);
            left = still;
            ++pieces;
        } while (left > 0);
        QVERIFY(pieces > 1);

        step_until(turns, *model, &TurnStepper::over);
        QVERIFY(said_of(*model, turns.find(loses.id)->stepper->result(), kv) == expected[0]);
        QVERIFY(said_of(*model, turns.find(answers.id)->stepper->result(), answers.conversation.kv) == expected[1]);
        QCOMPARE(model->cache().used_pages(), 0);
        QCOMPARE(model->cache().states().used(), 0);
    }

    /// Where several have lost tokens, those of one return at a time: with little memory each would drive out the
    /// other's.
    void lostTokensReturnToOneTurnAtATime()
    {
        const auto model = load(small_steps("llama"));
        QVERIFY(model);
        const std::vector<TurnPlan> all{long_plan(kWords + kWords, 60), long_plan(kWords + kWords + "and", 60),
                                        long_plan(kWords.left(40), 100)};
        std::vector<Said> expected;
        for (const TurnPlan& plan : all)
            expected.push_back(alone(*model, plan));
        RunningTurns turns;
        std::list<Running> running;
        int number = 0;
        for (const TurnPlan& plan : all)
            begin_beside(turns, *model, running.emplace_back(), plan, ++number);
        step_until(turns, *model, &TurnStepper::answers);
        KvSequence& first = running.front().conversation.kv;
        KvSequence& second = std::next(running.begin())->conversation.kv;
        const KvSequence& answered = running.back().conversation.kv;
        for (KvSequence* const kv : {&first, &second})
            lose_tokens(model->cache(), *kv, 0);
        while (!first.lost.empty() || !second.lost.empty()) {
            const std::size_t of_first = first.lost.size(), of_second = second.lost.size();
            const int tokens = answered.length();
            turns.step(*model);
            QVERIFY((first.lost.size() < of_first) != (second.lost.size() < of_second));
            QCOMPARE(answered.length(), tokens + 1);
        }
        step_until(turns, *model, &TurnStepper::over);
        auto said = expected.begin();
        for (Running& one : running)
            QVERIFY(said_of(*model, turns.find(one.id)->stepper->result(), one.conversation.kv) == *said++);
    }

    void oneIsStoppedWhileLostTokensReturn_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* const name : {"llama", "qwen35"})
            QTest::newRow(name) << QString(name);
    }

    /// The turn ends at once, and the conversation's next one goes on from the tokens that were back.
    void oneIsStoppedWhileLostTokensReturn()
    {
        QFETCH(const QString, name);
        const auto model = load(small_steps(name));
        QVERIFY(model);
        const TurnPlan plan = long_plan(kWords + kWords, 30);
        const Said expected = alone(*model, plan);
        RunningTurns turns;
        Running loses;
        const TurnStepper& stepper = begin_beside(turns, *model, loses, plan, 1);
        step_until(turns, *model, &TurnStepper::answers);
        KvSequence& kv = loses.conversation.kv;
        lose_tokens(model->cache(), kv, 0);
        turns.step(*model);
        QVERIFY(stepper.recomputes());
        const int back = kv.length();
        QVERIFY(back > 0);
        loses.stop.request_stop();
        turns.step(*model);
        QVERIFY(stepper.over());
        QCOMPARE(turns.find(loses.id)->stepper->result()->reason, StopReason::Cancelled);
        QCOMPARE(kv.length(), back);
        turns.remove(loses.id);

        TurnHost host{*model, loses.conversation.frames, {}, {}, [](Conversation&) { return false; }};
        const auto next = TurnStepper(std::move(host), loses.conversation, plan.request, plan.seed).run([] {});
        QVERIFY(next);
        QCOMPARE(next->telemetry.reused_tokens, back);
        QVERIFY(said_of(*model, next, kv) == expected);
    }

    /// What a turn that waits for memory has left to another one returns in pieces when that is over.
    void whatAWaitingTurnLeftReturnsInPieces()
    {
        const auto model = load(small_steps("llama"));
        QVERIFY(model);
        KvCache& cache = model->cache();
        const std::vector<TurnPlan> both{long_plan(kWords, 90), long_plan(kWords + "and", 90)};
        std::vector<Said> expected;
        for (const TurnPlan& plan : both)
            expected.push_back(alone(*model, plan));
        const auto pages = std::int64_t(expected.back().ids.size() / kBlockTokens + 1);
        const std::int64_t most = pages * 3 / 2 * std::int64_t(cache.page_bytes());  // for one, and half of the other
        cache.limit_memory({.bytes = most});

        RunningTurns turns;
        std::list<Running> running;
        int begun = 0, pieces = 0;
        for (const TurnPlan& plan : both)
            begin_beside(turns, *model, running.emplace_back(), plan, ++begun);
        for (std::size_t ended = 0; ended < both.size();) {
            std::vector<std::size_t> lost;
            for (const Running& one : running)
                lost.push_back(one.conversation.kv.lost.size());
            turns.step(*model);
            QVERIFY(cache.allocated_bytes() <= most);
            std::size_t number = 0;
            for (Running& one : running) {
                KvSequence& kv = one.conversation.kv;
                if (kv.lost.size() < lost[number]) {
                    QVERIFY(lost[number] - kv.lost.size() <= std::size_t(model->max_rows()));
                    ++pieces;
                }
                RunningTurn* const turn = turns.find(one.id);
                if (turn && turn->stepper->over()) {
                    QVERIFY(said_of(*model, turn->stepper->result(), kv) == expected[number]);
                    turns.remove(one.id);
                    turns.wake_all();
                    ++ended;
                }
                ++number;
            }
        }
        QVERIFY(pieces > 1);
        QCOMPARE(cache.used_pages(), 0);
    }

    /// A turn that is stopped while its lost tokens are computed again ends with that step, and no other does.
    void oneThatIsStoppedEndsNoOther()
    {
        const auto model = load(request_for("llama"));
        QVERIFY(model);
        TurnPlan plan;
        plan.request.raw_prompt = kWords.left(60).toStdString();
        plan.request.sampling.temperature = 0;
        plan.request.max_tokens = 12;
        const Said expected = alone(*model, plan);
        RunningTurns turns;
        Running loses, goes_on, ends;
        int number = 0;
        for (Running* const one : {&loses, &goes_on, &ends}) {
            RunningTurn& turn = turns.add(++number, one->conversation, {});
            one->id = turn.id;
            turn.stepper = one->make(*model, plan, number);
            QVERIFY(turn.stepper->begin());
        }
        while (!turns.find(goes_on.id)->stepper->answers())
            turns.step(*model);
        lose_tokens(model->cache(), loses.conversation.kv, 0);
        // The first one is stopped when the step has been put together.
        ends.on_end = [&] { loses.stop.request_stop(); };
        ends.stop.request_stop();
        turns.step(*model);
        QVERIFY(turns.find(loses.id)->stepper->over());
        QCOMPARE(turns.find(loses.id)->stepper->result()->reason, StopReason::Cancelled);
        RunningTurn& turn = *turns.find(goes_on.id);
        while (!turn.stepper->over())
            turns.step(*model);
        QVERIFY(said_of(*model, turn.stepper->result(), goes_on.conversation.kv) == expected);
        for (Running* const one : {&loses, &ends})
            model->cache().truncate(one->conversation.kv, 0);
    }

    /// Of two conversations of which only one finds room the one that is answered has it.
    void aConversationTakesTheMemoryOfTheOneUsedLongestAgo()
    {
        const auto model = load(request_for("llama"));
        QVERIFY(model);
        KvCache& cache = model->cache();
        QVERIFY(cache.memory_limit().pages >= 512 / kBlockTokens);  // a whole context is promised
        const auto most = std::int64_t(24 * cache.page_bytes());
        cache.limit_memory({.bytes = most});
        const std::vector<int> ids = some_tokens(*model);
        Conversations conversations;
        const SequenceId first = conversations.create(), second = conversations.create();
        for (const SequenceId id : {first, second, first}) {
            Conversation& conversation = *conversations.find(id);
            Request request;
            request.raw_ids.assign(ids.begin(), ids.begin() + 250);
            request.raw_ids.back() = id;
            request.max_tokens = 40;
            conversations.use(id);
            conversation.answered_now = true;
            TurnHost host{*model, conversation.frames, {}, {}, [&](Conversation&) {
                              return conversations.take_from_oldest(cache);
                          }};
            const auto turn = TurnStepper(std::move(host), conversation, request, 4711).run([] {});
            conversation.answered_now = false;
            QVERIFY2(turn, turn ? "" : turn.error().what.c_str());
            QCOMPARE(turn->telemetry.reused_tokens, 0);  // it was forgotten, or is new
            QVERIFY(cache.allocated_bytes() <= most);
        }
        for (const SequenceId id : {first, second})
            conversations.end(id, cache);
        QCOMPARE(cache.used_pages(), 0);
    }

    /// Of a conversation that nobody answers checkpoints go first, then the rest; of the one that is answered its own
    /// go when there is nothing else.
    void checkpointsOfAnIdleConversationGoFirst()
    {
        const auto model = load(request_for("qwen35"));
        QVERIFY(model);
        KvCache& cache = model->cache();
        RecurrentStates& states = cache.states();
        cache.limit_memory({});
        const std::vector<int> ids = some_tokens(*model);
        Conversations conversations;
        Conversation& idle = *conversations.find(conversations.create());
        Conversation& answered = *conversations.find(conversations.create());
        answered.answered_now = true;
        const auto read = [&](KvSequence& kv, int last) {
            while (kv.length() < last) {
                QVERIFY(model->append(kv, std::span(ids).subspan(std::size_t(kv.length()), 20)));
                states.keep(kv);
            }
        };
        read(idle.kv, 60);
        std::vector<StateId> hogs;  // take all but one
        for (StateId state = states.take(); state != kNoState; state = states.take())
            hogs.push_back(state);
        states.give_back(hogs.back());
        states.ask_for_more([&] { return conversations.take_from_oldest(cache); });

        read(answered.kv, 60);
        QCOMPARE(answered.kv.checkpoints.size(), std::size_t(3));
        QCOMPARE(idle.kv.checkpoints.size(), std::size_t(1));
        QCOMPARE(idle.kv.length(), 60);
        read(answered.kv, 80);
        QCOMPARE(answered.kv.checkpoints.size(), std::size_t(4));
        QCOMPARE(idle.kv.length(), 0);
        read(answered.kv, 100);
        QCOMPARE(answered.kv.checkpoints.size(), std::size_t(4));
        QCOMPARE(answered.kv.checkpoints.front().tokens, 40);
    }

    /// One that finds no room on the device waits until the other one is over, and says the same.
    void aTurnWithoutMemoryWaits()
    {
        const auto model = load(emulated("llama", 160, KvPolicy::Resident));
        QVERIFY(model);
        std::vector<TurnPlan> both(2);
        for (TurnPlan& plan : both) {
            plan.request.raw_prompt = kWords.left(60).toStdString();
            plan.request.sampling.temperature = 0;
            plan.request.max_tokens = 90;
        }
        both[1].request.raw_prompt += "and";
        std::vector<Said> expected;
        for (const TurnPlan& plan : both) {
            expected.push_back(alone(*model, plan));
            QVERIFY(expected.back().ids.size() > 80 && expected.back().ids.size() < 160);
        }
        RunningTurns turns;
        std::list<Running> running;
        int warnings = 0;
        for (std::size_t i = 0; i < both.size(); ++i) {
            Running& next = running.emplace_back();
            Listener listener;
            listener.on_event = [&](const Event& event) { warnings += event.kind == Event::Kind::Warning; };
            model->placement().begin_turn();
            RunningTurn& turn = turns.add(int(i) + 1, next.conversation, listener);
            next.id = turn.id;
            turn.stepper = next.make(*model, both[i], int(i) + 1);
            QVERIFY(turn.stepper->begin());
        }
        std::size_t ended = 0;
        while (ended < both.size()) {
            turns.step(*model);
            std::size_t number = 0;
            for (Running& one : running) {
                RunningTurn* const turn = turns.find(one.id);
                if (turn && turn->stepper->over()) {
                    const auto said = turn->stepper->result();
                    QVERIFY(said);
                    QCOMPARE(said->text, expected[number].text);
                    QCOMPARE(said->reason, expected[number].reason);
                    QCOMPARE(one.conversation.kv.ids, expected[number].ids);
                    model->cache().truncate(one.conversation.kv, 0);
                    turns.remove(one.id);
                    turns.wake_all();
                    ++ended;
                }
                ++number;
            }
        }
        QCOMPARE(warnings, 1);
    }
};

SPILLWAY_TEST(QCoreApplication, TestTurnsTogether)
#include "tst_turns_together.moc"
