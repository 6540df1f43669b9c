// Door decides which requests are let in: by the name in their Host header, the web page they come from, and their key.
#pragma once

#include "app/server/http_message.h"
#include "app/server/refusal.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace server {

struct DoorOptions {
    std::vector<std::string> keys;     // a request needs one of them; empty: no key is needed
    std::vector<std::string> hosts;    // permitted names in the Host header, besides localhost and addresses
    std::vector<std::string> origins;  // of permitted web pages, besides those of this machine: "https://a.example"
    bool by_command = false;           // started on the command line, where options can permit more
};

/// Immutable: may be used from any thread.
class Door
{
public:
    explicit Door(DoorOptions options);

    /// Returns why this request is refused; empty: it is let in.
    std::optional<Refusal> refusal(const HttpRequest& request) const;
    /// Says whether a request is the one by which a browser asks whether a page may send its own.
    static bool is_preflight(const HttpRequest& request);
    /// Returns the headers that let a browser give an answer to the page that asked for it.
    std::vector<HttpHeader> headers_for(const HttpRequest& request) const;

private:
    bool knows_host(std::string_view host) const;
    bool knows_origin(std::string_view origin) const;
    bool has_key(const HttpRequest& request) const;

    DoorOptions options_;
};

/// Takes as long for a wrong key as for the right one.
bool equal_in_constant_time(std::string_view key, std::string_view given);

}  // namespace server
