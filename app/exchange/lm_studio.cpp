#include "app/exchange/lm_studio.h"

#include "app/exchange/foreign.h"

#include <QJsonArray>
#include <QJsonObject>

#include <algorithm>
#include <utility>

using foreign::member;
using foreign::Words;

namespace {

using Role = StoredMessage::Role;

/// Reads one conversation, from its first message to its last.
class Chat
{
public:
    explicit Chat(const QJsonObject& root)
        : m_root(root)
    {
    }

    StoredConversation read();
    int leftOut() const { return m_leftOut; }

private:
    QString systemPrompt() const;
    void readVersions(const QJsonArray& versions, qsizetype selected);
    void readSystem(const QJsonValue& version);
    StoredMessage messageOf(const QJsonValue& version, Role role);
    void readSteps(const QJsonArray& steps, StoredMessage& message, Words& words);
    Words words(const QJsonArray& content);

    const QJsonObject m_root;
    StoredConversation m_conversation;
    int m_leftOut = 0;
};

StoredConversation Chat::read()
{
    ConversationHeader& header = m_conversation.header;
    header.title = foreign::line(m_root.value(QLatin1String("name")));
    header.pinned = m_root.value(QLatin1String("pinned")).toBool();
    header.createdMs = foreign::milliseconds(m_root.value(QLatin1String("createdAt")));
    for (const char* last : {"userLastMessagedAt", "assistantLastMessagedAt"})
        header.changedMs = std::max(header.changedMs, foreign::milliseconds(m_root.value(QLatin1String(last))));
    header.settings.systemPrompt = systemPrompt();
    for (const QJsonArray messages = m_root.value(QLatin1String("messages")).toArray(); const auto& message : messages)
        readVersions(member(message, "versions").toArray(), member(message, "currentlySelected").toInt());
    return std::move(m_conversation);
}

/// Returns the system prompt, which newer versions of LM Studio keep among the settings of the chat.
QString Chat::systemPrompt() const
{
    const QString own = m_root.value(QLatin1String("systemPrompt")).toString();
    if (!own.isEmpty() || !m_root.value(QLatin1String("usePerChatPredictionConfig")).toBool(true))
        return own;
    for (const QJsonArray fields = member(m_root.value(QLatin1String("perChatPredictionConfig")), "fields").toArray();
         const auto& field : fields)
        if (member(field, "key").toString() == QLatin1String("llm.prediction.systemPrompt"))
            return member(field, "value").toString();
    return {};
}

void Chat::readVersions(const QJsonArray& versions, qsizetype selected)
{
    QString& leaf = m_conversation.header.leaf;
    const QString parent = leaf;
    bool isFirst = true;
    for (qsizetype i = 0; i < versions.size(); ++i) {
        const QString who = member(versions[i], "role").toString();
        if (who == QLatin1String("system"))
            readSystem(versions[i]);
        const auto role = foreign::roleOf(who);
        if (!role)
            continue;
        StoredMessage message = messageOf(versions[i], *role);
        if (message.text.isEmpty())
            continue;
        message.id = QString::number(m_conversation.messages.size());
        message.parent = parent;
        if (std::exchange(isFirst, false) || i == selected)
            leaf = message.id;
        m_conversation.messages.append(std::move(message));
    }
}

void Chat::readSystem(const QJsonValue& version)
{
    QString& prompt = m_conversation.header.settings.systemPrompt;
    if (prompt.isEmpty())
        prompt = words(member(version, "content").toArray()).text();
}

StoredMessage Chat::messageOf(const QJsonValue& version, Role role)
{
    StoredMessage message{.role = role, .createdMs = m_conversation.header.createdMs};
    Words words;
    if (member(version, "steps").isArray())
        readSteps(member(version, "steps").toArray(), message, words);
    else
        words = this->words(member(version, "content").toArray());
    if (message.model.isEmpty() && role == Role::Assistant)
        message.model = foreign::line(member(member(version, "senderInfo"), "senderName"));
    message.text = words.text();
    return message;
}

void Chat::readSteps(const QJsonArray& steps, StoredMessage& message, Words& words)
{
    for (const auto& step : steps) {
        if (member(step, "type").toString() != QLatin1String("contentBlock")) {
            m_leftOut += member(step, "type").toString() == QLatin1String("toolStatus");
            continue;  // other steps are notes of LM Studio about itself
        }
        const Words part = this->words(member(step, "content").toArray());
        if (member(member(step, "style"), "type").toString() == QLatin1String("thinking"))
            words.think(part.text());
        else
            words.add(part);
        if (const QString model = foreign::line(member(member(step, "genInfo"), "identifier")); !model.isEmpty())
            message.model = model;
    }
}

Words Chat::words(const QJsonArray& content)
{
    Words words;
    for (const auto& part : content) {
        const QString type = member(part, "type").toString();
        if (type == QLatin1String("text")) {
            words.say(member(part, "text").toString());
            continue;
        }
        if (type == QLatin1String("file"))
            words.leaveOut();
        ++m_leftOut;
    }
    return words;
}

}  // namespace

bool isOfLmStudio(const QJsonDocument& document)
{
    const QJsonArray messages = document.object().value(QLatin1String("messages")).toArray();
    return std::any_of(messages.begin(), messages.end(),
                       [](const QJsonValue& message) { return member(message, "versions").isArray(); });
}

Imported fromLmStudio(const QJsonDocument& document)
{
    qsizetype versions = 0;
    const QJsonArray messages = document.object().value(QLatin1String("messages")).toArray();
    for (const auto& message : messages)
        versions += member(message, "versions").toArray().size();
    if (versions > foreign::kMostMessages)
        return foreign::tooMany();
    Chat chat(document.object());
    StoredConversation conversation = chat.read();
    return foreign::finished(QStringLiteral("lm-studio"), {std::move(conversation)}, chat.leftOut());
}
