#include "app/blocks/text_layout.h"

#include <QTextCursor>
#include <QTextDocument>

void TextLayout::setLineHeight(QQuickTextDocument* document, int percent)
{
    QTextDocument* const text = document ? document->textDocument() : nullptr;
    if (!text)
        return;
    text->setUndoRedoEnabled(false);
    QTextBlockFormat format;
    format.setLineHeight(percent, QTextBlockFormat::ProportionalHeight);
    QTextCursor cursor(text);
    cursor.select(QTextCursor::Document);
    cursor.mergeBlockFormat(format);
}

#include "moc_text_layout.cpp"
