#include "app/store/store_reader.h"

#include "app/store/rows.h"
#include "app/store/sound_conversation.h"

#include <QRegularExpression>
#include <QUuid>

#include <algorithm>
#include <limits>
#include <utility>

namespace {

// A kept recording takes a few hundred kB; a larger one is not ours, and is not read.
constexpr qsizetype kLongestRecording_bytes = 1024 * 1024;

constexpr qsizetype kBeforeFound_chars = 30;
constexpr qsizetype kExcerpt_chars = 120;
constexpr int kReadAtOnce = 500;             // messages, after which a search asks whether it is still wanted
constexpr int kReadWithIndexAtOnce = 10000;  // the same where each piece also searches the whole index

SearchHit hitOf(const QSqlQuery& row)
{
    return {.conversation = row.value(0).toString(),
            .message = row.value(1).toString(),
            .title = row.value(2).toString(),
            .excerpt = row.value(3).toString(),
            .changedMs = row.value(4).toLongLong()};
}

/// Returns the text around the first of the parts, with marks around all parts in it.
QString excerptOf(const QString& text, const QStringList& parts)
{
    const QString cut = QStringLiteral("…");
    const qsizetype found = text.indexOf(parts.first(), 0, Qt::CaseInsensitive);
    qsizetype from = std::max<qsizetype>(found - kBeforeFound_chars, 0);
    qsizetype to = std::min(from + kExcerpt_chars, text.size());
    from += from > 0 && text[from].isLowSurrogate();
    to -= to < text.size() && text[to].isLowSurrogate();
    QString excerpt = text.mid(from, to - from).remove(QChar(2)).remove(QChar(3)).simplified();
    QStringList escaped;
    for (const QString& part : parts)
        escaped << QRegularExpression::escape(part);
    const QString any = QStringLiteral("(%1)").arg(escaped.join(QLatin1Char('|')));
    excerpt.replace(QRegularExpression(any, QRegularExpression::CaseInsensitiveOption), QStringLiteral("\x02\\1\x03"));
    return (from > 0 ? cut : QString()) + excerpt + (to < text.size() ? cut : QString());
}

}  // namespace

StoreReader::StoreReader(const QString& name, Database::Access access, AttachmentFolder attachments)
    : m_database(name, access)
    , m_attachments(std::move(attachments))
{
}

QList<ConversationHeader> StoreReader::headers() const
{
    QList<ConversationHeader> all;
    m_database.rows(QStringLiteral("SELECT %1 FROM conversations WHERE trashed_ms IS NULL "
                                   "ORDER BY pinned DESC, changed_ms DESC, number DESC")
                        .arg(rows::kHeaderColumns),
                    {}, [&](const QSqlQuery& row) {
                        all.append(rows::header(row));
                        return true;
                    });
    return all;
}

std::optional<ConversationHeader> StoreReader::header(const QString& id) const
{
    std::optional<ConversationHeader> found;
    m_database.rows(QStringLiteral("SELECT %1 FROM conversations WHERE id = ?").arg(rows::kHeaderColumns), {id},
                    [&](const QSqlQuery& row) {
                        found = rows::header(row);
                        return false;
                    });
    return found;
}

bool StoreReader::isTrashed(const QString& id) const
{
    return m_database.run(QStringLiteral("SELECT 1 FROM conversations WHERE id = ? AND trashed_ms IS NOT NULL"), {id})
        .next();
}

std::optional<StoredConversation> StoreReader::conversation(const QString& id) const
{
    const std::optional<ConversationHeader> found = header(id);
    if (!found)
        return {};
    StoredConversation conversation{.header = *found, .messages = {}};
    const auto files = attachments(id);
    m_database.rows(
        QStringLiteral("SELECT %1 FROM messages WHERE conversation = ? ORDER BY number").arg(rows::kMessageColumns),
        {id}, [&](const QSqlQuery& row) {
            conversation.messages.append(rows::message(row));
            conversation.messages.last().attachments = files.value(conversation.messages.last().id);
            return true;
        });
    makeSound(conversation);
    conversation.recording = recording(id);
    return conversation;
}

QByteArray StoreReader::recording(const QString& id) const
{
    QByteArray found;
    m_database.rows(
        QStringLiteral("SELECT recording FROM recordings WHERE conversation = ? AND length(recording) <= ?"),
        {id, kLongestRecording_bytes}, [&](const QSqlQuery& row) {
            found = row.value(0).toString().toUtf8();
            return false;
        });
    return found;
}

QHash<QString, QList<Attachment>> StoreReader::attachments(const QString& conversation) const
{
    QHash<QString, QList<Attachment>> all;
    m_database.rows(
        QStringLiteral("SELECT %1 FROM attachments WHERE message IN (SELECT id FROM messages WHERE conversation = ?) "
                       "ORDER BY number")
            .arg(rows::kAttachmentColumns),
        {conversation}, [&](const QSqlQuery& row) {
            all[row.value(1).toString()].append(withText(rows::attachment(row)));
            return true;
        });
    return all;
}

Attachment StoreReader::withText(Attachment attachment) const
{
    attachment.text = m_attachments.text(attachment);
    return attachment;
}

QList<SearchHit> StoreReader::search(const SearchWords& words, int limit, const std::stop_token& stop) const
{
    if (words.isEmpty() || limit <= 0)
        return {};
    return words.parts.isEmpty() ? searchIndex(words.query, limit) : searchTexts(words, limit, stop);
}

QList<SearchHit> StoreReader::searchIndex(const QString& query, int limit) const
{
    // Random marks, since a text may hold U+0002 itself.
    const QString open = QUuid::createUuid().toString(QUuid::Id128);
    const QString close = QUuid::createUuid().toString(QUuid::Id128);

    QList<SearchHit> hits;
    const auto collect = [&](const QString& statement) {
        m_database.rows(statement, {open, close, query, query, limit - hits.size()}, [&](const QSqlQuery& row) {
            SearchHit hit = hitOf(row);
            hit.excerpt.remove(QChar(2)).remove(QChar(3)).replace(open, QChar(2)).replace(close, QChar(3));
            hit.excerpt = std::move(hit.excerpt).simplified();
            hits.append(hit);
            return true;
        });
    };
    // The inner query finds the best hits, the outer one makes excerpts of these alone, since an excerpt has to read
    // its text. The plus signs keep SQLite from searching the index again for each hit.
    collect(QStringLiteral("SELECT c.id, NULL, c.title, highlight(title_search, 0, ?, ?), c.changed_ms "
                           "FROM title_search JOIN conversations c ON c.number = title_search.rowid "
                           "WHERE title_search MATCH ? AND +title_search.rowid IN ("
                           "SELECT s.rowid FROM title_search s JOIN conversations b ON b.number = s.rowid "
                           "WHERE s.title_search MATCH ? AND b.trashed_ms IS NULL ORDER BY s.rank LIMIT ?) "
                           "ORDER BY title_search.rank, c.changed_ms DESC"));
    if (hits.size() < limit)
        collect(QStringLiteral("SELECT c.id, m.id, c.title, snippet(text_search, 0, ?, ?, '…', 24), c.changed_ms "
                               "FROM text_search JOIN messages m ON m.number = text_search.rowid "
                               "JOIN conversations c ON c.id = m.conversation "
                               "WHERE text_search MATCH ? AND +text_search.rowid IN ("
                               "SELECT s.rowid FROM text_search s JOIN messages n ON n.number = s.rowid "
                               "JOIN conversations b ON b.id = n.conversation "
                               "WHERE s.text_search MATCH ? AND b.trashed_ms IS NULL ORDER BY s.rank LIMIT ?) "
                               "ORDER BY text_search.rank, c.changed_ms DESC"));
    return hits;
}

/// Returns the number of the message that comes this many messages before this number; empty: there are fewer.
std::optional<qint64> StoreReader::messageBefore(qint64 number, int messages) const
{
    std::optional<qint64> found;
    m_database.rows(
        QStringLiteral("SELECT number FROM messages WHERE number <= ? ORDER BY number DESC LIMIT 1 OFFSET ?"),
        {number, messages}, [&](const QSqlQuery& row) {
            found = row.value(0).toLongLong();
            return false;
        });
    return found;
}

/// Searches titles and texts themselves, without the index, the newest first, until `limit` hits are found.
QList<SearchHit> StoreReader::searchTexts(const SearchWords& words, int limit, const std::stop_token& stop) const
{
    QList<SearchHit> hits;
    const auto collect = [&](const QString& from, QVariantList values, const QString& text, const QString& index,
                             const QString& order) {
        QString statement = from;
        for (const QString& part : words.parts) {
            statement += QStringLiteral(" AND %1 LIKE ?").arg(text);
            values << QLatin1Char('%') + part + QLatin1Char('%');  // a part holds letters and digits only
        }
        if (!words.query.isEmpty()) {
            statement += index;
            values << words.query;
        }
        values << limit - hits.size();
        m_database.rows(statement + order, values, [&](const QSqlQuery& row) {
            hits.append(hitOf(row));
            hits.last().excerpt = excerptOf(hits.last().excerpt, words.parts);
            return true;
        });
    };
    collect(QStringLiteral("SELECT c.id, NULL, c.title, c.title, c.changed_ms FROM conversations c "
                           "WHERE c.trashed_ms IS NULL"),
            {}, QStringLiteral("c.title"),
            QStringLiteral(" AND c.number IN (SELECT rowid FROM title_search WHERE title_search MATCH ?)"),
            QStringLiteral(" ORDER BY c.changed_ms DESC LIMIT ?"));
    // Piece by piece, since a statement that finds nothing cannot be stopped.
    const int atOnce = words.query.isEmpty() ? kReadAtOnce : kReadWithIndexAtOnce;
    std::optional<qint64> last = messageBefore(std::numeric_limits<qint64>::max(), 0);
    while (last && hits.size() < limit && !stop.stop_requested()) {
        const std::optional<qint64> next = messageBefore(*last, atOnce);
        collect(QStringLiteral("SELECT c.id, m.id, c.title, m.text, c.changed_ms FROM messages m "
                               "CROSS JOIN conversations c ON c.id = m.conversation "
                               "WHERE c.trashed_ms IS NULL AND m.searchable AND m.number <= ? AND m.number > ?"),
                {*last, next.value_or(std::numeric_limits<qint64>::min())}, QStringLiteral("m.text"),
                QStringLiteral(" AND m.number IN (SELECT rowid FROM text_search WHERE text_search MATCH ?)"),
                QStringLiteral(" ORDER BY m.number DESC LIMIT ?"));
        last = next;
    }
    return hits;
}

QList<Preset> StoreReader::presets() const
{
    QList<Preset> all;
    m_database.rows(QStringLiteral("SELECT %1 FROM presets ORDER BY name COLLATE NOCASE").arg(rows::kPresetColumns), {},
                    [&](const QSqlQuery& row) {
                        all.append(rows::preset(row));
                        return true;
                    });
    return all;
}

StoreReader::Rescued StoreReader::rescue() const
{
    Rescued all{.conversations = rescuedConversations()};
    readFromBothEnds(rows::kPresetColumns, QStringLiteral("presets"),
                     [&](const QSqlQuery& row) { all.presets.append(rows::preset(row)); });
    return all;
}

// Reads rows from the beginning up to the damage, and from the end down to it. No index is used, since that may be what
// is damaged.
void StoreReader::readFromBothEnds(const QString& columns, const QString& table, const TakeRow& take) const
{
    QSet<qint64> seen;
    for (const char* direction : {"ASC", "DESC"}) {
        const int number = int(columns.count(QLatin1Char(',')) + 1);
        m_database.rows(QStringLiteral("SELECT %1, rowid FROM %2 NOT INDEXED ORDER BY rowid %3")
                            .arg(columns, table, QLatin1String(direction)),
                        {}, [&](const QSqlQuery& row) {
                            if (seen.contains(row.value(number).toLongLong()))
                                return false;
                            seen.insert(row.value(number).toLongLong());
                            take(row);
                            return true;
                        });
    }
}

QList<StoredConversation> StoreReader::rescuedConversations() const
{
    QHash<QString, StoredConversation> found;
    QHash<QString, QList<Attachment>> files;  // by message
    // Puts a value in place of a column that an older version did not have.
    const auto orElse = [&](QString& columns, const char* table, const char* column, const char* value) {
        if (!m_database.ran(
                QStringLiteral("SELECT %1 FROM %2 LIMIT 0").arg(QLatin1String(column), QLatin1String(table))))
            columns.replace(QLatin1String(column), QLatin1String(value));
    };
    QString headerColumns = rows::kHeaderColumns, messageColumns = rows::kMessageColumns;
    orElse(headerColumns, "conversations", "draft_files", "'[]'");
    orElse(headerColumns, "conversations", "folder", "''");
    orElse(messageColumns, "messages", "drafted_tokens", "NULL");
    orElse(messageColumns, "messages", "accepted_tokens", "NULL");
    QSet<QString> trashed;
    readFromBothEnds(headerColumns + QLatin1String(", trashed_ms"), QStringLiteral("conversations"),
                     [&](const QSqlQuery& row) {
                         const ConversationHeader header = rows::header(row);
                         found[header.id].header = header;
                         if (!row.isNull(int(rows::kHeaderColumns.count(QLatin1Char(',')) + 1)))
                             trashed.insert(header.id);
                     });
    readFromBothEnds(rows::kAttachmentColumns, QStringLiteral("attachments"), [&](const QSqlQuery& row) {
        files[row.value(1).toString()].append(withText(rows::attachment(row)));
    });
    readFromBothEnds(messageColumns, QStringLiteral("messages"), [&](const QSqlQuery& row) {
        StoredMessage message = rows::message(row);
        message.attachments = files.value(message.id);
        found[row.value(1).toString()].messages.append(message);
    });
    if (m_database.ran(QStringLiteral("SELECT number FROM recordings LIMIT 0")))  // not in an older version
        readFromBothEnds(rows::kRecordingColumns, QStringLiteral("recordings"), [&](const QSqlQuery& row) {
            if (const auto of = found.find(row.value(0).toString()); of != found.end())
                of->recording = row.value(1).toString().toUtf8();
        });
    QList<StoredConversation> all;
    for (auto entry = found.begin(); entry != found.end(); ++entry) {
        StoredConversation& conversation = entry.value();
        if (entry.key().isEmpty() || trashed.contains(entry.key()))
            continue;
        if (conversation.header.id.isEmpty()) {  // its title was lost
            conversation.header.id = entry.key();
            conversation.header.title = conversation.messages.first().text.simplified().left(60);
            conversation.header.changedMs = conversation.messages.first().createdMs;
        }
        std::stable_sort(conversation.messages.begin(), conversation.messages.end(),
                         [](const auto& a, const auto& b) { return a.createdMs < b.createdMs; });
        makeSound(conversation);
        all.append(conversation);
    }
    return all;
}
