// TextLayout sets the distance between the lines of a TextEdit.
#pragma once

#include <QObject>
#include <QQuickTextDocument>
#include <QtQml/qqmlregistration.h>

/// Sets what QML's TextEdit has no property for. Text inserted later keeps it. UI thread.
class TextLayout : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_SINGLETON

public:
    /// `percent` of the font's own line height, for all of the text.
    Q_INVOKABLE static void setLineHeight(QQuickTextDocument* document, int percent);
};
