// Tests that a long import holds up neither what the user does nor what is read, and is kept whole or not at all.
#include "app/store/store_writer.h"
#include "tests/app/store/store_case.h"
#include "tests/support/test_program.h"

#include <QSignalSpy>

#include <atomic>
#include <mutex>
#include <new>
#include <semaphore>
#include <stdexcept>

using namespace test_support;

class TestStoreImport : public StoreCase
{
    Q_OBJECT

private:
    static constexpr int kMessages = 60;

    /// Returns a conversation that takes many batches to write.
    static StoredConversation longOne(const QString& id)
    {
        StoredConversation conversation = ofMessages(kMessages, id);
        for (int i = 4; i < kMessages; ++i)
            conversation.messages[i].text = QString("word%1 ").arg(i).repeated(12'000);
        return conversation;
    }

private Q_SLOTS:
    void init() { begin(); }
    void cleanup() { end(); }

    void whatTheUserDoesComesFirst()
    {
        StoreWriter writer(file(), {.failed = [](const QSqlError&) {}, .caughtUp = [] {}});
        std::mutex mutex;
        std::binary_semaphore begun(0);
        QStringList order;
        const auto job = [&](const QString& name, qint64 bytes) {
            return StoreWriter::Job{.work =
                                        [&, name](const Database&) {
                                            if (order.isEmpty())
                                                begun.release();
                                            const std::lock_guard lock(mutex);
                                            order << name;
                                            return QSqlError();
                                        },
                                    .bytes = bytes};
        };
        {
            const std::lock_guard lock(mutex);  // the first piece waits until the user has done something
            for (int i = 0; i < 3; ++i)
                writer.askBehind(job("import", StoreWriter::kBatch_bytes));
            begun.acquire();
            writer.ask(job("user", 1));
        }
        writer.flush();
        QTRY_COMPARE_WITH_TIMEOUT((std::lock_guard(mutex), order.size()), 4, 60000);
        QCOMPARE(order.join(" "), "import user import import");
    }

    void nobodySeesHalfOfAnImport()
    {
        const QSignalSpy saved(store.get(), &ConversationStore::saved);
        int imported = 0;
        store->add(longOne("import"), [&](bool there) { imported += there; });
        QTRY_VERIFY_WITH_TIMEOUT(onDisk("messages") > 0, 60000);
        if (saved.isEmpty() && onDisk("messages") < kMessages) {
            QVERIFY(!store->conversation("import") || onDisk("messages") == kMessages);
        }
        QTRY_COMPARE_WITH_TIMEOUT(imported, 1, 60000);
        QCOMPARE(saved.size(), 1);
        QCOMPARE(describe(*store->conversation("import")), describe(longOne("import")));
        QCOMPARE(searched(*store, "word33", 5).size(), 1);
    }

    void noReadWaits()
    {
        fill(3);
        store->save(Preset{"old", {}});
        store->moveToTrash("c2");
        store->flush();
        QSqlDatabase other = QSqlDatabase::addDatabase("QSQLITE", "busy");
        other.setDatabaseName(file());
        QVERIFY(other.open());
        QVERIFY(other.exec("BEGIN IMMEDIATE").isActive());  // from here on, nothing reaches the disk

        bool imported = false;
        store->add(longOne("import"), [&](bool there) { imported = there; });
        store->saveAll(twoTurns("new", "New"));
        StoredMessage answer{.id = "streaming", .parent = "c0-3", .status = StoredMessage::Status::Streaming};
        store->save("c0", answer);
        for (int i = 1; i <= 3; ++i)
            store->saveText("c0", "streaming", QString("text").repeated(i));
        store->saveRecording("c0", [] { return QByteArray("{\"new\":1}"); });
        ConversationHeader renamed = store->conversation("c1")->header;
        renamed.title = "Renamed";
        renamed.pinned = true;
        store->save(renamed);
        store->save(Preset{"Another", {}});
        store->removePreset("old");

        QCOMPARE(store->conversation("c0")->messages.size(), 5);
        QCOMPARE(store->conversation("c0")->messages.last().text, "texttexttext");
        QCOMPARE(store->recording("c0"), "{\"new\":1}");
        QCOMPARE(describe(*store->conversation("new")), describe(twoTurns("new", "New")));
        QCOMPARE(store->conversations().size(), 3);
        QCOMPARE(store->conversations().first().title, "Renamed");
        QCOMPARE(store->presets().size(), 1);
        QCOMPARE(searched(*store, "Title", 5).size(), 2);

        const QSignalSpy restored(store.get(), &ConversationStore::restored);
        store->restore("c2");
        QCOMPARE(restored.size(), 1);
        QCOMPARE(store->conversation("c2")->messages.size(), 4);
        store->moveToTrash("c2");
        store->moveToTrash("c0");
        store->emptyTrash();
        store->restore("c0");
        QCOMPARE(restored.size(), 1);  // it is gone
        QVERIFY(!store->conversation("c0"));
        QCOMPARE(searched(*store, "Title", 5).size(), 1);

        QVERIFY(other.exec("COMMIT").isActive());
        other.close();
        other = {};
        QSqlDatabase::removeDatabase("busy");
        const auto there = store->conversations().size();
        reopen();  // the same on disk, but for the import
        QCOMPARE(store->conversations().size(), there);
        QCOMPARE(store->conversations().first().title, "Renamed");
        QCOMPARE(store->presets().first().name, "Another");
        QVERIFY(!imported);
    }

    void aSearchIsToldWhenThereIsMore()
    {
        const QSignalSpy caughtUp(store.get(), &ConversationStore::caughtUp);
        store->saveAll(twoTurns("new", "Zebras"));
        QTRY_VERIFY_WITH_TIMEOUT(!caughtUp.isEmpty() && searched(*store, "zebras", 5).size() == 1, 60000);
    }

    void anImportThatDidNotEndLeavesNothing()
    {
        store->add(longOne("import"), [](bool) {});
        QTRY_VERIFY_WITH_TIMEOUT(onDisk("messages") > 0, 60000);
        reopen();
        QCOMPARE(store->conversations().size(), 0);
        store->flush();
        QCOMPARE(onDisk("messages"), 0);
        QCOMPARE(onDisk("conversations"), 0);
        QCOMPARE(searched(*store, "word4", 5).size(), 0);
    }

    void anImportThatCannotBeWrittenIsNotKeptInPart()
    {
        StoredConversation broken = longOne("broken");
        broken.messages[kMessages - 2].parent = "nobody";  // no row can refer to it
        const QSignalSpy failed(store.get(), &ConversationStore::failed);
        std::optional<bool> there;
        store->add(broken, [&](bool is) { there = is; });
        QTRY_VERIFY_WITH_TIMEOUT(there.has_value(), 60000);
        QCOMPARE(*there, false);
        QCOMPARE(failed.size(), 1);
        QCOMPARE(onDisk("conversations"), 0);
        QCOMPARE(onDisk("messages"), 0);
    }

    void aTextThatCannotBeWrittenEndsAnImport()
    {
        const StoredConversation conversation = fullConversation("import");
        QFile inTheWay(store->attachmentsFolder() + "/bb");  // of the folder in which the text would lie
        QVERIFY(inTheWay.open(QIODevice::WriteOnly));
        const QSignalSpy failed(store.get(), &ConversationStore::failed);
        std::optional<bool> there;
        store->add(conversation, [&](bool is) { there = is; });
        QTRY_VERIFY(there.has_value());
        QCOMPARE(*there, false);
        QCOMPARE(onDisk("conversations"), 0);
        QTRY_COMPARE(failed.size(), 1);
        QVERIFY2(failed[0][0].toString().contains("attachments/bb/bbb"), qPrintable(failed[0][0].toString()));

        // What the user says waits until somebody makes way.
        store->saveAll(conversation);
        QTRY_COMPARE(failed.size(), 2);
        QVERIFY2(failed[1][0].toString().contains("attachments/bb/bbb"), qPrintable(failed[1][0].toString()));
        QVERIFY(inTheWay.remove());
        store->flush();
        QCOMPARE(onDisk("conversations"), 1);
    }

    void oneOfManyMessagesIsNotKeptInPartEither()
    {
        StoredConversation broken = ofMessages(3000, "broken");
        broken.messages[2998].text = QString(int(StoreWriter::kBatch_bytes), 'x');  // the last is a piece by itself
        broken.messages.last().parent = "nobody";
        std::optional<bool> there;
        store->add(broken, [&](bool is) { there = is; });
        QTRY_VERIFY_WITH_TIMEOUT(there.has_value(), 60000);
        QCOMPARE(onDisk("messages"), 0);
        QCOMPARE(onDisk("conversations"), 0);

        store->saveAll(ofMessages(3000, "broken off"));
        store->flush();
        sql(file(), {"UPDATE conversations SET trashed_ms = 0"});  // as the program's end leaves one
        reopen();
        store->flush();
        QCOMPARE(onDisk("conversations"), 0);
    }

    void nothingThrownEndsTheProgram()
    {
        std::atomic<int> told = 0;
        std::atomic<int> attempts = 0;
        StoreWriter writer(file(), {.failed = [&](const QSqlError& why) { told += !why.databaseText().isEmpty(); },
                                    .caughtUp = [] {}});
        std::atomic<bool> dropped = false;
        writer.ask({.work = [](const Database&) -> QSqlError { throw std::runtime_error("not today"); },
                    .done = [&](const QSqlError& why) { dropped = why.databaseText() == "not today"; }});
        writer.flush();
        QVERIFY(dropped);
        QCOMPARE(told, 1);
        std::atomic<bool> written = false;
        writer.ask({.work = [&](const Database&) -> QSqlError {
                        if (++attempts < 3)
                            throw std::bad_alloc();
                        return {};
                    },
                    .done = [&](const QSqlError& why) { written = why.type() == QSqlError::NoError; }});
        for (int i = 0; i < 3 && !written; ++i)
            writer.flush();  // memory comes back
        QVERIFY(written);
    }
};

SPILLWAY_TEST(QCoreApplication, TestStoreImport)
#include "tst_store_import.moc"
