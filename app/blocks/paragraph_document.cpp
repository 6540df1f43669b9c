#include "app/blocks/paragraph_document.h"

#include <QTextBlock>

#include <optional>

namespace {

constexpr int kLineHeight = 125;  // percent of the font's own
constexpr int kIndent = 26;       // pixels for each list, at a body size of 15
constexpr int kDeepest = 8;       // deeper lists are not indented further

// Sizes of headings, in tenths of the body size.
constexpr int kHeadingSizes[] = {15, 13, 12, 11, 10, 10};

/// Returns the text that makes `after` of `before` when it is added to the last run; nothing where more has changed.
std::optional<QString> growth(const Paragraph& before, const Paragraph& after)
{
    const qsizetype runs = before.spans.size();
    if (runs == 0 || runs != after.spans.size() || before.marker != after.marker || before.heading != after.heading ||
        before.depth != after.depth || before.close != after.close || before.direction != after.direction)
        return {};
    for (qsizetype i = 0; i + 1 < runs; ++i)
        if (before.spans[i] != after.spans[i])
            return {};
    const Span& old = before.spans.last();
    const Span& now = after.spans.last();
    if (old.looks != now.looks || old.link != now.link || !now.formula.isEmpty() || !now.text.startsWith(old.text))
        return {};
    return now.text.mid(old.text.size());
}

}  // namespace

void ParagraphDocument::setParagraphs(const QVariant& paragraphs)
{
    m_paragraphs = paragraphs.value<QList<Paragraph>>();
    if (ready())
        update();
    Q_EMIT paragraphsChanged();
}

void ParagraphDocument::write()
{
    text()->clear();
    m_written.clear();
    update();
}

void ParagraphDocument::update()
{
    qsizetype same = 0;
    const qsizetype common = qMin(m_written.size(), m_paragraphs.size());
    while (same < common && m_written[same] == m_paragraphs[same])
        ++same;
    if (same == m_written.size() && same == m_paragraphs.size())
        return;

    QTextCursor cursor(text());
    cursor.beginEditBlock();
    cursor.movePosition(QTextCursor::End);
    if (same + 1 == m_written.size() && same < m_paragraphs.size()) {
        if (const auto added = growth(m_written[same], m_paragraphs[same])) {
            Span rest = m_paragraphs[same].spans.last();
            rest.text = *added;
            insert(cursor, {rest}, charFormat(m_paragraphs[same]));
            ++same;
        }
    }
    if (same < m_written.size()) {
        cursor.setPosition(same == 0 ? 0 : text()->findBlockByNumber(int(same)).position() - 1);
        if (text()->findBlockByNumber(int(same)).isValid()) {
            cursor.movePosition(QTextCursor::End, QTextCursor::KeepAnchor);
            cursor.removeSelectedText();
        }
    }
    for (qsizetype i = qMin(same, m_paragraphs.size()); i < m_paragraphs.size(); ++i)
        append(cursor, i);
    cursor.endEditBlock();
    m_written = m_paragraphs;
}

void ParagraphDocument::append(QTextCursor& cursor, qsizetype index)
{
    const Paragraph& paragraph = m_paragraphs[index];
    const QTextCharFormat format = charFormat(paragraph);
    if (index == 0) {
        cursor.setBlockFormat(blockFormat(index));
        cursor.setBlockCharFormat(format);
    } else {
        cursor.insertBlock(blockFormat(index), format);
    }
    if (!paragraph.marker.isEmpty()) {
        QTextCharFormat marker = format;
        marker.setForeground(m_mutedColor);
        cursor.insertText(paragraph.marker + QLatin1Char('\t'), marker);
    }
    insert(cursor, paragraph.spans, format);
}

QTextBlockFormat ParagraphDocument::blockFormat(qsizetype index) const
{
    const Paragraph& paragraph = m_paragraphs[index];
    QTextBlockFormat format;
    format.setLineHeight(kLineHeight, QTextBlockFormat::ProportionalHeight);
    // The direction is always set: else the first letter of the whole document would decide.
    const bool mirrored = paragraph.direction == Direction::RightToLeft;
    format.setLayoutDirection(mirrored ? Qt::RightToLeft : Qt::LeftToRight);
    const qreal em = m_bodySize;
    if (!paragraph.typed && (index > 0 || m_follows)) {
        const bool afterHeading = index > 0 && m_paragraphs[index - 1].heading > 0;
        if (paragraph.heading > 0)
            format.setTopMargin(em * (paragraph.heading < 3 ? 1.5 : 1.2));
        else
            format.setTopMargin(em * (paragraph.close ? 0.3 : afterHeading ? 0.45 : 0.7));
    }
    if (index == 0 && !m_follows && !m_first && paragraph.heading > 0)
        format.setTopMargin(em * 0.6);
    if (paragraph.depth > 0) {
        const qreal inset = qMin(paragraph.depth, kDeepest) * kIndent * em / 15;
        if (mirrored)
            format.setRightMargin(inset);
        else
            format.setLeftMargin(inset);
        if (!paragraph.marker.isEmpty()) {
            const qreal hang = qMin(inset, (paragraph.marker.size() > 2 ? 26 : 20) * em / 15);
            format.setTextIndent(-hang);
            // In a paragraph from right to left, Qt takes a left tab for a right one.
            format.setTabPositions({QTextOption::Tab(hang, mirrored ? QTextOption::RightTab : QTextOption::LeftTab)});
        }
    }
    if (paragraph.heading > 0)
        format.setHeadingLevel(paragraph.heading);
    return format;
}

QTextCharFormat ParagraphDocument::charFormat(const Paragraph& paragraph) const
{
    QTextCharFormat format;
    int size = m_bodySize;
    if (paragraph.heading > 0) {
        size = m_bodySize * kHeadingSizes[paragraph.heading - 1] / 10;
        format.setFontWeight(QFont::DemiBold);
    }
    format.setProperty(QTextFormat::FontPixelSize, size);
    return format;
}

#include "moc_paragraph_document.cpp"
