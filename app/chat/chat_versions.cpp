#include "app/chat/chat_versions.h"

#include <algorithm>

ChatVersions::ChatVersions(EngineThread& engine, ConversationStore& store, ShownConversation& shown,
                           OpenConversations& open, ChatTurn& turn)
    : m_engine(engine)
    , m_store(store)
    , m_shown(shown)
    , m_open(open)
    , m_turn(turn)
{
}

bool ChatVersions::edit(const QString& id, const QString& text)
{
    const StoredMessage* const original = m_shown->tree.find(id);
    if (!original || m_shown->busy() || text.size() > kLongestMessage_chars)
        return false;
    if (original->role == StoredMessage::Role::User)
        return ask(*original, text, original->attachments);
    if (text == original->text)
        return true;
    StoredMessage answer;
    answer.id = newId();
    answer.parent = original->parent;
    answer.role = StoredMessage::Role::Assistant;
    answer.text = text;
    answer.model = original->model;
    answer.createdMs = nowMs();
    if (!m_shown->tree.add(answer))
        return false;
    m_open.save(*m_shown, answer.id);
    m_shown.pathIsDifferent();
    return true;
}

bool ChatVersions::edit(const QString& id, const QString& text, const QStringList& files)
{
    const StoredMessage* const original = m_shown->tree.find(id);
    if (!original || m_shown->busy() || original->role != StoredMessage::Role::User)
        return false;
    QList<Attachment> kept = original->attachments;
    kept.removeIf([&](const Attachment& attachment) { return !files.contains(attachment.id); });
    return ask(*original, text, kept);
}

/// Asks the changed question as a new version, or the old one once more if nothing was changed.
bool ChatVersions::ask(const StoredMessage& original, const QString& text, const QList<Attachment>& attachments)
{
    if (!m_turn.canSend() || text.size() > kLongestMessage_chars || (text.trimmed().isEmpty() && attachments.isEmpty()))
        return false;
    if (text == original.text && attachments.size() == original.attachments.size()) {
        m_turn.askAgain(QString(original.id));  // the message moves when the tree grows
        return true;
    }
    StoredMessage question;
    question.text = text;
    question.attachments = attachments;
    for (Attachment& attachment : question.attachments)
        attachment.id = newId();
    question.parent = original.parent;
    return m_turn.ask(question);
}

void ChatVersions::show(const QString& message, int step)
{
    if (m_shown->tree.showVersion(message, step))
        m_shown.pathIsDifferent();
}

void ChatVersions::step(int step)
{
    const QList<const StoredMessage*> path = m_shown->tree.path();
    const auto found = std::find_if(path.rbegin(), path.rend(), [this](const StoredMessage* message) {
        return m_shown->tree.versionCount(message->id) > 1;
    });
    if (found != path.rend())
        show((*found)->id, step);
}

bool ChatVersions::showMessage(const QString& message)
{
    if (!m_shown->tree.find(message))
        return false;
    if (!m_shown->tree.onPath(message)) {
        m_shown->tree.showPathThrough(message);
        m_shown.pathIsDifferent();
    }
    return true;
}

void ChatVersions::branch(const QString& id)
{
    const QList<const StoredMessage*> path = m_shown->tree.pathTo(id);
    if (path.isEmpty())
        return;
    StoredConversation copy;
    copy.header = m_shown->header;
    copy.header.id = newId();
    copy.header.draft.clear();
    copy.header.draftFiles.clear();
    copy.header.pinned = false;
    copy.header.createdMs = copy.header.changedMs = nowMs();
    const QString mark = tr("(branch)", "after the title of a conversation that was branched off");
    if (!copy.header.title.isEmpty() && !copy.header.title.endsWith(mark))
        copy.header.title += QLatin1Char(' ') + mark;
    QString parent;
    for (const StoredMessage* original : path) {
        StoredMessage message = *original;
        message.id = newId();
        message.parent = parent;
        for (Attachment& attachment : message.attachments)
            attachment.id = newId();
        if (message.status == StoredMessage::Status::Streaming)
            message.status = StoredMessage::Status::Stopped;  // nobody goes on making the copy
        parent = message.id;
        copy.messages.append(message);
    }
    copy.header.leaf = parent;
    m_store.saveAll(copy);
    m_engine.branchConversation(m_shown->header.id, copy.header.id);
    Q_EMIT branched(copy.header.id);
}

#include "moc_chat_versions.cpp"
