// ServerBook knows the servers that the user added, and has the one way to ask them.
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

/// No server is asked anything that is not in the book. Any thread.
class ServerBook
{
public:
    /// `store`: where keys lie that are not in the list; null: nowhere.
    explicit ServerBook(std::shared_ptr<secrets::SecretStore> store = nullptr)
        : keys_(std::move(store))
    {
    }

    void set(std::vector<ListedServer> servers);
    /// Takes what a server has said of itself now.
    void learn(const std::string& url, const ServerFacts& facts);

    std::optional<Server> find(const std::string& url) const;
    /// The server of this address, then those of its name that have this model too. Empty: it is none of them.
    std::vector<ListedServer> for_model(const std::string& url, const std::string& model) const;

    /// Notes which one of for_model() answers a conversation: the one that was asked last for it. Until then the one
    /// that was asked last for none, `sequence` 0, as when a model is opened; else that of the address itself.
    void set_answering(const std::string& url, engine::SequenceId sequence, const std::string& answering);
    std::optional<Server> answering(const std::string& url, engine::SequenceId sequence) const;
    void end_sequence(engine::SequenceId sequence);

    /// Returns the keys. A server that find() gives has its key where that is known already; before it is asked in
    /// earnest, it gets it here.
    ServerKeys& keys() { return keys_; }

    /// Made when somebody is asked first: until then there is nothing of the network in the program.
    net::HttpClient& client();
    std::vector<net::Connection> connections() const;

private:
    const ListedServer* at(const std::string& url) const;

    ServerKeys keys_;
    mutable std::mutex mutex_;
    std::vector<ListedServer> servers_;
    // By the conversation, and the address that its model was opened at.
    std::map<std::pair<engine::SequenceId, std::string>, std::string> answering_;
    std::unique_ptr<net::HttpClient> client_;
};

}  // namespace remote
