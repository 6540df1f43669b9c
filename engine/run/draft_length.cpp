#include "engine/run/draft_length.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace engine {

namespace {

// The weight of the newest observation: about the last five count.
constexpr double kNewest = 0.2;
// A draft has to promise this many times as much as a step without one: a smaller gain is within the estimates' error.
constexpr double kLeastGain = 1.05;
// The most time that a step counts for, as a multiple of what it could take at most: a longer one was interrupted, by a
// machine that slept or by layers that moved.
constexpr double kInterrupted = 3;

void follow(std::optional<double>& estimate, double observed)
{
    estimate = estimate ? *estimate + kNewest * (observed - *estimate) : observed;
}

}  // namespace

/// Returns the expected tokens per microsecond with a draft of this many: there are 1 + p + p^2 + ... tokens.
double DraftLength::tokens_per_us(int drafted) const
{
    double tokens = 1.0, stands = 1.0;
    for (int i = 0; i < drafted; ++i)
        tokens += stands *= record_.acceptance;
    return tokens / (*one_us_ + drafted * *row_us_);
}

int DraftLength::best() const
{
    if (!one_us_)
        return 0;
    if (!row_us_)
        return std::min(kFirst, most_);
    int best = 0;
    double most = tokens_per_us(0) * kLeastGain;
    for (int drafted = 1; drafted <= most_; ++drafted)
        if (const double rate = tokens_per_us(drafted); rate > most) {
            most = rate;
            best = drafted;
        }
    return best;
}

double DraftLength::promised() const
{
    return one_us_ && row_us_ ? tokens_per_us(best()) : std::numeric_limits<double>::infinity();
}

int DraftLength::next() const
{
    if (depth_ == DraftDepth::Fixed)
        return most_;
    if (record_.left > 0)
        return 0;
    return record_.pause > 0 && one_us_ ? std::min(kFirst, most_) : best();
}

void DraftLength::note(int drafted, int accepted, std::optional<std::int64_t> duration_us)
{
    record_.left = std::max(0, record_.left - 1 - accepted);
    double took_us = double(duration_us.value_or(0));
    if (one_us_)  // a further row takes no longer than a step of its own
        took_us = std::min(took_us, kInterrupted * (1 + drafted) * std::max(*one_us_, 1.0));
    if (duration_us && drafted == 0)
        follow(one_us_, took_us);
    if (!row_us_ && one_us_ && record_.row_share)
        row_us_ = *record_.row_share * *one_us_;
    if (duration_us && drafted > 0 && one_us_)
        follow(row_us_, std::max(0.0, took_us - *one_us_) / drafted);
    if (drafted == 0)
        return;
    if (row_us_ && *one_us_ > 0)
        record_.row_share = *row_us_ / *one_us_;
    const int judged = std::min(drafted, accepted + 1);  // tokens behind a wrong one say nothing
    for (int i = 0; i < judged; ++i)
        record_.acceptance += kNewest * ((i < accepted ? 1.0 : 0.0) - record_.acceptance);
    record_.pause = best() == 0 ? std::clamp(2 * record_.pause, kFirstPause, kLongestPause) : 0;
    record_.left = record_.pause;
}

}  // namespace engine
