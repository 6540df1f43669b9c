// The list of conversations: in order, one change at a time, and what may be asked of it.
#include "app/conversations/conversations_controller.h"
#include "tests/support/conversations.h"
#include "tests/support/test_program.h"

#include <QAbstractItemModelTester>
#include <QRandomGenerator>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTranslator>

#include <tuple>

using Role = ConversationListModel::Role;

namespace {

const QDateTime kNoon(QDate(2026, 11, 21), QTime(12, 0));

ConversationHeader header(const QString& id, const QDateTime& changed, const QString& title = "A title")
{
    return {.id = id, .title = title, .changedMs = changed.toMSecsSinceEpoch()};
}

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

class TestConversationList : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> folder;
    std::unique_ptr<ConversationStore> store;
    std::unique_ptr<ConversationListModel> list;
    std::unique_ptr<ConversationsController> controller;
    QDateTime now;

    void makeList()
    {
        list = std::make_unique<ConversationListModel>(*store, [this] { return now; });
        new QAbstractItemModelTester(list.get(), QAbstractItemModelTester::FailureReportingMode::QtTest, list.get());
    }
    void makeController()
    {
        controller = std::make_unique<ConversationsController>(*store);
        for (QAbstractItemModel* model : {static_cast<QAbstractItemModel*>(controller->list()),
                                          static_cast<QAbstractItemModel*>(controller->results())})
            new QAbstractItemModelTester(model, QAbstractItemModelTester::FailureReportingMode::QtTest,
                                         controller.get());
    }
    QString ids() const
    {
        QStringList all;
        for (int row = 0; row < list->count(); ++row)
            all << list->idAt(row);
        return all.join(' ');
    }
    QVariant at(int row, int role) const { return list->data(list->index(row), role); }
    void search(const QString& words)
    {
        store->flush();
        controller->setSearchText(words);
        QTRY_VERIFY(controller->searching());
        QTest::qWait(200);
    }

private Q_SLOTS:
    void init()
    {
        now = kNoon;
        folder = std::make_unique<QTemporaryDir>();
        store = std::make_unique<ConversationStore>(folder->path());
    }
    void cleanup()
    {
        controller.reset();
        list.reset();
        store.reset();
    }

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

    void fiveThousand()
    {
        for (int i = 0; i < 5000; ++i)
            store->save(header(QString("id %1").arg(i), now.addSecs(-i * 3600)));
        store->flush();
        list = std::make_unique<ConversationListModel>(*store, [this] { return now; });
        QCOMPARE(list->count(), 5000);
        // A save moves one row and leaves the others alone, so the list costs no more the longer it is.
        const QSignalSpy moved(list.get(), &QAbstractItemModel::rowsMoved);
        const QSignalSpy inserted(list.get(), &QAbstractItemModel::rowsInserted);
        const QSignalSpy reset(list.get(), &QAbstractItemModel::modelReset);
        for (int i = 4000; i < 5000; ++i)
            store->save(header(QString("id %1").arg(i), now.addSecs(i)));
        QCOMPARE(moved.count(), 1000);
        QVERIFY(inserted.isEmpty());
        QVERIFY(reset.isEmpty());
        QCOMPARE(list->count(), 5000);
    }

    // ---- the controller ----

    void renameAndPin()
    {
        store->saveAll(twoTurns("a", "Before"));
        makeController();
        controller->rename("a", "  After\nall ");
        QCOMPARE(store->conversation("a")->header.title, "After all");
        QVERIFY(store->conversation("a")->header.titleByUser);
        controller->rename("a", "   ");
        QCOMPARE(store->conversation("a")->header.title, "After all");
        controller->rename("nobody", "x");
        controller->setPinned("a", true);
        QVERIFY(store->conversation("a")->header.pinned);
        QCOMPARE(store->conversation("a")->messages.size(), 4);
        QCOMPARE(store->conversations().size(), 1);
    }

    void deletingCanBeUndone()
    {
        for (const char* id : {"a", "b", "c"})
            store->saveAll(twoTurns(id, QString("Title %1").arg(id)));
        makeController();
        const QSignalSpy opened(controller.get(), &ConversationsController::openRequested);
        controller->onOpened("a");
        controller->remove("a");
        controller->remove("b");
        controller->remove("nobody");
        QVERIFY(controller->canUndo());
        QCOMPARE(controller->undoTitle(), "Title b");
        QCOMPARE(controller->list()->count(), 1);
        controller->undo();
        QCOMPARE(opened.size(), 0);
        controller->onOpened("new");
        controller->undo();
        QCOMPARE(opened.size(), 1);  // it was the one that was shown
        QVERIFY(!controller->canUndo());
        controller->undo();
        QCOMPARE(controller->list()->count(), 3);
        QCOMPARE(store->conversation("a")->messages.size(), 4);

        controller->remove("c");
        controller->dismissUndo();
        controller->undo();
        QCOMPARE(controller->list()->count(), 2);
        controller.reset();  // the trash is emptied with the program's end
        QVERIFY(!store->conversation("c"));
    }

    void trashOfARunThatDiedIsEmptied()
    {
        store->saveAll(twoTurns("a", "A"));
        store->moveToTrash("a");
        makeController();
        QVERIFY(!store->conversation("a"));
    }

    void searchFindsAndOpens()
    {
        store->saveAll(twoTurns("a", "About <b>zebras</b>", "Zebras have stripes & <i>hooves</i>."));
        store->saveAll(twoTurns("b", "Other", "No gnus."));
        makeController();
        const QSignalSpy opened(controller.get(), &ConversationsController::openRequested);
        const QSignalSpy message(controller.get(), &ConversationsController::messageRequested);
        search("zebra");
        SearchModel* results = controller->results();
        QCOMPARE(results->count(), 3);  // the title and two answers
        const auto at = [&](int row, int role) { return results->data(results->index(row), role).toString(); };
        QCOMPARE(at(0, SearchModel::TitleRole), "About &lt;b&gt;<b>zebras</b>&lt;/b&gt;");
        QCOMPARE(at(0, SearchModel::PlainTitleRole), "About <b>zebras</b>");
        QCOMPARE(at(1, SearchModel::ExcerptRole), "<b>Zebras</b> have stripes &amp; &lt;i&gt;hooves&lt;/i&gt;.");
        QVERIFY(results->data(results->index(0), SearchModel::FirstRole).toBool());
        QVERIFY(!results->data(results->index(1), SearchModel::FirstRole).toBool());
        controller->open(results->conversationAt(1), results->messageAt(1), results->excerptAt(1));
        QCOMPARE(opened.size(), 1);
        QCOMPARE(message.first().first().toString(), results->messageAt(1));
        QCOMPARE(message.first().last().toString(), "\2Zebras\3 have stripes & <i>hooves</i>.");

        controller->remove("a");
        QCOMPARE(results->count(), 0);
        controller->undo();
        QCOMPARE(results->count(), 3);
        controller->setSearchText("");
        QVERIFY(!controller->searching());
    }

    void typingSearchesOnce()
    {
        store->saveAll(twoTurns("a", "zebra"));
        makeController();
        const QSignalSpy resets(controller->results(), &QAbstractItemModel::modelReset);
        for (const char* text : {"z", "ze", "zeb", "zebr"})
            controller->setSearchText(text);
        QTRY_COMPARE(controller->results()->count(), 1);
        QCOMPARE(resets.size(), 1);
    }

    void filesThereAndBack()
    {
        store->saveAll(fullConversation("one"));
        store->saveAll(twoTurns("two", "Second"));
        makeController();
        const QString json = folder->filePath("all.json");
        controller->exportAll(ConversationsController::Json, QUrl::fromLocalFile(json));
        QTRY_VERIFY(!controller->busy());
        QVERIFY2(controller->sentence().contains("2 conversations"), qPrintable(controller->sentence()));
        controller->import({QUrl::fromLocalFile(json)});
        QTRY_VERIFY(!controller->busy());
        QCOMPARE(controller->list()->count(), 4);  // "one" and "two" are no UUIDs, so they came under others
        controller->import({QUrl::fromLocalFile(json)});
        QTRY_VERIFY(!controller->busy());
        QCOMPARE(controller->list()->count(), 4);
        QVERIFY2(controller->sentence().contains("2 conversation"), qPrintable(controller->sentence()));
        QVERIFY2(controller->sentence().contains("already"), qPrintable(controller->sentence()));

        const QSignalSpy opened(controller.get(), &ConversationsController::openRequested);
        const QString markdown = folder->filePath("one.md");
        controller->exportTo("one", ConversationsController::Markdown, QUrl::fromLocalFile(markdown));
        QTRY_VERIFY(!controller->busy());
        controller->import({QUrl::fromLocalFile(markdown)});
        QTRY_VERIFY(!controller->busy());
        QCOMPARE(controller->list()->count(), 5);
        QCOMPARE(opened.size(), 1);  // a single one is shown

        const QString typed = folder->filePath("C# 100%.json");
        controller->exportTo("one", ConversationsController::Json, QUrl(typed));  // as Qt's own dialog has it
        QTRY_VERIFY(!controller->busy());
        QVERIFY2(QFileInfo::exists(typed), qPrintable(controller->sentence()));

        QVERIFY(QDir(folder->path()).mkdir("md"));
        controller->exportAll(ConversationsController::Markdown, QUrl::fromLocalFile(folder->filePath("md")));
        QTRY_VERIFY(!controller->busy());
        QCOMPARE(QDir(folder->filePath("md")).entryList({"*.md"}).size(), 5);  // of the same title, too
    }

    void filesThatFail()
    {
        store->saveAll(twoTurns("one", "One"));
        makeController();
        controller->exportTo("one", ConversationsController::Json,
                             QUrl::fromLocalFile(folder->filePath("no/such/x.json")));
        QTRY_VERIFY(!controller->busy());
        QVERIFY(controller->sentenceIsError());
        QVERIFY(controller->sentence().contains("x.json"));
        controller->import({QUrl::fromLocalFile(folder->filePath("missing.json"))});
        QTRY_VERIFY(controller->sentence().contains("missing.json"));
        controller->dismissSentence();
        QCOMPARE(controller->sentence(), "");
        QCOMPARE(controller->list()->count(), 1);
    }

    /// The rows: folders with a mark and their count, ids below them.
    static QString rows(const ConversationListModel& list)
    {
        QStringList all;
        for (int row = 0; row < list.rowCount(); ++row) {
            const QModelIndex index = list.index(row);
            const QString folder = index.data(Role::FolderRole).toString();
            const bool open = index.data(Role::FolderOpenRole).toBool();
            all << (list.idAt(row).isEmpty() ? QString("%1%2:%3")
                                                   .arg(open ? "-" : "+", folder)
                                                   .arg(index.data(Role::FolderCountRole).toInt())
                                             : list.idAt(row));
        }
        return all.join(' ');
    }
    void fillFolders()
    {
        for (const auto& [id, where, hours] :
             {std::tuple{"a", "Work 10", 1}, std::tuple{"b", "Work 2", 2}, std::tuple{"c", "", 3},
              std::tuple{"d", "Work 10", 4}, std::tuple{"e", "art", 5}}) {
            ConversationHeader one = header(id, kNoon.addSecs(-3600 * hours));
            one.folder = where;
            store->save(one);
        }
    }

    void foldersComeFirst()
    {
        fillFolders();
        makeList();
        QCOMPARE(rows(*list), "-art:1 e -Work 2:1 b -Work 10:2 a d c");
        QCOMPARE(list->count(), 5);
        QCOMPARE(list->folders(), QStringList({"art", "Work 2", "Work 10"}));
        QCOMPARE(list->ids().join(' '), "e b a d c");
        for (int row = 0; row < 7; ++row)
            QCOMPARE(at(row, Role::SectionRole).toString(), "");
        QCOMPARE(at(7, Role::SectionRole).toString(), "Today");
        QCOMPARE(at(0, Role::TitleRole).toString(), "art");

        ConversationHeader last = *list->header("d");
        last.pinned = true;
        store->save(last);
        QCOMPARE(rows(*list), "-art:1 e -Work 2:1 b -Work 10:2 d a c");  // pinned ones first, within theirs
    }

    void foldersOpenAndClose()
    {
        fillFolders();
        makeList();
        const QSignalSpy closed(list.get(), &ConversationListModel::closedFoldersChanged);
        list->setFolderOpen("Work 10", false);
        QCOMPARE(rows(*list), "-art:1 e -Work 2:1 b +Work 10:2 c");
        QCOMPARE(list->closedFolders(), QStringList{"Work 10"});
        QCOMPARE(closed.size(), 1);
        QCOMPARE(list->count(), 5);
        QCOMPARE(list->ids().join(' '), "e b a d c");
        QCOMPARE(list->rowOf("a"), -1);
        QVERIFY(list->header("a"));
        ConversationHeader turned = *list->header("d");
        turned.changedMs = kNoon.toMSecsSinceEpoch();
        store->save(turned);  // unseen
        store->moveToTrash("b");
        QCOMPARE(rows(*list), "-art:1 e +Work 10:2 c");
        list->setFolderOpen("Work 10", true);
        QCOMPARE(rows(*list), "-art:1 e -Work 10:2 d a c");
        list->setFolderOpen("art", false);
        list->setFolderOpen("no such", false);
        QCOMPARE(list->rowOfFolder("no such"), -1);
        list->setCurrent("e");  // what is shown is seen
        QCOMPARE(rows(*list), "-art:1 e -Work 10:2 d a c");
        list->setFolderOpen("art", false);
        QCOMPARE(list->currentRow(), -1);
        store->moveToTrash("e");
        QCOMPARE(rows(*list), "-Work 10:2 d a c");
        QCOMPARE(list->closedFolders(), QStringList());
        store->restore("e");
        QCOMPARE(rows(*list), "-art:1 e -Work 10:2 d a c");
    }

    void movingToAFolder()
    {
        fillFolders();
        makeController();
        ConversationListModel& all = *controller->list();
        controller->moveToFolder("c", "  art ");
        QCOMPARE(rows(all), "-art:2 c e -Work 2:1 b -Work 10:2 a d");
        controller->moveToFolder("b", "");
        QCOMPARE(rows(all), "-art:2 c e -Work 10:2 a d b");
        all.setFolderOpen("art", false);
        controller->moveToFolder("a", "art");
        QCOMPARE(rows(all), "+art:3 -Work 10:1 d b");
        controller->moveToFolder("a", "Work 10");
        QCOMPARE(rows(all), "+art:2 -Work 10:2 a d b");
        QCOMPARE(controller->moveToNewFolder("b"), "New folder");
        QCOMPARE(controller->moveToNewFolder("d"), "New folder 2");
        QCOMPARE(rows(all), "+art:2 -New folder:1 b -New folder 2:1 d -Work 10:1 a");
        store->flush();
        controller.reset();
        makeController();
        QCOMPARE(controller->list()->folders(), QStringList({"art", "New folder", "New folder 2", "Work 10"}));
    }

    void renamingAndRemovingFolders()
    {
        fillFolders();
        makeController();
        ConversationListModel& all = *controller->list();
        all.setFolderOpen("Work 10", false);
        controller->renameFolder("Work 10", " Fun\n");
        QCOMPARE(rows(all), "-art:1 e +Fun:2 -Work 2:1 b c");
        controller->renameFolder("Fun", " ");  // no name: the old one stays
        controller->renameFolder("Fun", "art");
        QCOMPARE(rows(all), "+art:3 -Work 2:1 b c");
        all.setFolderOpen("art", true);
        controller->removeFolder("art");
        QCOMPARE(rows(all), "-Work 2:1 b a c d e");
        QVERIFY(controller->canUndo() && controller->undoIsFolder());
        QCOMPARE(controller->undoTitle(), "art");
        controller->remove("d");
        QVERIFY(!controller->undoIsFolder());
        controller->undo();
        controller->undo();
        QCOMPARE(rows(all), "-art:3 a d e -Work 2:1 b c");
        QVERIFY(!controller->canUndo());
    }

    /// Whatever happens to it, the list is what a new one would be.
    void foldersInAnyOrder()
    {
        const auto seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        QRandomGenerator random(seed);
        makeController();
        ConversationListModel& all = *controller->list();
        const QStringList names{"", "", "Ä", "a", "B 2", "B 10"};
        for (int step = 0; step < 400; ++step) {
            const QString id = QString::number(random.bounded(12));
            switch (random.bounded(6)) {
            case 0:
                store->moveToTrash(id);
                break;
            case 1:
                store->restore(id);
                break;
            case 2:
                all.setFolderOpen(names[random.bounded(6)], random.bounded(2) == 0);
                break;
            case 3:
                controller->moveToFolder(id, names[random.bounded(6)]);
                break;
            default:
                ConversationHeader one = all.header(id) ? *all.header(id) : header(id, kNoon);
                one.changedMs = kNoon.addSecs(random.bounded(100'000)).toMSecsSinceEpoch();
                one.pinned = random.bounded(4) == 0;
                store->save(one);
            }
        }
        ConversationListModel anew(*store);
        QCOMPARE(all.ids(), anew.ids());
        for (const QStringList closed = all.closedFolders(); const QString& name : closed)
            anew.setFolderOpen(name, false);
        QCOMPARE(rows(all), rows(anew));
    }

    void severalFilesAtOnce()
    {
        store->saveAll(twoTurns("one", "One"));
        makeController();
        const QUrl json = QUrl::fromLocalFile(folder->filePath("one.json"));
        controller->exportTo("one", ConversationsController::Json, json);
        QTRY_VERIFY(!controller->busy());
        const auto missing = [&](const char* name) { return QUrl::fromLocalFile(folder->filePath(name)); };
        controller->import({missing("a.json"), json, missing("b.json")});
        QVERIFY(controller->importing());
        QTRY_VERIFY(!controller->importing());
        QCOMPARE(controller->list()->count(), 2);
        const QString said = controller->sentence();
        for (const char* part : {"One conversation was imported.", "a.json", "2 file"})
            QVERIFY2(said.contains(part), qPrintable(said));
        QVERIFY(controller->sentenceIsError());
    }

    void anImportThatIsCancelled()
    {
        store->saveAll(twoTurns("one", "One"));
        makeController();
        const QUrl json = QUrl::fromLocalFile(folder->filePath("one.json"));
        controller->exportTo("one", ConversationsController::Json, json);
        QTRY_VERIFY(!controller->busy());
        controller->import({json, json});
        controller->cancelImport();
        QTRY_VERIFY(!controller->importing());
        QCOMPARE(controller->list()->count(), 1);
        QVERIFY2(controller->sentence().contains("cancelled"), qPrintable(controller->sentence()));
        controller->cancelImport();  // nothing is there to be cancelled
    }
};

SPILLWAY_TEST(QCoreApplication, TestConversationList)
#include "tst_conversation_list.moc"
