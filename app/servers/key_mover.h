// KeyMover brings keys from the file of servers into the system's password store, and those out of it that nobody
// needs.
#pragma once

#include "app/fetching/request_thread.h"
#include "app/servers/known_server.h"
#include "app/servers/remote_door.h"

#include <QList>
#include <QStringList>

#include <functional>
#include <memory>
#include <string>

/// The user is not asked for anything: what cannot be moved now stays where it is. Lives on the UI thread; a member of
/// Servers.
class KeyMover
{
public:
    struct Moved {
        std::string url, key;
        std::string id;  // by which the store has it
        secrets::Kept kept = secrets::Kept::No;
    };
    struct Outcome {
        QList<Moved> moved;     // and what the store did not take
        QStringList forgotten;  // that the store has no more
    };
    /// Writes down that the store may have these ids from now on. False: it cannot, and none of them is used.
    using Announce = std::function<bool(const QStringList& ids)>;
    using Done = std::function<void(const Outcome&)>;

    explicit KeyMover(std::shared_ptr<RemoteDoor> door)
        : m_door(std::move(door))
    {
    }

    /// Tells `done` what has changed, if anything has. While one runs, another is not begun; `done` is told in any case
    /// then, so that it may be. `servers`: those with a key of their own are moved; one that the store did not take is
    /// tried once in a run. `unneeded`: ids of keys to forget.
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
    QList<Moved> m_refused;  // by the store, in this run
    RequestThread m_thread;
};
