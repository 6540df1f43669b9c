#include "app/text/open_fence.h"

static constexpr int kMarksLookedThrough = 60;  // Markdown is read to this depth, too

void OpenFence::take(QStringView line, qsizetype itemText)
{
    if (!isOpen())
        return find(line, itemText);
    const auto code = codeOf(withoutIndent(line, itemText));
    if (!code || isClosedBy(*code))
        *this = {};
}

void OpenFence::find(QStringView line, qsizetype itemText)
{
    QStringView inner = line.trimmed();
    auto item = itemLine(inner);
    for (int depth = 0; depth < kMarksLookedThrough && (isQuote(inner) || (item && !isRule(inner)));
         ++depth, item = itemLine(inner))
        inner = inner.sliced(item ? qMin(item->textAt, inner.size()) : 1).trimmed();
    const auto fence = fenceLine(inner);
    if (!fence)
        return;
    const QStringView before = line.first(inner.data() - line.data());
    QStringView after = before.sliced(before.lastIndexOf(u'>') + 1);
    if (after.size() < before.size() && after.startsWith(u' '))
        after = after.sliced(1);
    m_marks = fence->marks;
    m_quotes = int(before.count(u'>'));
    m_itemIndent = qMax(qsizetype(0), columnsOf(after) - (m_quotes > 0 ? 0 : itemText));
}

std::optional<QStringView> OpenFence::codeOf(QStringView line) const
{
    for (int i = 0; i < m_quotes; ++i) {
        if (!isQuote(line))
            return {};
        line = line.sliced(line.indexOf(u'>') + 1);
        line = line.sliced(line.startsWith(u' ') ? 1 : 0);
    }
    return withoutIndent(line, m_itemIndent);
}
