// Tests that conversations can be renamed, pinned, deleted and restored, searched, exported and imported.
#include "tests/app/conversations/conversations_case.h"
#include "tests/support/test_program.h"

#include <QSignalSpy>
#include <QTest>

class TestConversationsController : public ConversationsCase
{
    Q_OBJECT

private:
    void search(const QString& words)
    {
        store->flush();
        controller->setSearchText(words);
        QTRY_VERIFY(controller->searching());
        QTest::qWait(200);
    }

private Q_SLOTS:
    void init() { ConversationsCase::init(); }
    void cleanup() { ConversationsCase::cleanup(); }

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

    void whatIsFoundForOlderWordsIsDropped()
    {
        store->saveAll(twoTurns("a", "A", QString::fromUtf8("机器学习")));
        store->saveAll(twoTurns("b", "B", QString::fromUtf8("内存")));
        makeController();
        SearchModel* results = controller->results();
        const QSignalSpy resets(results, &QAbstractItemModel::modelReset);
        search(QString::fromUtf8("内存"));
        QTRY_COMPARE(results->conversationAt(0), "b");
        int begun = 0;
        connect(controller.get(), &ConversationsController::lookingChanged, results, [&] {
            if (controller->looking() && ++begun == 1)  // one types on before it has come back
                controller->setSearchText(QString::fromUtf8("机器学"));
        });
        controller->setSearchText(QString::fromUtf8("机器"));
        QTRY_COMPARE(results->conversationAt(0), "a");
        QCOMPARE(results->excerptAt(0), QString::fromUtf8("\2机器学\3习"));
        QCOMPARE(resets.size(), 2);
        QCOMPARE(begun, 1);  // from one into the other
        QVERIFY(!controller->looking());
    }

    void nobodyLooksAfterTheWordsAreGone()
    {
        store->saveAll(twoTurns("a", "A", QString::fromUtf8("机器学习")));
        makeController();
        controller->setSearchText(QString::fromUtf8("机器"));
        QTRY_VERIFY(controller->looking() || controller->searching());
        controller->setSearchText(QString::fromUtf8("机器学"));
        controller->setSearchText(QString());
        QVERIFY(!controller->looking());
        QVERIFY(!controller->searching());
    }

    void whatWasTypedIsLookedForAtOnceWhenItIsAsked()
    {
        store->saveAll(twoTurns("a", "Zebra"));
        store->saveAll(twoTurns("b", "Gnu"));
        makeController();
        search("zebra");
        controller->setSearchText("gnu");
        QCOMPARE(controller->results()->conversationAt(0), "a");
        controller->searchNow();
        QCOMPARE(controller->results()->conversationAt(0), "b");
    }

    // An answer that is written to the disk each second lets the same words be looked for each time.
    void lookingOnceMoreForTheSameWordsIsNotTold()
    {
        makeController();
        search(QString::fromUtf8("机器"));
        int looked = 0;
        const QObject here;
        connect(controller.get(), &ConversationsController::lookingChanged, &here, [&] {
            if (controller->looking())
                ++looked;
        });
        store->saveAll(twoTurns("a", "A", QString::fromUtf8("机器学习")));
        QTRY_COMPARE(controller->results()->conversationAt(0), "a");
        QCOMPARE(looked, 0);
    }

    void nothingStaysForOlderWordsBesideADeletion()
    {
        store->saveAll(twoTurns("a", "Zebra"));
        store->saveAll(twoTurns("b", "Zebra"));
        makeController();
        search("zebra");
        controller->remove("a");
        QVERIFY(controller->results()->count() > 0);
        controller->setSearchText("gnu");
        QTRY_COMPARE(controller->results()->count(), 0);
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

    void theOnlyOneOfAllAsMarkdown()
    {
        store->saveAll(twoTurns("one", "One"));
        makeController();
        QVERIFY(QDir(folder->path()).mkdir("md"));
        controller->exportAll(ConversationsController::Markdown, QUrl::fromLocalFile(folder->filePath("md")));
        QTRY_VERIFY(!controller->busy());
        QVERIFY2(!controller->sentenceIsError(), qPrintable(controller->sentence()));
        QCOMPARE(QDir(folder->filePath("md")).entryList(QDir::Files), QStringList{"One.md"});
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

SPILLWAY_TEST(QCoreApplication, TestConversationsController)
#include "tst_conversations_controller.moc"
