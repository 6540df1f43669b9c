// ClientWatch stops work for a client that has left.
#pragma once

#include <functional>
#include <stop_token>
#include <thread>

namespace server {

/// Looks now and then whether the client is gone, on a thread of its own, for as long as it lives. Nothing may be sent
/// to the client meanwhile.
class ClientWatch
{
public:
    /// `is_gone` outlives this object.
    explicit ClientWatch(const std::function<bool()>& is_gone);
    ClientWatch(const ClientWatch&) = delete;
    ClientWatch& operator=(const ClientWatch&) = delete;

    /// Returns a token that is stopped when the client has left.
    std::stop_token stop() const { return gone_.get_token(); }

private:
    void watch(const std::function<bool()>& is_gone, const std::stop_token& over);

    std::stop_source gone_;
    std::jthread thread_;  // destroyed first, being last: it uses the member above
};

}  // namespace server
