// OpenFence is code between fences that has begun and not ended yet.
#pragma once

#include "app/text/lines.h"

/// Knows how its lines stand: behind the marks of quotes, and as deep as the items that it began in. Any depth will do.
/// A plain value.
class OpenFence
{
public:
    OpenFence() = default;  // none
    explicit OpenFence(const FenceLine& fence)
        : m_marks(fence.marks)
        , m_indent(fence.indent)
    {
    }

    bool isOpen() const { return !m_marks.isEmpty(); }
    QChar mark() const { return m_marks[0]; }

    /// Opens or closes the fence by a line of a quote, or of an item whose text begins in that column.
    void take(QStringView line, qsizetype itemText);
    /// Returns a line without what stands before its code; nothing: the line is outside of the quotes.
    std::optional<QStringView> codeOf(QStringView line) const;
    bool isClosedBy(QStringView code) const { return closesFence(code, m_marks); }
    QStringView withoutItsIndent(QStringView code) const { return withoutIndent(code, m_indent); }

private:
    void find(QStringView line, qsizetype itemText);

    QString m_marks;             // what closes it
    qsizetype m_indent = 0;      // columns before them
    int m_quotes = 0;            // in how many it stands
    qsizetype m_itemIndent = 0;  // columns of items within those
};
