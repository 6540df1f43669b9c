// KnownServer is a server that the user added; ServersFile keeps them on disk.
#pragma once

#include "app/remote/server.h"

#include <QList>
#include <QString>
#include <QStringList>

#include <utility>

/// Holds a server of the user's, with its last answers, so that its models are in the list before it is asked again.
struct KnownServer {
    QString name;  // as the user named it
    remote::Server server;
    remote::ServerFacts facts;
};

/// Keeps servers in a JSON file that only the user can read, since it holds the keys that no password store has. Values
/// only; lives on the UI thread.
class ServersFile
{
public:
    /// `file`: its path; empty: nothing is kept.
    explicit ServersFile(QString file)
        : m_file(std::move(file))
    {
    }

    struct Content {
        QList<KnownServer> servers;
        QStringList unneededKeys = {};  // by their ids: the store may still have them
        QString aside = {};             // where a file that made no sense was moved to; empty: there was none
        bool lost = false;              // the file cannot be read, and must not be written over
    };
    /// Reads the file. Entries that make no sense are passed over; a file that is no such list is renamed to "….bad",
    /// or "….bad2" and so on where there is one already.
    Content read() const;
    /// Writes the file. False: it could not be written, and is unchanged.
    bool write(const Content& content) const;

private:
    QString m_file;
};
