// fitsTheField() says which texts can be edited in the window.
#pragma once

#include <QStringView>

/// Returns how many characters the longest paragraph has.
qsizetype longestParagraph(QStringView text);

/// Says whether the text is short enough for a field, and so is its longest paragraph: with every key Qt shapes and
/// breaks the whole paragraph anew in which it was pressed.
bool fitsTheField(QStringView text);
