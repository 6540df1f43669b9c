// Turns values into rows of the database and back.
#pragma once

#include "app/store/conversation.h"
#include "app/store/database.h"

namespace rows {

// The columns stand in the order in which the functions below read them.
inline const QString kHeaderColumns = QStringLiteral(
    "id, title, title_by_user, created_ms, changed_ms, pinned, leaf, draft, system_prompt, preset, sampling, "
    "template_arguments, draft_files, folder");
inline const QString kMessageColumns = QStringLiteral(
    "id, conversation, parent, role, text, status, sentence, created_ms, left_out, model, prompt_tokens, "
    "template_tokens, tokens, ttft_ms, tokens_per_second, reasoning_ms, drafted_tokens, "
    "accepted_tokens");
inline const QString kAttachmentColumns = QStringLiteral("id, message, name, kind, bytes, sha256, tokens");
inline const QString kRecordingColumns = QStringLiteral("conversation, recording");
inline const QString kPresetColumns = QStringLiteral("name, system_prompt, sampling, template_arguments");

ConversationHeader header(const QSqlQuery& row);
StoredMessage message(const QSqlQuery& row);  // without its attachments
Attachment attachment(const QSqlQuery& row);  // without its text
Preset preset(const QSqlQuery& row);
QList<DraftFile> draftFiles(const QVariant& column);

bool write(const Database& database, const ConversationHeader& header);
bool write(const Database& database, const QString& conversation, const StoredMessage& message);
bool write(const Database& database, const StoredConversation& conversation);
bool write(const Database& database, const Preset& preset);
/// Removes the conversations of which `condition` is true, with all that is in them.
bool removeConversations(const Database& database, const QString& condition, const QVariantList& values = {});
/// Writes a conversation's recording in place of the one before; does nothing where there is no such conversation.
bool writeRecording(const Database& database, const QString& conversation, const QByteArray& recording);

// Names in the database and in exported files.
QString nameOf(StoredMessage::Role role);
QString nameOf(StoredMessage::Status status);
std::optional<StoredMessage::Role> roleOf(const QString& name);
std::optional<StoredMessage::Status> statusOf(const QString& name);

}  // namespace rows
