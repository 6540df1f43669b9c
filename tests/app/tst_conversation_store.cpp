// Conversations on disk: what is saved is there again, whatever the file, the disk or the words are like.
#include "app/store/attachment_folder.h"
#include "app/store/conversation_store.h"
#include "tests/support/conversations.h"
#include "tests/support/plain_user.h"

#include <QRandomGenerator>
#include <QSignalSpy>
#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QTemporaryDir>
#include <QTest>

using Role = StoredMessage::Role;
using Status = StoredMessage::Status;

namespace {

/// Another program's view of the file.
void sql(const QString& file, const QStringList& statements)
{
    {
        QSqlDatabase database = QSqlDatabase::addDatabase("QSQLITE", "outside");
        database.setDatabaseName(file);
        QVERIFY(database.open());
        for (const QString& statement : statements) {
            QSqlQuery query(database);
            QVERIFY2(query.exec(statement), qPrintable(statement + query.lastError().text()));
        }
        database.close();
    }
    QSqlDatabase::removeDatabase("outside");
}

void overwrite(const QString& path, qint64 from, const QByteArray& bytes)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadWrite));
    QVERIFY(file.seek(from));
    QCOMPARE(file.write(bytes), bytes.size());
}

QStringList words(const QList<SearchHit>& hits)
{
    QStringList found;
    for (const SearchHit& hit : hits)
        found << (hit.message.isEmpty() ? hit.title : hit.message);
    found.sort();
    return found;
}

}  // namespace

class TestConversationStore : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> folder;
    std::unique_ptr<ConversationStore> store;

    void reopen()
    {
        store.reset();
        store = std::make_unique<ConversationStore>(folder->path());
    }
    QString file() const { return folder->filePath("spillway.sqlite"); }
    QStringList setAside() const
    {
        return QDir(folder->path()).entryList({"spillway-damaged-*.sqlite", "spillway-foreign-*.sqlite"});
    }
    void fill(int conversations, int textSize = 100)
    {
        for (int i = 0; i < conversations; ++i) {
            StoredConversation conversation = twoTurns(QString("c%1").arg(i), QString("Title %1").arg(i));
            conversation.messages[1].text = QString(textSize, 'x');
            store->saveAll(conversation);
        }
        store->flush();
    }
    /// In place of the database, what an older version kept.
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
        for (const char* version : {"v1", "v2"})
            QTest::newRow(version) << version;
    }

private Q_SLOTS:
    void init()
    {
        folder = std::make_unique<QTemporaryDir>();
        store = std::make_unique<ConversationStore>(folder->path());
        QCOMPARE(store->notice(), QString());
    }
    void cleanup()
    {
        store.reset();
        folder.reset();
    }

    void everythingComesBack()
    {
        StoredConversation whole = fullConversation("one");
        store->saveAll(whole);
        reopen();
        QCOMPARE(store->notice(), QString());
        const auto read = store->conversation("one");
        QVERIFY(read);
        QCOMPARE(describe(*read), describe(whole));
        QVERIFY(!store->conversation("two"));
    }

    void pieceByPiece()
    {
        const StoredConversation whole = fullConversation("one");
        const QSignalSpy saved(store.get(), &ConversationStore::saved);
        store->save(whole.header);
        QCOMPARE(saved.size(), 1);  // at once
        for (const StoredMessage& message : whole.messages)
            store->save("one", message);
        QCOMPARE(describe(*store->conversation("one")), describe(whole));

        StoredMessage changed = whole.messages[1];
        changed.text = "other words";
        changed.tokens.reset();
        store->save("one", changed);
        store->saveText(whole.messages[2].id, "streamed");
        const auto read = store->conversation("one");
        QCOMPARE(read->messages.size(), whole.messages.size());
        QCOMPARE(read->messages[1].text, "other words");
        QVERIFY(!read->messages[1].tokens);
        QCOMPARE(read->messages[2].text, "streamed");
    }

    void anyTextAtAll_data()
    {
        QTest::addColumn<QString>("text");
        QTest::newRow("empty") << QString("");
        QTest::newRow("null") << QString();
        QTest::newRow("sql") << QString("'); DROP TABLE messages; --");
        QTest::newRow("zero") << QString(QChar(0)) + "after" + QChar(0);
        QTest::newRow("emoji") << QString::fromUtf8("👩‍👩‍👧 🏳️‍🌈 مرحبا שלום");
        QTest::newRow("long") << QString(3'000'000, QChar(0x4E2D));
        QTest::newRow("lines") << QString("\r\n\t\x02\x03");
    }
    void anyTextAtAll()
    {
        QFETCH(QString, text);
        StoredConversation conversation = twoTurns("id", text.left(100));
        conversation.header.draft = text;
        conversation.messages[0].text = text;
        conversation.messages[0].id = "message '" + text.left(20);
        conversation.messages[1].parent = conversation.messages[0].id;
        store->saveAll(conversation);
        reopen();
        const auto read = store->conversation("id");
        QVERIFY(read);
        QCOMPARE(read->header.title, text.left(100));
        QCOMPARE(read->header.draft, text);
        QCOMPARE(read->messages[0].text, text);
        QCOMPARE(read->messages[1].parent, conversation.messages[0].id);
    }

    void listIsPinnedFirstThenNewest()
    {
        for (int i = 0; i < 5; ++i) {
            ConversationHeader header{.id = QString::number(i), .title = "t"};
            header.changedMs = 1000 * (i % 3);
            header.pinned = i == 3;
            store->save(header);
        }
        QStringList order;
        for (const auto& header : store->conversations())
            order << header.id;
        QCOMPARE(order.join(""), "32410");
    }

    void trash()
    {
        fill(2);
        const QSignalSpy trashed(store.get(), &ConversationStore::trashed);
        const QSignalSpy restored(store.get(), &ConversationStore::restored);
        store->moveToTrash("c0");
        QCOMPARE(trashed.size(), 1);
        QCOMPARE(store->conversations().size(), 1);
        QCOMPARE(store->search("Title", 10).size(), 1);
        store->restore("c0");
        QCOMPARE(restored.first().first().value<ConversationHeader>().title, "Title 0");
        QCOMPARE(store->conversations().size(), 2);
        QCOMPARE(store->conversation("c0")->messages.size(), 4);

        store->moveToTrash("c1");
        store->emptyTrash();
        store->restore("c1");
        QCOMPARE(restored.size(), 1);
        QVERIFY(!store->conversation("c1"));
        QVERIFY(store->search("xxx", 10).size() == 1);
    }

    void attachmentsLieOutside()
    {
        StoredConversation conversation = fullConversation("one");
        const Attachment& file = conversation.messages[0].attachments[0];
        store->saveAll(conversation);
        store->flush();
        const QString bytes = store->attachmentsFolder() + "/" + file.sha256.left(2) + "/" + file.sha256;
        QVERIFY(QFile::exists(bytes + "." + file.kind + ".txt"));
        QFile raw(bytes);
        QVERIFY(raw.open(QIODevice::ReadWrite));
        raw.write("pdf");
        raw.close();

        store->emptyTrash();
        store->flush();
        QVERIFY(QFile::exists(bytes));
        store->moveToTrash("one");
        store->emptyTrash();
        store->flush();
        QVERIFY(QFile::exists(bytes));  // it is young: a draft may want it
        QVERIFY(raw.open(QIODevice::ReadWrite));
        QVERIFY(raw.setFileTime(QDateTime::currentDateTime().addDays(-2), QFileDevice::FileModificationTime));
        raw.close();
        store->emptyTrash();
        store->flush();
        QVERIFY(!QFile::exists(bytes));
    }

    void aDraftKeepsItsFiles()
    {
        ConversationHeader header = twoTurns("one", "t").header;
        header.draftFiles = {{"notes.md", QString(64, 'a')}, {"\"quoted\" ü.txt", QString(64, 'b')}};
        store->save(header);
        reopen();
        QCOMPARE(store->conversations().first().draftFiles, header.draftFiles);
        QCOMPARE(store->conversation("one")->header.draftFiles, header.draftFiles);

        const AttachmentFolder attachments(store->attachmentsFolder());
        const auto putOld = [&](const QString& name) {
            QDir().mkpath(QFileInfo(name).path());
            QFile old(name);
            QVERIFY(old.open(QIODevice::WriteOnly));
            QVERIFY(old.setFileTime(QDateTime::currentDateTime().addDays(-2), QFileDevice::FileModificationTime));
        };
        putOld(attachments.file(QString(64, 'a')));
        store->emptyTrash();
        store->flush();
        QVERIFY(QFile::exists(attachments.file(QString(64, 'a'))));
        header.draftFiles.clear();
        store->save(header);
        store->emptyTrash();
        store->flush();
        QVERIFY(!QFile::exists(attachments.file(QString(64, 'a'))));
    }

    void whatStandsForADraftsFilesIsNotTrusted()
    {
        store->save(twoTurns("one", "t").header);
        store->flush();
        for (const char* nonsense : {"", "x", "{}", "[1, null, [], {\"name\": 3}]"}) {
            sql(file(), {QStringLiteral("UPDATE conversations SET draft_files = '%1'").arg(QLatin1String(nonsense))});
            const QList<ConversationHeader> all = store->conversations();
            for (const DraftFile& kept : all.first().draftFiles)
                QVERIFY(kept.name.isEmpty() && kept.sha256.isEmpty());
        }
        const AttachmentFolder attachments(store->attachmentsFolder());
        for (const QString& hash : {QString(), QString("../../x"), QString(63, 'a'), QString(64, 'A')})
            QCOMPARE(attachments.file(hash), QString());
    }

    void attachmentsCannotLeadOutside()
    {
        StoredConversation conversation = twoTurns("one", "t");
        conversation.messages[0].attachments = {{.id = "a",
                                                 .name = "../../x",
                                                 .kind = "text",
                                                 .bytes = 1,
                                                 .sha256 = "../../../escaped",
                                                 .text = "no",
                                                 .tokens = {}},
                                                {.id = "b",
                                                 .name = "n",
                                                 .kind = "../e",
                                                 .bytes = 1,
                                                 .sha256 = QString(64, '0'),
                                                 .text = "no",
                                                 .tokens = {}}};
        store->saveAll(conversation);
        QCOMPARE(store->conversation("one")->messages[0].attachments.size(), 2);
        QCOMPARE(store->conversation("one")->messages[0].attachments[0].text, "");
        QVERIFY(QDir(store->attachmentsFolder()).isEmpty());
    }

    void search_data()
    {
        QTest::addColumn<QString>("words");
        QTest::addColumn<QString>("found");
        QTest::newRow("one word") << "cache"
                                  << "m-cache";
        QTest::newRow("a beginning") << "quanti"
                                     << "m-quant";
        QTest::newRow("only the last may be one") << "quanti weights"
                                                  << "";
        QTest::newRow("all words") << "memory cache"
                                   << "m-cache";
        QTest::newRow("title") << "travel"
                               << "Travel plans";
        QTest::newRow("no accents needed") << "uber cafe"
                                           << "m-accent";
        QTest::newRow("accents neither") << QString::fromUtf8("ÜBER CAFÉ") << "m-accent";
        QTest::newRow("greek") << QString::fromUtf8("ΜΈΤΡΟ") << "m-greek";
        QTest::newRow("operators are words") << "cache OR weights"
                                             << "";
        QTest::newRow("not") << "NOT"
                             << "";
        QTest::newRow("near") << "NEAR(memory cache)"
                              << "";
        QTest::newRow("quotes") << "\"cache"
                                << "m-cache";
        QTest::newRow("column") << "text:cache"
                                << "";
        QTest::newRow("star") << "* cache *"
                              << "m-cache";
        QTest::newRow("c++") << "C++"
                             << "m-cpp";
        QTest::newRow("sql") << "'; DROP TABLE messages; --"
                             << "";
        QTest::newRow("nothing") << "   "
                                 << "";
        QTest::newRow("only signs") << "\"\" ( ) ^ - +"
                                    << "";
        QTest::newRow("control") << QString::fromUtf8("the\0cac", 7) << "m-cache";
        QTest::newRow("dotted") << "llama.cpp"
                                << "m-cpp";
    }
    void search()
    {
        QFETCH(QString, words);
        QFETCH(QString, found);
        const QList<std::pair<const char*, QString>> texts{
            {"m-cache", "The KV cache lives in memory and grows."},
            {"m-quant", "Quantised weights: quantisation makes them small."},
            {"m-accent", QString::fromUtf8("Über das Café")},
            {"m-greek", QString::fromUtf8("ο ΛΟΓΟΣ και το μέτρο")},
            {"m-cpp", "C++ as in llama.cpp"},
        };
        StoredConversation conversation{.header = {.id = "c", .title = "Travel plans"}, .messages = {}};
        for (const auto& [id, text] : texts)
            conversation.messages.append({.id = id, .text = text, .sentence = {}, .attachments = {}, .model = {}});
        store->saveAll(conversation);
        QCOMPARE(::words(store->search(words, 20)).join(' '), found);
    }

    void excerptsShowTheWords()
    {
        StoredConversation conversation = twoTurns("one", "A title");
        conversation.messages[1].text = QString("far away ").repeated(500) +
                                        "\n\nthe needle\x02 in\x03 it, <b>bold</b> " +
                                        QString("and more ").repeated(500);
        store->saveAll(conversation);
        const auto hits = store->search("needl", 5);
        QCOMPARE(hits.size(), 1);
        QCOMPARE(hits[0].message, conversation.messages[1].id);
        QCOMPARE(hits[0].title, "A title");
        QVERIFY(hits[0].excerpt.contains("\x02needle\x03"));
        QVERIFY(hits[0].excerpt.contains("<b>bold</b>"));  // plain text
        QCOMPARE(hits[0].excerpt.count(QChar(2)), 1);
        QVERIFY(hits[0].excerpt.size() < 400);
        QCOMPARE(store->search("title", 5)[0].excerpt, "A \x02title\x03");
        QCOMPARE(store->search("away", 0).size(), 0);
    }

    void whatChangesIsFoundAnew()
    {
        StoredConversation conversation = twoTurns("one", "Before");
        store->saveAll(conversation);
        conversation.header.title = "After";
        store->save(conversation.header);
        QCOMPARE(store->search("Before", 5).size(), 0);
        QCOMPARE(store->search("After", 5).size(), 1);

        StoredMessage answer = conversation.messages.last();
        answer.id = "streaming";
        answer.text = "";
        answer.status = Status::Streaming;
        store->save("one", answer);
        store->saveText("streaming", "zebras");
        store->saveText("streaming", "zebras and gnus");
        QCOMPARE(store->search("gnus", 5).size(), 0);  // not before it is done
        answer.text = "zebras and gnus graze";
        answer.status = Status::Complete;
        store->save("one", answer);
        QCOMPARE(store->search("graze", 5).size(), 1);
        answer.text = "nothing";
        store->save("one", answer);
        QCOMPARE(store->search("graze", 5).size(), 0);
        QCOMPARE(store->search("nothing", 5).size(), 1);
    }

    void anInterruptedAnswerIsFoundAfterTheRestart()
    {
        StoredConversation conversation = twoTurns("one", "T");
        conversation.messages[1].status = Status::Streaming;
        conversation.messages[1].text = "half of an elephant";
        store->saveAll(conversation);
        reopen();
        QCOMPARE(store->search("elephant", 5).size(), 1);
        QCOMPARE(store->conversation("one")->messages[1].status, Status::Streaming);
    }

    void presets()
    {
        ConversationSettings settings;
        settings.systemPrompt = "Be brief.";
        settings.sampling = {{"temperature", 0.2}};
        store->save(Preset{"short", settings});
        store->save(Preset{"Änderung", {}});
        settings.systemPrompt = "Be very brief.";
        store->save(Preset{"short", settings});
        reopen();
        QCOMPARE(store->presets().size(), 2);
        QCOMPARE(store->presets()[0].settings.systemPrompt, "Be very brief.");
        QCOMPARE(store->presets()[0].settings.sampling, settings.sampling);
        store->removePreset("short");
        QCOMPARE(store->presets().size(), 1);
    }

    void theListDoesNotReadTexts()
    {
        // 5,000 conversations, most of the file text.
        for (int i = 0; i < 5000; ++i)
            store->saveAll(twoTurns(QString("c%1").arg(i), QString("Title %1").arg(i), QString(2000, 'x')));
        QElapsedTimer clock;
        clock.start();
        store->flush();
        qInfo("written in %lld ms", clock.restart());
        reopen();
        qInfo("opened in %lld ms, %lld MB", clock.restart(), QFileInfo(file()).size() / 1000000);
        QCOMPARE(store->conversations().size(), 5000);
        const qint64 ms = clock.restart();
        qInfo("list in %lld ms", ms);
        QVERIFY(ms < 500);
        QCOMPARE(store->search("y", 50).size(), 0);
        QCOMPARE(store->search("Title 4999", 50).size(), 1);
        QCOMPARE(store->search("Title", 50).size(), 50);
        qInfo("3 searches in %lld ms", clock.restart());
    }

    // ---- files that are not what they should be ----

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
        QVERIFY(!store->search("Title", 300).isEmpty());
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
        for (int round = 0; round < 40; ++round) {
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
            store->search("title", 10);
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
        QCOMPARE(store->search("memory", 5).size(), 1);
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
        QCOMPARE(store->search("course", 5).size(), 1);
        QCOMPARE(store->search("colour", 5).size(), 1);
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
                     "PRAGMA user_version = 3"});
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
        QCOMPARE(other.search("question", 5).size(), 2);
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
        QVERIFY(!store->notice().isEmpty());
        store->saveAll(twoTurns("new", "Goes on"));
        QVERIFY(store->conversation("new"));
        QVERIFY(QFile::setPermissions(folder->path(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
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
        }
        // There is room again: nothing was lost.
        store->flush();
        QCOMPARE(store->conversations().size(), 101);
        reopen();
        QCOMPARE(store->notice(), QString());
        QVERIFY(store->conversation("last"));
#endif
    }
};

QTEST_GUILESS_MAIN(TestConversationStore)
#include "tst_conversation_store.moc"
