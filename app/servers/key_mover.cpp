#include "app/servers/key_mover.h"

#include "app/system/remote_path.h"

#include <algorithm>
#include <utility>

void KeyMover::start(const QList<KnownServer>& servers, const QStringList& unneeded, const Announce& announce,
                     const Done& done)
{
    const QList<Moved> keys = toMove(servers);
    // Where there is nothing to do, the store is not even asked whether it is open.
    if (keys.isEmpty() && unneeded.isEmpty())
        return;
    if (std::exchange(m_running, true)) {
        m_askedMeanwhile = true;
        return;
    }
    const auto look = [door = m_door, unneeded,
                       moves = !keys.isEmpty()](const std::stop_token& stop) -> net::Result<Looked> {
        Looked looked;
        for (const QString& id : unneeded)
            if (door->keys().forget(id.toStdString(), stop))
                looked.forgotten.append(id);
        looked.open = moves && door->keys().access(stop) == secrets::Access::Open;
        return looked;
    };
    m_thread.ask(look, [this, keys, announce, done](const net::Result<Looked>& answer) {
        const Looked looked = answer.value_or(Looked());
        QStringList ids;
        for (const Moved& key : keys)
            ids.append(QString::fromStdString(key.id));
        if (looked.open && announce(ids))
            move(keys, looked.forgotten, done);
        else
            end({{}, looked.forgotten}, done);
    });
}

QList<KeyMover::Moved> KeyMover::toMove(const QList<KnownServer>& servers) const
{
    QList<Moved> keys;
    for (const KnownServer& known : servers) {
        const remote::Server& server = known.server;
        const bool refused = std::ranges::any_of(
            m_refused, [&](const Moved& key) { return key.url == server.url && key.key == server.key; });
        if (!server.key.empty() && !refused)
            keys.append({server.url, server.key, secrets::new_id()});
    }
    return keys;
}

void KeyMover::move(QList<Moved> keys, const QStringList& forgotten, const Done& done)
{
    const auto work = [door = m_door, keys = std::move(keys),
                       forgotten](const std::stop_token& stop) -> net::Result<Outcome> {
        Outcome outcome{keys, forgotten};
        for (Moved& key : outcome.moved) {
            const std::string host = hostOf(QString::fromStdString(key.url)).toStdString();
            key.kept = door->keys().keep(key.id, host, key.key, secrets::MayAsk::No, stop);
        }
        return outcome;
    };
    m_thread.ask(work, [this, done](const net::Result<Outcome>& outcome) {
        for (const Moved& key : outcome.value_or(Outcome()).moved)
            if (key.kept != secrets::Kept::Yes)
                m_refused.append(key);
        end(outcome.value_or(Outcome()), done);
    });
}

void KeyMover::end(const Outcome& outcome, const Done& done)
{
    m_running = false;
    const bool askedMeanwhile = std::exchange(m_askedMeanwhile, false);
    if (askedMeanwhile || !outcome.moved.isEmpty() || !outcome.forgotten.isEmpty())
        done(outcome);
}
