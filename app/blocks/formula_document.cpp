#include "app/blocks/formula_document.h"

#include <QTextBlockFormat>

void FormulaDocument::write()
{
    text()->clear();
    QTextCursor cursor(text());
    QTextBlockFormat line;
    line.setAlignment(Qt::AlignHCenter);
    cursor.setBlockFormat(line);
    QTextCharFormat format;
    format.setProperty(QTextFormat::FontPixelSize, m_bodySize * 11 / 10);
    if (insertFormula(cursor, m_latex, true, format))
        return;
    format.setFontFamilies({m_serif});
    format.setFontItalic(true);
    cursor.insertText(m_shown, format);
}

#include "moc_formula_document.cpp"
