// Gives QCustomPlot, which is written with Qt's keywords, to a program that does without them.
#pragma once

#include <QObject>

#define QCUSTOMPLOT_USE_LIBRARY  // on Windows it is a DLL
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define emit Q_EMIT
#define foreach Q_FOREACH
#include <qcustomplot.h>
#undef signals
#undef slots
#undef emit
#undef foreach
