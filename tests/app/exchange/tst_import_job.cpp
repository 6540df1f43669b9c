// Tests that an import adds to the store what is missing there, leaves what is there already, and loses no message of
// either copy.
#include "app/exchange/conversation_json.h"
#include "app/exchange/conversation_markdown.h"
#include "app/exchange/import_job.h"
#include "tests/app/store/store_case.h"
#include "tests/support/test_program.h"

#include <QSignalSpy>
#include <QThreadPool>

Q_DECLARE_METATYPE(ImportJob::Outcome)

namespace {

const QString kId = "0b6cf2f5-8e35-4c4c-9f0c-5d0f6f6d2a11";  // as ours are

}  // namespace

class TestImportJob : public test_support::StoreCase
{
    Q_OBJECT

private:
    QString written(const QString& name, const QByteArray& bytes) const
    {
        QFile out(folder->filePath(name));
        return out.open(QIODevice::WriteOnly) && out.write(bytes) == bytes.size() ? out.fileName() : QString();
    }
    QString json(const QString& name, const QList<StoredConversation>& conversations) const
    {
        QByteArrayList all;
        for (const StoredConversation& conversation : conversations)
            all << jsonOf(conversation);
        return written(name, jsonBeginning() + all.join(",\n") + jsonEnd());
    }
    ImportJob::Outcome imported(const QStringList& paths)
    {
        ImportJob job(*store, paths);
        QSignalSpy done(&job, &ImportJob::done);
        return done.wait(60000) ? done[0][0].value<ImportJob::Outcome>() : ImportJob::Outcome{.error = "never done"};
    }
    /// Returns what became of the conversations: added, here.
    static QString counts(const ImportJob::Outcome& outcome)
    {
        return QString("%1 %2 %3").arg(outcome.added).arg(outcome.here).arg(outcome.error).trimmed();
    }
    static StoredConversation goneOn(StoredConversation conversation)
    {
        StoredMessage more = conversation.messages.last();
        more.parent = more.id;
        more.id += "-more";
        more.text = "One thing more.";
        more.createdMs += 1000;
        conversation.messages.append(more);
        conversation.header.leaf = more.id;
        return conversation;
    }

private Q_SLOTS:
    void init() { begin(); }
    void cleanup() { end(); }

    void aSecondImportAddsNothing_data()
    {
        QTest::addColumn<QString>("id");
        QTest::newRow("as ours are") << kId;
        QTest::newRow("a script's") << "../one";
    }
    void aSecondImportAddsNothing()
    {
        QFETCH(QString, id);
        const QString path = json("a.json", {twoTurns(id, "One"), twoTurns("two", "Two")});
        QCOMPARE(counts(imported({path})), "2 0");
        QCOMPARE(counts(imported({path})), "0 2");
        QCOMPARE(store->conversations().size(), 2);
        for (const ConversationHeader& header : store->conversations())
            QVERIFY2(!QUuid(header.id).isNull(), qPrintable(header.id));  // it becomes a file's name
        QCOMPARE(store->kept(kId).has_value(), id == kId);
    }

    void halfACharacterIsKnownAgain()
    {
        QByteArray bytes = jsonBeginning() + jsonOf(twoTurns(kId, "One", "a-bcd")) + jsonEnd();
        const QString path = written("a.json", bytes.replace("a-bcd", "a\\ud83dbcd"));
        QCOMPARE(counts(imported({path})), "1 0");
        QCOMPARE(counts(imported({path})), "0 1");
        QCOMPARE(counts(imported({path})), "0 1");
        store->flush();
        QCOMPARE(store->conversation(kId)->messages[1].text, QString::fromUtf8("a\uFFFDbcd"));
    }

    void markdownIsKnownByItsWords()
    {
        const QString path = written("a.md", toMarkdown(twoTurns("one", "One")));
        QCOMPARE(counts(imported({path})), "1 0");
        QCOMPARE(counts(imported({path})), "0 1");
        QCOMPARE(counts(imported({written("b.md", toMarkdown(twoTurns("one", "One", "Else.")))})), "1 0");
    }

    void anOlderCopyChangesNothing()
    {
        StoredConversation older = twoTurns(kId, "One", "An ans");  // before it was continued
        older.messages.resize(3);
        older.header.leaf = older.messages.last().id;
        store->saveAll(goneOn(twoTurns(kId, "One")));
        QCOMPARE(counts(imported({json("a.json", {older})})), "0 1");
        QCOMPARE(store->conversation(kId)->messages.size(), 5);
    }

    void aNewerCopyComesInBesideOurs()
    {
        const StoredConversation ours = twoTurns(kId, "One");
        store->saveAll(ours);
        const QString path = json("a.json", {goneOn(ours)});
        const ImportJob::Outcome outcome = imported({path});
        QCOMPARE(counts(outcome), "1 0");
        QCOMPARE(describe(*store->conversation(kId)), describe(ours));
        QCOMPARE(store->conversation(outcome.last)->messages.size(), 5);
        QCOMPARE(counts(imported({path})), "0 1");  // but once only
        QCOMPARE(store->conversations().size(), 2);
    }

    void otherWordsAtTheSameTimeAreNotTheBeginningOfOurs()
    {
        StoredConversation ours = twoTurns(kId, "One");
        for (StoredMessage& message : ours.messages)
            message.createdMs = 5;
        StoredConversation theirs = ours;
        ours.messages[1].text = "Yes, and more.";
        theirs.messages[1].text = "Yes";
        store->saveAll(ours);
        QCOMPARE(counts(imported({json("a.json", {theirs})})), "1 0");
    }

    void whatLiesInTheTrashComesBack()
    {
        store->saveAll(twoTurns(kId, "One"));
        store->moveToTrash(kId);
        const QString path = json("a.json", {twoTurns(kId, "One")});
        const ImportJob::Outcome outcome = imported({path});
        QCOMPARE(counts(outcome), "1 0");
        QCOMPARE(outcome.last, kId);
        QCOMPARE(store->conversations().size(), 1);
        QCOMPARE(counts(imported({path})), "0 1");
    }

    void theSameTwiceInOneImport()
    {
        const StoredConversation one = twoTurns(kId, "One");
        const QString first = json("a.json", {one, one, goneOn(one)});
        QCOMPARE(counts(imported({first, json("b.json", {one, goneOn(one)})})), "2 3");
        QCOMPARE(store->conversations().size(), 2);
    }

    void nobodysMessagesAreTakenAway()
    {
        store->saveAll(twoTurns(kId, "Ours"));
        StoredConversation theirs = twoTurns(kId, "Theirs", "Other words.");
        theirs.header.id = "another";
        QCOMPARE(counts(imported({json("a.json", {theirs})})), "1 0");
        QCOMPARE(describe(*store->conversation(kId)), describe(twoTurns(kId, "Ours")));
    }

    void manyAtOnce()
    {
        QList<StoredConversation> many;
        for (int i = 0; i < 300; ++i)
            many << twoTurns(QString("c%1").arg(i), "Title");
        const QString path = json("a.json", many);
        QCOMPARE(counts(imported({path})), "300 0");
        QCOMPARE(counts(imported({path})), "0 300");
    }

    void whatIsCancelledDoesNotWaitUntilTheStoreCanWrite()
    {
        QSqlDatabase other = QSqlDatabase::addDatabase("QSQLITE", "holds");
        other.setDatabaseName(file());
        QVERIFY(other.open());
        QVERIFY(other.exec("BEGIN IMMEDIATE").isActive());
        ImportJob job(*store, {json("a.json", {twoTurns(kId, "One")})});
        QSignalSpy done(&job, &ImportJob::done);
        QThreadPool::globalInstance()->waitForDone();
        for (int i = 0; i < 3; ++i)
            QCoreApplication::processEvents();  // it is read, and on its way
        job.cancel();
        QTRY_COMPARE_WITH_TIMEOUT(done.size(), 1, 60000);
        QVERIFY(done[0][0].value<ImportJob::Outcome>().cancelled);
        QVERIFY(other.exec("COMMIT").isActive());
        other.close();
        other = {};
        QSqlDatabase::removeDatabase("holds");
        store->flush();
        reopen();
        QVERIFY(store->conversations().isEmpty());
        QCOMPARE(done.size(), 1);
    }

    void aTimeToComeIsNow()
    {
        StoredConversation late = twoTurns(kId, "One");
        late.header.changedMs = 1'000'000'000'000'000;
        QCOMPARE(counts(imported({json("a.json", {late})})), "1 0");
        QVERIFY(store->conversation(kId)->header.changedMs <= QDateTime::currentMSecsSinceEpoch());
    }
};

SPILLWAY_TEST(QCoreApplication, TestImportJob)
#include "tst_import_job.moc"
