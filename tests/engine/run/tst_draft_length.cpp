// Tests that drafts become as long as pays, on a machine whose steps take the time that the test says.
#include "engine/run/draft_length.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <random>

using engine::DraftLength;

namespace {

struct Machine {
    double one_us = 10000;  // a step of one row
    double row_us = 500;    // each further one
    double stands = 0.9;    // a drafted token, where those before it stood
};

/// The time of this many tokens where a draft is at hand before each step, over that without drafts.
double share_of_time(const Machine& machine, int tokens, int& longest)
{
    std::mt19937 random(7);
    std::bernoulli_distribution stands(machine.stands);
    DraftLength length(DraftLength::kMost);
    double took = 0;
    longest = 0;
    for (int done = 0; done < tokens;) {
        const int drafted = length.next();
        longest = std::max(longest, drafted);
        int accepted = 0;
        while (accepted < drafted && stands(random))
            ++accepted;
        const double us = machine.one_us + drafted * machine.row_us;
        length.note(drafted, accepted, std::int64_t(us));
        took += us;
        done += 1 + accepted;
    }
    return took / (tokens * machine.one_us);
}

}  // namespace

class TestDraftLength : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatStandsIsDraftedAtLength()
    {
        int longest = 0;
        QVERIFY(share_of_time({10000, 500, 1.0}, 2000, longest) < 0.15);
        QCOMPARE(longest, DraftLength::kMost);
        QVERIFY(share_of_time({10000, 1000, 0.8}, 2000, longest) < 0.5);
    }

    void nothingIsLostWhereDraftsFall()
    {
        int longest = 0;
        QVERIFY(share_of_time({10000, 500, 0.0}, 2000, longest) < 1.02);
        QVERIFY(share_of_time({10000, 9000, 0.3}, 2000, longest) < 1.02);
        QVERIFY(share_of_time({10000, 10000, 0.9}, 2000, longest) < 1.02);  // where a row costs a step
    }

    void noMoreThanIsAllowed()
    {
        DraftLength none(0);
        QCOMPARE(none.next(), 0);
        DraftLength two(2);
        QCOMPARE(two.next(), 0);  // until it is known what a step takes without
        two.note(0, 0, 1000);
        QCOMPARE(two.next(), 2);
        DraftLength many(1000);
        many.note(0, 0, 1000);
        QCOMPARE(many.next(), DraftLength::kFirst);
        QCOMPARE(DraftLength(-5).next(), 0);
    }

    /// A step in whose midst the machine slept says nothing of those that follow.
    void aStepThatWasInterruptedChangesLittle()
    {
        constexpr std::int64_t kHour_us = 3'600'000'000;
        DraftLength pays(DraftLength::kMost);
        pays.note(0, 0, 10000);
        for (int i = 0; i < 20; ++i)
            pays.note(4, 4, 12000);
        pays.note(4, 4, kHour_us);
        int guessed = 0;
        for (int done = 0; done < 300;) {
            const int drafted = pays.next();
            pays.note(drafted, drafted, 10000 + 500 * drafted);
            guessed += drafted;
            done += 1 + drafted;
        }
        QVERIFY2(guessed > 200, qPrintable(QString::number(guessed)));

        DraftLength costs(DraftLength::kMost);  // a row takes as long as a step
        costs.note(0, 0, 10000);
        costs.note(4, 2, 50000);
        QCOMPARE(costs.next(), 0);
        costs.note(0, 0, kHour_us);
        costs.note(4, 2, 50000);
        QCOMPARE(costs.next(), 0);
    }

    void aFixedLengthIsKept()
    {
        DraftLength length(5, engine::DraftDepth::Fixed);
        QCOMPARE(length.next(), 5);
        for (int i = 0; i < 5; ++i)
            length.note(5, 0, 9000);
        QCOMPARE(length.next(), 5);
    }

    /// What has not been tried promises most; then what brings more tokens in the same time does.
    void theBetterOnePromisesMore()
    {
        DraftLength good(DraftLength::kMost), bad(DraftLength::kMost);
        for (DraftLength* const length : {&good, &bad})
            length->note(0, 0, 10000);
        const double untried = good.promised();
        for (int i = 0; i < 20; ++i) {
            good.note(4, 4, 12000);
            bad.note(4, 1, 12000);
        }
        QVERIFY(untried > good.promised());
        QVERIFY(good.promised() > bad.promised());
    }

    /// Answers of a conversation go on where the one before ended: nothing is tried anew that has shown what it brings.
    void theNextAnswerKnowsWhatTheOneBeforeHasLearned()
    {
        DraftLength good(DraftLength::kMost);
        good.note(0, 0, 10000);
        for (int i = 0; i < 30; ++i)
            good.note(4, 4, 12000);
        DraftLength next(DraftLength::kMost, engine::DraftDepth::Adaptive, good.record());
        QCOMPARE(next.next(), 0);  // what a step takes may have changed
        next.note(0, 0, 20000);
        QCOMPARE(next.next(), DraftLength::kMost);
        QVERIFY(qAbs(next.promised() * 2 / good.promised() - 1) < 0.01);

        engine::DraftRecord record;
        int drafted = 0;
        for (int answer = 0; answer < 40; ++answer) {  // each of 20 tokens, and no draft ever stands
            DraftLength bad(DraftLength::kMost, engine::DraftDepth::Adaptive, record);
            for (int token = 0; token < 20; ++token) {
                const int guesses = bad.next();
                drafted += guesses > 0;
                bad.note(guesses, 0, 10000 + guesses * 3000);
            }
            record = bad.record();
        }
        QVERIFY2(drafted > 1 && drafted < 10, qPrintable(QString::number(drafted)));
    }

    void itTriesAgainAfterAPause()
    {
        DraftLength length(DraftLength::kMost);
        length.note(0, 0, 1000);
        for (int i = 0; i < 20 && length.next() > 0; ++i)
            length.note(length.next(), 0, 4000);
        QCOMPARE(length.next(), 0);
        int pause = 0;
        for (; length.next() == 0 && pause < 10000; ++pause)
            length.note(0, 0, 1000);
        QVERIFY(pause >= DraftLength::kFirstPause);
        QVERIFY(pause <= DraftLength::kLongestPause);
        for (int i = 0; i < 30; ++i)  // and now they stand, for nothing
            length.note(length.next(), length.next(), 1010);
        QCOMPARE(length.next(), DraftLength::kMost);
    }
};

SPILLWAY_TEST(QCoreApplication, TestDraftLength)
#include "tst_draft_length.moc"
