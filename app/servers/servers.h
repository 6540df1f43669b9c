// Servers lists the servers elsewhere that the user added, and their models.
#pragma once

#include "app/catalogue/model_entry.h"
#include "app/fetching/request_thread.h"
#include "app/servers/key_mover.h"
#include "app/servers/remote_door.h"
#include "app/servers/server_list.h"

#include <QHash>
#include <QList>
#include <QObject>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

#include <memory>
#include <optional>
#include <vector>

/// One of them, as a value for the pages. What comes from the server has been made safe to show.
class ServerEntry
{
    Q_GADGET
    QML_VALUE_TYPE(serverEntry)
    Q_PROPERTY(QString url MEMBER url CONSTANT)
    Q_PROPERTY(QString name MEMBER name CONSTANT)
    Q_PROPERTY(QString host MEMBER host CONSTANT)
    Q_PROPERTY(QString program MEMBER program CONSTANT)
    Q_PROPERTY(int models MEMBER models CONSTANT)
    Q_PROPERTY(bool hasKey MEMBER hasKey CONSTANT)
    Q_PROPERTY(bool keyInFile MEMBER keyInFile CONSTANT)
    Q_PROPERTY(bool inClear MEMBER inClear CONSTANT)
    Q_PROPERTY(bool asking MEMBER asking CONSTANT)
    Q_PROPERTY(QString trouble MEMBER trouble CONSTANT)

public:
    bool operator==(const ServerEntry&) const = default;

    QString url;
    QString name;
    QString host;
    QString program;  // "vLLM 0.30"; empty: nobody knows
    int models = 0;
    bool hasKey = false;
    bool keyInFile = false;  // and not in the system's password store
    bool inClear = false;    // others on the way can read what is said
    bool asking = false;     // what it is
    QString trouble;         // why the last question brought nothing, one sentence
};
Q_DECLARE_METATYPE(ServerEntry)

/// A server is asked when it is added, when the user wants to know anew, and when one of its models is opened. Adding
/// one is the permission to ask it. Lives on the UI thread; owned by Program.
class Servers : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(bool available READ available CONSTANT)
    Q_PROPERTY(QList<ServerEntry> all READ all NOTIFY changed)
    Q_PROPERTY(bool adding READ adding NOTIFY addingChanged)
    Q_PROPERTY(QString trouble READ trouble NOTIFY troubleChanged)
    Q_PROPERTY(QString keyNote READ keyNote NOTIFY keyNoteChanged)
    Q_PROPERTY(bool looking READ looking NOTIFY foundChanged)
    Q_PROPERTY(bool looked READ looked NOTIFY foundChanged)
    Q_PROPERTY(QList<ServerEntry> found READ found NOTIFY foundChanged)

public:
    static constexpr qsizetype kMost = 50;

    /// `door`: null where the program was built without the network. `file`: where they are kept; empty: nowhere.
    Servers(std::shared_ptr<RemoteDoor> door, const QString& file, QObject* parent = nullptr);

    bool available() const { return m_door != nullptr; }
    QList<ServerEntry> all() const;
    bool adding() const { return m_adding; }
    QString trouble() const { return m_trouble; }  // with what was typed, or with the file

    /// Returns the host that what was typed would lead to, for the question whether to ask it; empty: it is no address.
    Q_INVOKABLE QString hostOf(const QString& typed) const;
    /// Says whether others on the way there could read key and text.
    Q_INVOKABLE bool inClear(const QString& typed) const;
    /// Says whether another server has this name, or the one that this address would get: they answer for each other
    /// then.
    Q_INVOKABLE bool hasNamed(const QString& name, const QString& typed) const;

    /// Says where a key that is typed now would be kept, one sentence; empty until that is known.
    QString keyNote() const;
    /// Finds that out, each time anew: a store may be started, unlocked and stopped while the program runs.
    Q_INVOKABLE void lookForStore();

    /// Asks a server, and keeps it when it answers as one. One that is there already gets the new name and key.
    Q_INVOKABLE void add(const QString& name, const QString& typed, const QString& key);
    Q_INVOKABLE void stopAdding();
    Q_INVOKABLE void remove(const QString& url);
    /// Asks whatever listens on this machine where such programs usually do; no other machine.
    Q_INVOKABLE void lookHere();
    Q_INVOKABLE void stopLooking();
    void lookAt(const QList<int>& ports);
    bool looking() const { return m_looking; }
    bool looked() const { return m_looked; }  // to the end
    /// Returns what was found there and is not added yet. Where it asks for a key, `trouble` says so.
    QList<ServerEntry> found() const { return m_found; }
    /// Asks all of them anew, one after another: the user wants to know.
    Q_INVOKABLE void refresh() { askAll(secrets::MayAsk::Yes); }
    /// Does the same because they are shown. The user is not asked to unlock the password store: whose key lies in
    /// there is not asked then, and has that as its trouble.
    Q_INVOKABLE void refreshQuietly() { askAll(secrets::MayAsk::No); }
    Q_INVOKABLE void dismissTrouble() { setTrouble({}); }

    /// Returns the servers' models, as rows of the list; one row for all servers of one name.
    QList<ModelEntry> models() const;
    /// Returns the server of a model's path, by its name; its host where it is none of them.
    QString serverOf(const QString& path) const;
    /// Returns those of these sampling options that the server of a model's path does not know.
    QStringList unknown(const QString& path, const QStringList& sampling) const;
    /// Returns the servers that may answer for the model of this path; an empty list: it lies on no server.
    Q_INVOKABLE QStringList hostsFor(const QString& path) const;
    std::vector<net::Connection> connections() const;

Q_SIGNALS:
    void changed();
    void modelsChanged();
    void addingChanged();
    void troubleChanged();
    void added(const QString& url);
    void foundChanged();
    void keyNoteChanged();

private:
    ServerEntry entryOf(const KnownServer& known) const;
    ModelEntry modelEntry(const KnownServer& known, const remote::ServedModel& model) const;
    void onProbed(const KnownServer& asked, const net::Result<remote::ServerFacts>& facts);
    void put(const KnownServer& server, const std::string& keyId);
    void moveKeys();
    void askAll(secrets::MayAsk may);
    void askNext();
    void onRefreshed(const QString& url, const net::Result<remote::ServerFacts>& facts);
    void tellDoor();
    void kept(bool written);
    void setAdding(bool adding);
    void setTrouble(const QString& sentence);

    std::shared_ptr<RemoteDoor> m_door;
    ServerList m_list;
    std::optional<secrets::Access> m_store;
    QHash<QString, QString> m_troubles;              // by address
    QStringList m_toAsk;                             // addresses; the first is being asked
    secrets::MayAsk m_mayAsk = secrets::MayAsk::No;  // meanwhile
    bool m_adding = false;
    QString m_trouble;
    bool m_looking = false, m_looked = false;
    QList<ServerEntry> m_found;
    RequestThread m_addThread, m_refreshThread, m_lookThread, m_storeThread;
    KeyMover m_keyMover;
};
