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

/// Tells a document's layout how large its formulas are. UI thread; owned by what writes the document.
class FormulaRoom : public QObject, public QTextObjectInterface
{
    Q_OBJECT
    Q_INTERFACES(QTextObjectInterface)

public:
    using QObject::QObject;

    /// Gives formulas in the document room from now on.
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

/// The text between two positions; formulas as LaTeX in dollars.
QString textWithFormulas(const QTextDocument& document, int start, int end);
