#include "app/remote/server_book.h"

#include <algorithm>

namespace remote {

void ServerBook::set(std::vector<Server> servers)
{
    const std::lock_guard lock(mutex_);
    servers_ = std::move(servers);
}

std::optional<Server> ServerBook::find(const std::string& url) const
{
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(servers_, url, &Server::url);
    return found == servers_.end() ? std::nullopt : std::optional(*found);
}

net::HttpClient& ServerBook::client()
{
    const std::lock_guard lock(mutex_);
    if (!client_)
        client_ = std::make_unique<net::HttpClient>();
    return *client_;
}

std::vector<net::Connection> ServerBook::connections() const
{
    const std::lock_guard lock(mutex_);
    return client_ ? client_->connections().connections() : std::vector<net::Connection>();
}

}  // namespace remote
