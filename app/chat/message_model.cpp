#include "app/chat/message_model.h"

#include "app/attachments/attachment_facts.h"

#include <QQmlEngine>

#include <algorithm>
#include <limits>
#include <utility>

namespace {

constexpr qsizetype kBeginning = 1000;

template <class T>
QVariant orUndefined(const std::optional<T>& value)
{
    return value ? QVariant::fromValue(*value) : QVariant();
}

/// Returns where the space at an answer's beginning ends; up to `start` it is known to be space. Many models begin with
/// a space or a line break, which is not shown. Characters that VisibleText makes visible do not count as space.
qsizetype leadingSpace(QStringView text, qsizetype start)
{
    while (start < text.size()) {
        const char16_t c = text[start].unicode();
        const bool lineBreak = c == u'\r' && start + 1 < text.size() && text[start + 1] == u'\n';
        const bool seen = c < 0x20 ? c != u'\n' && c != u'\t' && !lineBreak : c >= 0x80 && c < 0xA0;
        if (seen || !text[start].isSpace())
            break;
        ++start;
    }
    return start;
}

/// Deletes a BlockModel later: QML may still hold it when its row is gone.
struct Later {
    void operator()(QObject* object) const { object->deleteLater(); }
};

MessageModel::Status statusOf(const StoredMessage& message, const OpenConversation& conversation)
{
    using Stored = StoredMessage::Status;
    switch (message.status) {
    case Stored::Complete:
        return MessageModel::Complete;
    case Stored::Stopped:
        return MessageModel::Stopped;
    case Stored::LengthLimit:
        return MessageModel::LengthLimit;
    case Stored::ContextFull:
        return MessageModel::ContextFull;
    case Stored::Failed:
        return MessageModel::Failed;
    case Stored::Streaming:
        break;
    }
    if (!conversation.busy() || !conversation.answers.contains(message.id))
        return MessageModel::Interrupted;
    if (conversation.phase == OpenConversation::Phase::Queued)
        return MessageModel::Queued;
    return message.text.isEmpty() ? MessageModel::Waiting : MessageModel::Streaming;
}

bool isLive(MessageModel::Status status)
{
    return status == MessageModel::Queued || status == MessageModel::Waiting || status == MessageModel::Streaming;
}

}  // namespace

/// Holds what a row says of its message.
struct MessageModel::Facts {
    StoredMessage message;
    Status status = Complete;
    int version = 1;
    int versionCount = 1;
    int leftOutAbove = 0;
    bool canContinue = false;
    bool unanswered = false;

    bool sameBut(const Facts& other) const  // the text
    {
        const StoredMessage& a = message;
        const StoredMessage& b = other.message;
        return status == other.status && version == other.version && versionCount == other.versionCount &&
               leftOutAbove == other.leftOutAbove && canContinue == other.canContinue &&
               unanswered == other.unanswered && a.sentence == b.sentence && a.leftOut == b.leftOut &&
               a.model == b.model && a.promptTokens == b.promptTokens && a.templateTokens == b.templateTokens &&
               a.tokens == b.tokens && a.ttftMs == b.ttftMs && a.tokensPerSecond == b.tokensPerSecond &&
               a.draftedTokens == b.draftedTokens && a.acceptedTokens == b.acceptedTokens &&
               a.reasoningMs == b.reasoningMs && a.createdMs == b.createdMs;
    }
};

struct MessageModel::Row {
    Facts facts;
    bool prepared = false;  // the fields below are filled
    bool finished = false;  // no more text comes
    bool begun = false;     // there is something to show
    qsizetype space = 0;    // characters of space before that, which are not shown
    std::unique_ptr<BlockModel, Later> blocks = {};
    std::optional<double> speed = {};  // tokens a second, while it is made

    void add(const QString& text)
    {
        if (begun) {
            blocks->append(text);
            return;
        }
        if (facts.message.role == StoredMessage::Role::Assistant)
            space = leadingSpace(facts.message.text, space);
        const QStringView all = shown();
        begun = !all.isEmpty() && all != u"\r";  // it may be half a line break
        if (begun)
            blocks->append(all.toString());
    }
    void finish()
    {
        if (!begun)
            blocks->append(shown().toString());
        blocks->finish();
        finished = true;
    }
    QStringView shown() const { return QStringView(facts.message.text).sliced(space); }
    /// Returns the text as it is shown, up to this many characters of it.
    QString visible(qsizetype most) const
    {
        QStringView text = shown().first(std::min(shown().size(), most));
        if (text.size() == most ? text.back().isHighSurrogate() : !finished && text.endsWith(u'\r'))
            text.chop(1);  // half of a character or of a line break
        return VisibleText::of(text);
    }
};

MessageModel::MessageModel(QObject* parent)
    : QAbstractListModel(parent)
{
}

MessageModel::~MessageModel() = default;

int MessageModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : count();
}

int MessageModel::count() const
{
    return int(m_rows.size());
}

QVariant MessageModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    Row& row = m_rows[size_t(index.row())];
    const StoredMessage& message = row.facts.message;
    switch (role) {
    case AuthorRole:
        return message.role == StoredMessage::Role::User ? User : Assistant;
    case BlocksRole:
        prepare(row);
        return QVariant::fromValue(row.blocks.get());
    case TextRole:
    case Qt::DisplayRole:
        prepare(row);
        return row.visible(std::numeric_limits<qsizetype>::max());
    case RawTextRole:
        return message.text;
    case BeginningRole:
        prepare(row);
        return row.visible(kBeginning);
    case StatusRole:
        return row.facts.status;
    case SentenceRole:
        return VisibleText::of(message.sentence);
    case MessageIdRole:
        return message.id;
    case VersionRole:
        return row.facts.version;
    case VersionCountRole:
        return row.facts.versionCount;
    case LeftOutRole:
        return message.leftOut;
    case LeftOutAboveRole:
        return row.facts.leftOutAbove;
    case AttachmentsRole:
        return attachmentFacts(message.attachments);
    case CanContinueRole:
        return row.facts.canContinue;
    case UnansweredRole:
        return row.facts.unanswered;
    case ModelNameRole:
        return VisibleText::of(message.model);
    case PromptTokensRole:
        return orUndefined(message.promptTokens);
    case TemplateTokensRole:
        return orUndefined(message.templateTokens);
    case OwnTokensRole:
        return orUndefined(message.tokens);
    case TtftMsRole:
        return orUndefined(message.ttftMs);
    case TokensPerSecondRole:
        return orUndefined(row.speed ? row.speed : message.tokensPerSecond);
    case DraftedTokensRole:
        return orUndefined(message.draftedTokens);
    case AcceptedTokensRole:
        return orUndefined(message.acceptedTokens);
    default:
        return {};
    }
}

QHash<int, QByteArray> MessageModel::roleNames() const
{
    return {
        {AuthorRole, "author"},
        {BlocksRole, "blocks"},
        {TextRole, "text"},
        {RawTextRole, "rawText"},
        {BeginningRole, "beginning"},
        {StatusRole, "status"},
        {SentenceRole, "sentence"},
        {MessageIdRole, "messageId"},
        {VersionRole, "version"},
        {VersionCountRole, "versionCount"},
        {LeftOutRole, "leftOut"},
        {LeftOutAboveRole, "leftOutAbove"},
        {AttachmentsRole, "attachments"},
        {CanContinueRole, "canContinue"},
        {UnansweredRole, "unanswered"},
        {ModelNameRole, "modelName"},
        {PromptTokensRole, "promptTokens"},
        {TemplateTokensRole, "templateTokens"},
        {OwnTokensRole, "ownTokens"},
        {TtftMsRole, "ttftMs"},
        {TokensPerSecondRole, "tokensPerSecond"},
        {DraftedTokensRole, "draftedTokens"},
        {AcceptedTokensRole, "acceptedTokens"},
    };
}

void MessageModel::show(const OpenConversation& conversation)
{
    show(conversation, conversation.tree.path());
}

void MessageModel::showAnswers(const OpenConversation& conversation, const QString& question)
{
    show(conversation, conversation.tree.after(question));
}

void MessageModel::show(const OpenConversation& conversation, const QList<const StoredMessage*>& messages)
{
    m_conversation = conversation.header.id;
    std::vector<Facts> facts = factsOf(conversation, messages);
    size_t same = 0;
    while (same < m_rows.size() && same < facts.size() && m_rows[same].facts.message.id == facts[same].message.id)
        ++same;
    const int before = count();
    if (same < m_rows.size()) {
        beginRemoveRows({}, int(same), before - 1);
        m_rows.erase(m_rows.begin() + std::ptrdiff_t(same), m_rows.end());
        endRemoveRows();
    }
    for (size_t i = 0; i < same; ++i)
        update(int(i), std::move(facts[i]));
    if (same < facts.size()) {
        beginInsertRows({}, int(same), int(facts.size()) - 1);
        for (size_t i = same; i < facts.size(); ++i)
            m_rows.push_back({.facts = std::move(facts[i])});
        endInsertRows();
    }
    if (count() != before)
        Q_EMIT countChanged();
}

void MessageModel::append(const QString& message, const QString& text)
{
    const int at = rowOf(message);
    if (at < 0 || text.isEmpty())
        return;
    Row& row = m_rows[size_t(at)];
    prepare(row);
    const bool beginning = row.shown().size() < kBeginning;
    row.facts.message.text += text;
    row.add(text);
    const bool first = row.facts.status != Streaming;
    row.facts.status = Streaming;
    QList<int> roles = {TextRole, RawTextRole};
    if (beginning)
        roles.append(BeginningRole);
    if (first)
        roles.append(StatusRole);
    Q_EMIT dataChanged(index(at), index(at), roles);
}

void MessageModel::setSpeed(const QString& message, double tokensPerSecond)
{
    const int at = rowOf(message);
    if (at < 0 || !isLive(m_rows[size_t(at)].facts.status))
        return;
    m_rows[size_t(at)].speed = tokensPerSecond;
    Q_EMIT dataChanged(index(at), index(at), {TokensPerSecondRole});
}

/// The places count shown characters: one that is made visible takes several, the space above the text none.
QList<int> MessageModel::guessedPlaces(int at) const
{
    if (!m_guessed || !checkIndex(index(at), CheckIndexOption::IndexIsValid))
        return {};
    Row& row = m_rows[size_t(at)];
    const QList<TextPiece> pieces = m_guessed->of(m_conversation, row.facts.message.id);
    if (pieces.isEmpty())
        return {};
    prepare(row);
    const QStringView text = row.facts.message.text;
    VisibleText visible;
    qsizetype done = row.space;
    int shown = 0;
    const auto to = [&](qsizetype end) {
        end = std::clamp(end, done, text.size());
        shown += int(visible.add(text.sliced(done, end - done)).size());
        done = end;
        return shown;
    };
    QList<int> places;
    for (const TextPiece& piece : pieces) {
        const int first = to(piece.first), last = to(piece.last);
        if (last > first)
            places << first << last;
    }
    return places;
}

int MessageModel::rowOf(const QString& message) const
{
    // From the end: it is nearly always the last.
    const auto found =
        std::find_if(m_rows.rbegin(), m_rows.rend(), [&](const Row& row) { return row.facts.message.id == message; });
    return int(m_rows.rend() - found) - 1;
}

std::vector<MessageModel::Facts> MessageModel::factsOf(const OpenConversation& conversation,
                                                       const QList<const StoredMessage*>& messages)
{
    std::vector<Facts> all;
    int leftOut = 0;
    const QString leaf = conversation.tree.leaf();
    for (const StoredMessage* message : messages) {
        Facts facts{.message = *message, .status = statusOf(*message, conversation)};
        facts.version = conversation.tree.version(message->id);
        facts.versionCount = conversation.tree.versionCount(message->id);
        facts.leftOutAbove = message->leftOut ? 0 : leftOut;
        leftOut = message->leftOut ? leftOut + 1 : 0;
        if (message->id == leaf) {
            const bool mine = message->role == StoredMessage::Role::User;
            facts.unanswered = mine && !conversation.busy();
            facts.canContinue = !mine && !message->text.isEmpty() && !isLive(facts.status) && facts.status != Complete;
        }
        all.push_back(std::move(facts));
    }
    return all;
}

void MessageModel::update(int at, Facts&& facts)
{
    Row& row = m_rows[size_t(at)];
    const bool sameText = row.facts.message.text == facts.message.text;
    const bool goesOn = row.finished && isLive(facts.status);
    const bool ends = row.prepared && !row.finished && !isLive(facts.status);
    if (sameText && !goesOn && !ends && row.facts.sameBut(facts))
        return;
    row.facts = std::move(facts);
    if (!isLive(row.facts.status))
        row.speed.reset();
    if (!sameText || goesOn) {
        row.prepared = row.finished = row.begun = false;
        row.space = 0;
        row.blocks.reset();
    } else if (row.prepared) {
        row.blocks->setReasoningMs(row.facts.message.reasoningMs);
        if (ends)
            row.finish();
    }
    Q_EMIT dataChanged(index(at), index(at));
}

void MessageModel::prepare(Row& row) const
{
    if (row.prepared)
        return;
    row.prepared = true;
    const bool mine = row.facts.message.role == StoredMessage::Role::User;
    row.blocks.reset(new BlockModel(mine ? BlockModel::Format::Plain : BlockModel::Format::Markdown));
    row.blocks->setReasoningMs(row.facts.message.reasoningMs);
    // Handed to QML by pointer: it must not think that the object is its own to delete.
    QQmlEngine::setObjectOwnership(row.blocks.get(), QQmlEngine::CppOwnership);
    row.add(row.facts.message.text);
    if (!isLive(row.facts.status))
        row.finish();
}

#include "moc_message_model.cpp"
