// Tests that the store opens and saves what it can where the file, the folder or the disk is damaged, foreign, full or
// older than the program.
#include "app/store/attachment_folder.h"
#include "app/store/database.h"
#include "tests/app/store/store_case.h"
#include "tests/support/plain_user.h"
#include "tests/support/test_program.h"

#include <QRandomGenerator>
#include <QSignalSpy>

using namespace test_support;

namespace {

void overwrite(const QString& path, qint64 from, const QByteArray& bytes)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadWrite));
    QVERIFY(file.seek(from));
    QCOMPARE(file.write(bytes), bytes.size());
}

}  // namespace

class TestStoreDamage : public StoreCase
{
    Q_OBJECT

private:
    QStringList setAside() const
    {
        return QDir(folder->path()).entryList({"spillway-damaged-*.sqlite", "spillway-foreign-*.sqlite"});
    }
    /// Puts the file of an older version in the place of the database.
    void putDump(const QString& version)
    {
        store.reset();
        QFile::remove(file());
        QFile dump(SPILLWAY_SOURCE_DIR "/tests/data/store/" + version + ".sql");
        QVERIFY(dump.open(QIODevice::ReadOnly));
        sql(file(), QString::fromUtf8(dump.readAll()).split(";\n", Qt::SkipEmptyParts));
    }
    static void versions()
    {
        QTest::addColumn<QString>("version");
        for (const char* version : {"v1", "v2", "v3", "v4"})
            QTest::newRow(version) << version;
    }

private Q_SLOTS:
    void init() { begin(); }
    void cleanup() { end(); }

    void aFileThatIsNoDatabaseIsSetAside_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("text") << QByteArray("hello\n").repeated(1000);
        QTest::newRow("short") << QByteArray("x");
        QTest::newRow("only the head") << QByteArray("SQLite format 3\0", 16);
        QTest::newRow("zeros") << QByteArray(8192, '\0');
    }
    void aFileThatIsNoDatabaseIsSetAside()
    {
        QFETCH(QByteArray, bytes);
        store.reset();
        QVERIFY(QFile::remove(file()));
        overwrite(file(), 0, bytes);
        reopen();
        QVERIFY2(store->notice().contains("damaged"), qPrintable(store->notice()));
        QCOMPARE(setAside().size(), 1);
        QCOMPARE(QFileInfo(folder->filePath(setAside()[0])).size(), bytes.size());  // as it was
        QVERIFY(store->notice().contains(setAside()[0]));
        store->saveAll(twoTurns("new", "Goes on"));
        reopen();
        QCOMPARE(store->notice(), QString());
        QCOMPARE(store->conversations().size(), 1);
    }

    void anEmptyFileIsANewOne()
    {
        store.reset();
        QFile::resize(file(), 0);
        reopen();
        QCOMPARE(store->notice(), QString());
        QCOMPARE(setAside(), QStringList());
    }

    void anotherProgramsDatabaseIsLeftWhole()
    {
        store.reset();
        QFile::remove(file());
        sql(file(), {"CREATE TABLE theirs (a)", "INSERT INTO theirs VALUES (1)"});
        reopen();
        QVERIFY(store->notice().contains("another program"));
        QCOMPARE(setAside().size(), 1);
        sql(folder->filePath(setAside()[0]), {"UPDATE theirs SET a = 2"});
    }

    void tablesThatAreMissing()
    {
        store.reset();
        sql(file(), {"DROP TABLE attachments"});
        reopen();
        QVERIFY(store->notice().contains("damaged"));
    }

    void damagedPagesCostOnlyWhatWasOnThem()
    {
        fill(200, 3000);
        store->save(Preset{"Brief", {.systemPrompt = "Be brief.", .preset = "Brief", .sampling = {{"seed", 1}}}});
        store.reset();
        const qint64 size = QFileInfo(file()).size();
        overwrite(file(), size / 2 / 4096 * 4096, QByteArray(3 * 4096, '\x5a'));
        reopen();
        QVERIFY2(store->notice().contains("could be read again"), qPrintable(store->notice()));
        const int rescued = int(store->conversations().size());
        qInfo("%d of 200 rescued", rescued);
        QVERIFY(rescued > 150);
        for (const auto& header : store->conversations())
            QVERIFY(store->conversation(header.id));
        QVERIFY(!hits("Title", 300).isEmpty());
        QCOMPARE(store->presets().size(), 1);
        QCOMPARE(store->presets()[0].name, "Brief");
        QCOMPARE(store->presets()[0].settings.systemPrompt, "Be brief.");
    }

    void aDamagedIndexIsMadeAnew_data()
    {
        QTest::addColumn<QString>("rows");
        QTest::addColumn<bool>("whileOpen");
        QTest::newRow("the head") << "id = 10" << false;
        QTest::newRow("the words") << "id > 10" << false;
        QTest::newRow("all") << "1" << false;
        QTest::newRow("the head, meanwhile") << "id = 10" << true;
        QTest::newRow("the words, meanwhile") << "id > 10" << true;
    }
    void aDamagedIndexIsMadeAnew()
    {
        QFETCH(QString, rows);
        QFETCH(bool, whileOpen);
        for (int i = 0; i < 40; ++i)
            store->saveAll(twoTurns(QString("c%1").arg(i), "A title", QString("gnus and number%1").arg(i)));
        StoredMessage streaming{.id = "streaming", .text = "half", .status = StoredMessage::Status::Streaming};
        streaming.parent = store->conversation("c0")->messages.last().id;
        store->save("c0", streaming);
        store->moveToTrash("c7");
        store->flush();
        if (!whileOpen)
            store.reset();
        sql(file(), {"UPDATE text_search_data SET block = zeroblob(length(block)) WHERE " + rows,
                     "UPDATE title_search_data SET block = zeroblob(length(block)) WHERE " + rows});
        if (!whileOpen)
            reopenAndCheck();
        QCOMPARE(store->notice(), QString());
        store->saveAll(twoTurns("new", "Goes on", "zebras"));
        streaming.text = "a whole answer";
        streaming.status = StoredMessage::Status::Complete;
        store->save("c0", streaming);
        store->emptyTrash();
        hits("gnus", 5);   // sees it, if nobody else has
        reopenAndCheck();  // an index whose head is gone may pass for an empty one
        QCOMPARE(store->notice(), QString());
        QVERIFY(store->conversation("new"));
        QVERIFY(!store->conversation("c7"));
        QCOMPARE(hits("zebras", 5).size(), 2);
        QCOMPARE(hits("number33", 5).size(), 2);
        QCOMPARE(hits("number7", 5).size(), 0);
        QCOMPARE(hits("whole", 5).size(), 1);
        QCOMPARE(hits("half", 5).size(), 0);
        QCOMPARE(hits("title", 100).size(), 39);
    }

    void theIndexesAreCheckedOnlyForAReason()
    {
        const auto toCheck = [&] { return openStore(folder->path(), folder->filePath("attachments")).toCheck; };
        fill(1);
        QVERIFY(toCheck());  // there is a log, as after a crash
        QVERIFY(QFile::remove(checkMark()));
        store.reset();
        QVERIFY(!toCheck());
        checkAtNextOpen(file());
        QVERIFY(toCheck());
        QVERIFY(toCheck());  // it was not done yet
        setChecked(file());
        QVERIFY(!toCheck());
    }

    void aSaveDoesNotWaitForTheCheck()
    {
        store.reset();
        checkAtNextOpen(file());
        reopen();
        store->saveAll(twoTurns("one", "Saved at once"));
        store->flush();
        QCOMPARE(onDisk("conversations"), 1);
        QVERIFY(QFile::exists(checkMark()));
        store.reset();
        QVERIFY(QFile::exists(checkMark()));  // the next start sees to it

        store =
            std::make_unique<ConversationStore>(folder->path(), nullptr, betweenAttempts, std::chrono::milliseconds(0));
        store->saveAll(twoTurns("two", "Saved before"));
        QTRY_VERIFY_WITH_TIMEOUT(!QFile::exists(checkMark()), 60000);
        QCOMPARE(onDisk("conversations"), 2);
    }

    void damageDoesNotMakeFilesUnused()
    {
        const StoredConversation conversation = ofManyFiles("one");
        store->saveAll(conversation);
        store->flush();
        const QString last = conversation.messages[0].attachments.last().sha256;
        const AttachmentFolder attachments(store->attachmentsFolder());
        makeOld(attachments.file(last) + ".text.txt");

        for (const qint64 page : pagesWith(last))
            overwrite(file(), page, QByteArray(64, '\x5a'));
        const QSignalSpy failed(store.get(), &ConversationStore::failed);
        store->emptyTrash();
        store->flush();
        QVERIFY(QFile::exists(attachments.file(last) + ".text.txt"));
        QTRY_COMPARE(failed.size(), 1);
    }

    void filesOfADatabaseThatIsGoneStay_data()
    {
        QTest::addColumn<bool>("damaged");
        QTest::newRow("moved away") << false;
        QTest::newRow("set aside") << true;
    }
    void filesOfADatabaseThatIsGoneStay()
    {
        QFETCH(const bool, damaged);
        const StoredConversation conversation = fullConversation("one");
        store->saveAll(conversation);
        store->flush();
        const QString text =
            AttachmentFolder(store->attachmentsFolder()).file(conversation.messages[0].attachments[0].sha256) +
            ".pdf.txt";
        makeOld(text);
        const QString orphan = AttachmentFolder(store->attachmentsFolder()).file(QString(64, 'c'));
        store.reset();
        QVERIFY(QFile::copy(file(), folder->filePath("elsewhere")));
        if (damaged)
            overwrite(file(), 0, QByteArray(8192, '\0'));
        else
            QVERIFY(QFile::remove(file()));
        for (int start = 0; start < 2; ++start) {
            reopen();
            QCOMPARE(store->conversations().size(), 0);
            makeOld(orphan);  // the new one's: it came later
            store->emptyTrash();
            store->flush();
            QVERIFY(QFile::exists(text));
            QVERIFY(!QFile::exists(orphan));
        }

        // When the first database is put back, the attachments are its own again.
        store.reset();
        QVERIFY(QFile::remove(file()));
        QVERIFY(QFile::rename(folder->filePath("elsewhere"), file()));
        reopen();
        QCOMPARE(describe(*store->conversation("one")), describe(conversation));
        store->emptyTrash();
        store->moveToTrash("one");
        store->emptyTrash();
        store->flush();
        QVERIFY(!QFile::exists(text));
    }

    void nothingIsSetAsideBeforeItsFilesAreKept()
    {
        fill(1);
        store.reset();
        sql(file(), {"DROP TABLE attachments"});
        makeOld(folder->filePath("attachments/bb/file"));
        QVERIFY(QDir().mkpath(folder->filePath("attachments-kept.txt")));  // their names cannot be noted
        reopen();
        QVERIFY2(store->notice().contains("cannot be kept"), qPrintable(store->notice()));
        QCOMPARE(setAside(), QStringList());
        QVERIFY(QDir().rmdir(folder->filePath("attachments-kept.txt")));
        reopen();
        QVERIFY2(store->notice().contains("1 of them"), qPrintable(store->notice()));
    }

    void aNewDatabaseThatHasNotGotItsNameYetIsTaken()
    {
        fill(3);
        store.reset();
        QVERIFY(QFile::rename(file(), file() + "-new"));
        reopen();
        QCOMPARE(store->notice(), QString());
        QCOMPARE(store->conversations().size(), 3);
    }

    void randomDamageNeverCrashes()
    {
        const uint seed = qEnvironmentVariableIntValue("SPILLWAY_SEED") ? qEnvironmentVariableIntValue("SPILLWAY_SEED")
                                                                        : QRandomGenerator::global()->generate();
        qInfo("SPILLWAY_SEED=%u", seed);
        QRandomGenerator random(seed);
        fill(60, 1000);
        store.reset();
        QFile whole(file());
        QVERIFY(whole.open(QIODevice::ReadOnly));
        const QByteArray sound = whole.readAll();
        whole.close();
        for (int round = 0; round < 16; ++round) {
            QByteArray bytes = sound;
            for (int i = 0; i < 30; ++i)
                bytes[random.bounded(100, int(bytes.size()))] = char(random.generate());
            if (round % 4 == 0)
                bytes.truncate(random.bounded(100, int(bytes.size())));
            QFile::remove(file());
            overwrite(file(), 0, bytes);
            reopen();
            for (const auto& header : store->conversations())
                store->conversation(header.id);
            hits("title", 10);
            store->saveAll(twoTurns("new", "Goes on"));
            store->flush();
            store.reset();
            for (const QString& aside : setAside())
                QFile::remove(folder->filePath(aside));
        }
    }

    void aNewerSchemaIsNotTouched()
    {
        fill(1);
        store.reset();
        sql(file(), {"PRAGMA user_version = 1000"});
        QFile before(file());
        QVERIFY(before.open(QIODevice::ReadOnly));
        const QByteArray bytes = before.readAll();
        before.close();
        reopen();
        QVERIFY2(store->notice().contains("newer version"), qPrintable(store->notice()));
        store->saveAll(twoTurns("new", "In memory"));
        QCOMPARE(store->conversations().size(), 1);
        QCOMPARE(hits("memory", 5).size(), 1);
        store.reset();
        QVERIFY(before.open(QIODevice::ReadOnly));
        QCOMPARE(before.readAll(), bytes);
        QCOMPARE(setAside(), QStringList());
    }

    void anOlderSchemaIsBroughtUpToDateAfterABackup_data() { versions(); }

    void anOlderSchemaIsBroughtUpToDateAfterABackup()
    {
        QFETCH(const QString, version);
        const QString backup = folder->filePath("spillway-backup-" + version + ".sqlite");
        putDump(version);
        reopen();
        QCOMPARE(store->notice(), QString());
        QCOMPARE(store->conversations().size(), 2);
        const auto read = store->conversation("7d4c2c1e-0001-4000-8000-000000000001");
        QVERIFY(read);
        QCOMPARE(read->messages.size(), 2);
        QCOMPARE(read->messages[1].text, "Blue, of course.");
        QCOMPARE(hits("course", 5).size(), 1);
        QCOMPARE(hits("colour", 5).size(), 1);
        QCOMPARE(store->conversations().first().draft, "a draft");
        QVERIFY(store->conversations().first().draftFiles.isEmpty());
        QVERIFY(QFile::exists(backup));
        sql(backup, {"SELECT text FROM messages"});
        // The backup is a database in itself: put back, it is migrated again.
        store.reset();
        QFile::remove(file());
        QFile::copy(backup, file());
        reopen();
        QCOMPARE(store->conversations().size(), 2);
    }

    void aDamagedOneOfAnOlderSchemaIsRescued_data() { versions(); }

    void aDamagedOneOfAnOlderSchemaIsRescued()
    {
        QFETCH(const QString, version);
        putDump(version);
        sql(file(), {"DROP INDEX messages_of_parent",
                     "CREATE TRIGGER nobodys AFTER INSERT ON presets BEGIN DELETE FROM messages; END",
                     "PRAGMA user_version = 4"});
        reopen();
        QVERIFY2(store->notice().contains("2 of them"), qPrintable(store->notice()));
        QCOMPARE(store->conversations().first().title, "Unsent");
        QCOMPARE(store->conversations().first().draft, "a draft");
    }

    void aFolderThatCannotBeMade()
    {
        QFile blocker(folder->filePath("file"));
        QVERIFY(blocker.open(QIODevice::WriteOnly));
        blocker.close();
        ConversationStore other(folder->filePath("file/inside"));
        QVERIFY2(other.notice().contains("cannot be kept"), qPrintable(other.notice()));
        other.saveAll(fullConversation("one"));
        QCOMPARE(describe(*other.conversation("one")), describe(fullConversation("one")));
        other.flush();
        QCOMPARE(searched(other, "question", 5).size(), 2);
        ConversationStore third(folder->filePath("file/inside"));
        QCOMPARE(third.conversations().size(), 0);
    }

    void aReadOnlyFile()
    {
        fill(1);
        store.reset();
        const support::PlainUser notRoot;
        QVERIFY(QFile::setPermissions(file(), QFile::ReadOwner));
        QVERIFY(QFile::setPermissions(folder->path(), QFile::ReadOwner | QFile::ExeOwner));
        QVERIFY(!QFile(folder->filePath("probe")).open(QIODevice::WriteOnly));
        reopen();
        QVERIFY2(store->notice().contains("cannot be written"), qPrintable(store->notice()));
        QVERIFY(store->notice().contains(folder->path()));
        QCOMPARE(store->conversation("c0")->header.title, "Title 0");
        QCOMPARE(hits("Title", 5).size(), 1);
        store->saveAll(twoTurns("new", "Goes on"));
        for (int i = 0; i < 3; ++i) {
            store->saveText("new", "new-1", QString("y").repeated(i));
            store->saveText("new", "new-3", QString("x").repeated(i));
        }
        QCOMPARE(store->conversation("new")->messages[1].text, "yy");
        QCOMPARE(store->conversation("new")->messages.last().text, "xx");
        QCOMPARE(store->conversations().size(), 2);
        store->moveToTrash("c0");
        QCOMPARE(store->conversations().size(), 1);
        store->restore("c0");
        QVERIFY(QFileInfo(store->attachmentsFolder()).isWritable());
        QCOMPARE(store->olderAttachmentsFolder(), folder->filePath("attachments"));
        const QSignalSpy failed(store.get(), &ConversationStore::failed);
        bool added = true;
        store->add(twoTurns("import", "Import"), [&](bool there) { added = there; });
        QTRY_COMPARE(added, false);
        QCOMPARE(failed.size(), 1);
        QVERIFY(QFile::setPermissions(folder->path(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        QVERIFY(QFile::setPermissions(file(), QFile::ReadOwner | QFile::WriteOwner));
        reopen();
        QCOMPARE(store->conversations().size(), 1);
        QCOMPARE(store->olderAttachmentsFolder(), QString());
    }

    void whatAnotherProgramHoldsAtTheStartIsWrittenLater()
    {
        fill(1);
        store.reset();
        {
            QSqlDatabase other = QSqlDatabase::addDatabase("QSQLITE", "holds");
            other.setDatabaseName(file());
            QVERIFY(other.open());
            QVERIFY(other.exec("BEGIN IMMEDIATE").isActive());
            reopen();
            store->saveAll(twoTurns("new", "Goes on"));
            QVERIFY(other.exec("COMMIT").isActive());
        }
        QSqlDatabase::removeDatabase("holds");
        QCOMPARE(store->notice(), QString());
        QCOMPARE(store->conversations().size(), 2);
        reopen();
        QCOMPARE(store->conversations().size(), 2);
        QVERIFY(store->conversation("new"));
    }

    void whatKeepsABackupFromBeingMadeIsSaid()
    {
        putDump("v1");
        QVERIFY(QDir().mkpath(folder->filePath("spillway-backup-v1.sqlite/theirs")));  // in the backup's place
        reopen();
        QVERIFY2(store->notice().contains("spillway-backup-v1.sqlite” cannot be written"), qPrintable(store->notice()));
        QVERIFY(QDir(folder->filePath("spillway-backup-v1.sqlite")).removeRecursively());
        reopen();
        QCOMPARE(store->notice(), QString());
        QCOMPARE(store->conversations().size(), 2);
    }

    void circlesInTheDatabaseAreCut()
    {
        store->saveAll(twoTurns("c", "t"));
        store.reset();
        sql(file(), {"UPDATE messages SET parent = (SELECT id FROM messages WHERE number = 3) WHERE number = 1"});
        reopen();
        const auto read = store->conversation("c");
        QCOMPARE(read->messages.size(), 4);
        QCOMPARE(read->messages[0].parent, QString());
    }

    void aWriteThatCannotBeRightIsSaidAndTheRestGoesOn()
    {
        const QSignalSpy failed(store.get(), &ConversationStore::failed);
        store->save("no such conversation", twoTurns("c", "t").messages[0]);
        store->saveAll(twoTurns("one", "One"));
        store->flush();
        QTRY_COMPARE(failed.size(), 1);
        QCOMPARE(store->conversations().size(), 1);
    }

    void whatStandsInTheWayIsSaidInOurWords()
    {
        const auto because = [&](int code) {
            return troubleOf(
                {{}, "attempt to write a readonly database", QSqlError::UnknownError, QString::number(code)}, file());
        };
        QStringList all;
        for (const int code : {5, 7, 8, 10, 13, 14, 8 | 4 << 8}) {
            const QString why = because(code);
            QVERIFY2(!why.contains("readonly") && why.contains("; "), qPrintable(why));
            QCOMPARE(why.contains(file()), code != 7);
            all.append(why);
        }
        all.removeDuplicates();
        QCOMPARE(all.size(), 6);  // what cannot be opened and what cannot be written want the same

        store.reset();
        QVERIFY(QDir().mkpath(folder->filePath("theirs")));
        const support::PlainUser notRoot;
        QVERIFY(QFile::setPermissions(folder->filePath("theirs"), QFile::ReadOwner | QFile::ExeOwner));
        const ConversationStore other(folder->filePath("theirs"));
        QVERIFY2(other.notice().contains("/theirs/spillway.sqlite” cannot be written; allow"),
                 qPrintable(other.notice()));
    }

    void noRoomLeft()
    {
#ifndef Q_OS_LINUX
        QSKIP("needs a limit on the size of files");
#else
        fill(5);
        const QSignalSpy failed(store.get(), &ConversationStore::failed);
        {
            const FileSizeLimit limit(QFileInfo(file()).size() + 200'000);
            fill(100, 10'000);
            store->saveAll(twoTurns("last", "The last one"));
            QTRY_COMPARE(failed.size(), 1);
            QVERIFY(!failed[0][0].toString().isEmpty());
            store->flush();
            QTest::qWait(10);
            QCOMPARE(failed.size(), 1);  // once
            QVERIFY(store->conversations().size() >= 5);
            QStringList texts;
            for (int i = 0; i < 50; ++i) {
                for (const char* id : {"c0-1", "c1-1"}) {
                    texts << QString::number(i).repeated(100);
                    store->saveText(QString(id).left(2), id, texts.last());
                }
            }
            QVERIFY(held(texts) < 10);  // two answers that grow: the newest texts, and those that were just being tried
            QCOMPARE(store->conversation("c0")->messages[1].text, texts.last());
        }
        // There is room again: nothing was lost.
        store->flush();
        QCOMPARE(store->conversations().size(), 101);
        reopen();
        QCOMPARE(store->notice(), QString());
        QVERIFY(store->conversation("last"));
#endif
    }

    void nothingIsSetAsideWhereTheRestHasNoRoom_data()
    {
        QTest::addColumn<int>("room_bytes");
        QTest::newRow("no tables") << 40'000;
        QTest::newRow("not all rows") << 400'000;
    }
    void nothingIsSetAsideWhereTheRestHasNoRoom()
    {
#ifndef Q_OS_LINUX
        QSKIP("needs a limit on the size of files");
#else
        QFETCH(const int, room_bytes);
        fill(50, 10'000);
        store.reset();
        sql(file(), {"DROP TABLE attachments"});
        {
            const FileSizeLimit limit(room_bytes);
            reopen();
            QVERIFY2(store->notice().contains("cannot be kept"), qPrintable(store->notice()));
            QCOMPARE(setAside(), QStringList());
            QVERIFY(!QFile::exists(file() + "-new"));
            QVERIFY(QFile::exists(checkMark()));  // a large one is not looked at without a reason
        }
        reopen();
        QVERIFY2(store->notice().contains("50 of them"), qPrintable(store->notice()));
        QCOMPARE(setAside().size(), 1);
        QVERIFY(!QFile::exists(checkMark()));
        QCOMPARE(store->conversations().size(), 50);
#endif
    }
};

SPILLWAY_TEST(QCoreApplication, TestStoreDamage)
#include "tst_store_damage.moc"
