#include "app/servers/key_mover.h"

#include "app/system/remote_path.h"

#include <utility>

void KeyMover::start(const QList<KnownServer>& servers, const QStringList& unneeded,
                     const std::function<void(const Outcome&)>& done)
{
    QList<remote::Server> toMove;
    for (const KnownServer& known : servers)
        if (!known.server.key.empty())
            toMove.append(known.server);
    // Where there is nothing to do the store is not asked whether it is there.
    if (toMove.isEmpty() && unneeded.isEmpty())
        return;
    if (std::exchange(m_running, true)) {
        m_askedMeanwhile = true;
        return;
    }
    const auto move = [door = m_door, toMove, unneeded](const std::stop_token& stop) -> net::Result<Outcome> {
        remote::ServerKeys& keys = door->keys();
        Outcome outcome;
        for (const QString& id : unneeded)
            if (keys.forget(id.toStdString(), stop))
                outcome.forgotten.append(id);
        if (toMove.isEmpty() || keys.access(stop) != secrets::Access::Open)
            return outcome;
        for (const remote::Server& server : toMove) {
            const std::string host = hostOf(QString::fromStdString(server.url)).toStdString();
            if (std::string id = keys.keep(host, server.key, secrets::MayAsk::No, stop); !id.empty())
                outcome.moved.append({server.url, server.key, std::move(id)});
        }
        return outcome;
    };
    m_thread.ask(move, [this, done](const net::Result<Outcome>& outcome) {
        m_running = false;
        const bool askedMeanwhile = std::exchange(m_askedMeanwhile, false);
        const Outcome changed = outcome.value_or(Outcome());
        if (askedMeanwhile || !changed.moved.isEmpty() || !changed.forgotten.isEmpty())
            done(changed);
    });
}
