// DraftLength decides how many tokens are worth drafting for the next step, from what drafts and steps have brought and
// cost so far.
#pragma once

#include "engine/engine.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace engine {

/// Holds what drafts have brought in a conversation until now, and how they cost: its next answer begins with that.
struct DraftRecord {
    double acceptance = 0.6;          // of a token whose predecessors stood
    std::optional<double> row_share;  // what a further row adds to a step, of a step of one row; none: not seen yet
    int pause = 0;                    // tokens; 0: the last trial paid, or there was none
    int left = 0;                     // of it
};

/// A step of one row takes some time, each drafted row adds to it, and a draft stands up to its first wrong token.
/// Where the expected tokens per time are not more than without, nothing is drafted for a while, which doubles with
/// every failure, so that trying costs little. Owned by a turn; it reads no clock.
class DraftLength
{
public:
    static constexpr int kMost = kMostRowsTogether - 1;           // with the token before them
    static constexpr int kFirst = 4;                              // of the first trial, and when it is tried again
    static constexpr int kFirstPause = 16, kLongestPause = 1024;  // tokens

    explicit DraftLength(int most, DraftDepth depth = DraftDepth::Adaptive, const DraftRecord& before = {})
        : most_(std::clamp(most, 0, kMost))
        , depth_(depth)
        , record_(before)
    {
    }
    const DraftRecord& record() const { return record_; }

    /// Returns how many tokens to draft at most for the next step; 0: drafting is not worth it now, or no step without
    /// drafts has been seen yet.
    int next() const;
    /// Tokens per microsecond that the best length promises, beside other ways to draft. Infinite: not tried yet.
    double promised() const;
    /// A step with `drafted` tokens beside its own has taken so long, until the next one could begin; of them
    /// `accepted` stood. No duration: others had rows in it, too.
    void note(int drafted, int accepted, std::optional<std::int64_t> duration_us);

private:
    double tokens_per_us(int drafted) const;
    int best() const;

    int most_;
    DraftDepth depth_;
    std::optional<double> one_us_;  // a step of one row
    std::optional<double> row_us_;  // what each further one adds
    DraftRecord record_;
};

}  // namespace engine
