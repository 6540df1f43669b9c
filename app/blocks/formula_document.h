// FormulaDocument writes a formula that has lines of its own into a TextEdit.
#pragma once

#include "app/blocks/block_document.h"

/// Writes the formula's picture as one character; until there is one, and where none can be made, the text `shown`.
class FormulaDocument : public BlockDocument
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(QString latex MEMBER m_latex NOTIFY looksChanged)
    Q_PROPERTY(QString shown MEMBER m_shown NOTIFY looksChanged)  // the formula in characters

protected:
    void write() override;

private:
    QString m_latex;
    QString m_shown;
};
