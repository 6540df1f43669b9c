// Links answers what pages ask about the links of messages, and opens them.
#pragma once

#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

/// Says what a page has to know of an address, and opens it in the user's browser. UI thread.
class Links : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_SINGLETON

public:
    Q_INVOKABLE static QString safe(const QString& address);  // the address to open; empty: it must not be opened
    Q_INVOKABLE static QString target(const QString& link);   // the host or mailbox it leads to
    Q_INVOKABLE static bool open(const QString& link);
};
