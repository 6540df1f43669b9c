// ServerChoice says which of several servers with the same model is asked next.
#pragma once

#include "engine/engine.h"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace remote {

/// Requests at a server now; empty: it does not say.
struct Occupancy {
    std::string url;
    std::optional<double> waiting = {};
    std::optional<double> running = {};
};

/// Orders servers: the one with the fewest waiting requests comes first; of equal ones the one that answered this
/// conversation last, whose KV cache may still hold it; then the one that answers the fewest. A server that failed
/// comes last until it has rested. Any thread.
class ServerChoice
{
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kRest{30};
    static constexpr std::chrono::seconds kUnseen{1};  // until a server counts a new request among those that it has

    /// Returns the servers' addresses, the best first. Our own requests are counted where a server does not say how
    /// many it answers, or cannot have counted them yet.
    std::vector<std::string> order(std::vector<Occupancy> servers, engine::SequenceId sequence,
                                   Clock::time_point now) const;
    /// Does the same and counts the first as asked, in one step, so that turns that begin together see each other's
    /// requests.
    std::vector<std::string> choose(std::vector<Occupancy> servers, engine::SequenceId sequence, Clock::time_point now);
    void asks(const std::string& url, Clock::time_point now);
    void asks_no_more(const std::string& url);
    /// Call it when a server could not answer; `wait`: for how long it wants to be left alone.
    void failed(const std::string& url, std::chrono::seconds wait, Clock::time_point now);
    bool rests(const std::string& url, Clock::time_point now) const;
    void answered(const std::string& url, engine::SequenceId sequence);
    void end_sequence(engine::SequenceId sequence);
    /// Call it when a conversation branches: the server that answered the first one last counts for the branch, too.
    void branch(engine::SequenceId from, engine::SequenceId to);

private:
    std::vector<std::string> in_order(std::vector<Occupancy> servers, engine::SequenceId sequence,
                                      Clock::time_point now) const;
    void count(const std::string& url, Clock::time_point now);
    bool is_resting(const std::string& url, Clock::time_point now) const;
    double running_at(const Occupancy& server, Clock::time_point now) const;

    mutable std::mutex mutex_;
    struct Asked {
        int running = 0;                             // our own requests
        std::vector<Clock::time_point> newest = {};  // start times of those that the server may not have counted
    };
    std::map<std::string, Asked> asked_;
    std::map<std::string, Clock::time_point> rests_until_;
    std::map<engine::SequenceId, std::string> last_;
};

}  // namespace remote
