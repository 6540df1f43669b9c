// StoreReader reads conversations from the database.
#pragma once

#include "app/store/attachment_folder.h"
#include "app/store/database.h"
#include "app/store/search_words.h"

#include <functional>
#include <optional>
#include <stop_token>

/// Reads through one connection. Rows that cannot be read are left out, and damage() tells. Used on the thread that
/// made it; owned by its ConversationStore.
class StoreReader
{
public:
    StoreReader(const QString& name, Database::Access access, AttachmentFolder attachments);

    bool isOpen() const { return m_database.isOpen(); }
    bool sawDamage() const { return isDamage(m_database.error()); }

    QList<ConversationHeader> headers() const;
    std::optional<ConversationHeader> header(const QString& id) const;
    bool isTrashed(const QString& id) const;
    std::optional<StoredConversation> conversation(const QString& id) const;
    QByteArray recording(const QString& id) const;  // empty: there is none, or it is too large
    QList<SearchHit> search(const SearchWords& words, int limit, const std::stop_token& stop = {}) const;
    QList<Preset> presets() const;

    /// Holds all that can still be read of a damaged database, row by row from both ends.
    struct Rescued {
        QList<StoredConversation> conversations = {};
        QList<Preset> presets = {};
    };
    Rescued rescue() const;

private:
    QList<SearchHit> searchIndex(const QString& query, int limit) const;
    QList<SearchHit> searchTexts(const SearchWords& words, int limit, const std::stop_token& stop) const;
    std::optional<qint64> messageBefore(qint64 number, int messages) const;

    using TakeRow = std::function<void(const QSqlQuery&)>;
    void readFromBothEnds(const QString& columns, const QString& table, const TakeRow& take) const;
    QList<StoredConversation> rescuedConversations() const;
    QHash<QString, QList<Attachment>> attachments(const QString& conversation) const;  // by message
    Attachment withText(Attachment attachment) const;

    Database m_database;
    AttachmentFolder m_attachments;
};
