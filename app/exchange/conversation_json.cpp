#include "app/exchange/conversation_json.h"
#include "app/exchange/import_text.h"

#include "app/pressure/recording.h"
#include "app/store/rows.h"

#include <QHash>
#include <QJsonArray>
#include <QSet>

#include <cmath>

namespace {

constexpr auto kFormat = "spillway-conversations";

// More than anybody has, but few enough to fit into memory.
constexpr qsizetype kMostConversations = 100'000;
constexpr qsizetype kMostMessages = 1'000'000;
constexpr qsizetype kMostAttachments = 1'000;
constexpr qsizetype kLongestText_chars = kLongestMessage_chars;
constexpr qsizetype kLongestFileText_chars = 16 * 1024 * 1024;  // of an attachment, more than the window takes
constexpr qsizetype kLongestName_chars = 1'000;
constexpr int kDeepestSettings = 8;

// ---- writing ----

template <class Number>
void put(QJsonObject& object, const char* name, const std::optional<Number>& number)
{
    if (number)
        object.insert(QLatin1String(name), *number);
}
void put(QJsonObject& object, const char* name, const QString& text)
{
    if (!text.isEmpty())
        object.insert(QLatin1String(name), text);
}

QJsonObject toJson(const Attachment& attachment)
{
    QJsonObject object{{"name", attachment.name},
                       {"kind", attachment.kind},
                       {"bytes", attachment.bytes},
                       {"sha256", attachment.sha256},
                       {"text", attachment.text}};
    put(object, "tokens", attachment.tokens);
    return object;
}

QJsonObject toJson(const StoredMessage& message)
{
    QJsonObject object{{"id", message.id},
                       {"role", rows::nameOf(message.role)},
                       {"text", message.text},
                       {"status", rows::nameOf(message.status)},
                       {"created_ms", message.createdMs}};
    put(object, "parent", message.parent);
    put(object, "sentence", message.sentence);
    put(object, "model", message.model);
    put(object, "prompt_tokens", message.promptTokens);
    put(object, "template_tokens", message.templateTokens);
    put(object, "tokens", message.tokens);
    put(object, "ttft_ms", message.ttftMs);
    put(object, "tokens_per_second", message.tokensPerSecond);
    put(object, "reasoning_ms", message.reasoningMs);
    put(object, "drafted_tokens", message.draftedTokens);
    put(object, "accepted_tokens", message.acceptedTokens);
    if (message.leftOut)
        object.insert(QStringLiteral("left_out"), true);
    QJsonArray attachments;
    for (const Attachment& attachment : message.attachments)
        attachments.append(toJson(attachment));
    if (!attachments.isEmpty())
        object.insert(QStringLiteral("attachments"), attachments);
    return object;
}

// ---- reading ----

/// Reads one object, and keeps the first error in it as a sentence.
class Fields
{
public:
    Fields(const QJsonValue& value, QString& error)
        : m_object(value.toObject())
        , m_error(error)
    {
        if (!value.isObject())
            fail(ImportText::tr("something is not an object"));
    }

    QString text(const char* name, qsizetype longest = kLongestText_chars)
    {
        const QJsonValue value = m_object.value(QLatin1String(name));
        if (!value.isUndefined() && !value.isString())
            fail(ImportText::tr("'%1' is not a text").arg(QLatin1String(name)));
        QString text = value.toString();
        if (text.size() > longest)
            fail(ImportText::tr("'%1' is too long").arg(QLatin1String(name)));
        return text;
    }
    bool truth(const char* name) { return m_object.value(QLatin1String(name)).toBool(); }
    std::optional<double> real(const char* name)
    {
        const QJsonValue value = m_object.value(QLatin1String(name));
        if (value.isUndefined() || value.isNull())
            return {};
        if (!value.isDouble() || !std::isfinite(value.toDouble()) || value.toDouble() < 0 || value.toDouble() > 1e15)
            fail(ImportText::tr("'%1' is not a number that can be").arg(QLatin1String(name)));
        return value.toDouble();
    }
    std::optional<int> count(const char* name)
    {
        const std::optional<double> number = real(name);
        if (number && *number > 1e9)
            fail(ImportText::tr("'%1' is not a number that can be").arg(QLatin1String(name)));
        return number ? std::optional(int(std::min(*number, 1e9))) : std::nullopt;
    }
    QJsonArray list(const char* name, qsizetype longest)
    {
        const QJsonValue value = m_object.value(QLatin1String(name));
        if (!value.isUndefined() && !value.isArray())
            fail(ImportText::tr("'%1' is not a list").arg(QLatin1String(name)));
        if (value.toArray().size() > longest)
            fail(ImportText::tr("'%1' is too long").arg(QLatin1String(name)));
        return value.toArray();
    }
    QJsonObject object(const char* name)
    {
        QJsonObject object = m_object.value(QLatin1String(name)).toObject();
        if (!isShallow(object, kDeepestSettings))
            fail(ImportText::tr("'%1' is nested too deeply").arg(QLatin1String(name)));
        return object;
    }
    /// Returns the recording in the form in which this program keeps it; empty: there is none.
    QByteArray recording()
    {
        const QJsonValue value = m_object.value(QLatin1String("recording"));
        if (value.isUndefined())
            return {};
        const auto known = Recording::parse(QJsonDocument(value.toObject()).toJson(QJsonDocument::Compact));
        if (!known)
            fail(ImportText::tr("what was measured of it is not a recording"));
        return known ? known->kept().toJson() : QByteArray();
    }
    void fail(const QString& why)
    {
        if (m_error.isEmpty())
            m_error = why;
    }

private:
    static bool isShallow(const QJsonValue& value, int depth)
    {
        if (!value.isObject() && !value.isArray())
            return true;
        if (depth == 0)
            return false;
        const QJsonArray items = value.toArray();
        const QJsonObject members = value.toObject();
        return std::all_of(items.begin(), items.end(), [&](const auto& item) { return isShallow(item, depth - 1); }) &&
               std::all_of(members.begin(), members.end(),
                           [&](const auto& member) { return isShallow(member, depth - 1); });
    }

    const QJsonObject m_object;
    QString& m_error;
};

Attachment attachmentOf(const QJsonValue& value, QString& error)
{
    static const QStringList kinds{QStringLiteral("text"), QStringLiteral("markdown"), QStringLiteral("code"),
                                   QStringLiteral("pdf")};
    Fields fields(value, error);
    const QString kind = fields.text("kind", 20);
    if (!kinds.contains(kind))  // the kind becomes part of the name of the text's file
        fields.fail(ImportText::tr("an attachment has no known kind"));
    return {.name = fields.text("name", kLongestName_chars),
            .kind = kind,
            .text = fields.text("text", kLongestFileText_chars),
            .tokens = fields.count("tokens")};
}

StoredMessage messageOf(const QJsonValue& value, QString& error)
{
    Fields fields(value, error);
    StoredMessage message;
    message.id = fields.text("id", kLongestName_chars);
    message.parent = fields.text("parent", kLongestName_chars);
    const auto role = rows::roleOf(fields.text("role"));
    if (!role)
        fields.fail(ImportText::tr("a message has no known role"));
    message.role = role.value_or(StoredMessage::Role::User);
    message.text = fields.text("text");
    message.status = rows::statusOf(fields.text("status")).value_or(StoredMessage::Status::Complete);
    message.sentence = fields.text("sentence");
    message.createdMs = qint64(fields.real("created_ms").value_or(0));
    message.leftOut = fields.truth("left_out");
    message.model = fields.text("model", kLongestName_chars);
    message.promptTokens = fields.count("prompt_tokens");
    message.templateTokens = fields.count("template_tokens");
    message.tokens = fields.count("tokens");
    message.ttftMs = fields.real("ttft_ms");
    message.tokensPerSecond = fields.real("tokens_per_second");
    message.reasoningMs = fields.real("reasoning_ms");
    message.draftedTokens = fields.count("drafted_tokens");
    message.acceptedTokens = fields.count("accepted_tokens");
    for (const auto& attachment : fields.list("attachments", kMostAttachments))
        message.attachments.append(attachmentOf(attachment, error));
    return message;
}

/// Returns what is wrong with the messages' tree. Empty: every id comes once, and every parent before its children.
QString whatIsWrong(const QList<StoredMessage>& messages)
{
    QSet<QString> all;
    for (const StoredMessage& message : messages) {
        if (message.id.isEmpty() || all.contains(message.id))
            return ImportText::tr("two messages have the same id, or one has none");
        all.insert(message.id);
    }
    QSet<QString> seen;
    for (const StoredMessage& message : messages) {
        if (!message.parent.isEmpty() && !all.contains(message.parent))
            return ImportText::tr("a message answers one that is not there");
        if (!message.parent.isEmpty() && !seen.contains(message.parent))
            return ImportText::tr("a message comes before the one it answers");
        seen.insert(message.id);
    }
    return {};
}

StoredConversation conversationOf(const QJsonValue& value, QString& error)
{
    Fields fields(value, error);
    StoredConversation conversation;
    ConversationHeader& header = conversation.header;
    header.id = fields.text("id", kLongestName_chars);
    header.title = fields.text("title", kLongestName_chars);
    header.titleByUser = fields.truth("title_by_user");
    header.createdMs = qint64(fields.real("created_ms").value_or(0));
    header.changedMs = qint64(fields.real("changed_ms").value_or(0));
    header.pinned = fields.truth("pinned");
    header.folder = fields.text("folder", kLongestName_chars).simplified().left(kLongestTitle_chars);
    header.leaf = fields.text("leaf", kLongestName_chars);
    header.draft = fields.text("draft");
    header.settings.systemPrompt = fields.text("system_prompt");
    header.settings.preset = fields.text("preset", kLongestName_chars);
    header.settings.sampling = fields.object("sampling");
    header.settings.templateArguments = fields.object("template_arguments");
    for (const auto& message : fields.list("messages", kMostMessages)) {
        conversation.messages.append(messageOf(message, error));
        if (!error.isEmpty())
            return conversation;
    }
    fields.fail(whatIsWrong(conversation.messages));
    conversation.recording = fields.recording();
    const bool leafThere = std::any_of(conversation.messages.begin(), conversation.messages.end(),
                                       [&](const auto& message) { return message.id == header.leaf; });
    if (!leafThere && !conversation.messages.isEmpty())
        header.leaf = conversation.messages.last().id;
    return conversation;
}

}  // namespace

QJsonObject toJson(const StoredConversation& conversation)
{
    const ConversationHeader& header = conversation.header;
    QJsonObject object{{"id", header.id},
                       {"title", header.title},
                       {"title_by_user", header.titleByUser},
                       {"created_ms", header.createdMs},
                       {"changed_ms", header.changedMs},
                       {"pinned", header.pinned}};
    put(object, "folder", header.folder);
    put(object, "leaf", header.leaf);
    put(object, "draft", header.draft);
    put(object, "system_prompt", header.settings.systemPrompt);
    put(object, "preset", header.settings.preset);
    if (!header.settings.sampling.isEmpty())
        object.insert(QStringLiteral("sampling"), header.settings.sampling);
    if (!header.settings.templateArguments.isEmpty())
        object.insert(QStringLiteral("template_arguments"), header.settings.templateArguments);
    QJsonArray messages;
    for (const StoredMessage& message : conversation.messages)
        messages.append(toJson(message));
    object.insert(QStringLiteral("messages"), messages);
    return object;
}

QByteArray jsonBeginning()
{
    return QByteArray("{\n\"format\": \"") + kFormat + "\",\n\"version\": " + QByteArray::number(kJsonVersion) +
           ",\n\"conversations\": [\n";
}

QByteArray jsonOf(const StoredConversation& conversation)
{
    QByteArray json = QJsonDocument(toJson(conversation)).toJson(QJsonDocument::Indented).trimmed();
    // The recording is written in one line: it has thousands of numbers, which would have a line each.
    const QJsonDocument recording = QJsonDocument::fromJson(conversation.recording);
    if (recording.isObject()) {
        json = json.left(json.lastIndexOf('}')).trimmed();
        json += ",\n    \"recording\": " + recording.toJson(QJsonDocument::Compact) + "\n}";
    }
    return json;
}

QByteArray jsonEnd()
{
    return "\n]\n}\n";
}

Imported fromJson(const QJsonDocument& document, const std::stop_token& stop)
{
    const QJsonObject root = document.object();
    if (root.value(QLatin1String("format")).toString() != QLatin1String(kFormat))
        return {{}, ImportText::tr("This file holds no conversations that Spillway can read.")};
    const QJsonValue version = root.value(QLatin1String("version"));
    if (version.toInt() > kJsonVersion)
        return {{}, ImportText::tr("This file was written by a newer version of Spillway.")};

    Imported imported;
    if (!version.isDouble() || version.toInt() < 1)
        imported.error = ImportText::tr("it does not say its version");
    Fields fields(root, imported.error);
    qsizetype messages = 0;
    for (const auto& value : fields.list("conversations", kMostConversations)) {
        if (stop.stop_requested())
            return {};
        if (!imported.error.isEmpty())
            break;
        imported.conversations.append(conversationOf(value, imported.error));
        messages += imported.conversations.last().messages.size();
        if (messages > kMostMessages)
            fields.fail(ImportText::tr("it has too many messages"));
    }
    if (!imported.error.isEmpty())
        return {{},
                ImportText::tr("Nothing was imported, since the file is damaged: conversation %1: %2.")
                    .arg(imported.conversations.size())
                    .arg(imported.error)};
    if (imported.conversations.isEmpty())
        imported.error = ImportText::tr("This file holds no conversations.");
    return imported;
}
