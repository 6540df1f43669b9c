// Tests that some turns run while the others wait in order, and that a result which comes too late belongs to no turn.
#include "app/chat/turn_queue.h"
#include "tests/support/test_program.h"

#include <QTest>

class TestTurnQueue : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void oneRunsAndTheOthersWaitInOrder()
    {
        TurnQueue queue;
        QVERIFY(!queue.busy());
        QVERIFY(!queue.startNext(1));
        const auto first = queue.add("a", {"1"});
        const auto second = queue.add("b", {"2"});
        QVERIFY(queue.add("c", {"3"}));
        QVERIFY(first && second && *first < *second);
        QVERIFY(!queue.add("b", {"4"}));  // one for each conversation

        QCOMPARE(queue.startNext(1)->conversation, "a");
        QVERIFY(!queue.startNext(1));
        QVERIFY(!queue.add("a", {"5"}));
        QCOMPARE(queue.position("a").value_or(-1), 0);
        QCOMPARE(queue.position("b").value_or(-1), 1);
        QCOMPARE(queue.position("c").value_or(-1), 2);
        QVERIFY(!queue.position("d"));

        const auto ended = queue.end(*first);
        QVERIFY(ended);
        QCOMPARE(ended->answers, QStringList("1"));
        QVERIFY(!queue.contains("a"));
        QCOMPARE(queue.startNext(1)->answers, QStringList("2"));
        QCOMPARE(queue.position("c").value_or(-1), 1);
    }

    void aTurnIsOverWithTheLastOfItsAnswers()
    {
        TurnQueue queue;
        const auto first = *queue.add("a", {"1", "2", "3"});
        const auto second = *queue.add("b", {"4"});
        QCOMPARE(second, first + 3);  // each answer has a number
        QCOMPARE(queue.startNext(1)->answers.size(), 3);
        QVERIFY(queue.running(first) && queue.running(first + 2));
        QVERIFY(!queue.running(second));
        QCOMPARE(queue.end(first + 1)->conversation, "a");
        QVERIFY(!queue.end(first + 1));
        QVERIFY(!queue.running(first + 1));
        QVERIFY(queue.running(first + 2));
        QVERIFY(!queue.startNext(1));
        queue.forget("a");
        QVERIFY(!queue.end(first));  // nobody wants it, and the engine is still busy with the last
        QVERIFY(queue.busy());
        QVERIFY(!queue.end(first + 2));
        QVERIFY(!queue.busy());
        QCOMPARE(queue.startNext(1)->answers, QStringList("4"));
    }

    void severalRunAtTheSameTime()
    {
        TurnQueue queue;
        const auto first = *queue.add("a", {"1"});
        const auto second = *queue.add("b", {"2"});
        const auto third = *queue.add("c", {"3"});
        QCOMPARE(queue.startNext(2)->conversation, "a");
        QCOMPARE(queue.startNext(2)->conversation, "b");
        QVERIFY(!queue.startNext(2));
        QCOMPARE(queue.running().size(), 2);
        QCOMPARE(queue.running(second)->conversation, "b");
        QCOMPARE(queue.runningOf("a")->number, first);
        QVERIFY(!queue.runningOf("c"));
        QCOMPARE(queue.position("b").value_or(-1), 0);
        QCOMPARE(queue.position("c").value_or(-1), 1);

        // Whichever ends first makes room.
        QCOMPARE(queue.end(second)->conversation, "b");
        QVERIFY(queue.busyWith(first) && !queue.busyWith(second));
        QCOMPARE(queue.startNext(2)->number, third);
        QCOMPARE(queue.end(third)->conversation, "c");
        QVERIFY(queue.busy());
        QCOMPARE(queue.end(first)->conversation, "a");
        QVERIFY(!queue.busy());
    }

    void severalAnswersOfATurnCountAsSoMany()
    {
        TurnQueue queue;
        const auto first = *queue.add("a", {"1", "2", "3"});
        queue.add("b", {"4", "5"});
        queue.add("c", {"6"});
        QVERIFY(queue.startNext(4));
        QVERIFY(!queue.startNext(4));  // nor does a smaller one pass it
        queue.end(first);
        QCOMPARE(queue.startNext(4)->conversation, "b");
        QVERIFY(!queue.startNext(4));

        TurnQueue many;
        many.add("a", {"1", "2", "3"});
        QVERIFY(many.startNext(2));  // no less than that can run
    }

    void lateResultsHaveNoOwner()
    {
        TurnQueue queue;
        const auto first = *queue.add("a", {"1"});
        QVERIFY(!queue.running(first));  // it only waits
        queue.startNext(1);
        QVERIFY(queue.running(first));
        QVERIFY(!queue.running(first + 1));
        QVERIFY(!queue.end(first + 1));
        QVERIFY(queue.busy());
        QVERIFY(queue.end(first));
        QVERIFY(!queue.end(first));
        QVERIFY(!queue.running(first));
        QVERIFY(*queue.add("a", {"2"}) != first);  // numbers do not come again
    }

    void aWaitingTurnCanBeTakenOut()
    {
        TurnQueue queue;
        queue.add("a", {"1"});
        queue.add("b", {"2"});
        queue.add("c", {"3"});
        queue.startNext(1);
        QVERIFY(!queue.removeWaiting("a"));  // it runs
        QCOMPARE(queue.removeWaiting("b")->answers, QStringList("2"));
        QVERIFY(!queue.removeWaiting("b"));
        QCOMPARE(queue.position("c").value_or(-1), 1);
        QVERIFY(queue.add("b", {"4"}));
        QCOMPARE(queue.position("b").value_or(-1), 2);
        QCOMPARE(queue.removeAllWaiting().size(), 2);
        QVERIFY(queue.waiting().isEmpty());
        QCOMPARE(queue.running().size(), 1);
    }

    void aForgottenConversationStillOccupiesTheEngine()
    {
        TurnQueue queue;
        const auto first = *queue.add("a", {"1"});
        queue.add("b", {"2"});
        queue.startNext(1);
        queue.forget("a");
        queue.forget("nobody");
        QVERIFY(queue.busy());
        QVERIFY(queue.running().isEmpty());
        QVERIFY(!queue.running(first));
        QVERIFY(!queue.startNext(1));
        QVERIFY(queue.add("a", {"3"}));  // it has come back
        QVERIFY(!queue.end(first));      // what was made for it before is not wanted
        QCOMPARE(queue.startNext(1)->conversation, "b");
        queue.forget("a");
        QVERIFY(!queue.contains("a"));

        // What it was asked before has to end before it is asked anew.
        const auto again = *queue.add("c", {"5"});
        QVERIFY(queue.startNext(8));
        queue.forget("c");
        queue.add("c", {"6"});
        QVERIFY(!queue.startNext(8));
        QVERIFY(!queue.end(again));
        QCOMPARE(queue.startNext(8)->answers, QStringList("6"));
    }
};

SPILLWAY_TEST(QCoreApplication, TestTurnQueue)
#include "tst_turn_queue.moc"
