// Lists what a screen reader finds in the window.
#pragma once

#include <QQuickItem>
#include <QStringList>

enum class Naming { All, Nameless };

/// Visible controls below the item as "Role: name", in the order they are read.
QStringList accessibleControls(QQuickItem* root, Naming naming);

/// Visible, enabled items that Tab stops at and that a screen reader could not name: what they are, or how they are
/// called, is missing.
QStringList unspokenStops(QQuickItem* root);

/// All visible, enabled items that Tab should stop at.
QList<QQuickItem*> tabStops(QQuickItem* root);
