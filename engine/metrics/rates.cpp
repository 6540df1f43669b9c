// Measures how fast an answer comes.
#include "engine/metrics/rates.h"

#include <algorithm>
#include <cmath>

namespace engine {
namespace {

double to_ms(std::chrono::nanoseconds time)
{
    return std::max(0.0, std::chrono::duration<double, std::milli>(time).count());
}

/// The smallest value that at least this share of all values does not exceed (nearest rank). values is reordered.
double percentile(std::vector<float>::iterator begin, std::vector<float>::iterator end, double share)
{
    const auto count = end - begin;
    const auto rank = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(count)));
    const auto wanted = begin + std::clamp<std::ptrdiff_t>(rank - 1, 0, count - 1);
    std::nth_element(begin, wanted, end);
    return *wanted;
}

}  // namespace

TurnRates::TurnRates(int window)
    : recent_ms_(static_cast<std::size_t>(std::max(1, window)))
    , sorted_ms_(recent_ms_.size())
{
}

void TurnRates::start()
{
    count_ = 0;
    total_ms_ = 0;
    prefill_tokens_ = 0;
    prefill_ms_ = 0;
}

void TurnRates::add_prefill(int tokens, std::chrono::nanoseconds time)
{
    prefill_tokens_ += tokens;
    prefill_ms_ += to_ms(time);
}

void TurnRates::add_token(std::chrono::nanoseconds time)
{
    const double ms = to_ms(time);
    recent_ms_[static_cast<std::size_t>(count_) % recent_ms_.size()] = static_cast<float>(ms);
    ++count_;
    total_ms_ += ms;
}

std::optional<TokenTimes> TurnRates::token_times() const
{
    if (count_ == 0)
        return {};
    const auto kept = std::min<std::ptrdiff_t>(count_, std::ssize(recent_ms_));
    const auto begin = sorted_ms_.begin();
    const auto end = std::copy_n(recent_ms_.begin(), kept, begin);
    return TokenTimes{total_ms_ / static_cast<double>(count_), percentile(begin, end, 0.50),
                      percentile(begin, end, 0.99)};
}

std::optional<double> TurnRates::prefill_tokens_per_s() const
{
    if (prefill_tokens_ == 0 || prefill_ms_ <= 0)
        return {};
    return 1000.0 * static_cast<double>(prefill_tokens_) / prefill_ms_;
}

std::optional<double> TurnRates::decode_tokens_per_s() const
{
    if (count_ == 0 || total_ms_ <= 0)
        return {};
    return 1000.0 * static_cast<double>(count_) / total_ms_;
}

}  // namespace engine
