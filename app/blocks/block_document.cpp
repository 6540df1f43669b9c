#include "app/blocks/block_document.h"

BlockDocument::BlockDocument(QObject* parent)
    : QObject(parent)
{
    connect(this, &BlockDocument::looksChanged, this, &BlockDocument::rewrite);
}

void BlockDocument::setDocument(QQuickTextDocument* document)
{
    if (m_document == document)
        return;
    m_document = document;
    if (text())
        text()->setUndoRedoEnabled(false);
    Q_EMIT documentChanged();
    rewrite();
}

void BlockDocument::componentComplete()
{
    m_complete = true;
    rewrite();
}

void BlockDocument::rewrite()
{
    if (!ready())
        return;
    forget();
    write();
}

void BlockDocument::insert(QTextCursor& cursor, const Spans& spans, const QTextCharFormat& base) const
{
    for (const Span& span : spans) {
        QTextCharFormat format = base;
        if (span.looks & Span::Bold)
            format.setFontWeight(QFont::DemiBold);
        if (span.looks & Span::Italic)
            format.setFontItalic(true);
        if (span.looks & Span::Struck)
            format.setFontStrikeOut(true);
        if (span.looks & Span::Code) {
            format.setFontFamilies({m_monospace});
            format.setProperty(QTextFormat::FontPixelSize, base.intProperty(QTextFormat::FontPixelSize) - 1);
            format.setBackground(m_codeGround);
        }
        if (span.looks & Span::Maths) {
            format.setFontFamilies({m_serif});
            format.setFontItalic(true);
        }
        if (!span.link.isEmpty()) {
            format.setAnchor(true);
            format.setAnchorHref(span.link);
            format.setForeground(m_linkColor);
            format.setFontUnderline(true);
        }
        cursor.insertText(span.text, format);
    }
}
