// RequestLog keeps the newest requests and the connected clients, to be shown.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace server {

struct LoggedRequest {
    std::uint64_t number = 0;  // from 1 on
    std::chrono::system_clock::time_point time = {};
    std::string client;  // its address
    std::string route;   // "POST /v1/chat/completions"
    std::string model;   // the model that answered; empty: none was needed
    int prompt_tokens = 0;
    int answer_tokens = 0;
    std::int64_t milliseconds = 0;  // until the last of the answer was sent
    int status = 0;                 // 499: the client went away
};

struct ConnectedClient {
    std::string client;
    std::chrono::system_clock::time_point since = {};
    int requests = 0;       // that it has made
    bool answered = false;  // a request of it is being answered now
};

/// Texts of requests and answers are not kept. Any thread; `changed` may be called on any thread, and must not call
/// functions of this object.
class RequestLog
{
public:
    static constexpr std::size_t kMost = 200;
    static constexpr std::size_t kLongestRoute = 120;  // bytes; a client may send a path of any length

    explicit RequestLog(std::function<void()> changed = {})
        : changed_(std::move(changed))
    {
    }

    void came(const std::string& client);
    void left(const std::string& client);
    void asked(const std::string& client);
    /// Notes an answered request, and gives it its number.
    void answered(LoggedRequest request);

    /// Returns the requests, the newest first.
    std::vector<LoggedRequest> requests() const;
    /// Returns the clients in the order in which they connected.
    std::vector<ConnectedClient> clients() const;

private:
    const std::function<void()> changed_;
    mutable std::mutex mutex_;
    std::deque<LoggedRequest> requests_;
    std::vector<ConnectedClient> clients_;
    std::uint64_t last_number_ = 0;
};

}  // namespace server
