// Tests that the list of conversations stays in order and follows the store by one change at a time.
#include "tests/app/conversations/conversations_case.h"
#include "tests/support/test_program.h"

#include <QRandomGenerator>
#include <QSignalSpy>
#include <QTest>
#include <QTranslator>

using Role = ConversationListModel::Role;

namespace {

/// A language of capital letters.
class Loudly : public QTranslator
{
public:
    QString translate(const char* /*context*/, const char* text, const char* /*about*/, int /*count*/) const override
    {
        return QString::fromUtf8(text).toUpper();
    }
    bool isEmpty() const override { return false; }
};

}  // namespace

class TestConversationList : public ConversationsCase
{
    Q_OBJECT

private:
    QString ids() const
    {
        QStringList all;
        for (int row = 0; row < list->count(); ++row)
            all << list->idAt(row);
        return all.join(' ');
    }

private Q_SLOTS:
    void init() { ConversationsCase::init(); }
    void cleanup() { ConversationsCase::cleanup(); }

    void sections_data()
    {
        QTest::addColumn<QDateTime>("changed");
        QTest::addColumn<QString>("section");
        QTest::newRow("now") << kNoon << "Today";
        QTest::newRow("in the future") << kNoon.addDays(3) << "Today";
        QTest::newRow("midnight") << QDateTime(QDate(2026, 11, 21), QTime(0, 0)) << "Today";
        QTest::newRow("last second") << QDateTime(QDate(2026, 11, 20), QTime(23, 59, 59)) << "Yesterday";
        QTest::newRow("two days") << kNoon.addDays(-2) << "Previous 7 days";
        QTest::newRow("seven days") << kNoon.addDays(-7) << "Previous 7 days";
        QTest::newRow("eight days") << kNoon.addDays(-8) << "November";
        QTest::newRow("this year") << QDateTime(QDate(2026, 1, 5), QTime(1, 0)) << "January";
        QTest::newRow("last year") << QDateTime(QDate(2025, 11, 30), QTime(1, 0)) << "November 2025";
        QTest::newRow("never") << QDateTime::fromMSecsSinceEpoch(0) << "January 1970";
    }
    void sections()
    {
        QFETCH(QDateTime, changed);
        QFETCH(QString, section);
        store->save(header("a", changed));
        makeList();
        QCOMPARE(at(0, Role::SectionRole).toString(), section);
        ConversationHeader pinned = header("a", changed);
        pinned.pinned = true;
        store->save(pinned);
        QCOMPARE(at(0, Role::SectionRole).toString(), "Pinned");
    }

    void followsTheStoreRowByRow()
    {
        for (int i = 0; i < 4; ++i)
            store->save(header(QString::number(i), now.addSecs(-i)));
        makeList();
        QCOMPARE(ids(), "0 1 2 3");
        const QSignalSpy resets(list.get(), &QAbstractItemModel::modelReset);
        const QSignalSpy inserts(list.get(), &QAbstractItemModel::rowsInserted);
        const QSignalSpy moves(list.get(), &QAbstractItemModel::rowsMoved);
        const QSignalSpy changes(list.get(), &QAbstractItemModel::dataChanged);

        store->save(header("new", now.addSecs(1)));
        QCOMPARE(ids(), "new 0 1 2 3");
        store->save(header("2", now.addSecs(2)));  // a turn
        QCOMPARE(ids(), "2 new 0 1 3");
        store->save(header("2", now.addSecs(-10)));
        QCOMPARE(ids(), "new 0 1 3 2");
        store->save(header("3", now.addSecs(-3), "Another title"));  // renamed: it stays
        QCOMPARE(ids(), "new 0 1 3 2");
        QCOMPARE(at(3, Role::TitleRole).toString(), "Another title");
        QCOMPARE(inserts.size(), 1);
        QCOMPARE(moves.size(), 2);
        QCOMPARE(changes.size(), 1);
        store->save(header("3", now.addSecs(-3), "Another title"));  // a draft: nothing to see
        QCOMPARE(changes.size(), 1);

        store->moveToTrash("0");
        QCOMPARE(ids(), "new 1 3 2");
        store->save(header("0", now));  // what was still on its way does not bring it back
        QCOMPARE(ids(), "new 1 3 2");
        store->restore("0");
        QCOMPARE(ids(), "new 0 1 3 2");
        ConversationHeader pinned = header("2", now.addSecs(-10));
        pinned.pinned = true;
        store->save(pinned);
        QCOMPARE(ids(), "2 new 0 1 3");
        QCOMPARE(resets.size(), 0);
    }

    void everyMoveIsRight()
    {
        // Against sorting: every row to every place.
        for (int i = 0; i < 6; ++i)
            store->save(header(QString::number(i), now.addSecs(-10 * i)));
        makeList();
        for (int from = 0; from < 6; ++from)
            for (int to = 0; to < 7; ++to) {
                store->save(header(QString::number(from), now.addSecs(-10 * to + 5)));
                QStringList expected;
                for (const auto& other : store->conversations())
                    expected << other.id;
                QCOMPARE(ids(), expected.join(' '));
                store->save(header(QString::number(from), now.addSecs(-10 * from)));
            }
    }

    void titlesAreSafeToShow()
    {
        store->save(header("a", now, QString::fromUtf8("evil\u202Eexe\nline two\x07")));
        makeList();
        const QString title = at(0, Role::TitleRole).toString();
        QVERIFY(!title.contains(QChar(0x202E)));
        QVERIFY(!title.contains('\n'));
    }

    void currentAndActivity()
    {
        store->save(header("a", now));
        store->save(header("b", now.addSecs(-1)));
        makeList();
        QSignalSpy changes(list.get(), &QAbstractItemModel::dataChanged);
        list->setCurrent("b");
        QCOMPARE(list->currentRow(), 1);
        QVERIFY(at(1, Role::CurrentRole).toBool());
        list->setCurrent("not there yet");
        QCOMPARE(list->currentRow(), -1);
        changes.clear();
        list->setActivity("a", ConversationActivity::Answering);
        list->setActivity("a", ConversationActivity::Answering);
        QCOMPARE(changes.size(), 1);
        QCOMPARE(at(0, Role::ActivityRole).toInt(), int(ConversationActivity::Answering));
        list->setActivity("unknown", ConversationActivity::Queued);
        list->setActivity("a", ConversationActivity::Idle);
        QCOMPARE(at(0, Role::ActivityRole).toInt(), int(ConversationActivity::Idle));
    }

    void theDayChanges()
    {
        now = QDateTime(QDate(2026, 11, 21), QTime(23, 59, 59, 900));
        store->save(header("a", now));
        makeList();
        QCOMPARE(at(0, Role::SectionRole).toString(), "Today");
        now = now.addSecs(1);
        QTRY_COMPARE(at(0, Role::SectionRole).toString(), "Yesterday");
    }

    // A computer that has slept, or whose clock was set, has not waited until midnight.
    void theDayHasChangedUnseen()
    {
        store->save(header("a", now));
        makeList();
        QCOMPARE(at(0, Role::SectionRole).toString(), "Today");
        now = now.addDays(1);
        store->save(header("b", now));
        QCOMPARE(at(0, Role::SectionRole).toString(), "Today");
        QCOMPARE(at(1, Role::SectionRole).toString(), "Yesterday");
    }

    void theLanguageChanges()
    {
        now = QDateTime::currentDateTime();
        store->save(header("a", now));
        makeList();
        Loudly loudly;
        QCoreApplication::installTranslator(&loudly);
        list->regroup();
        QCOMPARE(at(0, Role::SectionRole).toString(), "TODAY");
        QCoreApplication::removeTranslator(&loudly);
    }

    void twoThousand()
    {
        for (int i = 0; i < 2000; ++i)
            store->save(header(QString("id %1").arg(i), now.addSecs(-i * 3600)));
        store->flush();
        list = std::make_unique<ConversationListModel>(*store, [this] { return now; });
        QCOMPARE(list->count(), 2000);
        // A save moves one row and leaves the others alone, so the list costs no more the longer it is.
        const QSignalSpy moved(list.get(), &QAbstractItemModel::rowsMoved);
        const QSignalSpy inserted(list.get(), &QAbstractItemModel::rowsInserted);
        const QSignalSpy reset(list.get(), &QAbstractItemModel::modelReset);
        for (int i = 1600; i < 2000; ++i)
            store->save(header(QString("id %1").arg(i), now.addSecs(i)));
        QCOMPARE(moved.count(), 400);
        QVERIFY(inserted.isEmpty());
        QVERIFY(reset.isEmpty());
        QCOMPARE(list->count(), 2000);
    }
};

SPILLWAY_TEST(QCoreApplication, TestConversationList)
#include "tst_conversation_list.moc"
