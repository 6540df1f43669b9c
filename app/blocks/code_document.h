// CodeDocument writes coloured code into a TextEdit.
#pragma once

#include "app/blocks/block_document.h"

#include <QVariantList>

/// Writes the lines of a block of code and colours their words. When it grows, only the last line and what is new are
/// written and coloured.
class CodeDocument : public BlockDocument
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(QString code READ code WRITE setCode NOTIFY codeChanged)
    Q_PROPERTY(QString language MEMBER m_language NOTIFY looksChanged)
    Q_PROPERTY(int startState MEMBER m_startState NOTIFY looksChanged)
    Q_PROPERTY(QVariantList colors MEMBER m_colors NOTIFY looksChanged)  // one for each CodeWord, in their order

public:
    QString code() const { return m_code; }
    void setCode(const QString& code);

Q_SIGNALS:
    void codeChanged();

protected:
    void write() override;

private:
    void writeFrom(qsizetype start);

    QString m_code;
    QString m_written;
    QString m_language;
    int m_startState = 0;
    QVariantList m_colors;
};
