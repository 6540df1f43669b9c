// Tells which way a text is read.
#pragma once

#include "app/text/block.h"

#include <QStringView>

/// Judges by the first letter that is read one way only.
Direction directionOf(QStringView text);
/// Code and formulas are read from left to right in every language, so they decide only where there is nothing else.
Direction directionOf(const Spans& spans);
Direction directionOf(const QList<Spans>& row);
