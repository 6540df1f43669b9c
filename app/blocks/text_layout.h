// TextLayout sets the distance between the lines of a TextEdit.
#pragma once

#include <QObject>
#include <QQuickTextDocument>
#include <QtQml/qqmlregistration.h>

/// Sets the line height, for which QML's TextEdit has no property. Text inserted later has it, too. UI thread.
class TextLayout : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_SINGLETON

public:
    /// Sets `percent` of the font's own line height for the whole text.
    Q_INVOKABLE static void setLineHeight(QQuickTextDocument* document, int percent);
};
