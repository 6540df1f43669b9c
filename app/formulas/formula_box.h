// readFormulaBoxes() reads a formula's boxes as KaTeX made them.
#pragma once

#include <QByteArray>
#include <QHash>
#include <QList>
#include <QString>
#include <QStringList>

#include <optional>

/// Holds curves that stretch: roots, braces, arrows, wide hats. Paths are in units of `view`, and are scaled to the
/// room that the box has.
struct FormulaDrawing {
    struct Line {
        double x1 = 0, y1 = 0, x2 = 0, y2 = 0;  // parts of the room, 0 to 1
        double thickness = 0;                   // em
    };

    double viewWidth = 0;
    double viewHeight = 0;
    QString aspect = {};     // as SVG's preserveAspectRatio
    QStringList paths = {};  // as SVG's
    QList<Line> lines = {};
};

/// One box: a symbol with text, a drawing, or a span of other boxes. Lengths are in em of the box itself.
struct FormulaBox {
    QStringList classes = {};            // of katex.css
    QHash<QString, QString> style = {};  // of CSS, named as in JavaScript
    QList<FormulaBox> children = {};
    QString text = {};
    double height = 0;  // above the baseline
    double depth = 0;   // below it
    double italic = 0;  // how far the symbol leans over its right side
    std::optional<FormulaDrawing> drawing = {};

    bool is(QLatin1String name) const { return classes.contains(name); }
    /// Returns a length of the style in em; `missing` if the style has none in em.
    double em(const char* name, double missing = 0) const;
};

/// Reads what Katex::boxes() wrote. Nothing: it is not of that form.
std::optional<FormulaBox> readFormulaBoxes(const QByteArray& json);
