#include "app/text/block_builder.h"

#include <utility>

namespace {

constexpr qsizetype kLongestLine = 4000;  // a longer one is cut, at a space where there is one

}  // namespace

void BlockBuilder::append(QStringView text)
{
    if (!m_begun) {  // many models begin with a space or line breaks
        while (!text.isEmpty() && text.front().isSpace())
            text = text.sliced(1);
        m_begun = !text.isEmpty();
    }
    if (text.isEmpty())
        return;
    m_lines.blocks().takeBackOpen();
    m_text += text;
    while (!text.isEmpty()) {
        const qsizetype room = kLongestLine - m_line.size();
        const qsizetype lineEnd = text.first(qMin(room, text.size())).indexOf(u'\n');
        const qsizetype part = lineEnd >= 0 ? lineEnd : qMin(room, text.size());
        m_line += text.first(part);
        text = text.sliced(part);
        if (lineEnd >= 0) {
            text = text.sliced(1);
            m_lines.add(std::exchange(m_line, {}), BlockLines::Line::Whole);
        } else if (m_line.size() == kLongestLine) {
            qsizetype cut = m_line.lastIndexOf(u' ') + 1;
            if (cut < kLongestLine / 2)
                cut = kLongestLine - (m_line.back().isHighSurrogate() ? 1 : 0);
            const QString rest = m_line.mid(cut);
            m_lines.add(m_line.first(cut), BlockLines::Line::Cut);
            m_line = rest;
        }
    }
    m_lines.showOpen(m_line);
}

void BlockBuilder::finish()
{
    m_lines.blocks().takeBackOpen();
    if (!m_line.isEmpty())
        m_lines.add(std::exchange(m_line, {}), BlockLines::Line::Whole);
    m_lines.closePiece();
    if (!m_lines.references().isEmpty() && !m_text.isEmpty())
        readAgain();
    m_text.clear();
    m_lines.blocks().close();
}

/// Reads the whole text again with all references, since most texts name the addresses of their links at their end.
void BlockBuilder::readAgain()
{
    BlockBuilder again;
    again.m_lines.setReferences(m_lines.references());
    again.append(m_text);
    again.m_text.clear();
    again.finish();
    m_lines.blocks().replaceBy(again.blocks());
}
