// DraftLength decides how many tokens are worth drafting for the next step, from what drafts and steps have brought and
// cost so far.
#pragma once

#include "engine/engine.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace engine {

/// Holds what drafts have brought and cost in a conversation until now: its next answer begins with that.
struct DraftRecord {
    double acceptance = 0.6;          // the share of drafted tokens that were accepted where all before them were
    std::optional<double> row_share;  // time that a further row adds, in steps of one row; none: not measured yet
    int pause = 0;                    // tokens; 0: the last trial paid, or there was none
    int left = 0;                     // tokens that are left of the pause
};

/// A step of one row takes some time, each drafted row adds to it, and a draft is accepted up to its first wrong token.
/// Where drafting does not promise more tokens per time than a step without, nothing is drafted for a pause, which
/// doubles with every failure, so that trying costs little. Owned by a turn; it reads no clock.
class DraftLength
{
public:
    static constexpr int kMost = kMostRowsTogether - 1;           // with the token before them
    static constexpr int kFirst = 4;                              // tokens of the first trial, and after a pause
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
    /// Returns the tokens per microsecond that the best length promises, to compare ways to draft. Infinite: not tried
    /// yet.
    double promised() const;
    /// Notes a step with `drafted` tokens beside its own, of which `accepted` were accepted, and its duration until the
    /// next step could begin. No duration: other turns had rows in it.
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
