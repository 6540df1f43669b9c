// ServerChoice says which of several servers with the same model is asked next.
#pragma once

#include "engine/engine.h"

#include <chrono>
#include <map>
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

/// The one where the fewest wait comes first; where as many do, the one that answered this conversation last, whose KV
/// cache still knows it; then the one that answers the fewest. One that failed comes last until it has rested. One
/// thread.
class ServerChoice
{
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kRest{30};

    /// Addresses, the best first. What nobody says counts as none.
    std::vector<std::string> order(std::vector<Occupancy> servers, engine::SequenceId sequence,
                                   Clock::time_point now) const;
    /// It could not answer; `wait`: for how long it wants to be left alone.
    void failed(const std::string& url, std::chrono::seconds wait, Clock::time_point now);
    bool rests(const std::string& url, Clock::time_point now) const;
    void answered(const std::string& url, engine::SequenceId sequence);
    void end_sequence(engine::SequenceId sequence) { last_.erase(sequence); }
    /// A branch has what the first conversation has.
    void branch(engine::SequenceId from, engine::SequenceId to);

private:
    std::map<std::string, Clock::time_point> rests_until_;
    std::map<engine::SequenceId, std::string> last_;
};

}  // namespace remote
