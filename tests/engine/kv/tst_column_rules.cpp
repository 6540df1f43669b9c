// Tests the rules by which block columns stay on a device, leave it and come back.
#include "engine/kv/column_rules.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace engine;

class TestColumnRules : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theFirstAndTheWrittenColumnsStay()
    {
        QVERIFY(column_stays(0, 5));
        QVERIFY(!column_stays(1, 5));
        QVERIFY(!column_stays(4, 5));
        QVERIFY(column_stays(5, 5));
        QVERIFY(column_stays(6, 5));  // a prefill writes several columns
    }

    void pinsWeighMoreThanAgeAndAgeMoreThanNumber()
    {
        const PageFacts old_late{3, false, false, 1, 9}, new_early{2, false, false, 2, 0};
        const PageFacts old_pinned{1, true, false, 1, 0}, old_early{7, false, false, 1, 8};
        QVERIFY(leaves_before(old_late, new_early));
        QVERIFY(leaves_before(new_early, old_pinned));
        QVERIFY(leaves_before(old_early, old_late));
        QVERIFY(!leaves_before(old_late, old_late));
    }

    void residentKeepsTheConversationInUseOnly()
    {
        const PageFacts free, staying{0, false, true, 1, 0};
        QVERIFY(may_leave(free, true, KvPolicy::Auto));
        QVERIFY(!may_leave(free, true, KvPolicy::Resident));
        QVERIFY(may_leave(free, false, KvPolicy::Resident));
        QVERIFY(!may_leave(staying, false, KvPolicy::Auto));
        QCOMPARE(growth_mark(KvPolicy::Resident, 100, 95), 100);
        QCOMPARE(growth_mark(KvPolicy::Merge, 100, 95), 95);
    }

    void aForcedShareIsRoundedUp()
    {
        QCOMPARE(columns_kept_home(10, 0), 0);
        QCOMPARE(columns_kept_home(10, 0.01), 1);
        QCOMPARE(columns_kept_home(3, 0.5), 2);
        QCOMPARE(columns_kept_home(10, 1), 10);
        QCOMPARE(columns_kept_home(100, 0.07), 7);  // 100 * 0.07 is a little more than 7 in doubles
    }

    void aWindowTouchesTheMostBlocksAtABlocksFirstToken()
    {
        const int window = 32, tokens = 16;
        for (int block = 0; block < 8; ++block) {
            const int widest = window_blocks(widest_position(block, tokens), window, tokens);
            for (int t = 0; t < tokens; ++t)
                QVERIFY(window_blocks(block * tokens + t, window, tokens) <= widest);
        }
        QCOMPARE(window_blocks(64, window, tokens), 3);
        QCOMPARE(window_blocks(79, window, tokens), 2);
    }

    void onlyWhatStaysOrIsPinnedTakesThePlaceOfItsOwn()
    {
        const PageFacts free, pinned{1, true, false, 1, 1}, staying{2, false, true, 1, 0};
        QVERIFY(!takes_place_of(free, free));
        QVERIFY(takes_place_of(pinned, free));
        QVERIFY(takes_place_of(staying, free));
        QVERIFY(!takes_place_of(pinned, pinned));
        QVERIFY(gives_place(free, false, false));
        QVERIFY(!gives_place(free, true, false));
        QVERIFY(gives_place(free, true, true));
        QVERIFY(!gives_place(pinned, false, true));
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestColumnRules)
#include "tst_column_rules.moc"
