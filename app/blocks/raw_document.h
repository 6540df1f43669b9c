// RawDocument writes a text as it is into a TextEdit, and tints pieces of it.
#pragma once

#include "app/blocks/block_document.h"

#include <QList>

/// Writes the whole text anew whenever it or its marks change: if only formats changed, a TextEdit would go on showing
/// the old ones.
class RawDocument : public BlockDocument
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(QString text MEMBER m_text NOTIFY looksChanged)
    Q_PROPERTY(QList<int> marked MEMBER m_marked NOTIFY looksChanged)  // positions: begin, end, begin, end...
    Q_PROPERTY(QColor ground MEMBER m_ground NOTIFY looksChanged)      // behind the marked pieces

protected:
    void write() override;

private:
    QString m_text;
    QList<int> m_marked;
    QColor m_ground;
};
