#include "app/net/connection_log.h"

#include <algorithm>

namespace net {

std::size_t ConnectionLog::begin(const std::string& host, const std::string& purpose)
{
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::system_clock::now();
    auto found = std::find_if(connections_.begin(), connections_.end(),
                              [&](const Connection& c) { return c.host == host && c.purpose == purpose; });
    if (found == connections_.end())
        found = connections_.insert(found, {host, purpose, now, now, 0, 0, 0});
    ++found->requests;
    found->last = now;
    return std::size_t(found - connections_.begin());
}

void ConnectionLog::count(std::size_t connection, std::int64_t bytes_sent, std::int64_t bytes_received)
{
    const std::lock_guard lock(mutex_);
    Connection& c = connections_.at(connection);
    c.last = std::chrono::system_clock::now();
    c.bytes_sent += bytes_sent;
    c.bytes_received += bytes_received;
}

std::vector<Connection> ConnectionLog::connections() const
{
    const std::lock_guard lock(mutex_);
    return connections_;
}

}  // namespace net
