// layOut() lays a formula out: it puts shapes at their places.
#pragma once

#include "app/formulas/formula_box.h"
#include "app/formulas/formula_fonts.h"

#include <QColor>
#include <QPainterPath>
#include <QRectF>

/// Stands for the colour of errors in a layout; an invalid colour stands for that of the text.
constexpr QRgb kErrorInk = 0x00000001;

/// Holds what is to be painted. All lengths are in em of the text around; the origin is on the baseline at the left, y
/// grows downwards.
struct FormulaLayout {
    struct Shape {
        QPainterPath path = {};
        QColor color = {};  // invalid: that of the text
    };
    struct Rule {  // painted at least a pixel thick
        QRectF rect = {};
        QColor color = {};
    };
    struct Curve {
        QString path = {};   // SVG's, in units of `view`
        QRectF view = {};    // the part of the curve that is shown...
        QRectF target = {};  // ...in this rectangle
        QColor color = {};
    };
    struct Stroke {
        QPointF from = {}, to = {};
        double thickness = 0;
        QColor color = {};
    };

    QList<Rule> grounds = {};  // behind everything
    QList<Shape> shapes = {};
    QList<Rule> rules = {};
    QList<Curve> curves = {};
    QList<Stroke> strokes = {};
    double width = 0;
    double height = 0;  // above the baseline
    double depth = 0;   // below it
};

/// Lays KaTeX's boxes out as katex.css tells a browser to do.
FormulaLayout layOut(const FormulaBox& root, FormulaFonts& fonts);
