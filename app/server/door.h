// Door decides who may come in: by the name the client called us, the page it comes from, and its key.
#pragma once

#include "app/server/http_message.h"
#include "app/server/refusal.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace server {

struct DoorOptions {
    std::vector<std::string> keys;     // one of them is asked for; none: nobody is asked
    std::vector<std::string> hosts;    // names under which we may be called, besides localhost and addresses
    std::vector<std::string> origins;  // of web pages that may ask, besides those of this machine: "https://a.example"
    bool by_command = false;           // whoever runs it can give the options that name more of these
};

/// Immutable: may be used from any thread.
class Door
{
public:
    explicit Door(DoorOptions options);

    /// Why this request is sent away, if it is.
    std::optional<Refusal> refusal(const HttpRequest& request) const;
    /// A browser asks before it lets a page ask.
    static bool is_preflight(const HttpRequest& request);
    /// Returns what lets a browser show an answer to the page that asked for it.
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
