#include "app/server/request_log.h"

#include <algorithm>

namespace server {

void RequestLog::came(const std::string& client)
{
    const std::lock_guard lock(mutex_);
    clients_.push_back({client, std::chrono::system_clock::now()});
    if (changed_)
        changed_();
}

void RequestLog::left(const std::string& client)
{
    const std::lock_guard lock(mutex_);
    std::erase_if(clients_, [&](const ConnectedClient& connected) { return connected.client == client; });
    if (changed_)
        changed_();
}

void RequestLog::asked(const std::string& client)
{
    const std::lock_guard lock(mutex_);
    if (const auto found = std::ranges::find(clients_, client, &ConnectedClient::client); found != clients_.end()) {
        ++found->requests;
        found->answered = true;
    }
    if (changed_)
        changed_();
}

void RequestLog::answered(LoggedRequest request)
{
    if (request.route.size() > kLongestRoute)
        request.route.resize(kLongestRoute);
    const std::lock_guard lock(mutex_);
    if (const auto found = std::ranges::find(clients_, request.client, &ConnectedClient::client);
        found != clients_.end())
        found->answered = false;
    request.number = ++last_number_;
    request.time = std::chrono::system_clock::now();
    requests_.push_front(std::move(request));
    if (requests_.size() > kMost)
        requests_.pop_back();
    if (changed_)
        changed_();
}

std::vector<LoggedRequest> RequestLog::requests() const
{
    const std::lock_guard lock(mutex_);
    return {requests_.begin(), requests_.end()};
}

std::vector<ConnectedClient> RequestLog::clients() const
{
    const std::lock_guard lock(mutex_);
    return clients_;
}

}  // namespace server
