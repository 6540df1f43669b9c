#include "app/chat/chat_turn.h"

#include "app/store/conversation_title.h"

#include <algorithm>
#include <optional>
#include <utility>

constexpr int kMostVersionsAtOnce = 4;  // nobody reads more columns side by side
constexpr int kTellElsewhereMs = 500;   // between changes of the sentence about other conversations

/// Returns how an answer has ended, as a sentence. Empty: this is none, or it has not.
static QString endingOf(const StoredMessage* message)
{
    if (!message || message->role != StoredMessage::Role::Assistant)
        return {};
    switch (message->status) {
    case StoredMessage::Status::Complete:
        return ChatTurn::tr("The answer is complete.");
    case StoredMessage::Status::Stopped:
        return ChatTurn::tr("The answer was stopped.");
    case StoredMessage::Status::LengthLimit:
        return ChatTurn::tr("The answer has reached its length limit.");
    case StoredMessage::Status::ContextFull:
        return ChatTurn::tr("The answer ends here: the context is full.");
    case StoredMessage::Status::Failed:
        return message->sentence;
    case StoredMessage::Status::Streaming:
        break;
    }
    return {};
}

ChatTurn::ChatTurn(ShownConversation& shown, OpenConversations& open, TurnRunner& turns)
    : m_shown(shown)
    , m_open(open)
    , m_turns(turns)
{
    connect(&shown, &ShownConversation::phaseChanged, this, [this] {
        if (busy())
            m_begun = !queued();
        setEnding({});
        Q_EMIT stateChanged();
        Q_EMIT canSendChanged();
    });
    connect(&shown, &ShownConversation::turnEnded, this, [this] {
        if (m_begun)
            setEnding(endingOf(m_shown->last()));
    });
    connect(&shown, &ShownConversation::savedNoteChanged, this, &ChatTurn::savedNoteChanged);
    connect(&shown, &ShownConversation::changed, this, &ChatTurn::elsewhereChanged);
    connect(&turns, &TurnRunner::modelChanged, this, &ChatTurn::canSendChanged);
    connect(&turns, &TurnRunner::turnBegan, this, &ChatTurn::elsewhereChanged);
    connect(&turns, &TurnRunner::turnsChanged, this, &ChatTurn::elsewhereChanged);
    m_tellElsewhere.setSingleShot(true);
    m_tellElsewhere.setInterval(kTellElsewhereMs);
    connect(&m_tellElsewhere, &QTimer::timeout, this, &ChatTurn::elsewhereChanged);
    connect(&turns, &TurnRunner::numbersChanged, this, [this](const QString& conversation) {
        if (conversation != m_shown.id() && !m_tellElsewhere.isActive())
            m_tellElsewhere.start();
    });
}

void ChatTurn::setEnding(const QString& ending)
{
    if (std::exchange(m_ending, ending) != ending)
        Q_EMIT endingChanged();
}

int ChatTurn::queuePosition() const
{
    return m_turns.position(m_shown.id()).value_or(0);
}

QString ChatTurn::obstacle() const
{
    if (m_turns.loading())
        return tr("The model is still loading.");
    if (!m_turns.model())
        return m_turns.modelAside() ? tr("The model made room for an experiment, and comes back when that has ended.")
                                    : tr("Open a model first.");
    switch (state()) {
    case Ready:
        return {};
    case Queued:
        return tr("The last message here has not been answered yet.");
    case Stopping:
        return tr("The answer is being stopped.");
    case Reading:
    case Answering:
        break;
    }
    return tr("The model is still answering.");
}

QString ChatTurn::answeredElsewhere() const
{
    return elsewhere().value(0);
}

QStringList ChatTurn::elsewhere() const
{
    QStringList answered = m_turns.answered();
    answered.removeOne(m_shown.id());
    return answered;
}

int ChatTurn::countElsewhere() const
{
    return int(elsewhere().size());
}

QVariant ChatTurn::tokensPerSecondElsewhere() const
{
    std::optional<double> sum;
    for (const QString& id : elsewhere())
        if (const OpenConversation* const other = m_open.find(id); other && other->frame.decode_tokens_per_s)
            sum = sum.value_or(0) + *other->frame.decode_tokens_per_s;
    return sum ? QVariant(*sum) : QVariant();
}

QString ChatTurn::titleElsewhere() const
{
    const OpenConversation* const other = m_open.find(answeredElsewhere());
    return other ? other->header.title : QString();
}

bool ChatTurn::send(const QString& text)
{
    return send(text, {});
}

bool ChatTurn::send(const QString& text, const QList<Attachment>& attachments)
{
    if (!canSend() || text.size() > kLongestMessage_chars || (text.trimmed().isEmpty() && attachments.isEmpty()))
        return false;
    StoredMessage message;
    message.text = text;
    message.attachments = attachments;
    message.parent = m_shown->tree.leaf();
    m_shown->header.draft.clear();
    m_shown->header.draftFiles.clear();
    const bool asked = ask(message);
    Q_EMIT m_shown.draftTaken();
    return asked;
}

/// Adds a question and asks the model for its answer. The question is given to the store first.
bool ChatTurn::ask(StoredMessage question)
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
        Q_EMIT m_shown.titleChanged();
    }
    m_open.save(*m_shown);
    m_open.save(*m_shown, question.id);
    Q_EMIT m_shown.asked();
    m_turns.answer(*m_shown, question.id);
    return true;
}

void ChatTurn::stop()
{
    dontGoOn(m_shown.id());
    m_turns.stop(*m_shown);
}

void ChatTurn::retry()
{
    if (canSend())
        answerLast(*m_shown);
}

void ChatTurn::answerLast(OpenConversation& conversation)
{
    const StoredMessage* const last = conversation.last();
    if (!last)
        return;
    if (last->role == StoredMessage::Role::User)
        m_turns.answer(conversation, last->id);
    else
        answerInsteadOf(conversation, *last);
}

void ChatTurn::answerInsteadOf(OpenConversation& conversation, const StoredMessage& answer)
{
    const StoredMessage* const question = conversation.tree.find(answer.parent);
    if (!question)
        return;
    if (answer.text.isEmpty() && conversation.tree.leaf() == answer.id)
        m_turns.goOn(conversation, {answer.id});
    else
        m_turns.answer(conversation, question->id);
}

void ChatTurn::regenerate(const QString& id)
{
    const StoredMessage* const answer = m_shown->tree.find(id);
    if (answer && answer->role == StoredMessage::Role::Assistant && canSend())
        answerInsteadOf(*m_shown, *answer);
}

void ChatTurn::regenerateTogether(const QString& id, int versions)
{
    const StoredMessage* const answer = m_shown->tree.find(id);
    if (!answer || answer->role != StoredMessage::Role::Assistant || !m_shown->tree.find(answer->parent) || !canSend())
        return;
    const QString question = answer->parent;  // a copy: pointers into the tree become invalid when it grows
    m_shown->compared = question;
    m_turns.answer(*m_shown, question, std::clamp(versions, 2, kMostVersionsAtOnce));
}

void ChatTurn::stopVersion(const QString& answer)
{
    m_turns.stop(*m_shown, answer);
}

void ChatTurn::continueAnswer(const QString& id)
{
    const StoredMessage* const answer = m_shown->tree.find(id);
    if (answer && answer->role == StoredMessage::Role::Assistant && !answer->text.isEmpty() &&
        m_shown->tree.leaf() == id && canSend())
        m_turns.goOn(*m_shown, {id});
}

/// Goes on with the last answer that is shown, and with those of `cut` that are versions of it.
void ChatTurn::goOnWithWhatWasCut(OpenConversation& conversation, const QStringList& cut)
{
    const StoredMessage* const last = conversation.last();
    if (!last || conversation.busy())
        return;
    if (last->role == StoredMessage::Role::User) {
        answerLast(conversation);
        return;
    }
    QStringList goOn;
    const auto take = [&](const StoredMessage& answer) {
        using Status = StoredMessage::Status;
        const bool goesOn = answer.text.isEmpty() ? conversation.tree.find(answer.parent) != nullptr
                                                  : answer.status != Status::Complete;
        const bool stoppedByUser = answer.status == Status::Stopped && !cut.contains(answer.id);
        if (goesOn && !stoppedByUser)
            goOn.append(answer.id);
    };
    take(*last);  // the shown one first: its prompt is the turn's
    for (const StoredMessage* version : conversation.tree.after(last->parent))
        if (version != last && cut.contains(version->id))
            take(*version);
    m_turns.goOn(conversation, goOn);
}

void ChatTurn::goOnWithWhatWasCut()
{
    goOnWithWhatWasCut(*m_shown, m_shown->cutAnswers());
}

void ChatTurn::askAgain(const QString& question)
{
    m_turns.answer(*m_shown, question);
}

void ChatTurn::onModelChanged()
{
    if (m_turns.loading())
        return;
    const QList<Cut> all = std::exchange(m_goOnAfterLoad, {});
    if (!m_turns.model())
        return;
    for (const Cut& cut : all)
        if (OpenConversation* const conversation = m_open.open(cut.conversation))
            goOnWithWhatWasCut(*conversation, cut.answers);
}

void ChatTurn::onTrashed(const QString& conversation)
{
    dontGoOn(conversation);
}

void ChatTurn::onKept(const QString& answer)
{
    for (Cut& cut : m_goOnAfterLoad)
        if (cut.conversation == m_shown.id())
            cut.answers.removeIf([&](const QString& other) { return other != answer; });
}

void ChatTurn::dontGoOn(const QString& conversation)
{
    m_goOnAfterLoad.removeIf([&](const Cut& cut) { return cut.conversation == conversation; });
}

#include "moc_chat_turn.cpp"
