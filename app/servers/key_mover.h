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
    };
    struct Outcome {
        QList<Moved> moved;
        QStringList forgotten;  // that the store has no more
    };

    explicit KeyMover(std::shared_ptr<RemoteDoor> door)
        : m_door(std::move(door))
    {
    }

    /// Tells `done` what has changed, if anything has. While one runs, another is not begun; `done` is told in any case
    /// then, so that it may be. `servers`: those with a key of their own are moved. `unneeded`: ids of keys to forget.
    void start(const QList<KnownServer>& servers, const QStringList& unneeded,
               const std::function<void(const Outcome&)>& done);

private:
    std::shared_ptr<RemoteDoor> m_door;
    bool m_running = false;
    bool m_askedMeanwhile = false;
    RequestThread m_thread;
};
