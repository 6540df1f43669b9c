#include "app/chat/reasoning_clock.h"

using Kind = ReasoningMarks::Part::Kind;

void ReasoningClock::start(QStringView earlier, std::optional<double> ms)
{
    *this = {};
    m_ms = ms;
    for (const ReasoningMarks::Part& part : m_marks.add(earlier))
        m_thinking = part.kind == Kind::Begin || (m_thinking && part.kind != Kind::End);
}

bool ReasoningClock::add(QStringView text)
{
    bool ended = false;
    m_justBegun = !m_timer.isValid();
    if (m_justBegun)
        m_timer.start();
    for (const ReasoningMarks::Part& part : m_marks.add(text)) {
        if (part.kind == Kind::Begin) {
            m_thinking = m_justBegun = true;
            m_timer.start();
        } else if (part.kind == Kind::End || part.kind == Kind::WasThought) {
            m_thinking = false;
            if (m_justBegun)
                continue;
            addTime();
            ended = true;
        }
    }
    return ended;
}

bool ReasoningClock::end()
{
    if (!m_thinking || !m_timer.isValid())
        return false;
    m_thinking = false;
    addTime();
    return true;
}

void ReasoningClock::addTime()
{
    m_ms = m_ms.value_or(0) + double(m_timer.elapsed());
}
