// CodeBound ends an answer that is code where it leaves its block, or has taken its time.
#pragma once

#include "app/server/clock.h"

#include <chrono>
#include <string_view>

namespace server {

class CodeBound
{
public:
    /// `least_indent`: white space at the beginning of each line but the first and empty ones; 0: none is needed.
    /// `most_time`: after it the answer ends with its line; 0: it may take any time.
    CodeBound(int least_indent, std::chrono::milliseconds most_time)
        : least_indent_(least_indent)
        , most_time_(most_time)
    {
    }

    /// Returns what of the next piece belongs to the answer. `so_far`: the time since its first piece.
    std::string_view take(std::string_view piece, Clock::duration so_far);
    bool is_over() const { return over_; }

private:
    const int least_indent_;
    const std::chrono::milliseconds most_time_;
    int indent_ = -1;  // of the line, as long as nothing else has come; -1: something has, or it is the first line
    bool over_ = false;
};

}  // namespace server
