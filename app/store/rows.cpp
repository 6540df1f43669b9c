#include "app/store/rows.h"

#include <QJsonArray>
#include <QJsonDocument>

#include <array>
#include <utility>

namespace rows {

namespace {

using Role = StoredMessage::Role;
using Status = StoredMessage::Status;

constexpr std::array kRoles{
    std::pair{Role::User, "user"},
    std::pair{Role::Assistant, "assistant"},
};
constexpr std::array kStatuses{
    std::pair{Status::Complete, "complete"},        std::pair{Status::Streaming, "streaming"},
    std::pair{Status::Stopped, "stopped"},          std::pair{Status::LengthLimit, "length_limit"},
    std::pair{Status::ContextFull, "context_full"}, std::pair{Status::Failed, "failed"},
};

template <class Table, class Value>
QString nameIn(const Table& table, Value value)
{
    for (const auto& [known, name] : table)
        if (known == value)
            return QLatin1String(name);
    return {};
}

template <class Value, class Table>
std::optional<Value> valueIn(const Table& table, const QString& name)
{
    for (const auto& [value, known] : table)
        if (name == QLatin1String(known))
            return value;
    return {};
}

QString text(const QJsonObject& object)
{
    return QString::fromUtf8(QJsonDocument(object).toJson(QJsonDocument::Compact));
}

QJsonObject object(const QVariant& text)
{
    return QJsonDocument::fromJson(text.toString().toUtf8()).object();
}

QString text(const QList<DraftFile>& files)
{
    QJsonArray array;
    for (const DraftFile& file : files)
        array.append(QJsonObject{{"name", file.name}, {"sha256", file.sha256}});
    return QString::fromUtf8(QJsonDocument(array).toJson(QJsonDocument::Compact));
}

// Missing values are NULL in some columns and empty strings in others; Qt would bind a null QString as NULL.
QVariant orNull(const QString& text)
{
    return text.isEmpty() ? QVariant(QMetaType::fromType<QString>()) : QVariant(text);
}
QVariant notNull(const QString& text)
{
    return text.isNull() ? QLatin1String("") : text;
}
template <class Number>
QVariant orNull(const std::optional<Number>& number)
{
    return number ? QVariant(*number) : QVariant(QMetaType::fromType<Number>());
}

std::optional<int> count(const QVariant& value)
{
    return value.isNull() ? std::optional<int>() : value.toInt();
}
std::optional<double> real(const QVariant& value)
{
    return value.isNull() ? std::optional<double>() : value.toDouble();
}

bool writeAttachments(const Database& database, const StoredMessage& message)
{
    if (!database.ran(QStringLiteral("DELETE FROM attachments WHERE message = ?"), {message.id}))
        return false;
    for (const Attachment& file : message.attachments)
        if (!database.ran(
                QStringLiteral("INSERT INTO attachments (%1) VALUES (?, ?, ?, ?, ?, ?, ?)").arg(kAttachmentColumns),
                {notNull(file.id), message.id, notNull(file.name), notNull(file.kind), file.bytes, notNull(file.sha256),
                 orNull(file.tokens)}))
            return false;
    return true;
}

}  // namespace

QString nameOf(Role role)
{
    return nameIn(kRoles, role);
}

QString nameOf(Status status)
{
    return nameIn(kStatuses, status);
}

std::optional<Role> roleOf(const QString& name)
{
    return valueIn<Role>(kRoles, name);
}

std::optional<Status> statusOf(const QString& name)
{
    return valueIn<Status>(kStatuses, name);
}

ConversationHeader header(const QSqlQuery& row)
{
    ConversationHeader header;
    header.id = row.value(0).toString();
    header.title = row.value(1).toString();
    header.titleByUser = row.value(2).toBool();
    header.createdMs = row.value(3).toLongLong();
    header.changedMs = row.value(4).toLongLong();
    header.pinned = row.value(5).toBool();
    header.leaf = row.value(6).toString();
    header.draft = row.value(7).toString();
    header.settings.systemPrompt = row.value(8).toString();
    header.settings.preset = row.value(9).toString();
    header.settings.sampling = object(row.value(10));
    header.settings.templateArguments = object(row.value(11));
    header.draftFiles = draftFiles(row.value(12));
    header.folder = row.value(13).toString();
    return header;
}

StoredMessage message(const QSqlQuery& row)
{
    StoredMessage message;
    message.id = row.value(0).toString();
    message.parent = row.value(2).toString();
    message.role = roleOf(row.value(3).toString()).value_or(Role::User);
    message.text = row.value(4).toString();
    message.status = statusOf(row.value(5).toString()).value_or(Status::Complete);
    message.sentence = row.value(6).toString();
    message.createdMs = row.value(7).toLongLong();
    message.leftOut = row.value(8).toBool();
    message.model = row.value(9).toString();
    message.promptTokens = count(row.value(10));
    message.templateTokens = count(row.value(11));
    message.tokens = count(row.value(12));
    message.ttftMs = real(row.value(13));
    message.tokensPerSecond = real(row.value(14));
    message.reasoningMs = real(row.value(15));
    message.draftedTokens = count(row.value(16));
    message.acceptedTokens = count(row.value(17));
    return message;
}

Attachment attachment(const QSqlQuery& row)
{
    Attachment file;
    file.id = row.value(0).toString();
    file.name = row.value(2).toString();
    file.kind = row.value(3).toString();
    file.bytes = row.value(4).toLongLong();
    file.sha256 = row.value(5).toString();
    file.tokens = count(row.value(6));
    return file;
}

Preset preset(const QSqlQuery& row)
{
    Preset preset;
    preset.name = row.value(0).toString();
    preset.settings.preset = preset.name;
    preset.settings.systemPrompt = row.value(1).toString();
    preset.settings.sampling = object(row.value(2));
    preset.settings.templateArguments = object(row.value(3));
    return preset;
}

QList<DraftFile> draftFiles(const QVariant& column)
{
    QList<DraftFile> files;
    const QJsonArray array = QJsonDocument::fromJson(column.toString().toUtf8()).array();
    for (const auto& file : array)
        files.append({file[QLatin1String("name")].toString(), file[QLatin1String("sha256")].toString()});
    return files;
}

bool write(const Database& database, const ConversationHeader& header)
{
    return database.ran(
        QStringLiteral(
            "INSERT INTO conversations (%1) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (id) DO UPDATE SET "
            "title = excluded.title, title_by_user = excluded.title_by_user, created_ms = excluded.created_ms, "
            "changed_ms = excluded.changed_ms, pinned = excluded.pinned, leaf = excluded.leaf, draft = excluded.draft, "
            "system_prompt = excluded.system_prompt, preset = excluded.preset, sampling = excluded.sampling, "
            "template_arguments = excluded.template_arguments, draft_files = excluded.draft_files, "
            "folder = excluded.folder")
            .arg(kHeaderColumns),
        {notNull(header.id), notNull(header.title), header.titleByUser, header.createdMs, header.changedMs,
         header.pinned, orNull(header.leaf), notNull(header.draft), notNull(header.settings.systemPrompt),
         notNull(header.settings.preset), text(header.settings.sampling), text(header.settings.templateArguments),
         text(header.draftFiles), notNull(header.folder)});
}

// A message of the same id in another conversation is not touched.
bool write(const Database& database, const QString& conversation, const StoredMessage& message)
{
    return database.ran(
               QStringLiteral("INSERT INTO messages (%1, searchable) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                              "?, ?, ?, ?, ?) "
                              "ON CONFLICT (id) DO UPDATE SET parent = excluded.parent, role = excluded.role, "
                              "text = excluded.text, status = excluded.status, sentence = excluded.sentence, "
                              "created_ms = excluded.created_ms, left_out = excluded.left_out, model = excluded.model, "
                              "prompt_tokens = excluded.prompt_tokens, template_tokens = excluded.template_tokens, "
                              "tokens = excluded.tokens, ttft_ms = excluded.ttft_ms, "
                              "tokens_per_second = excluded.tokens_per_second, reasoning_ms = excluded.reasoning_ms, "
                              "drafted_tokens = excluded.drafted_tokens, accepted_tokens = excluded.accepted_tokens, "
                              "searchable = excluded.searchable WHERE conversation = excluded.conversation")
                   .arg(kMessageColumns),
               {notNull(message.id), notNull(conversation), orNull(message.parent), nameOf(message.role),
                notNull(message.text), nameOf(message.status), notNull(message.sentence), message.createdMs,
                message.leftOut, notNull(message.model), orNull(message.promptTokens), orNull(message.templateTokens),
                orNull(message.tokens), orNull(message.ttftMs), orNull(message.tokensPerSecond),
                orNull(message.reasoningMs), orNull(message.draftedTokens), orNull(message.acceptedTokens),
                message.status != Status::Streaming}) &&
           writeAttachments(database, message);
}

bool write(const Database& database, const StoredConversation& conversation)
{
    return write(database, conversation.header) &&
           std::all_of(
               conversation.messages.begin(), conversation.messages.end(),
               [&](const StoredMessage& message) { return write(database, conversation.header.id, message); }) &&
           (conversation.recording.isEmpty() ||
            writeRecording(database, conversation.header.id, conversation.recording));
}

// With a message SQLite deletes its children, then theirs, and so on, and allows 1,000 such levels: so the messages are
// taken out of their tree first.
bool removeConversations(const Database& database, const QString& condition, const QVariantList& values)
{
    return database.ran(QStringLiteral("UPDATE messages SET parent = NULL WHERE conversation IN "
                                       "(SELECT id FROM conversations WHERE %1)")
                            .arg(condition),
                        values) &&
           database.ran(QStringLiteral("DELETE FROM conversations WHERE %1").arg(condition), values);
}

bool writeRecording(const Database& database, const QString& conversation, const QByteArray& recording)
{
    return database.ran(QStringLiteral("INSERT INTO recordings (%1) SELECT id, ? FROM conversations WHERE id = ? "
                                       "ON CONFLICT (conversation) DO UPDATE SET recording = excluded.recording")
                            .arg(kRecordingColumns),
                        {QString::fromUtf8(recording), conversation});
}

bool write(const Database& database, const Preset& preset)
{
    return database.ran(QStringLiteral("INSERT INTO presets (%1) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET "
                                       "system_prompt = excluded.system_prompt, sampling = excluded.sampling, "
                                       "template_arguments = excluded.template_arguments")
                            .arg(kPresetColumns),
                        {notNull(preset.name), notNull(preset.settings.systemPrompt), text(preset.settings.sampling),
                         text(preset.settings.templateArguments)});
}

}  // namespace rows
