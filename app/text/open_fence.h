// OpenFence tracks code between fences that has begun and not ended yet.
#pragma once

#include "app/text/lines.h"

/// Knows how many quote marks stand before the code's lines, and how far the items indent them that it began in. A
/// plain value.
class OpenFence
{
public:
    OpenFence() = default;  // no fence is open
    explicit OpenFence(const FenceLine& fence)
        : m_marks(fence.marks)
        , m_indent(fence.indent)
    {
    }

    bool isOpen() const { return !m_marks.isEmpty(); }
    QChar mark() const { return m_marks[0]; }

    /// Opens or closes the fence where the line says so; a line of a quote, or of an item whose text begins in column
    /// `itemText`.
    void take(QStringView line, qsizetype itemText);
    /// Returns a line without the marks and indents before its code; empty: the line is outside of the quotes.
    std::optional<QStringView> codeOf(QStringView line) const;
    bool isClosedBy(QStringView code) const { return closesFence(code, m_marks); }
    QStringView withoutItsIndent(QStringView code) const { return withoutIndent(code, m_indent); }

private:
    void find(QStringView line, qsizetype itemText);

    QString m_marks;             // the opening fence's marks, which close it again
    qsizetype m_indent = 0;      // columns before them
    int m_quotes = 0;            // quotes around it
    qsizetype m_itemIndent = 0;  // columns of the items' indent within those
};
