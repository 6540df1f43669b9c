// Tests that a model's thinking is timed from mark to mark, also where marks are missing or come late.
#include "app/chat/reasoning_clock.h"
#include "tests/support/test_program.h"

#include <QTest>

class TestReasoningClock : public QObject
{
    Q_OBJECT

private:
    static constexpr int kWaitMs = 30;
    static constexpr double kAtLeastMs = 25;  // timers may be a little early
    static constexpr double kLongAgoMs = 1'000'000;

    static ReasoningClock started(QStringView earlier = {}, std::optional<double> ms = {})
    {
        ReasoningClock clock;
        clock.start(earlier, ms);
        return clock;
    }

private Q_SLOTS:
    void aThoughtIsTimedFromMarkToMark()
    {
        ReasoningClock clock = started();
        QVERIFY(!clock.add(u"<think>\nso"));
        QVERIFY(!clock.ms());
        QTest::qWait(kWaitMs);
        QVERIFY(!clock.add(u" it is</thi"));
        QVERIFY(clock.add(u"nk>\n\nYes"));
        const std::optional<double> ms = clock.ms();
        QVERIFY(ms.value_or(0) >= kAtLeastMs);
        QTest::qWait(kWaitMs);
        QVERIFY(!clock.add(u"."));
        QVERIFY(!clock.end());
        QCOMPARE(clock.ms(), ms);
    }

    void whereOnlyTheEndIsMarkedItBeganWithTheText()
    {
        ReasoningClock clock = started();
        QVERIFY(!clock.add(u"so it"));
        QTest::qWait(kWaitMs);
        QVERIFY(clock.add(u" is\n</think>\n\nYes."));
        QVERIFY(clock.ms().value_or(0) >= kAtLeastMs);
    }

    void whatCameInOnePieceHasNoTime_data()
    {
        QTest::addColumn<QString>("text");
        QTest::newRow("whole") << "<think>\n\n</think>\n\nYes.";
        QTest::newRow("only its end") << "so it is\n</think>\n\nYes.";
        QTest::newRow("none") << "Yes.";
    }
    void whatCameInOnePieceHasNoTime()
    {
        QFETCH(QString, text);
        ReasoningClock clock = started();
        QVERIFY(!clock.add(text));
        QTest::qWait(2);
        QVERIFY(!clock.add(u"And more."));
        QVERIFY(!clock.end());
        QVERIFY(!clock.ms());
    }

    void severalThoughtsAddUp()
    {
        ReasoningClock clock = started();
        clock.add(u"<think>a");
        QTest::qWait(kWaitMs);
        QVERIFY(clock.add(u"</think>b\n"));
        const double first = clock.ms().value_or(kLongAgoMs);
        clock.add(u"<think>c");
        QTest::qWait(kWaitMs);
        QVERIFY(clock.add(u"</think>d"));
        QVERIFY(clock.ms().value_or(0) >= first + kAtLeastMs);
    }

    void aThoughtThatIsCutOffHasItsTime()
    {
        ReasoningClock clock = started();
        clock.add(u"<think>so");
        QTest::qWait(kWaitMs);
        QVERIFY(clock.end());
        QVERIFY(clock.ms().value_or(0) >= kAtLeastMs);
        QVERIFY(!clock.end());  // once
    }

    void aCutThoughtGoesOn()
    {
        ReasoningClock clock = started(u"<think>so", kLongAgoMs);
        QTest::qWait(kWaitMs);  // the prompt is read: nobody thinks yet
        QVERIFY(!clock.add(u" it"));
        QCOMPARE(clock.ms(), kLongAgoMs);
        QTest::qWait(kWaitMs);
        QVERIFY(clock.add(u" is</think>Yes."));
        QVERIFY(*clock.ms() >= kLongAgoMs + kAtLeastMs);
        QVERIFY(*clock.ms() < kLongAgoMs + 1000 * kAtLeastMs);
    }

    void aCutAnswerGoesOnWithoutMore()
    {
        ReasoningClock clock = started(u"<think>so</think>Yes", 4200.0);
        QVERIFY(!clock.add(u", it"));
        QTest::qWait(2);
        QVERIFY(!clock.add(u" is."));
        QVERIFY(!clock.end());
        QCOMPARE(clock.ms(), 4200.0);
        clock.start({}, {});
        QVERIFY(!clock.ms());
        clock.start(u"<think>so", 4200.0);
        QVERIFY(!clock.end());  // stopped before a word came
        QCOMPARE(clock.ms(), 4200.0);
    }
};

SPILLWAY_TEST(QCoreApplication, TestReasoningClock)
#include "tst_reasoning_clock.moc"
