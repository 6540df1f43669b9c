// RemoteDoor is the window's only way to servers elsewhere.
#pragma once

#include "app/net/connection_log.h"
#include "app/net/failure.h"
#include "app/remote/server.h"
#include "app/remote/server_keys.h"
#include "app/remote/server_numbers.h"
#include "engine/engine.h"

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

/// Asks nobody but the servers it was given, and those only when it is told to. Any thread.
class RemoteDoor
{
public:
    virtual ~RemoteDoor() = default;

    /// An engine whose models may lie here or there.
    virtual std::unique_ptr<engine::Engine> engine(std::unique_ptr<engine::Engine> here) = 0;
    /// Looks at a model elsewhere, as engine::inspect_model does at a file. `may`, here and below: whether the user has
    /// just asked for this, and may be asked to unlock the password store.
    virtual engine::Result<engine::ModelInfo> inspect(const std::filesystem::path& path, secrets::MayAsk may,
                                                      const std::stop_token& stop) = 0;
    /// Returns what a user typed, as an address of a server.
    virtual net::Result<std::string> address(std::string_view typed) const = 0;
    /// Says whether others on the way could read what is said.
    virtual bool inClear(const std::string& url) const = 0;
    virtual std::filesystem::path pathOf(const std::string& server, const std::string& model) const = 0;
    virtual bool knows(remote::Kind kind, std::string_view sampling) const = 0;
    virtual std::string kindName(remote::Kind kind) const = 0;

    /// Sets the user's servers from now on.
    virtual void setServers(std::vector<remote::ListedServer> servers) = 0;
    /// Returns those of their keys that lie in the system's password store. To be asked on another thread than the
    /// UI's.
    virtual remote::ServerKeys& keys() = 0;
    /// Asks a server what it is, one of them or not.
    virtual net::Result<remote::ServerFacts> probe(const remote::Server& server, secrets::MayAsk may,
                                                   const std::stop_token& stop) = 0;
    /// Returns how busy the server is that answers a conversation with a model; 0: none in particular. BadRequest: it
    /// is none of the user's.
    virtual net::Result<remote::ServerNumbers> numbers(const std::filesystem::path& model,
                                                       engine::SequenceId conversation,
                                                       const std::stop_token& stop) = 0;
    virtual std::vector<net::Connection> connections() const = 0;
};

/// Null: this program was built without the network. `store`: where keys are kept; null: this system has none.
std::shared_ptr<RemoteDoor> remoteDoor(std::shared_ptr<secrets::SecretStore> store);
