#include "app/chat/chat_clipboard.h"

#include "app/attachments/field_text.h"
#include "app/chat/block_model.h"
#include "app/text/reasoning.h"

#include <QClipboard>
#include <QGuiApplication>

namespace {

/// Returns the text that is copied from a message: without its reasoning, unless there is nothing else.
QString wordsOf(const StoredMessage& message)
{
    const QString answer = message.role == StoredMessage::Role::Assistant ? answerOf(message.text) : QString();
    return answer.isEmpty() ? message.text : answer;
}

}  // namespace

ChatClipboard::ChatClipboard(const ShownConversation& shown)
    : m_shown(shown)
{
}

void ChatClipboard::copy(const QString& text)
{
    QGuiApplication::clipboard()->setText(text);
}

void ChatClipboard::copyMessage(const QString& message)
{
    if (const StoredMessage* const found = m_shown->tree.find(message))
        copy(wordsOf(*found));
}

void ChatClipboard::copyLastAnswer()
{
    const QList<const StoredMessage*> path = m_shown->tree.path();
    for (auto message = path.rbegin(); message != path.rend(); ++message)
        if ((*message)->role == StoredMessage::Role::Assistant && !(*message)->text.isEmpty()) {
            copy(wordsOf(**message));
            return;
        }
}

bool ChatClipboard::fitsTheField() const
{
    return ::fitsTheField(QGuiApplication::clipboard()->text());
}

bool ChatClipboard::selectionFitsTheField() const
{
    return ::fitsTheField(QGuiApplication::clipboard()->text(QClipboard::Selection));
}

void ChatClipboard::copyLastCode()
{
    const QList<const StoredMessage*> path = m_shown->tree.path();
    for (auto message = path.rbegin(); message != path.rend(); ++message) {
        if ((*message)->role != StoredMessage::Role::Assistant)
            continue;
        BlockModel blocks;
        blocks.append((*message)->text);
        blocks.finish();
        for (int row = blocks.rowCount() - 1; row >= 0; --row)
            if (blocks.index(row).data(BlockModel::KindRole).toInt() == BlockModel::Code) {
                copy(blocks.codeText(row));
                return;
            }
    }
}

#include "moc_chat_clipboard.cpp"
