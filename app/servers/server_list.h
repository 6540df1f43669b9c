// ServerList is the servers that the user added, as they are kept on disk, and where the key of each one lies.
#pragma once

#include "app/servers/key_mover.h"
#include "app/servers/known_server.h"

#include <QList>
#include <QString>
#include <QStringList>

#include <string>

/// A change is written at once. False: it could not be, and holds for this run. Values only; lives on the UI thread.
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
    /// Say how the file was found; see ServersFile::Content.
    const QString& aside() const { return m_content.aside; }
    bool lost() const { return m_content.lost; }
    const KnownServer* find(const QString& url) const;
    /// Returns the servers that may answer for a model of one of them.
    QList<const KnownServer*> answeringFor(const KnownServer& known, const std::string& model) const;

    /// The password store is about to get keys of these ids: until one is put() or taken, it is on disk as one that
    /// nobody needs, so that it does not stay there when the program ends in the middle. False: it cannot be written,
    /// and none of them is to be used.
    bool announce(const QStringList& ids);
    /// Takes what became of a key that no server got.
    void withdraw(const QString& id, secrets::Kept kept);

    /// Takes the place of one of the same address. `keyId`: by which the password store has its key; empty: it has not.
    bool put(const KnownServer& server, const std::string& keyId);
    bool remove(const QString& url);
    bool learn(const QString& url, const remote::ServerFacts& facts);

    /// Returns the servers whose key is in the file. None where that cannot be written: nobody would know at the next
    /// start that the password store has them.
    QList<KnownServer> withKeysToMove() const;
    /// Keys that the password store may still have, by their ids. None that it is just getting or has not answered
    /// about, and none that the file names: where a change could not be written, the next start needs what was before
    /// it.
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
    QStringList m_idsOnDisk;  // of the keys of its servers
    QStringList m_announced;  // of those that the store is just getting, or may have taken after all
};
