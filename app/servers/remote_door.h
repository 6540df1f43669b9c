// RemoteDoor is the only way in which the window reaches servers.
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

/// Asks only the servers that it was given, and only when it is told to. Any thread.
class RemoteDoor
{
public:
    virtual ~RemoteDoor() = default;

    /// Returns an engine that opens models of this computer, with `here`, and models of servers.
    virtual std::unique_ptr<engine::Engine> engine(std::unique_ptr<engine::Engine> here) = 0;
    /// Looks at a server's model, as engine::inspect_model does at a file. `may`, here and below: whether the user has
    /// just asked for this, and may be asked to unlock the password store.
    virtual engine::Result<engine::ModelInfo> inspect(const std::filesystem::path& path, secrets::MayAsk may,
                                                      const std::stop_token& stop) = 0;
    /// Returns the address of a server from what a user typed; a failure: that is no address.
    virtual net::Result<std::string> address(std::string_view typed) const = 0;
    /// Says whether others on the way could read what is sent.
    virtual bool inClear(const std::string& url) const = 0;
    virtual std::filesystem::path pathOf(const std::string& server, const std::string& model) const = 0;
    virtual bool knows(remote::Kind kind, std::string_view sampling) const = 0;
    virtual std::string kindName(remote::Kind kind) const = 0;

    /// Sets the user's servers.
    virtual void setServers(std::vector<remote::ListedServer> servers) = 0;
    /// Returns the keys that lie in the system's password store. Its functions may wait, so they are not for the UI
    /// thread.
    virtual remote::ServerKeys& keys() = 0;
    /// Asks a server what it is; it need not be in the list.
    virtual net::Result<remote::ServerFacts> probe(const remote::Server& server, secrets::MayAsk may,
                                                   const std::stop_token& stop) = 0;
    /// Returns how busy the server is that answers a conversation with a model; `conversation` 0: none in particular.
    /// BadRequest: the server is none of the user's.
    virtual net::Result<remote::ServerNumbers> numbers(const std::filesystem::path& model,
                                                       engine::SequenceId conversation,
                                                       const std::stop_token& stop) = 0;
    virtual std::vector<net::Connection> connections() const = 0;
};

/// Returns the door; null: this program was built without the network. `store`: where keys are kept; null: there is
/// none.
std::shared_ptr<RemoteDoor> remoteDoor(std::shared_ptr<secrets::SecretStore> store);
