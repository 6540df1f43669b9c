// Reads and joins addresses of the web.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace net {

/// Says to which server a token belongs: another scheme, host or port is another server.
struct Origin {
    std::string scheme;  // "http" or "https"
    std::string host;    // lower case
    std::string port;

    bool operator==(const Origin&) const = default;
    bool is_this_machine() const;
    /// Returns the address as people write it; with the port only where it is not the usual one.
    std::string text() const;
};

/// Says whether a list such as NO_PROXY has the host, lower case, or a domain that it belongs to. Ranges of addresses
/// in the list (10.0.0.0/8) are not read.
bool has_host(std::string_view list, std::string_view host);

/// Returns the origin. Nothing: it is no address, or none of http and https, or one with a user's name or password in
/// it.
std::optional<Origin> origin_of(const std::string& url);

/// Returns where `location` leads from `url`; nothing where that is no address.
std::optional<std::string> joined(const std::string& url, const std::string& location);

/// Returns a file's path with each byte but letters, digits and "-._~/" escaped.
std::string escaped_path(std::string_view path);
/// Does the same with the slash escaped, too: one value of a query.
std::string escaped_value(std::string_view value);

}  // namespace net
