// Gives each test of the store a store in a folder of its own.
#pragma once

#include "app/store/conversation_store.h"
#include "tests/support/conversations.h"
#include "tests/support/searched.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <memory>

namespace test_support {

/// Runs statements on the file as another program would.
inline void sql(const QString& file, const QStringList& statements)
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

/// Holds what tests of the store share: a new one in a new folder for each function.
class StoreCase : public QObject
{
protected:
    static constexpr qint64 kPage_bytes = 4096;

    std::unique_ptr<QTemporaryDir> folder;
    std::unique_ptr<ConversationStore> store;
    std::chrono::milliseconds betweenAttempts = std::chrono::seconds(3);  // to write what failed

    void reopen()
    {
        store.reset();
        store = std::make_unique<ConversationStore>(folder->path());
    }
    /// Opens the store again, and waits until its indexes have been checked.
    void reopenAndCheck()
    {
        store.reset();
        checkAtNextOpen(file());
        store =
            std::make_unique<ConversationStore>(folder->path(), nullptr, betweenAttempts, std::chrono::milliseconds(0));
        QTRY_VERIFY_WITH_TIMEOUT(!QFile::exists(checkMark()), 60000);
    }
    /// Returns what a search finds, also in what the store was asked to save just now.
    QList<SearchHit> hits(const QString& words, int limit) const
    {
        store->flush();
        return searched(*store, words, limit);
    }
    QString file() const { return folder->filePath("spillway.sqlite"); }
    QString checkMark() const { return file() + "-check"; }
    void begin()
    {
        folder = std::make_unique<QTemporaryDir>();
        store = std::make_unique<ConversationStore>(folder->path(), nullptr, betweenAttempts);
        QCOMPARE(store->notice(), QString());
    }
    void end()
    {
        store.reset();
        folder.reset();
    }
    /// Returns a conversation of this many messages, questions and answers by turns.
    static StoredConversation ofMessages(int count, const QString& id)
    {
        StoredConversation conversation = twoTurns(id, "Of many messages");
        for (int i = 4; i < count; ++i) {
            StoredMessage message = conversation.messages[i % 2];
            message.id = QString("%1-%2").arg(id).arg(i);
            message.parent = conversation.messages.last().id;
            conversation.messages.append(message);
        }
        conversation.header.leaf = conversation.messages.last().id;
        return conversation;
    }
    /// Returns a conversation whose attachments take some pages of rows.
    static StoredConversation ofManyFiles(const QString& id)
    {
        StoredConversation conversation = twoTurns(id, "Many files");
        for (int i = 0; i < 100; ++i)
            conversation.messages[0].attachments.append({.id = QString::number(i),
                                                         .name = "notes.txt",
                                                         .kind = "text",
                                                         .bytes = 1,
                                                         .sha256 = QString("%1").arg(i, 64, 16, QChar('0')),
                                                         .text = "x",
                                                         .tokens = {}});
        return conversation;
    }
    /// Returns where the pages of the file begin that hold a text; all that was written is in them by now.
    QList<qint64> pagesWith(const QString& text) const
    {
        sql(file(), {"PRAGMA wal_checkpoint(TRUNCATE)"});
        QFile pages(file());
        if (!pages.open(QIODevice::ReadOnly))
            return {};
        const QByteArray bytes = pages.readAll();
        QList<qint64> found;
        for (qsizetype at = bytes.indexOf(text.toLatin1()); at >= 0; at = bytes.indexOf(text.toLatin1(), at + 1))
            found.append(at / kPage_bytes * kPage_bytes);
        return found;
    }
    /// Returns how many rows another program sees on the disk by now.
    int onDisk(const QString& what) const
    {
        int count = -1;
        {
            QSqlDatabase database = QSqlDatabase::addDatabase("QSQLITE", "outside");
            database.setDatabaseName(file());
            if (!database.open())
                return -1;
            QSqlQuery query(database);
            if (query.exec("SELECT count(*) FROM " + what) && query.next())
                count = query.value(0).toInt();
        }
        QSqlDatabase::removeDatabase("outside");
        return count;
    }
    /// Returns how many of these texts somebody beside the test still has.
    static qsizetype held(const QStringList& texts)
    {
        return std::count_if(texts.begin(), texts.end(), [](const QString& text) { return !text.isDetached(); });
    }
    /// Makes a file that is so old that it belongs to no message which is about to be sent.
    static void makeOld(const QString& name)
    {
        QDir().mkpath(QFileInfo(name).path());
        QFile old(name);
        QVERIFY(old.open(QIODevice::ReadWrite));
        QVERIFY(old.setFileTime(QDateTime::currentDateTime().addDays(-2), QFileDevice::FileModificationTime));
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
};

}  // namespace test_support
