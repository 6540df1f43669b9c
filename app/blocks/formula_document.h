// FormulaDocument writes a formula that has lines of its own into a TextEdit.
#pragma once

#include "app/blocks/block_document.h"

/// Writes the formula as one character, or, until it is set and where it cannot be, as it is said in characters.
class FormulaDocument : public BlockDocument
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(QString latex MEMBER m_latex NOTIFY looksChanged)
    Q_PROPERTY(QString shown MEMBER m_shown NOTIFY looksChanged)  // in characters

protected:
    void write() override;

private:
    QString m_latex;
    QString m_shown;
};
