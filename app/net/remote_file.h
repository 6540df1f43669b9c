// ask_for_file() asks a server what it says of a file before the file's bytes are fetched.
#pragma once

#include "app/net/http_client.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace net {

struct RemoteFile {
    std::int64_t bytes = 0;
    bool ranges = false;    // the server gives parts
    std::string validator;  // ETag, else Last-Modified; empty: neither
    std::string sha256;     // where the server says it, as the hub does before it redirects
};

/// Asks for the file's first byte, since servers' answers without bytes (to HEAD) are not always true.
Result<RemoteFile> ask_for_file(HttpClient& client, const std::string& url, const std::string& token,
                                const std::stop_token& stop);

/// The part of a file that an answer of status 206 holds, by its header: "bytes 0-99/1000".
struct ContentRange {
    ByteRange range;
    std::int64_t total = 0;
};
std::optional<ContentRange> content_range(std::string_view value);

/// Returns the header that tells one version of a file from another: ETag, else Last-Modified; empty: neither.
std::string validator_of(const HttpHead& head);
/// Says whether the validator may stand in If-Range: a weak ETag may not.
bool is_strong(const std::string& validator);

}  // namespace net
