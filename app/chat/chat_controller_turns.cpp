// ChatController: what is sent, asked again and edited.
#include "app/chat/chat_controller.h"
#include "app/store/conversation_title.h"

#include <algorithm>

bool ChatController::send(const QString& text)
{
    return send(text, {});
}

bool ChatController::send(const QString& text, const QList<Attachment>& attachments)
{
    if (!canSend() || (text.trimmed().isEmpty() && attachments.isEmpty()))
        return false;
    StoredMessage message;
    message.text = text;
    message.attachments = attachments;
    message.parent = m_shown->tree.leaf();
    m_shown->header.draft.clear();
    m_shown->header.draftFiles.clear();
    const bool asked = ask(message);
    Q_EMIT draftChanged();
    return asked;
}

/// Adds a question, which is on its way to the disk before it is on its way to the model.
bool ChatController::ask(StoredMessage question)
{
    question.id = newId();
    question.role = StoredMessage::Role::User;
    question.createdMs = nowMs();
    if (!m_shown->tree.add(question))
        return false;
    ConversationHeader& header = m_shown->header;
    header.changedMs = question.createdMs;
    if (header.title.isEmpty() && !header.titleByUser) {
        header.title = titleOf(question.text);
        if (header.title.isEmpty() && !question.attachments.isEmpty())
            header.title = titleOf(question.attachments.first().name);
        Q_EMIT titleChanged();
    }
    m_draftChanged = false;
    m_open.save(*m_shown);
    m_open.save(*m_shown, question.id);
    m_open.answer(*m_shown, question.id);
    return true;
}

void ChatController::stop()
{
    m_goesOnAfterLoad.clear();
    m_open.stop(*m_shown);
}

void ChatController::retry()
{
    if (canSend())
        answerLast(*m_shown);
}

void ChatController::answerLast(OpenConversation& conversation)
{
    const StoredMessage* const last = conversation.last();
    if (!last)
        return;
    if (last->role == StoredMessage::Role::User)
        m_open.answer(conversation, last->id);
    else
        answerInsteadOf(conversation, *last);
}

void ChatController::answerInsteadOf(OpenConversation& conversation, const StoredMessage& answer)
{
    const StoredMessage* const question = conversation.tree.find(answer.parent);
    if (!question)
        return;
    if (answer.text.isEmpty() && conversation.tree.leaf() == answer.id)
        m_open.answerAgain(conversation, answer.id);
    else
        m_open.answer(conversation, question->id);
}

void ChatController::regenerate(const QString& id)
{
    const StoredMessage* const answer = m_shown->tree.find(id);
    if (answer && answer->role == StoredMessage::Role::Assistant && canSend())
        answerInsteadOf(*m_shown, *answer);
}

void ChatController::continueAnswer(const QString& id)
{
    const StoredMessage* const answer = m_shown->tree.find(id);
    if (answer && answer->role == StoredMessage::Role::Assistant && !answer->text.isEmpty() &&
        m_shown->tree.leaf() == id && canSend())
        m_open.goOn(*m_shown, id);
}

void ChatController::goOnWithWhatWasCut(OpenConversation& conversation)
{
    const StoredMessage* const last = conversation.last();
    if (!last || conversation.busy())
        return;
    const bool cut = last->role == StoredMessage::Role::Assistant && !last->text.isEmpty();
    if (cut && last->status != StoredMessage::Status::Complete)
        m_open.goOn(conversation, last->id);
    else if (!cut)
        answerLast(conversation);
}

bool ChatController::edit(const QString& id, const QString& text)
{
    const StoredMessage* const original = m_shown->tree.find(id);
    if (!original || busy())
        return false;
    if (original->role == StoredMessage::Role::User) {
        if (!canSend() || (text.trimmed().isEmpty() && original->attachments.isEmpty()))
            return false;
        if (text == original->text) {
            m_open.answer(*m_shown, id);
            return true;
        }
        StoredMessage question;
        question.text = text;
        question.attachments = original->attachments;
        for (Attachment& attachment : question.attachments)
            attachment.id = newId();
        question.parent = original->parent;
        return ask(question);
    }
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
    pathIsDifferent();
    return true;
}

void ChatController::showVersion(const QString& message, int step)
{
    if (m_shown->tree.showVersion(message, step))
        pathIsDifferent();
}

void ChatController::stepVersion(int step)
{
    const QList<const StoredMessage*> path = m_shown->tree.path();
    const auto found = std::find_if(path.rbegin(), path.rend(), [this](const StoredMessage* message) {
        return m_shown->tree.versionCount(message->id) > 1;
    });
    if (found != path.rend())
        showVersion((*found)->id, step);
}

bool ChatController::showMessage(const QString& message)
{
    if (!m_shown->tree.find(message))
        return false;
    if (!m_shown->tree.onPath(message)) {
        m_shown->tree.showPathThrough(message);
        pathIsDifferent();
    }
    return true;
}

MessagePlace ChatController::placeOf(const QString& message, const QString& excerpt) const
{
    const StoredMessage* const found = m_shown->tree.find(message);
    return found ? ::placeOf(*found, excerpt) : MessagePlace();
}

void ChatController::pathIsDifferent()
{
    m_open.save(*m_shown);
    const StoredMessage* const last = m_shown->last();
    m_shown->tooLongTokens = 0;
    if (!busy())
        m_shown->contextFull = last && last->status == StoredMessage::Status::ContextFull;
    showMessages();
    contextIsDifferent();
}

void ChatController::branch(const QString& id)
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
            message.status = StoredMessage::Status::Stopped;  // here it is not being made
        parent = message.id;
        copy.messages.append(message);
    }
    copy.header.leaf = parent;
    m_store.saveAll(copy);
    m_engine.branchConversation(m_shown->header.id, copy.header.id);
    open(copy.header.id);
}
