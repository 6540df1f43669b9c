// ServerBook knows the servers that the user added, and has the one way to ask them.
#pragma once

#include "app/net/http_client.h"
#include "app/remote/server.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace remote {

/// Nobody else is asked anything. Any thread.
class ServerBook
{
public:
    void set(std::vector<Server> servers);
    std::optional<Server> find(const std::string& url) const;

    /// Made when somebody is asked first: until then there is nothing of the network in the program.
    net::HttpClient& client();
    std::vector<net::Connection> connections() const;

private:
    mutable std::mutex mutex_;
    std::vector<Server> servers_;
    std::unique_ptr<net::HttpClient> client_;
};

}  // namespace remote
