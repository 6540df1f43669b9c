#include "app/exchange/chatgpt.h"

#include "app/exchange/foreign.h"
#include "app/store/sound_conversation.h"

#include <QHash>
#include <QJsonArray>
#include <QJsonObject>
#include <QRegularExpression>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

using foreign::member;
using foreign::Words;

namespace {

using Role = StoredMessage::Role;

QString string(const QJsonValue& value, const char* name)
{
    return member(value, name).toString();
}

/// Returns a text without ChatGPT's marks of sources, which mean nothing elsewhere.
QString withoutSources(QString text)
{
    static const QRegularExpression source(QStringLiteral("\\x{E200}[^\\x{E200}\\x{E201}]{0,1000}\\x{E201}"));
    return text.contains(QChar(0xE200)) ? text.remove(source) : text;
}

/// Holds what one node says: a message, or a part of an answer.
struct Said {
    Role role = Role::User;
    Words words = {};
    QString model = {};
    qint64 createdMs = 0;
    std::optional<double> reasoningMs = {};
};

/// Makes a conversation of its nodes, one after the other.
class Nodes
{
public:
    explicit Nodes(const QJsonObject& conversation)
        : m_mapping(conversation.value(QLatin1String("mapping")).toObject())
        , m_shown(conversation.value(QLatin1String("current_node")).toString())
    {
    }

    StoredConversation read();
    int leftOut() const { return m_leftOut; }

private:
    /// Says where a node is among the messages.
    struct Place {
        qsizetype message = -1;  // index of the message that it is part of, else of the nearest above; -1: none
        bool sameAnswer = true;  // no branch and no question since: what comes is part of that answer
    };

    QList<StoredMessage> tree();
    std::optional<Said> said(const QJsonValue& message);
    Words words(const QJsonValue& content);
    void readParts(const QJsonArray& parts, Words& words);
    void leaveFilesOut(const QJsonArray& attachments, Words& words);
    void readSystem(const QJsonValue& message);
    void put(const Said& said, const QString& id, Place& place);

    const QJsonObject m_mapping;
    const QString m_shown;
    QHash<QString, int> m_children;  // how many a node has
    StoredConversation m_conversation;
    std::vector<Words> m_words;  // of its messages
    int m_leftOut = 0;
};

/// Returns all nodes as messages without words, parents first and versions in their order. A node's parent is the one
/// that it names; if it names none that exists, the one that lists it as a child.
QList<StoredMessage> Nodes::tree()
{
    struct Listed {
        QString parent;
        int at = std::numeric_limits<int>::max();
    };
    QHash<QString, Listed> listed;
    for (auto node = m_mapping.begin(); node != m_mapping.end(); ++node) {
        const QJsonArray children = member(node.value(), "children").toArray();
        for (int i = 0; i < int(children.size()); ++i)
            listed.insert(children[i].toString(), {node.key(), i});
    }
    StoredConversation nodes;
    for (auto node = m_mapping.begin(); node != m_mapping.end(); ++node) {
        const QString parent = string(node.value(), "parent");
        nodes.messages.append(
            {.id = node.key(), .parent = m_mapping.contains(parent) ? parent : listed.value(node.key()).parent});
    }
    std::stable_sort(nodes.messages.begin(), nodes.messages.end(),
                     [&](const auto& a, const auto& b) { return listed.value(a.id).at < listed.value(b.id).at; });
    makeSound(nodes);
    for (const StoredMessage& node : std::as_const(nodes.messages))
        ++m_children[node.parent];
    return nodes.messages;
}

StoredConversation Nodes::read()
{
    QHash<QString, Place> places;
    const QList<StoredMessage> nodes = tree();
    for (const StoredMessage& node : nodes) {
        Place place = places.value(node.parent);
        place.sameAnswer = place.sameAnswer && m_children.value(node.parent) == 1;
        if (const auto found = said(member(m_mapping.value(node.id), "message")))
            put(*found, node.id, place);
        places.insert(node.id, place);
    }
    for (qsizetype i = 0; i < m_conversation.messages.size(); ++i)
        m_conversation.messages[i].text = m_words[size_t(i)].text();
    if (const qsizetype shown = places.value(m_shown).message; shown >= 0)
        m_conversation.header.leaf = m_conversation.messages[shown].id;
    return std::move(m_conversation);
}

void Nodes::put(const Said& said, const QString& id, Place& place)
{
    QList<StoredMessage>& messages = m_conversation.messages;
    const bool goesOn = place.message >= 0 && place.sameAnswer && said.role == Role::Assistant &&
                        messages[place.message].role == Role::Assistant;
    if (!goesOn && said.words.isEmpty()) {
        place.sameAnswer = place.sameAnswer && said.role == Role::Assistant;
        return;
    }
    if (!goesOn) {
        messages.append({.id = id,
                         .parent = place.message >= 0 ? messages[place.message].id : QString(),
                         .role = said.role,
                         .createdMs = said.createdMs});
        m_words.emplace_back();
        place = {.message = messages.size() - 1};
    }
    StoredMessage& message = messages[place.message];
    m_words[size_t(place.message)].add(said.words);
    if (!said.model.isEmpty())
        message.model = said.model;
    if (said.reasoningMs)
        message.reasoningMs = message.reasoningMs.value_or(0) + *said.reasoningMs;
}

/// Reads what a node's message says. Nothing: it is not part of the conversation, such as a tool's or a hidden one.
std::optional<Said> Nodes::said(const QJsonValue& message)
{
    const QJsonValue about = member(message, "metadata");
    const QJsonValue content = member(message, "content");
    const QString who = string(member(message, "author"), "role");
    if (who == QLatin1String("system") || member(about, "user_context_message_data").isObject())
        readSystem(message);
    const auto role = foreign::roleOf(who);
    if (!role || member(about, "is_visually_hidden_from_conversation").toBool() ||
        string(content, "content_type") == QLatin1String("user_editable_context")) {
        if (who == QLatin1String("tool"))  // only the model read its words; the user saw its pictures
            words(content);
        return {};
    }
    Said said{.role = *role, .createdMs = foreign::milliseconds(member(message, "create_time"))};
    if (*role == Role::User)
        leaveFilesOut(member(about, "attachments").toArray(), said.words);
    const QString recipient = string(message, "recipient");
    if (recipient.isEmpty() || recipient == QLatin1String("all"))
        said.words.add(words(content));
    else
        ++m_leftOut;  // the call of a tool
    if (*role == Role::Assistant)
        said.model = foreign::line(member(about, "model_slug"));
    const double seconds = member(about, "finished_duration_sec").toDouble();
    if (seconds > 0 && seconds < 1e6)
        said.reasoningMs = seconds * 1e3;
    return said;
}

Words Nodes::words(const QJsonValue& content)
{
    Words words;
    const QString type = string(content, "content_type");
    if (type == QLatin1String("thoughts")) {
        for (const QJsonArray thoughts = member(content, "thoughts").toArray(); const auto& thought : thoughts) {
            words.think(string(thought, "summary"));
            words.think(string(thought, "content"));
        }
    } else if (type == QLatin1String("code")) {
        words.say(QStringLiteral("```\n%1\n```").arg(string(content, "text")));
    } else if (member(content, "parts").isArray()) {
        readParts(member(content, "parts").toArray(), words);
    } else if (type != QLatin1String("reasoning_recap")) {
        words.say(string(content, "text"));
    }
    return words;
}

void Nodes::readParts(const QJsonArray& parts, Words& words)
{
    for (const auto& part : parts) {
        const QString type = string(part, "content_type");
        if (part.isString()) {
            words.say(withoutSources(part.toString()));
        } else if (member(part, "text").isString()) {  // the words of spoken audio
            words.say(string(part, "text"));
        } else if (!type.contains(QLatin1String("audio"))) {  // the text of audio is in a part of its own
            words.leaveOut();
            ++m_leftOut;
        }
    }
}

/// Notes that the user's files are left out; pictures are not counted here, since they are among the parts as well.
void Nodes::leaveFilesOut(const QJsonArray& attachments, Words& words)
{
    for (const auto& attachment : attachments) {
        const QString type = string(attachment, "mime_type") + string(attachment, "mimeType");  // in older exports
        if (type.startsWith(QLatin1String("image/")))
            continue;
        words.leaveOut();
        ++m_leftOut;
    }
}

/// Reads the user's instructions for all conversations, or for this one, as the system prompt.
void Nodes::readSystem(const QJsonValue& message)
{
    QString& prompt = m_conversation.header.settings.systemPrompt;
    if (!prompt.isEmpty())
        return;
    const QJsonValue about = member(message, "metadata");
    const QJsonValue own = member(about, "user_context_message_data");
    Words words;
    words.say(string(own, "about_user_message"));
    words.say(string(own, "about_model_message"));
    if (own.isUndefined() && !member(about, "is_visually_hidden_from_conversation").toBool())
        for (const QJsonArray parts = member(member(message, "content"), "parts").toArray(); const auto& part : parts)
            words.say(part.toString());
    prompt = words.text().trimmed();
}

QJsonArray conversationsIn(const QJsonDocument& document)
{
    return document.isArray() ? document.array() : QJsonArray{document.object()};
}

bool isConversation(const QJsonValue& value)
{
    return member(value, "mapping").isObject();
}

}  // namespace

bool isOfChatGpt(const QJsonDocument& document)
{
    const QJsonArray all = conversationsIn(document);
    return std::any_of(all.begin(), all.end(), isConversation);
}

Imported fromChatGpt(const QJsonDocument& document, const std::stop_token& stop)
{
    const QJsonArray all = conversationsIn(document);
    QList<StoredConversation> conversations;
    qsizetype messages = 0;
    int leftOut = 0;
    for (const auto& value : all) {
        if (stop.stop_requested())
            return {};
        const QJsonObject object = value.toObject();
        messages += object.value(QLatin1String("mapping")).toObject().size();
        if (messages > foreign::kMostMessages || conversations.size() == foreign::kMostConversations)
            return foreign::tooMany();
        Nodes nodes(object);
        StoredConversation conversation = nodes.read();
        ConversationHeader& header = conversation.header;
        header.id = string(value, "conversation_id");
        if (header.id.isEmpty())
            header.id = string(value, "id");
        header.title = foreign::line(object.value(QLatin1String("title")));
        header.createdMs = foreign::milliseconds(object.value(QLatin1String("create_time")));
        header.changedMs = foreign::milliseconds(object.value(QLatin1String("update_time")));
        leftOut += nodes.leftOut() + !isConversation(value);
        conversations.append(std::move(conversation));
    }
    return foreign::finished(QStringLiteral("chatgpt"), std::move(conversations), leftOut);
}
