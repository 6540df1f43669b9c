// ConnectionLog lists the hosts that this program contacted, with purpose, time and bytes sent and received.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace net {

/// Sums up all requests to one host for one purpose.
struct Connection {
    std::string host;
    std::string purpose;  // "list of files"
    std::chrono::system_clock::time_point first, last;
    int requests = 0;
    std::int64_t bytes_sent = 0;      // headers included
    std::int64_t bytes_received = 0;  // headers included
};

/// Any thread.
class ConnectionLog
{
public:
    /// Notes that a request begins. Returns the number that count() needs.
    std::size_t begin(const std::string& host, const std::string& purpose);
    void count(std::size_t connection, std::int64_t bytes_sent, std::int64_t bytes_received);

    /// Lists the connections in the order of their first requests.
    std::vector<Connection> connections() const;

private:
    mutable std::mutex mutex_;
    std::vector<Connection> connections_;
};

}  // namespace net
