// KnownServer is a server that the user added; ServersFile keeps them on disk.
#pragma once

#include "app/remote/server.h"

#include <QList>
#include <QString>

#include <utility>

/// With what it said when it was asked last, so that its models are in the list before it is asked again.
struct KnownServer {
    QString name;  // by which the user knows it
    remote::Server server;
    remote::ServerFacts facts;
};

/// A JSON file that only the user can read, since it has keys in it. Values only; lives on the UI thread.
class ServersFile
{
public:
    /// Empty: nothing is kept.
    explicit ServersFile(QString file)
        : m_file(std::move(file))
    {
    }

    /// What makes no sense in it is passed over; a file that is none of these goes aside, as "….bad".
    QList<KnownServer> read() const;
    /// False: it could not be written, and is as it was.
    bool write(const QList<KnownServer>& servers) const;

private:
    QString m_file;
};
