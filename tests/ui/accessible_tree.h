// The window as a screen reader has it.
#pragma once

#include <QQuickItem>
#include <QStringList>

enum class Naming { All, Nameless };

/// Visible controls below the item as "Role: name", in the order they are read.
QStringList accessibleControls(QQuickItem* root, Naming naming);
