// ServerBook holds the servers that the user added, and the only HTTP client that asks them.
#pragma once

#include "app/net/http_client.h"
#include "app/remote/server.h"
#include "app/remote/server_keys.h"
#include "engine/engine.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace remote {

/// Only servers in the book are asked for answers and numbers. Any thread.
class ServerBook
{
public:
    /// `store`: where the keys lie that the list does not hold; null: there is no such store.
    explicit ServerBook(std::shared_ptr<secrets::SecretStore> store = nullptr)
        : keys_(std::move(store))
    {
    }

    void set(std::vector<ListedServer> servers);
    /// Sets what a server has said of itself just now.
    void learn(const std::string& url, const ServerFacts& facts);

    std::optional<Server> find(const std::string& url) const;
    /// Returns the server of this address, then those of its name that have this model, too. Empty: no server has this
    /// address.
    std::vector<ListedServer> for_model(const std::string& url, const std::string& model) const;

    /// Notes which server of for_model() was asked last for a conversation; `sequence` 0: for none, as when a model is
    /// opened. answering() returns that of the conversation, else that noted for 0, else the server of the address
    /// itself.
    void set_answering(const std::string& url, engine::SequenceId sequence, const std::string& answering);
    std::optional<Server> answering(const std::string& url, engine::SequenceId sequence) const;
    void end_sequence(engine::SequenceId sequence);

    /// Returns the keys. The book returns servers with those keys only that were fetched already; call with_key()
    /// before a server is asked.
    ServerKeys& keys() { return keys_; }

    /// Returns the client, which is made at the first call: until then the program uses nothing of the network.
    net::HttpClient& client();
    std::vector<net::Connection> connections() const;

private:
    const ListedServer* at(const std::string& url) const;

    ServerKeys keys_;
    mutable std::mutex mutex_;
    std::vector<ListedServer> servers_;
    // The address that answers, by the conversation and the address that its model was opened at.
    std::map<std::pair<engine::SequenceId, std::string>, std::string> answering_;
    std::unique_ptr<net::HttpClient> client_;
};

}  // namespace remote
