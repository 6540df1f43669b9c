// Whose turn it is: one runs, the others wait in order, and nothing that comes late finds an owner.
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
        QVERIFY(!queue.startNext());
        const auto first = queue.add("a", {"1"});
        const auto second = queue.add("b", {"2"});
        QVERIFY(queue.add("c", {"3"}));
        QVERIFY(first && second && *first < *second);
        QVERIFY(!queue.add("b", {"4"}));  // one for each conversation

        QCOMPARE(queue.startNext()->conversation, "a");
        QVERIFY(!queue.startNext());
        QVERIFY(!queue.add("a", {"5"}));
        QCOMPARE(queue.position("a").value_or(-1), 0);
        QCOMPARE(queue.position("b").value_or(-1), 1);
        QCOMPARE(queue.position("c").value_or(-1), 2);
        QVERIFY(!queue.position("d"));

        const auto ended = queue.end(*first);
        QVERIFY(ended);
        QCOMPARE(ended->answers, QStringList("1"));
        QVERIFY(!queue.contains("a"));
        QCOMPARE(queue.startNext()->answers, QStringList("2"));
        QCOMPARE(queue.position("c").value_or(-1), 1);
    }

    void aTurnIsOverWithTheLastOfItsAnswers()
    {
        TurnQueue queue;
        const auto first = *queue.add("a", {"1", "2", "3"});
        const auto second = *queue.add("b", {"4"});
        QCOMPARE(second, first + 3);  // each answer has a number
        QCOMPARE(queue.startNext()->answers.size(), 3);
        QVERIFY(queue.running(first) && queue.running(first + 2));
        QVERIFY(!queue.running(second));
        QCOMPARE(queue.end(first + 1)->conversation, "a");
        QVERIFY(!queue.end(first + 1));
        QVERIFY(!queue.running(first + 1));
        QVERIFY(queue.running(first + 2));
        QVERIFY(!queue.startNext());
        queue.forget("a");
        QVERIFY(!queue.end(first));  // nobody wants it, and the engine is still busy with the last
        QVERIFY(queue.busy());
        QVERIFY(!queue.end(first + 2));
        QVERIFY(!queue.busy());
        QCOMPARE(queue.startNext()->answers, QStringList("4"));
    }

    void lateResultsHaveNoOwner()
    {
        TurnQueue queue;
        const auto first = *queue.add("a", {"1"});
        QVERIFY(!queue.running(first));  // it only waits
        queue.startNext();
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
        queue.startNext();
        QVERIFY(!queue.removeWaiting("a"));  // it runs
        QCOMPARE(queue.removeWaiting("b")->answers, QStringList("2"));
        QVERIFY(!queue.removeWaiting("b"));
        QCOMPARE(queue.position("c").value_or(-1), 1);
        QVERIFY(queue.add("b", {"4"}));
        QCOMPARE(queue.position("b").value_or(-1), 2);
        QCOMPARE(queue.removeAllWaiting().size(), 2);
        QVERIFY(queue.waiting().isEmpty());
        QVERIFY(queue.running());
    }

    void aForgottenConversationStillOccupiesTheEngine()
    {
        TurnQueue queue;
        const auto first = *queue.add("a", {"1"});
        queue.add("b", {"2"});
        queue.startNext();
        queue.forget("a");
        queue.forget("nobody");
        QVERIFY(queue.busy());
        QVERIFY(!queue.running());
        QVERIFY(!queue.running(first));
        QVERIFY(!queue.startNext());
        QVERIFY(queue.add("a", {"3"}));  // it has come back
        QVERIFY(!queue.end(first));      // what was made for it before is not wanted
        QCOMPARE(queue.startNext()->conversation, "b");
        queue.forget("a");
        QVERIFY(!queue.contains("a"));
    }
};

SPILLWAY_TEST(QCoreApplication, TestTurnQueue)
#include "tst_turn_queue.moc"
