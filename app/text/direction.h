// Tells which way a text is read.
#pragma once

#include "app/text/block.h"

#include <QStringView>

/// Returns the direction of the first letter that has one.
Direction directionOf(QStringView text);
/// Does the same for spans. Code and formulas are read from left to right in every language, so they decide only where
/// there is no other text.
Direction directionOf(const Spans& spans);
Direction directionOf(const QList<Spans>& row);
