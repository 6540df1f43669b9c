// Tests that several answers of a turn can be broken off while they are made. A build with sanitizers also sees whether
// memory of an answer is read after it has gone.
#include "app/chat/answers_in_making.h"
#include "tests/support/test_program.h"

#include <QTest>

class TestAnswersInMaking : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void severalAreBrokenOff()
    {
        ConversationTree tree;
        AnswersInMaking making;
        for (int i = 0; i < 4; ++i) {
            StoredMessage answer;
            answer.id = QString::number(i);
            answer.role = StoredMessage::Role::Assistant;
            if (i < 3)
                QVERIFY(tree.add(answer));  // the last one is not there any more
            making.begin(quint64(i), answer);
        }
        QVERIFY(!making.add(0, "Yes", *tree.find("0")));
        QVERIFY(!making.add(1, "<think>hm", *tree.find("1")));
        const QList<const StoredMessage*> cut = making.endAll(tree);
        QCOMPARE(cut.size(), 1);
        QCOMPARE(cut[0]->id, "1");
        QVERIFY(cut[0]->reasoningMs.has_value());
        QVERIFY(making.endAll(tree).isEmpty());
    }
};

SPILLWAY_TEST(QCoreApplication, TestAnswersInMaking)
#include "tst_answers_in_making.moc"
