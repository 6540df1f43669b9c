// HttpClient asks servers for pages and files, over http and https.
#pragma once

#include "app/net/connection_log.h"
#include "app/net/failure.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace net {

struct HttpHeader {
    std::string name;  // lower case in answers
    std::string value;
};

/// Bytes [begin, end) of a file.
struct ByteRange {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

/// The connections over which a token goes.
enum class TokenOver {
    Secure,  // https, and any connection to this machine
    Any,     // plain http, too: the user was told that others on the way can read it
};

/// Says what is asked for, for the sentence where it is refused.
enum class Asked {
    File,
    Page,  // a search, a list
};

struct HttpRequest {
    std::string url;
    std::string purpose;  // for the list of connections
    std::vector<HttpHeader> headers = {};
    /// Says who the user is. It is sent to the origin of `url` only: a redirect elsewhere is followed without it.
    std::string token = {};
    std::optional<ByteRange> range = {};
    TokenOver token_over = TokenOver::Secure;
    /// JSON that is posted; nothing: the request is a GET. It is sent to the origin of `url` only: a redirect elsewhere
    /// ends the request.
    std::optional<std::string> body = {};
    std::optional<std::chrono::milliseconds> stall = {};  // in place of the client's
    std::optional<std::chrono::milliseconds> whole = {};  // for all of one answer; empty: as long as bytes come
    bool stays_there = false;                             // a redirect to another origin ends the request
    Asked asked = Asked::File;
};

/// Holds what comes before an answer's bytes.
struct HttpHead {
    int status = 0;
    std::string url;                             // the address that answered, after redirects
    std::vector<HttpHeader> headers = {};        // of the last answer
    std::vector<HttpHeader> first_headers = {};  // of the first one; the same where nothing redirected

    /// Return a header's value; empty: there is none of this name.
    std::string_view header(std::string_view name) const;
    std::string_view first_header(std::string_view name) const;
};

struct HttpAnswer {
    HttpHead head;
    std::string body;
};

/// Takes an answer of status 200 or 206. An error that a function returns ends the request.
struct HttpReader {
    std::function<Status(const HttpHead&)> on_head = {};
    std::function<Status(std::span<const std::byte>)> on_bytes = {};
    /// Says what another status means, by the beginning of the answer's body; empty: failure_of() says it.
    std::function<Failure(const HttpHead&, std::string_view body)> on_refusal = {};
};

struct HttpLimits {
    std::chrono::milliseconds connect{15'000};
    std::chrono::milliseconds stall{30'000};  // without a byte
    std::int64_t header_bytes = 256 * 1024;   // of one answer
    int redirects = 8;
};

/// Asks servers; any thread, which each request blocks until it has been answered. Connections are kept for the next
/// request. Proxies are those of the environment, certificates those of the system. A request with any other status
/// than 200 and 206 fails with one sentence.
class HttpClient
{
public:
    explicit HttpClient(const HttpLimits& limits = {});
    ~HttpClient();
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;

    /// Sends a GET, or a POST if the request has a body, and gives `reader` the answer.
    Result<HttpHead> get(const HttpRequest& request, const HttpReader& reader, const std::stop_token& stop);
    /// Returns the whole answer; BadAnswer: it is longer than `most_bytes`. `reader` says what refusals mean.
    Result<HttpAnswer> get_text(const HttpRequest& request, std::size_t most_bytes, const std::stop_token& stop,
                                HttpReader reader = {});

    const ConnectionLog& connections() const { return log_; }

private:
    class Line;
    struct Hop;
    Result<HttpHead> follow(Line& line, const HttpRequest& request, const HttpReader& reader,
                            const std::stop_token& stop);

    HttpLimits limits_;
    ConnectionLog log_;
    std::mutex idle_mutex_;
    std::vector<std::unique_ptr<Line>> idle_;
};

}  // namespace net
