#include "app/remote/server_failure.h"

#include "app/net/http_status.h"
#include "app/remote/address.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace remote {

namespace {

constexpr std::size_t kLongestReason = 300;  // bytes of somebody else's words in a sentence of ours

/// Makes a server's words a part of a line: without control characters, cut to kLongestReason between characters.
std::string as_reason(std::string text)
{
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    if (text.size() > kLongestReason) {
        std::size_t end = kLongestReason;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
            --end;
        text = text.substr(0, end) + "…";
    }
    return text.find_first_not_of(' ') == std::string::npos ? std::string() : text;
}

/// Returns the reason that a server gives in the body of a refusal; servers write it in different fields.
std::string reason_in(std::string_view body)
{
    const auto json = nlohmann::json::parse(body, nullptr, false);
    if (!json.is_object())
        return {};
    for (const char* name : {"error", "detail", "message"}) {
        const auto found = json.find(name);
        if (found == json.end())
            continue;
        if (found->is_string())
            return as_reason(found->get<std::string>());
        if (found->is_object() && found->contains("message") && (*found)["message"].is_string())
            return as_reason((*found)["message"].get<std::string>());
    }
    return {};
}

constexpr const char* kTooLong = "says that the conversation is longer than its context";

/// Says whether a name in the body means that a text was too long; other servers say so in words.
bool names_length(std::string_view body)
{
    return body.find("context_length_exceeded") != std::string_view::npos ||
           body.find("exceed_context_size_error") != std::string_view::npos;
}

bool speaks_of_length(std::string_view reason)
{
    std::string lower(reason);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : char(c); });
    return std::ranges::any_of(std::array{kTooLong, "context length", "context size", "context window",
                                          "maximum context", "too long", "longer than", "max_new_tokens",
                                          "exceeds the available context"},
                               [&](const char* words) { return lower.find(words) != std::string::npos; });
}

}  // namespace

net::Failure refusal_of(const net::HttpHead& head, bool with_key, std::string_view body)
{
    using Kind = net::Failure::Kind;
    const std::string host = host_of(head.url);
    const std::string reason = reason_in(body);
    const std::string said = reason.empty() ? std::string() : " (\"" + reason + "\")";
    const auto wait = net::retry_after(head.header("retry-after"), std::chrono::system_clock::now());
    switch (head.status) {
    case 400:
    case 413:
    case 422:
        if (names_length(body))
            return {Kind::BadRequest, host + ' ' + kTooLong + said};
        return {Kind::BadRequest, host + " refuses the request" + said};
    case 401:
        return {Kind::NeedsToken, (with_key ? host + " does not accept the key" : host + " asks for a key") + said};
    case 403:
        return {Kind::NoAccess, host + " refuses access" + said};
    case 404:
    case 405:
    case 410:
        return {Kind::NotFound, host + " has nothing at this address" + said};
    case 501:  // llama-server's answer where it was not told to show its numbers
        return {Kind::NotFound, host + " does not do that" + said};
    case 429:
        return {Kind::TooManyRequests,
                host + " is asked too much and wants to be asked again later" +
                    (wait.count() > 0 ? ", in " + std::to_string(wait.count()) + " s" : "") + said,
                wait};
    case 503:
        return {Kind::ServerError, host + " has no time now, or is still starting" + said, wait};
    default:
        break;
    }
    const std::string status = std::to_string(head.status);
    if (head.status >= 500 && head.status < 600)
        return {Kind::ServerError, host + " has a fault of its own, status " + status + said, wait};
    return {Kind::BadAnswer, host + " answers with status " + status + said};
}

net::Failure key_missing(const Server& server)
{
    return {net::Failure::Kind::KeyMissing, "the key for " + host_of(server.url) + " is missing: " + server.no_key};
}

net::Failure complaint_of(const std::string& host, const std::string& message)
{
    const std::string reason = as_reason(message);
    return {net::Failure::Kind::ServerError, host + (reason.empty() ? " ended the answer without saying why"
                                                                    : " ended the answer (\"" + reason + "\")")};
}

engine::Error error_of(const net::Failure& failure, bool begun)
{
    using Kind = net::Failure::Kind;
    using Code = engine::Error::Code;
    switch (failure.kind) {
    case Kind::Cancelled:
        return {Code::Cancelled, failure.what};
    case Kind::BadRequest:
        return {speaks_of_length(failure.what) ? Code::ContextFull : Code::BadRequest, failure.what};
    case Kind::NeedsToken:
    case Kind::NoAccess:
    case Kind::KeyMissing:
    case Kind::NotFound:
    case Kind::BadCertificate:
    case Kind::TooManyRequests:
        return {Code::BadRequest, failure.what};
    default:
        break;
    }
    // Callers treat this like a lost device, which is right: nothing is lost, and the turn can be tried again.
    return {Code::DeviceLost, failure.what + (begun ? "; what had come of the answer is kept" : "")};
}

}  // namespace remote
