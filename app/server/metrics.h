// Metrics counts what the server does and writes it in Prometheus' text format.
#pragma once

#include "app/server/ask.h"
#include "engine/telemetry.h"

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace server {

/// Counts how many of the measured times were at most this many seconds.
class SecondsHistogram
{
public:
    static constexpr std::array kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,  0.25,
                                           0.5,   1.0,    2.5,   5.0,  10.0,  30.0, 60.0, 300.0};

    void add(double seconds);
    std::string text(const char* name, const char* help) const;

private:
    std::array<std::int64_t, kBounds.size() + 1> counts_{};
    double sum_ = 0;
};

/// May be used from any thread.
class Metrics
{
public:
    void add_request(const std::string& path, int status);
    void add_turn(const Ended& ended);
    void add_cancelled();
    void add_first_token(double seconds);
    void add_token_gap(double seconds);
    void add_event(const engine::Event& event);
    void set_telemetry(const engine::Telemetry& frame);
    void forget_telemetry();  // call it when the model is closed
    std::optional<engine::Telemetry> telemetry() const;

    /// Returns the page; the queue's owner passes its numbers of turns.
    std::string text(int running, int waiting) const;

private:
    mutable std::mutex mutex_;
    std::map<std::pair<std::string, int>, std::int64_t> requests_;
    std::int64_t turns_ = 0, cancelled_ = 0;
    std::int64_t prompt_tokens_ = 0, cached_tokens_ = 0, answer_tokens_ = 0, drafted_ = 0, accepted_ = 0;
    std::array<std::int64_t, 6>
        moves_{};  // offloads, fetches, layer moves, devices lost, experts moved, changes by auto
    std::array<std::int64_t, 6> moved_bytes_{};
    SecondsHistogram first_token_, token_gap_, queue_time_;
    std::optional<engine::Telemetry> telemetry_;
};

}  // namespace server
