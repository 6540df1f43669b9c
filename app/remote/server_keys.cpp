#include "app/remote/server_keys.h"

#include <utility>

namespace remote {

namespace {

using secrets::MayAsk;
using std::chrono::steady_clock;

/// For so long a user who has closed the store's question is not asked again: servers of a list are asked one after
/// another, and each may need a key.
constexpr std::chrono::seconds kQuiet{30};

}  // namespace

secrets::Access ServerKeys::access(const std::stop_token& stop) const
{
    return store_ ? store_->access(stop) : secrets::Access::None;
}

secrets::Kept ServerKeys::keep(const std::string& id, const std::string& host, const std::string& key, MayAsk may,
                               const std::stop_token& stop)
{
    if (!store_)
        return secrets::Kept::No;
    const secrets::Kept kept = secrets::keep_in(*store_, {id, "Spillway: key for " + host, key}, may, stop);
    const std::lock_guard lock(mutex_);
    if (kept == secrets::Kept::Yes)
        known_[id] = key;
    return kept;
}

bool ServerKeys::forget(const std::string& id, const std::stop_token& stop)
{
    {
        const std::lock_guard lock(mutex_);
        known_.erase(id);
    }
    return store_ && store_->forget(id, stop);
}

Server ServerKeys::with_known_key(Server server) const
{
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(server.key_id); known != known_.end())
        server.key = known->second;
    return server;
}

Server ServerKeys::with_key(Server server, MayAsk may, const std::stop_token& stop)
{
    server = with_known_key(std::move(server));
    if (server.key_id.empty() || !server.key.empty())
        return server;
    {
        const std::lock_guard lock(mutex_);
        if (steady_clock::now() < quiet_until_)
            may = MayAsk::No;
    }
    const auto key = store_ ? store_->find(server.key_id, may, stop)
                            : engine::fail(engine::Error::Code::CannotRead, "this system has no password store");
    const std::lock_guard lock(mutex_);
    if (key) {
        server.key = known_[server.key_id] = *key;
    } else {
        server.no_key = key.error().what;
        if (may == MayAsk::Yes && !stop.stop_requested())  // a user who was not waited for has not refused
            quiet_until_ = steady_clock::now() + kQuiet;
    }
    return server;
}

}  // namespace remote
