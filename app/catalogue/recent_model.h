// RecentModel describes a model that was opened before, for the menu.
#pragma once

#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

/// Holds what the menu of the models says of one, as a value for the pages; its texts are safe to show.
class RecentModel
{
    Q_GADGET
    QML_VALUE_TYPE(recentModel)
    Q_PROPERTY(QString path MEMBER path CONSTANT)
    Q_PROPERTY(QString title MEMBER title CONSTANT)
    Q_PROPERTY(QString file MEMBER file CONSTANT)
    Q_PROPERTY(bool elsewhere MEMBER elsewhere CONSTANT)
    Q_PROPERTY(bool there MEMBER there CONSTANT)
    Q_PROPERTY(bool isOpen MEMBER isOpen CONSTANT)

public:
    bool operator==(const RecentModel&) const = default;

    QString path;  // as it is: to open, not to show
    QString title;
    QString file;  // its name, with its folder where another one is called so; of a model elsewhere, the server
    bool elsewhere = false;
    bool there = true;  // false: no such file, as far as is known
    bool isOpen = false;
};
Q_DECLARE_METATYPE(RecentModel)
