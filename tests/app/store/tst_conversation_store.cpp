// Tests that conversations which were saved are read again as they were.
#include "app/store/attachment_folder.h"
#include "tests/app/store/store_case.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QSignalSpy>

using namespace test_support;

class TestConversationStore : public StoreCase
{
    Q_OBJECT

private Q_SLOTS:
    void init() { begin(); }
    void cleanup() { end(); }

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
        store->saveRecording("one", [] { return QByteArray("{}"); });
        store->saveRecording("one", [whole] { return whole.recording; });
        store->saveRecording("nobody's", [whole] { return whole.recording; });
        QVERIFY(store->recording("nobody's").isEmpty());
        QCOMPARE(describe(*store->conversation("one")), describe(whole));

        StoredMessage changed = whole.messages[1];
        changed.text = "other words";
        changed.tokens.reset();
        store->save("one", changed);
        store->saveText("one", whole.messages[2].id, "streamed");
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

    void halfACharacterTakesNoOtherAlong()
    {
        const QString text = QString("a") + QChar(0xD83D) + "bcd" + QChar(0xDE00) + QChar(0xD83D);
        const QString kept = QString::fromUtf8("a\uFFFDbcd\uFFFD\uFFFD");
        StoredConversation conversation = twoTurns("id", "Title");
        conversation.header.draft = text;
        conversation.messages[0].text = text;
        store->saveAll(conversation);
        store->saveText("id", "id-1", text);
        reopen();
        const auto read = store->conversation("id");
        QCOMPARE(read->header.draft, kept);
        QCOMPARE(read->messages[0].text, kept);
        QCOMPARE(read->messages[1].text, kept);
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
        QCOMPARE(hits("Title", 10).size(), 1);
        store->restore("c0");
        QCOMPARE(restored.first().first().value<ConversationHeader>().title, "Title 0");
        QCOMPARE(store->conversations().size(), 2);
        QCOMPARE(store->conversation("c0")->messages.size(), 4);

        store->moveToTrash("c1");
        store->emptyTrash();
        store->restore("c1");
        QCOMPARE(restored.size(), 1);
        QVERIFY(!store->conversation("c1"));
        QVERIFY(hits("xxx", 10).size() == 1);
    }

    void oneOfManyMessagesIsDeletedToo()
    {
        fill(2);
        store->saveAll(ofMessages(3000, "long"));
        store->moveToTrash("long");
        store->moveToTrash("c0");
        store->emptyTrash();
        store->flush();
        QCOMPARE(onDisk("conversations"), 1);
        QCOMPARE(onDisk("messages"), 4);
        QCOMPARE(hits("question", 10).size(), 2);
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
        makeOld(bytes);
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
        makeOld(attachments.file(QString(64, 'a')));
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
        store->flush();
        QCOMPARE(store->conversation("one")->messages[0].attachments.size(), 2);
        QCOMPARE(store->conversation("one")->messages[0].attachments[0].text, "");
        QVERIFY(QDir(store->attachmentsFolder()).isEmpty());
    }

    void aReadDoesNotWaitForOtherConversations()
    {
        fill(2);
        QSqlDatabase other = QSqlDatabase::addDatabase("QSQLITE", "busy");
        other.setDatabaseName(file());
        QVERIFY(other.open());
        QVERIFY(other.exec("BEGIN IMMEDIATE").isActive());  // as long as this goes on, nothing is written
        store->saveAll(twoTurns("new", "Cannot be written yet"));
        QElapsedTimer clock;
        clock.start();
        QCOMPARE(store->conversation("c1")->header.title, "Title 1");
        QCOMPARE(searched(*store, "Title", 5).size(), 2);
        QVERIFY2(clock.elapsed() < 4500, qPrintable(QString::number(clock.elapsed())));  // a wait takes 5 s
        QVERIFY(other.exec("COMMIT").isActive());
        other.close();
        other = {};
        QSqlDatabase::removeDatabase("busy");
        QCOMPARE(store->conversation("new")->header.title, "Cannot be written yet");
    }

    /// The text of an answer is saved every second, and nobody reads for as long as it is looked at.
    void whatIsOnDiskIsHeldNoLonger()
    {
        fill(1);
        QStringList texts;
        for (int i = 0; i < 20; ++i) {
            texts << QString::number(i).repeated(100);
            store->saveText("c0", "c0-1", texts.last());
            store->flush();
        }
        QTRY_VERIFY2(held(texts) <= 1, qPrintable(QString::number(held(texts))));
        QCOMPARE(store->conversation("c0")->messages[1].text, texts.last());
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
        store->saveAll(twoTurns("long", "Title", QString(20'000'000, 'x')));
        for (int i = 0; i < 99; ++i)
            store->saveAll(twoTurns(QString("c%1").arg(i), QString("Title %1").arg(i)));
        reopen();
        QElapsedTimer clock;
        clock.start();
        QCOMPARE(store->conversations().size(), 100);
        const qint64 list_us = clock.nsecsElapsed() / 1000;
        clock.start();
        QVERIFY(store->conversation("long"));
        const qint64 text_us = clock.nsecsElapsed() / 1000;
        qInfo("list in %lld us, the long text in %lld us", list_us, text_us);
        QVERIFY(list_us < text_us / 2);
    }

    void searchesLookAtTitlesAndTexts()
    {
        for (int i = 0; i < 60; ++i)
            store->saveAll(twoTurns(QString("c%1").arg(i), QString("Title %1").arg(i)));
        QCOMPARE(hits("y", 50).size(), 0);
        QCOMPARE(hits("Title 59", 50).size(), 1);
        QCOMPARE(hits("Title", 50).size(), 50);
    }
};

SPILLWAY_TEST(QCoreApplication, TestConversationStore)
#include "tst_conversation_store.moc"
