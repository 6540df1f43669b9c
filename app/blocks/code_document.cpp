#include "app/blocks/code_document.h"

#include "app/text/highlighter.h"

#include <QTextBlock>
#include <QTextLayout>

static constexpr int kCodeLineHeight = 120;  // percent of the font's own

void CodeDocument::setCode(const QString& code)
{
    if (m_code == code)
        return;
    m_code = code;
    if (ready()) {
        // Writes from the start of the last line that was there, if all before it is the same.
        const qsizetype line = m_written.lastIndexOf(u'\n') + 1;
        writeFrom(line > 0 && m_code.startsWith(QStringView(m_written).first(line)) ? line : 0);
    }
    Q_EMIT codeChanged();
}

void CodeDocument::write()
{
    writeFrom(0);
}

void CodeDocument::writeFrom(qsizetype start)
{
    QTextCursor cursor(text());
    cursor.beginEditBlock();
    cursor.movePosition(QTextCursor::End);
    if (start == 0) {
        cursor.select(QTextCursor::Document);
        cursor.removeSelectedText();
        QTextBlockFormat format;
        format.setLayoutDirection(Qt::LeftToRight);  // whatever language its comments are in
        format.setLineHeight(kCodeLineHeight, QTextBlockFormat::ProportionalHeight);
        cursor.setBlockFormat(format);
    } else if (!m_code.startsWith(m_written)) {
        cursor.movePosition(QTextCursor::StartOfBlock, QTextCursor::KeepAnchor);
        cursor.removeSelectedText();
    }
    const QTextBlock before = cursor.block().previous();
    const int first = cursor.blockNumber();
    const bool grows = start > 0 && m_code.startsWith(m_written);
    cursor.insertText(m_code.mid(grows ? m_written.size() : start));

    int state = before.isValid() ? before.userState() : m_startState;
    for (QTextBlock block = text()->findBlockByNumber(first); block.isValid(); block = block.next()) {
        const HighlightedLine line = highlightLine(m_language, block.text(), state);
        QList<QTextLayout::FormatRange> ranges;
        for (const CodeRun& run : line.runs) {
            if (int(run.word) >= m_colors.size())
                continue;
            QTextCharFormat format;
            format.setForeground(m_colors[int(run.word)].value<QColor>());
            ranges.append({int(run.start), int(run.size), format});
        }
        block.layout()->setFormats(ranges);
        block.setUserState(line.state);
        state = line.state;
    }
    text()->markContentsDirty(text()->findBlockByNumber(first).position(), text()->characterCount());
    cursor.endEditBlock();
    m_written = m_code;
}

#include "moc_code_document.cpp"
