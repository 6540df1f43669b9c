#include "app/models/message_model.h"

#include <QQmlEngine>

#include <utility>

namespace {

template <class T>
QVariant orUndefined(const std::optional<T>& value)
{
    return value ? QVariant::fromValue(*value) : QVariant();
}

QString withoutLeadingSpace(const QString& text)
{
    qsizetype start = 0;
    while (start < text.size() && text[start].isSpace())
        ++start;
    return text.mid(start);
}

MessageModel::Status statusFor(engine::StopReason reason)
{
    switch (reason) {
    case engine::StopReason::EndOfTurn:
    case engine::StopReason::StopString:
        return MessageModel::Complete;
    case engine::StopReason::MaxTokens:
        return MessageModel::LengthLimit;
    case engine::StopReason::ContextFull:
        return MessageModel::ContextFull;
    case engine::StopReason::Cancelled:
        return MessageModel::Stopped;
    }
    return MessageModel::Complete;
}

}  // namespace

MessageModel::MessageModel(QObject* parent)
    : QAbstractListModel(parent)
{
}

int MessageModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : count();
}

QVariant MessageModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Message& message = m_messages[size_t(index.row())];
    switch (role) {
    case AuthorRole:
        return message.author;
    case BlocksRole:
        return QVariant::fromValue(message.blocks.get());
    case TextRole:
    case Qt::DisplayRole:
        return message.visibleText;
    case StatusRole:
        return message.status;
    case SentenceRole:
        return message.sentence;
    case TokensRole:
        return orUndefined(message.tokens);
    case TtftMsRole:
        return orUndefined(message.ttftMs);
    case TokensPerSecondRole:
        return orUndefined(message.tokensPerSecond);
    default:
        return {};
    }
}

QHash<int, QByteArray> MessageModel::roleNames() const
{
    return {
        {AuthorRole, "author"},     {BlocksRole, "blocks"},
        {TextRole, "text"},         {StatusRole, "status"},
        {SentenceRole, "sentence"}, {TokensRole, "tokens"},
        {TtftMsRole, "ttftMs"},     {TokensPerSecondRole, "tokensPerSecond"},
    };
}

void MessageModel::appendUser(const QString& text)
{
    Message message{.author = User, .text = text};
    append(std::move(message));
    show(m_messages.back(), VisibleText::of(text));
    m_messages.back().blocks->finish();
}

void MessageModel::beginAnswer()
{
    append({.author = Assistant, .status = Waiting});
}

void MessageModel::appendToAnswer(const QString& text)
{
    if (m_messages.empty() || text.isEmpty())
        return;
    Message& answer = m_messages.back();
    answer.text += text;
    QString shown = answer.visible.add(text);
    if (answer.blocks->rowCount() == 0)  // many models begin with a space or a line break: true, and not worth showing
        shown = withoutLeadingSpace(shown);
    show(answer, shown);
    const bool first = answer.status == Waiting;
    answer.status = Streaming;
    const QModelIndex last = index(count() - 1);
    Q_EMIT dataChanged(last, last, first ? QList<int>{TextRole, StatusRole} : QList<int>{TextRole});
}

void MessageModel::finishAnswer(const engine::Turn& turn)
{
    if (m_messages.empty())
        return;
    Message& answer = m_messages.back();
    answer.tokens = turn.telemetry.generated_tokens;
    answer.ttftMs = turn.telemetry.ttft_ms;
    answer.tokensPerSecond = turn.telemetry.decode_tokens_per_s;
    settle(statusFor(turn.reason), {});
}

void MessageModel::failAnswer(const QString& sentence)
{
    settle(Failed, sentence);
}

void MessageModel::stopAnswer()
{
    settle(Stopped, {});
}

void MessageModel::removeLast()
{
    if (m_messages.empty())
        return;
    beginRemoveRows({}, count() - 1, count() - 1);
    m_messages.pop_back();
    endRemoveRows();
    Q_EMIT countChanged();
}

void MessageModel::clear()
{
    if (m_messages.empty())
        return;
    beginResetModel();
    m_messages.clear();
    endResetModel();
    Q_EMIT countChanged();
}

std::vector<engine::Message> MessageModel::forEngine() const
{
    std::vector<engine::Message> messages;
    for (size_t i = 0; i < m_messages.size(); ++i) {
        const Message& message = m_messages[i];
        if (message.author == Assistant) {
            if (!message.text.isEmpty())
                messages.push_back({.role = "assistant", .text = message.text.toStdString()});
            continue;
        }
        const bool answered = i + 1 < m_messages.size() && !m_messages[i + 1].text.isEmpty();
        const bool asked = i + 1 == m_messages.size();
        if (answered || asked)
            messages.push_back({.role = "user", .text = message.text.toStdString()});
    }
    return messages;
}

QString MessageModel::lastUserText() const
{
    for (auto message = m_messages.rbegin(); message != m_messages.rend(); ++message)
        if (message->author == User)
            return message->text;
    return {};
}

void MessageModel::append(Message message)
{
    message.blocks = std::make_unique<BlockModel>();
    // Handed to QML by pointer: it must not think that the object is its own to delete.
    QQmlEngine::setObjectOwnership(message.blocks.get(), QQmlEngine::CppOwnership);
    beginInsertRows({}, count(), count());
    m_messages.push_back(std::move(message));
    endInsertRows();
    Q_EMIT countChanged();
}

void MessageModel::show(Message& message, const QString& visibleText)
{
    message.visibleText += visibleText;
    message.blocks->append(visibleText);
}

void MessageModel::settle(Status status, const QString& sentence)
{
    if (m_messages.empty())
        return;
    Message& answer = m_messages.back();
    show(answer, answer.visible.end());
    answer.blocks->finish();
    answer.status = status;
    answer.sentence = sentence;
    const QModelIndex last = index(count() - 1);
    Q_EMIT dataChanged(last, last);
}
