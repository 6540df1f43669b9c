// Tests that several turns at a time can be begun, advanced and ended through the engine's front door.
#include "engine/run/step_rows.h"
#include "tests/engine/run/loaded_engine.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <map>

using namespace engine;
using namespace test_support;

namespace {

Request raw(const std::string& prompt, int max_tokens = 24)
{
    Request request;
    request.raw_prompt = prompt;
    request.sampling.temperature = 0;
    request.max_tokens = max_tokens;
    return request;
}

std::string words(int count)
{
    std::string text;
    for (int i = 0; i < count; ++i)
        text += "word" + std::to_string(i % 10) + ' ';
    return text;
}

/// Steps until all of these are over.
void run_all(Engine& engine, const std::vector<TurnId>& turns, const Listener& listener = {})
{
    while (!std::ranges::all_of(
        turns, [over = engine.step(listener)](TurnId turn) { return std::ranges::count(over, turn) == 1; })) {
    }
}

/// A request whose answer has this many tokens: the small model ends some early.
Request long_answer(Loaded& here, int tokens)
{
    for (int i = 0; i < 200; ++i) {
        Request request = raw("Once " + std::to_string(i), tokens);
        const auto turn = here.generate(request);
        if (turn && turn->reason == StopReason::MaxTokens)
            return request;
    }
    qFatal("no answer is so long");
}

}  // namespace

class TestBegunTurns : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void severalConversationsAreAnsweredAtOnce()
    {
        constexpr int kConversations = 5;
        Loaded here;
        std::vector<std::string> alone;
        for (int i = 0; i < kConversations; ++i) {
            const SequenceId sequence = *here.engine->create_sequence();
            const auto turn = here.engine->generate(sequence, raw("Number " + std::to_string(i) + " is"), {}, {});
            QVERIFY(turn);
            alone.push_back(turn->text);
            here.engine->end_sequence(sequence);
        }

        std::vector<TurnId> turns;
        std::vector<SequenceId> sequences;
        std::vector<std::string> heard(kConversations);
        std::vector<int> prompts(kConversations);
        bool frames_are_their_own = true;
        for (int i = 0; i < kConversations; ++i) {
            const auto at = std::size_t(i);
            sequences.push_back(*here.engine->create_sequence());
            const Listener listener{
                .on_prompt = [&, at](const PromptLedger& ledger) { prompts[at] = ledger.total_tokens; },
                .on_text = [&, at](std::string_view text) { heard[at] += text; },
                .on_telemetry =
                    [&, sequence = sequences.back()](const Telemetry& t) {
                        frames_are_their_own = frames_are_their_own && t.sequence == sequence;
                    },
            };
            const auto turn =
                here.engine->begin(sequences.back(), raw("Number " + std::to_string(i) + " is"), listener, {});
            QVERIFY(turn);
            QVERIFY(prompts[at] > 0);
            turns.push_back(*turn);
        }
        run_all(*here.engine, turns);
        for (std::size_t i = 0; i < turns.size(); ++i) {
            const auto turn = here.engine->end(turns[i]);
            QVERIFY(turn);
            QCOMPARE(turn->text, alone[i]);
            QCOMPARE(heard[i], alone[i]);
            QCOMPARE(turn->telemetry.sequence, sequences[i]);
        }
        QVERIFY(frames_are_their_own);
        QVERIFY(here.engine->step({}).empty());
    }

    /// Between two tokens of an answer, a prompt beside it gets no more rows than the budget has.
    void aLongPromptDoesNotHoldUpAnAnswer()
    {
        constexpr int kTokens = 60;
        Loaded here(2048);
        const SequenceId other = *here.engine->create_sequence();
        const Request talkative = long_answer(here, kTokens);
        int generated = 0, prefilled = 0;
        const auto answer =
            here.engine->begin(here.sequence, talkative,
                               {.on_telemetry = [&](const Telemetry& t) { generated = t.generated_tokens; }}, {});
        QVERIFY(answer);
        QVERIFY(here.engine->step({}).empty());  // its prompt is short
        QCOMPARE(generated, 1);
        const auto prompt =
            here.engine->begin(other, raw(words(300), 1),
                               {.on_telemetry = [&](const Telemetry& t) { prefilled = t.prefilled_tokens; }}, {});
        QVERIFY(prompt);
        int steps = 0, most = 0;
        for (std::vector<TurnId> over; over.empty() && steps < kTokens;) {
            const int before = prefilled;
            over = here.engine->step({});
            most = std::max(most, prefilled - before);
            ++steps;
        }
        QCOMPARE(most, kRowsBesideAnswers - 1);
        const auto done = here.engine->end(*prompt);
        QVERIFY(done);
        QVERIFY(done->prompt.count() > 3 * kRowsBesideAnswers);
        // No step without a token of the answer, and none is too small for the prompt.
        QCOMPARE(steps, (done->prompt.count() + kRowsBesideAnswers - 2) / (kRowsBesideAnswers - 1));
        run_all(*here.engine, {*answer});
        const auto answered = here.engine->end(*answer);
        QVERIFY(answered);
        QCOMPARE(answered->telemetry.generated_tokens, kTokens);
    }

    void whatCannotBeIsRefused()
    {
        Loaded here;
        const auto turn = here.engine->begin(here.sequence, raw("Once", 5), {}, {});
        QVERIFY(turn);
        const auto second = here.engine->begin(here.sequence, raw("Twice", 5), {}, {});
        QVERIFY(!second);
        QCOMPARE(second.error().code, Error::Code::BadRequest);
        QVERIFY(!here.engine->begin(9999, raw("Nobody", 5), {}, {}));
        // A turn that cannot begin leaves nothing behind.
        const SequenceId other = *here.engine->create_sequence();
        QVERIFY(!here.engine->begin(other, raw(words(20000), 5), {}, {}));
        std::vector<TurnId> turns{*turn};
        for (int i = 1; i < kMostRowsTogether; ++i) {
            const auto more =
                here.engine->begin(i == 1 ? other : *here.engine->create_sequence(), raw("And", 5), {}, {});
            QVERIFY(more);
            turns.push_back(*more);
        }
        const auto too_many = here.engine->begin(*here.engine->create_sequence(), raw("Late", 5), {}, {});
        QVERIFY(!too_many);
        QCOMPARE(too_many.error().code, Error::Code::BadRequest);
        run_all(*here.engine, turns);
        QVERIFY(here.engine->begin(here.sequence, raw("Again", 5), {}, {}));  // over, though not ended yet
        for (const TurnId id : turns) {
            QVERIFY(here.engine->end(id));
            QVERIFY(!here.engine->end(id));
        }
    }

    /// Each is stopped by itself: by its stop token, by end(), with its conversation, with the model.
    void turnsEndByThemselves()
    {
        Loaded here;
        const Request request = long_answer(here, 40);
        const auto begin = [&](SequenceId sequence, std::stop_token stop = {}) {
            return *here.engine->begin(sequence, request, {}, std::move(stop));
        };
        const SequenceId second = *here.engine->create_sequence(), third = *here.engine->create_sequence();
        std::stop_source stop;
        const TurnId stopped = begin(here.sequence, stop.get_token()), ended = begin(second), gone = begin(third);
        for (int i = 0; i < 4; ++i)
            QVERIFY(here.engine->step({}).empty());
        stop.request_stop();
        QCOMPARE(here.engine->step({}), std::vector{stopped});
        QCOMPARE(here.engine->end(stopped)->reason, StopReason::Cancelled);
        const auto turn = here.engine->end(ended);
        QVERIFY(turn);
        QCOMPARE(turn->reason, StopReason::Cancelled);
        QVERIFY(!turn->text.empty());
        here.engine->end_sequence(third);
        QCOMPARE(here.engine->step({}), std::vector{gone});
        QCOMPARE(here.engine->end(gone)->reason, StopReason::Cancelled);

        const TurnId last = begin(second);
        here.engine->step({});
        here.engine->unload();
        QCOMPARE(here.engine->step({}), std::vector{last});
        const auto lost = here.engine->end(last);
        QVERIFY(!lost);
        QCOMPARE(lost.error().code, Error::Code::NotLoaded);
    }

    /// A conversation that was answered beside others goes on from the KV that it has.
    void conversationsGoOnAfterwards()
    {
        Loaded here;
        const SequenceId other = *here.engine->create_sequence();
        const std::vector<TurnId> turns{*here.engine->begin(here.sequence, chat({{"user", "One"}}), {}, {}),
                                        *here.engine->begin(other, chat({{"user", "Two"}}), {}, {})};
        run_all(*here.engine, turns);
        const std::string answer = here.engine->end(turns[0])->text;
        QVERIFY(here.engine->end(turns[1]));
        const auto next = here.generate(chat({{"user", "One"}, {"assistant", answer}, {"user", "And then"}}));
        QVERIFY(next);
        QVERIFY(next->telemetry.reused_tokens > 10);
    }

    /// Commands are carried out between steps, and the listener of the step is told.
    void commandsAreHeardByTheStep()
    {
        Loaded here;
        int of_turn = 0, of_step = 0;
        const auto turn = here.engine->begin(
            here.sequence, raw("Once", 8),
            {.on_event = [&](const Event& event) { of_turn += event.kind == Event::Kind::CommandDone; }}, {});
        QVERIFY(turn);
        here.engine->post(SetThreads{2});
        run_all(*here.engine, {*turn},
                {.on_event = [&](const Event& event) { of_step += event.kind == Event::Kind::CommandDone; }});
        QCOMPARE(of_turn, 0);
        QCOMPARE(of_step, 1);
    }
};

SPILLWAY_TEST(QCoreApplication, TestBegunTurns)
#include "tst_begun_turns.moc"
