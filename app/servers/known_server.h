// KnownServer is a server that the user added; ServersFile keeps them on disk.
#pragma once

#include "app/remote/server.h"

#include <QList>
#include <QString>
#include <QStringList>

#include <utility>

/// A server of the user's, with what it said when it was asked last, so that its models are in the list before it is
/// asked again.
struct KnownServer {
    QString name;  // by which the user knows it
    remote::Server server;
    remote::ServerFacts facts;
};

/// A JSON file that only the user can read, since it has the keys in it that no password store of the system has.
/// Values only; lives on the UI thread.
class ServersFile
{
public:
    /// Empty: nothing is kept.
    explicit ServersFile(QString file)
        : m_file(std::move(file))
    {
    }

    struct Content {
        QList<KnownServer> servers;
        QStringList unneededKeys = {};  // by their ids: the store may still have them
        QString aside = {};             // where the file is now that made no sense; empty: it did
        bool lost = false;              // the file is there and cannot be read: it is not to be written over
    };
    /// Reads the file. What makes no sense in it is passed over; a file that is none of these goes aside, as "….bad",
    /// or "….bad2" and so on where there is one already.
    Content read() const;
    /// False: it could not be written, and is as it was.
    bool write(const Content& content) const;

private:
    QString m_file;
};
