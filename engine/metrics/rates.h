// Computes how fast an answer comes: times of its tokens and the rates that follow from them.
#pragma once

#include "engine/telemetry.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace engine {

/// Times of one turn. Everything is allocated once, so that recording a token costs no allocation. One thread (the
/// engine's); one owner per turn or reused with start(). Rates of which nothing is known yet are empty, never zero.
class TurnRates
{
public:
    /// Percentiles are those of the newest `window` tokens; the mean is that of all.
    explicit TurnRates(int window = 4096);

    /// Forgets the turn before.
    void start();

    /// Counts `tokens` of the prompt, which were computed in `time`.
    void add_prefill(int tokens, std::chrono::nanoseconds time);

    /// Counts a token that came `time` after the one before. The first of a turn is not counted: its time is TTFT.
    void add_token(std::chrono::nanoseconds time);

    int tokens() const { return static_cast<int>(count_); }
    std::optional<TokenTimes> token_times() const;
    std::optional<double> prefill_tokens_per_s() const;
    std::optional<double> decode_tokens_per_s() const;

private:
    std::vector<float> recent_ms_;          // (window,) a ring
    mutable std::vector<float> sorted_ms_;  // (window,) scratch of token_times
    std::int64_t count_ = 0;
    double total_ms_ = 0;
    std::int64_t prefill_tokens_ = 0;
    double prefill_ms_ = 0;
};

}  // namespace engine
