// Tests that folders of conversations can be made, opened, filled, renamed and removed in the list.
#include "tests/app/conversations/conversations_case.h"
#include "tests/support/test_program.h"

#include <QRandomGenerator>
#include <QSignalSpy>
#include <QTest>

#include <tuple>

using Role = ConversationListModel::Role;

class TestConversationFolders : public ConversationsCase
{
    Q_OBJECT

private:
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

private Q_SLOTS:
    void init() { ConversationsCase::init(); }
    void cleanup() { ConversationsCase::cleanup(); }

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
};

SPILLWAY_TEST(QCoreApplication, TestConversationFolders)
#include "tst_conversation_folders.moc"
