// KeyMover moves keys from the file of servers into the system's password store, and removes unneeded ones from there.
#pragma once

#include "app/fetching/request_thread.h"
#include "app/servers/known_server.h"
#include "app/servers/remote_door.h"

#include <QList>
#include <QStringList>

#include <functional>
#include <memory>
#include <string>

/// The user is never asked to unlock the store: keys that cannot be moved now stay where they are. Lives on the UI
/// thread; a member of Servers.
class KeyMover
{
public:
    struct Moved {
        std::string url, key;
        std::string id;  // of the key in the store
        secrets::Kept kept = secrets::Kept::No;
    };
    struct Outcome {
        QList<Moved> moved;     // all keys that were tried; `kept` says which the store took
        QStringList forgotten;  // ids that the store no longer has
    };
    /// Writes down that the store may have these ids from now on. False: that failed, and none of them is used.
    using Announce = std::function<bool(const QStringList& ids)>;
    using Done = std::function<void(const Outcome&)>;

    explicit KeyMover(std::shared_ptr<RemoteDoor> door)
        : m_door(std::move(door))
    {
    }

    /// Moves and forgets keys, and calls `done` if anything has changed. A call while another move runs begins none,
    /// but then that move calls `done` in any case, so that the caller can start again. `servers`: their keys are
    /// moved; one that the store did not take is not tried again in this run of the program. `unneeded`: ids of keys to
    /// forget.
    void start(const QList<KnownServer>& servers, const QStringList& unneeded, const Announce& announce,
               const Done& done);

private:
    struct Looked {
        QStringList forgotten;
        bool open = false;  // the store takes keys
    };
    QList<Moved> toMove(const QList<KnownServer>& servers) const;
    void move(QList<Moved> keys, const QStringList& forgotten, const Done& done);
    void end(const Outcome& outcome, const Done& done);

    std::shared_ptr<RemoteDoor> m_door;
    bool m_running = false;
    bool m_askedMeanwhile = false;
    QList<Moved> m_refused;  // not taken by the store, in this run of the program
    RequestThread m_thread;
};
