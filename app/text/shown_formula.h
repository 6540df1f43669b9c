// shownFormula() writes a formula in plain characters, where these can express it.
#pragma once

#include <QString>
#include <QStringView>

/// Returns the formula in Unicode where that means exactly the same; else as typed.
QString shownFormula(QStringView formula);
