#include "engine/sampling/stop_strings.h"

#include <algorithm>

namespace engine {

StopStrings::StopStrings(const std::vector<std::string>& strings)
{
    for (const std::string& string : strings)
        if (!string.empty())
            matchers_.push_back(make_matcher(string));
}

StopStrings::Matcher StopStrings::make_matcher(const std::string& string)
{
    Matcher matcher{.string = string, .fallback = std::vector<std::size_t>(string.size(), 0)};
    for (std::size_t i = 1, length = 0; i < string.size(); ++i) {
        while (length > 0 && string[i] != string[length])
            length = matcher.fallback[length - 1];
        if (string[i] == string[length])
            ++length;
        matcher.fallback[i] = length;
    }
    return matcher;
}

void StopStrings::step(Matcher& matcher, char c)
{
    if (matcher.matched == matcher.string.size())
        matcher.matched = matcher.fallback[matcher.matched - 1];
    while (matcher.matched > 0 && matcher.string[matcher.matched] != c)
        matcher.matched = matcher.fallback[matcher.matched - 1];
    if (matcher.string[matcher.matched] == c)
        ++matcher.matched;
}

/// Moves every matcher on by one byte; returns the place in held_ before which nothing can match any more.
std::size_t StopStrings::take(char c)
{
    held_ += c;
    std::size_t sure = held_.size();
    for (Matcher& matcher : matchers_) {
        step(matcher, c);
        const std::size_t start = held_.size() - matcher.matched;
        if (matcher.matched < matcher.string.size()) {
            sure = std::min(sure, start);
        } else if (!match_at_ || start < *match_at_) {
            match_at_ = start;
            found_ = std::size_t(&matcher - matchers_.data());
        }
    }
    stopped_ = match_at_ && sure >= *match_at_;
    return match_at_ ? std::min(sure, *match_at_) : sure;
}

/// Releases the first bytes of held_. A match further on moves with what stays.
StopStrings::Released StopStrings::release(std::size_t count)
{
    released_.assign(held_, 0, count);
    held_.erase(0, count);
    if (match_at_)
        *match_at_ -= count;
    return {released_, stopped_};
}

StopStrings::Released StopStrings::feed(std::string_view text)
{
    if (matchers_.empty())
        return {text, false};
    if (stopped_)
        return {{}, true};
    std::size_t sure = 0;
    for (const char c : text) {
        sure = take(c);
        if (stopped_)
            break;
    }
    return release(sure);
}

StopStrings::Released StopStrings::finish()
{
    if (stopped_)
        return {{}, true};
    stopped_ = match_at_.has_value();
    return release(match_at_.value_or(held_.size()));
}

}  // namespace engine
