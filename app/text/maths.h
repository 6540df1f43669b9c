// Finds LaTeX in running text.
#pragma once

#include <QString>
#include <QStringView>

#include <optional>

/// A formula found in a text.
struct MathsSpan {
    qsizetype start = 0;
    qsizetype size = 0;        // with its marks
    QStringView formula = {};  // without them
    bool display = false;      // on lines of its own
};

/// Returns the formula that begins at `at` with $, $$, \(, \[ or an environment such as \begin{align}; empty: there is
/// none. Amounts of money are none: "$5 and $10".
std::optional<MathsSpan> mathsAt(QStringView text, qsizetype at);

/// Returns the mark that ends the formula on lines of its own that begins here; empty: none begins.
QString displayEnd(QStringView text);
