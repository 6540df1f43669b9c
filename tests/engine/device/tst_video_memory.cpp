// Tests how much of a GPU's memory is left to the engine, and that memory which the system took away is noticed, where
// the system hands out only a part of it.
#include "engine/device/video_memory.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <optional>
#include <vector>

using namespace engine;

class TestVideoMemory : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theEngineMayHoldItsBudgetLessWhatTheProgramHoldsBesides()
    {
        // 8000 in all, 7000 of them for this process, which holds 3000: 2500 the engine's, 500 the window's.
        const VideoMemory memory{.budget_bytes = 7000, .usage_bytes = 3000};
        const std::int64_t besides = held_besides(memory, 2500, 0);
        QCOMPARE(besides, std::int64_t(500));
        QCOMPARE(held_by_others(memory, 8000, besides), std::int64_t(1500));
        QCOMPARE(spilled_bytes(memory, 2500, besides), std::int64_t(0));
    }

    void aBudgetThatShrinksIsSeenAndNoNumberLeavesItsRange()
    {
        QCOMPARE(held_by_others({.budget_bytes = 1000, .usage_bytes = 3000}, 8000, 0), std::int64_t(7000));
        QCOMPARE(held_by_others({.budget_bytes = 0, .usage_bytes = 9000}, 8000, 8000), std::int64_t(8000));
        QCOMPARE(held_by_others({.budget_bytes = 9000, .usage_bytes = 0}, 8000, 0), std::int64_t(0));
    }

    void whatIsMovedOutOrAboutToBeIsCounted()
    {
        QCOMPARE(spilled_bytes({.budget_bytes = 7000, .usage_bytes = 2000}, 3000, 0), std::int64_t(1000));   // gone
        QCOMPARE(spilled_bytes({.budget_bytes = 2500, .usage_bytes = 3200}, 3000, 200), std::int64_t(700));  // soon
        QCOMPARE(spilled_bytes({.budget_bytes = 0, .usage_bytes = 9000}, 3000, 6000), std::int64_t(3000));
    }

    /// Of the 3500 that the program holds, 2900 are still there: that 500 of all are the window's is known from before.
    void whatTheWindowHoldsIsNotForgottenWhileSomethingIsMovedOut()
    {
        const VideoMemory memory{.budget_bytes = 2900, .usage_bytes = 2900};
        QCOMPARE(held_besides(memory, 3000, 500), std::int64_t(500));
        QCOMPARE(spilled_bytes(memory, 3000, 500), std::int64_t(600));
        QCOMPARE(held_besides({.budget_bytes = 7000, .usage_bytes = 2900}, 3000, 500), std::int64_t(500));  // not back
        QCOMPARE(held_besides({.budget_bytes = 7000, .usage_bytes = 3200}, 3000, 500), std::int64_t(200));
    }

    void whereTheSystemSetsNoLimitNothingIsSaid() { QVERIFY(!find_video_memory({"no such GPU"})); }

    void oneOfTwoCardsOfOneNameIsKnownByItsNumber()
    {
        const std::vector<AdapterName> adapters{{"a card", 7}, {"Basic Render", 8}, {"a card", 9}, {"", 0}};
        QCOMPARE(find_adapter(adapters, {"a card", 9}), std::optional(std::size_t(2)));
        QCOMPARE(find_adapter(adapters, {"a card", 7}), std::optional(std::size_t(0)));
        QVERIFY(!find_adapter(adapters, {"a card", 0}));  // it may be either
        QVERIFY(!find_adapter(adapters, {"a card", 5}));
        QCOMPARE(find_adapter(adapters, {"Basic Render", 0}), std::optional(std::size_t(1)));
        QVERIFY(!find_adapter(adapters, {"another", 0}));
        QVERIFY(!find_adapter({}, {"a card", 7}));
    }
};

SPILLWAY_TEST(QCoreApplication, TestVideoMemory)
#include "tst_video_memory.moc"
