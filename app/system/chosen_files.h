// ChosenFiles tells pages about a file that the user chose in a dialog.
#pragma once

#include <QObject>
#include <QUrl>
#include <QtQml/qqmlregistration.h>

class ChosenFiles : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_SINGLETON

public:
    Q_INVOKABLE static bool exists(const QUrl& file);
    Q_INVOKABLE static QString shownName(const QUrl& file);  // without its folders, safe to show
};
