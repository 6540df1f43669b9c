#include "app/chat/chat_comparison.h"

#include "app/text/visible_text.h"

namespace {

constexpr qsizetype kQuestion = 200;  // characters: more than a line is wide
constexpr int kSpeedMs = 250;         // a number that changes more often cannot be read

}  // namespace

ChatComparison::ChatComparison(ShownConversation& shown, TurnRunner& turns)
    : m_shown(shown)
    , m_turns(turns)
{
    m_answers.setGuessed(&turns.guessed());
    connect(&shown, &ShownConversation::messagesChanged, this, &ChatComparison::refresh);
    connect(&shown, &ShownConversation::asked, this, &ChatComparison::close);
    connect(&shown, &ShownConversation::textAdded, &m_answers, &MessageModel::append);
    m_speedTimer.setSingleShot(true);
    m_speedTimer.setInterval(kSpeedMs);
    connect(&m_speedTimer, &QTimer::timeout, this, &ChatComparison::showSpeeds);
    connect(&turns, &TurnRunner::answerMeasured, this,
            [this](const QString& id, const QString& message, std::optional<double> tokensPerSecond) {
                if (!tokensPerSecond || !isShown() || id != m_shown.id())
                    return;
                m_speeds[message] = *tokensPerSecond;
                if (!m_speedTimer.isActive())
                    m_speedTimer.start();
            });
}

void ChatComparison::showSpeeds()
{
    for (auto [message, tokensPerSecond] : m_speeds.asKeyValueRange())
        m_answers.setSpeed(message, tokensPerSecond);
    m_speeds.clear();
}

QString ChatComparison::question() const
{
    const StoredMessage* const asked = m_shown->tree.find(m_question);
    return asked ? VisibleText::of(asked->text.left(kQuestion).simplified()) : QString();
}

void ChatComparison::show(const QString& id)
{
    const StoredMessage* const answer = m_shown->tree.find(id);
    if (!answer || answer->role != StoredMessage::Role::Assistant)
        return;
    m_shown->compared = answer->parent;
    refresh();
}

void ChatComparison::close()
{
    m_shown->compared.clear();
    refresh();
}

void ChatComparison::keep(const QString& id)
{
    if (m_answers.rowOf(id) < 0)
        return;
    const QStringList made = m_shown->answers;
    if (m_shown->phase == OpenConversation::Phase::Queued)
        m_turns.stop(*m_shown);  // none of them has begun: the whole turn is removed
    for (const QString& other : made)
        if (other != id)
            m_turns.stop(*m_shown, other);
    m_shown->compared.clear();
    if (m_shown->tree.find(id) && !m_shown->tree.onPath(id)) {
        m_shown->tree.showPathThrough(id);
        m_shown.pathIsDifferent();
    }
    refresh();
    Q_EMIT kept(id);
}

/// Shows the comparison of the conversation that is shown now.
void ChatComparison::refresh()
{
    if (m_shown->tree.after(m_shown->compared).size() < 2)
        m_shown->compared.clear();  // the other versions have not come, and will not
    m_question = m_shown->compared;
    m_answers.showAnswers(*m_shown, m_question);
    m_current = -1;
    for (int row = 0; row < m_answers.count(); ++row)
        if (m_shown->tree.onPath(m_answers.data(m_answers.index(row), MessageModel::MessageIdRole).toString()))
            m_current = row;
    Q_EMIT changed();
}

#include "moc_chat_comparison.cpp"
