#include "app/net/http_status.h"

#include "app/net/url.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

namespace net {

namespace {

constexpr std::size_t kLongestReason = 200;  // bytes of a server's own words in our sentence

/// Returns the reason that the server itself gives, if it is a line of text.
std::string reason_in(const HttpHead& head, std::string_view body)
{
    std::string reason(head.header("x-error-message"));
    if (reason.empty()) {
        const auto json = nlohmann::json::parse(body, nullptr, false);
        if (json.is_object() && json.contains("error") && json["error"].is_string())
            reason = json["error"].get<std::string>();
    }
    if (reason.size() > kLongestReason)
        return {};
    std::replace_if(
        reason.begin(), reason.end(), [](unsigned char c) { return c < 0x20; }, ' ');
    return reason;
}

}  // namespace

std::chrono::seconds retry_after(std::string_view value, std::chrono::system_clock::time_point now)
{
    using namespace std::chrono;
    std::int64_t number = 0;
    if (std::from_chars(value.data(), value.data() + value.size(), number).ptr == value.data() + value.size())
        return seconds(std::clamp<std::int64_t>(number, 0, 1'000'000));
    // "Wed, 21 Oct 2026 07:28:00 GMT": always in English, so it is not read with the user's locale.
    int d = 0, y = 0, h = 0, m = 0, s = 0;
    char month_name[4] = {};
    const std::string text(value);
    if (std::sscanf(text.c_str(), "%*3s, %2d %3s %4d %2d:%2d:%2d", &d, month_name, &y, &h, &m, &s) != 6)
        return seconds(0);
    const std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const std::size_t at = months.find(month_name);
    if (at == std::string_view::npos || at % 3 != 0)
        return seconds(0);
    const year_month_day date(year(y), month(unsigned(at / 3 + 1)), day(unsigned(d)));
    if (!date.ok())
        return seconds(0);
    const auto then = sys_days(date) + hours(h) + minutes(m) + seconds(s);
    return std::clamp(ceil<seconds>(then - now), seconds(0), seconds(1'000'000));
}

std::chrono::seconds rate_limit_wait(std::string_view value)
{
    std::chrono::seconds longest(0);
    while (!value.empty()) {
        std::string_view limit = value.substr(0, value.find(','));
        value.remove_prefix(std::min(limit.size() + 1, value.size()));
        std::optional<std::int64_t> left, seconds;
        while (!limit.empty()) {
            std::string_view part = limit.substr(0, limit.find(';'));
            limit.remove_prefix(std::min(part.size() + 1, limit.size()));
            part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
            std::int64_t number = 0;
            if (part.size() < 3 || part[1] != '=' ||
                std::from_chars(part.data() + 2, part.data() + part.size(), number).ec != std::errc())
                continue;
            if (part[0] == 'r')
                left = number;
            else if (part[0] == 't')
                seconds = number;
        }
        if (left == 0 && seconds)
            longest = std::max(longest, std::chrono::seconds(std::clamp<std::int64_t>(*seconds, 0, 1'000'000)));
    }
    return longest;
}

Failure failure_of(const HttpHead& head, bool with_token, std::string_view body, Asked asked)
{
    using Kind = Failure::Kind;
    const auto origin = origin_of(head.url);
    const std::string host = origin ? origin->text() : "the server";
    std::string reason = reason_in(head, body);
    if (!reason.empty())
        reason = " (\"" + reason + "\")";
    const std::string status = std::to_string(head.status);
    const std::string_view code = head.header("x-error-code");
    switch (head.status) {
    case 401:
        if (code == "GatedRepo")
            return {Kind::NoAccess,
                    host + " gives this to those only who have accepted its terms there, and who say by a token who "
                           "they are"};
        if (with_token)
            return {Kind::NeedsToken, host + " does not accept the token" + reason};
        if (code == "RepoNotFound")  // the hub's own sentence speaks of a password, which was not sent
            return {Kind::NeedsToken, host + " has no such repository, or it is closed to strangers"};
        return {Kind::NeedsToken, host + " asks for a token" +
                                      (asked == Asked::File ? ", or has no such file for strangers" : "") + reason};
    case 403:
        return {Kind::NoAccess, code == "GatedRepo"
                                    ? host + " gives this to those only who have accepted its terms there"
                                    : host + " refuses access" + reason};
    case 404:
    case 410:
        return {Kind::NotFound, code == "RepoNotFound"       ? host + " knows no such repository"
                                : code == "RevisionNotFound" ? host + " knows no such revision of the repository"
                                : asked == Asked::Page       ? host + " has nothing at this address"
                                                             : host + " has no such file"};
    case 429: {
        auto wait = retry_after(head.header("retry-after"), std::chrono::system_clock::now());
        if (wait.count() == 0)
            wait = rate_limit_wait(head.header("ratelimit"));
        return {Kind::TooManyRequests,
                host + " asks to wait, since there were too many requests" +
                    (wait.count() > 0 ? ": " + std::to_string(wait.count()) + " s" : ""),
                wait};
    }
    default:
        if (head.status >= 500 && head.status < 600)
            return {Kind::ServerError, host + " has a fault of its own (status " + status + ")",
                    retry_after(head.header("retry-after"), std::chrono::system_clock::now())};
        return {Kind::BadAnswer, host + " answers with status " + status + reason};
    }
}

}  // namespace net
