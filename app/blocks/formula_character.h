// insertFormulaCharacter() puts a formula into a text as one character, which a FormulaLayer paints.
#pragma once

#include "app/formulas/formula_picture.h"

#include <QList>
#include <QObject>
#include <QPointF>
#include <QString>
#include <QTextCharFormat>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextObjectInterface>

/// Tells a document's layout how large its formulas are. UI thread; owned by the BlockDocument that writes it.
class FormulaRoom : public QObject, public QTextObjectInterface
{
    Q_OBJECT
    Q_INTERFACES(QTextObjectInterface)

public:
    using QObject::QObject;

    /// Makes the document's layout ask this object for the size of each formula.
    void makeIn(QTextDocument& document);

    QSizeF intrinsicSize(QTextDocument* document, int at, const QTextFormat& format) override;
    void drawObject(QPainter*, const QRectF&, QTextDocument*, int, const QTextFormat&) override {}
};

struct PlacedFormula {
    QPointF topLeft = {};  // in the document
    FormulaPicture picture = {};
};

/// Puts the formula into the text, its baseline on that of the line.
void insertFormulaCharacter(QTextCursor& cursor, const FormulaPicture& picture, const QString& latex, bool display,
                            const QTextCharFormat& base);

/// Returns all formulas of a document that has been laid out, and where they are.
QList<PlacedFormula> formulasIn(const QTextDocument& document);

/// Returns the text between two positions, with each formula as LaTeX between dollar signs.
QString textWithFormulas(const QTextDocument& document, int start, int end);
