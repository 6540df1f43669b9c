// paintFormula() draws a formula as a picture beside text of a size and a colour.
#pragma once

#include "app/formulas/formula_layout.h"

#include <QColor>
#include <QImage>
#include <QSize>

struct FormulaInk {
    QColor text = {};
    QColor error = {};  // of the parts of a formula that KaTeX does not know
};

struct FormulaPicture {
    QImage image = {};  // in pixels of the screen
    QSize size = {};    // in pixels of the page
    double depth = 0;   // pixels of the page that are below the baseline
};

/// Paints a formula. `pixels`: the size of the text around, in pixels of the page; `scale`: pixels of the screen for
/// one of the page.
FormulaPicture paintFormula(const FormulaLayout& layout, double pixels, const FormulaInk& ink, double scale);
