// ServerKeys fetches the keys of servers from the system's password store, each when it is needed first.
#pragma once

#include "app/remote/server.h"
#include "app/secrets/secret_store.h"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

namespace remote {

/// Functions that ask the store may wait for the user. They may be called on any thread.
class ServerKeys
{
public:
    /// `store` may be null: then no key is kept in one.
    explicit ServerKeys(std::shared_ptr<secrets::SecretStore> store)
        : store_(std::move(store))
    {
    }

    secrets::Access access(const std::stop_token& stop) const;
    /// Gives a server's key to the store, as keep_in() does. `host`: for people who look into the store.
    secrets::Kept keep(const std::string& id, const std::string& host, const std::string& key, secrets::MayAsk may,
                       const std::stop_token& stop);
    /// Removes a key from the store. False: it may still be there.
    bool forget(const std::string& id, const std::stop_token& stop);

    /// Returns the server with its key, or with the reason why that is missing. `may`: whether the user has just asked
    /// for something that needs the key; after the user has closed the store's question it is not asked again for a
    /// while.
    Server with_key(Server server, secrets::MayAsk may, const std::stop_token& stop);
    /// Does the same with keys that were fetched before, and never asks the store.
    Server with_known_key(Server server) const;

private:
    std::shared_ptr<secrets::SecretStore> store_;
    mutable std::mutex mutex_;
    std::map<std::string, std::string> known_;  // by id
    std::chrono::steady_clock::time_point quiet_until_{};
};

}  // namespace remote
