// shownFormula() says a formula in characters, as far as these can.
#pragma once

#include <QString>
#include <QStringView>

/// The formula in Unicode where that says exactly the same; else as typed.
QString shownFormula(QStringView formula);
