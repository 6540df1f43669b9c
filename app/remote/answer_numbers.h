// AnswerNumbers measures a server's answer: times that are seen here, and numbers that the server sends.
#pragma once

#include "app/remote/answer_reader.h"
#include "engine/telemetry.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace remote {

/// Times are measured on this machine, with the way to the server and back. Numbers that the server does not send stay
/// empty, and so does all about its memory. One thread; made for one answer.
class AnswerNumbers
{
public:
    using Clock = std::chrono::steady_clock;

    AnswerNumbers(int sequence, int context_tokens);

    /// Call it when a piece of text has come.
    void on_text(Clock::time_point now);
    engine::Telemetry frame(const AnswerReader& reader, engine::Phase phase) const;

private:
    int sequence_;
    int context_tokens_;
    Clock::time_point asked_ = Clock::now();
    std::optional<Clock::time_point> first_, last_;
    static constexpr std::size_t kMostGaps = 4096;
    std::vector<double> gaps_ms_;  // between pieces of text, the newest
    std::size_t next_gap_ = 0;
};

}  // namespace remote
