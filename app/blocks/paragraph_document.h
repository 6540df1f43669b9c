// ParagraphDocument writes paragraphs, headings and lists into a TextEdit.
#pragma once

#include "app/blocks/block_document.h"

#include <QVariant>

/// Writes the paragraphs of a block. When text is added, what is there already keeps its layout and its selection.
class ParagraphDocument : public BlockDocument
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(QVariant paragraphs READ paragraphs WRITE setParagraphs NOTIFY paragraphsChanged)
    Q_PROPERTY(bool first MEMBER m_first NOTIFY looksChanged)      // it is the first block of its message
    Q_PROPERTY(bool follows MEMBER m_follows NOTIFY looksChanged)  // another block of text stands just above

public:
    QVariant paragraphs() const { return QVariant::fromValue(m_paragraphs); }
    void setParagraphs(const QVariant& paragraphs);

Q_SIGNALS:
    void paragraphsChanged();

protected:
    void write() override;

private:
    void update();
    void append(QTextCursor& cursor, qsizetype paragraph);
    QTextBlockFormat blockFormat(qsizetype paragraph) const;
    QTextCharFormat charFormat(const Paragraph& paragraph) const;

    QList<Paragraph> m_paragraphs;
    QList<Paragraph> m_written;
    bool m_first = true;
    bool m_follows = false;
};
