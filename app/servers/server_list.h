// ServerList holds the servers that the user added, writes them to disk, and tracks where the key of each one lies.
#pragma once

#include "app/servers/key_mover.h"
#include "app/servers/known_server.h"

#include <QList>
#include <QString>
#include <QStringList>

#include <string>

/// A change is written at once. Functions that change something return false where that failed: the change then holds
/// for this run only. Values only; lives on the UI thread.
class ServerList
{
public:
    explicit ServerList(const QString& file)
        : m_file(file)
        , m_content(m_file.read())
        , m_idsOnDisk(idsOf(m_content))
    {
    }

    const QList<KnownServer>& all() const { return m_content.servers; }
    /// Say in which state the file was found; see ServersFile::Content.
    const QString& aside() const { return m_content.aside; }
    bool lost() const { return m_content.lost; }
    const KnownServer* find(const QString& url) const;
    /// Returns the servers that may answer for a model of `known`.
    QList<const KnownServer*> answeringFor(const KnownServer& known, const std::string& model) const;

    /// Call it before the password store gets keys of these ids: until put() or take() gives one to a server, the file
    /// lists it as unneeded, so that the next start removes it if the program ends in the middle. False: that could not
    /// be written, and none of the ids may be used.
    bool announce(const QStringList& ids);
    /// Call it for an announced key that no server gets; `kept`: whether the store has it.
    void withdraw(const QString& id, secrets::Kept kept);

    /// Adds a server, in the place of one of the same address. `keyId`: id of its key in the password store; empty: the
    /// key is not there.
    bool put(const KnownServer& server, const std::string& keyId);
    bool remove(const QString& url);
    bool learn(const QString& url, const remote::ServerFacts& facts);

    /// Returns the servers whose key is in the file. None where the file cannot be written: the ids in the password
    /// store would be lost with the end of the program.
    QList<KnownServer> withKeysToMove() const;
    /// Returns the ids of keys to remove from the password store. Left out are those that it is just getting or has not
    /// answered about, and those of servers in the file: where a change could not be written, the next start still
    /// needs them.
    QStringList unneededKeys() const;
    bool take(const KeyMover::Outcome& outcome);

private:
    KnownServer* own(const QString& url);
    void doWithoutKey(const KnownServer& known);
    void takeBackKey(const QString& url, const std::string& key);
    bool write();
    static QStringList idsOf(const ServersFile::Content& content);

    ServersFile m_file;
    ServersFile::Content m_content;
    bool m_written = true;    // the newest change
    QStringList m_idsOnDisk;  // ids of the keys of the file's servers
    QStringList m_announced;  // ids that the store is just getting, or may still take
};
