// fitsTheField() says which texts can be edited in the window.
#pragma once

#include <QStringView>

/// Characters of the longest one.
qsizetype longestParagraph(QStringView text);

/// Says whether a field can hold it, however slowly. With every key Qt shapes and breaks the whole paragraph anew that
/// it is pressed in.
bool fitsTheField(QStringView text);
