#include "app/store/import_jobs.h"

#include "app/store/rows.h"

#include <memory>
#include <utility>

namespace {

/// Holds what the pieces of one conversation share. Touched by the writer's thread alone, once they are queued.
struct Import {
    StoredConversation conversation;
    AttachmentFolder files;
    std::function<void(bool)> done;
    std::stop_token stop;
    bool failed = false;  // a piece could not be written, or the import was stopped
};

qint64 bytesOf(const StoredMessage& message)
{
    qsizetype chars = message.text.size() + message.sentence.size();
    for (const Attachment& file : message.attachments)
        chars += file.text.size();
    return qint64(chars) * qint64(sizeof(QChar));
}

/// Returns the same failure in a form that the writer does not try again: the user still has the imported file, and the
/// import should not wait until somebody changes the rights of a folder.
QSqlError forGood(const QSqlError& why)
{
    return {QString(), troubleOf(why, {}), QSqlError::UnknownError, QStringLiteral("1")};
}

QSqlError writeHeader(const Database& database, const Import& import)
{
    const ConversationHeader& header = import.conversation.header;
    return outcome(database, rows::write(database, header) &&
                                 database.ran(QStringLiteral("UPDATE conversations SET trashed_ms = 0 WHERE id = ?"),
                                              {header.id}));
}

QSqlError writeMessages(const Database& database, const Import& import, qsizetype from, qsizetype to)
{
    const StoredConversation& conversation = import.conversation;
    for (qsizetype i = from; i < to; ++i) {
        const StoredMessage& message = conversation.messages[i];
        if (const QSqlError why = import.files.keepTexts(message.attachments); why.type() != QSqlError::NoError)
            return isDiskFull(why) ? why : forGood(why);
        if (!rows::write(database, conversation.header.id, message))
            return database.error();
    }
    return {};
}

/// Ends an import: makes the conversation visible, or removes it if a piece could not be written.
QSqlError end(const Database& database, const Import& import)
{
    const QString& id = import.conversation.header.id;
    if (import.failed)
        return outcome(database, rows::removeConversations(database, QStringLiteral("id = ?"), {id}));
    return outcome(database,
                   (import.conversation.recording.isEmpty() ||
                    rows::writeRecording(database, id, import.conversation.recording)) &&
                       database.ran(QStringLiteral("UPDATE conversations SET trashed_ms = NULL WHERE id = ?"), {id}));
}

}  // namespace

std::vector<StoreWriter::Job> importJobs(const StoredConversation& conversation, const AttachmentFolder& files,
                                         std::function<void(bool)> done, std::stop_token stop)
{
    const auto import = std::make_shared<Import>(Import{conversation, files, std::move(done), std::move(stop)});
    std::vector<StoreWriter::Job> jobs;
    const auto piece = [&](qint64 bytes, StoreWriter::Work work) {
        jobs.push_back({.work =
                            [import, work = std::move(work)](const Database& database) {
                                import->failed = import->failed || import->stop.stop_requested();
                                return import->failed ? QSqlError() : work(database);
                            },
                        .bytes = bytes,
                        .done =
                            [import](const QSqlError& why) {
                                import->failed = import->failed || why.type() != QSqlError::NoError;
                            }});
    };
    piece(0, [import](const Database& database) { return writeHeader(database, *import); });
    const QList<StoredMessage>& messages = import->conversation.messages;
    qsizetype from = 0;
    qint64 bytes = 0;
    for (qsizetype i = 0; i < messages.size(); ++i) {
        bytes += bytesOf(messages[i]);
        if (bytes < StoreWriter::kBatch_bytes && i + 1 < messages.size())
            continue;
        piece(bytes, [import, from, to = i + 1](const Database& database) {
            return writeMessages(database, *import, from, to);
        });
        from = i + 1;
        bytes = 0;
    }
    jobs.push_back(
        {.work = [import](const Database& database) { return end(database, *import); },
         .bytes = conversation.recording.size(),
         .done =
             [import](const QSqlError& why) { import->done(!import->failed && why.type() == QSqlError::NoError); }});
    return jobs;
}
