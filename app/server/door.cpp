#include "app/server/door.h"

#include <algorithm>
#include <array>

namespace server {

namespace {

/// Returns the name without a port; an IPv6 address keeps its brackets.
std::string_view name_of(std::string_view host)
{
    if (host.starts_with('['))
        return host.substr(0, host.find(']') + 1);
    return host.substr(0, host.find(':'));
}

bool is_port(std::string_view text)
{
    return text.empty() || (text.starts_with(':') && text.size() > 1 && text.size() <= 6 &&
                            std::ranges::all_of(text.substr(1), [](char c) { return c >= '0' && c <= '9'; }));
}

bool is_ipv4(std::string_view name)
{
    int numbers = 0;
    for (std::size_t from = 0; from <= name.size(); ++numbers) {
        const std::size_t dot = std::min(name.find('.', from), name.size());
        const std::string_view number = name.substr(from, dot - from);
        if (number.empty() || number.size() > 3 ||
            !std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; }))
            return false;
        from = dot + 1;
    }
    return numbers == 4;
}

bool is_ipv6(std::string_view name)
{
    return name.size() > 3 && name.starts_with('[') && name.ends_with(']') &&
           std::ranges::all_of(name.substr(1, name.size() - 2), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == ':' || c == '.';
           });
}

bool is_localhost(std::string_view name)
{
    return name == "localhost" || name.ends_with(".localhost");
}

/// Says whether a name means this machine: localhost or an address that leads here.
bool is_this_machine(std::string_view name)
{
    return is_localhost(name) || (is_ipv4(name) && name.starts_with("127.")) || name == "[::1]";
}

/// Says whether a name is one by which containers call this machine. No machine on the network has such a name: all
/// below `internal` are reserved.
bool is_host_of_containers(std::string_view name)
{
    return name == "host.docker.internal" || name == "gateway.docker.internal" || name == "host.containers.internal";
}

/// Says whether it is the origin of a program on this machine that is drawn by a browser's engine. What comes over the
/// network has no such origin.
bool is_of_program(std::string_view origin)
{
    return origin.starts_with("app://") || origin.starts_with("tauri://") || origin.starts_with("vscode-webview://") ||
           origin.starts_with("vscode-file://");
}

}  // namespace

Door::Door(DoorOptions options)
    : options_(std::move(options))
{
    for (std::string& host : options_.hosts)
        host = lower_case(host);
    for (std::string& origin : options_.origins)
        origin = lower_case(origin);
}

std::optional<Refusal> Door::refusal(const HttpRequest& request) const
{
    const std::string* host = request.header("host");
    if (host && !knows_host(*host))
        return Refusal{Refusal::Kind::Forbidden,
                       options_.by_command
                           ? "this server does not go by that name; --allow-host allows the Host of a request"
                           : "this server does not go by that name: call it 127.0.0.1 or localhost"};
    const std::string* origin = request.header("origin");
    if (origin && !knows_origin(*origin))
        return Refusal{Refusal::Kind::Forbidden,
                       options_.by_command
                           ? "web pages from there may not ask; --allow-origin allows the Origin of a request"
                           : "web pages from there may not ask, only those of this computer"};
    // These paths tell nothing about the model or its user, and need no key, so that other programs can see that the
    // server runs.
    if (request.path != "/health" && request.path != "/v1/health" && !is_preflight(request) && !has_key(request))
        return Refusal{Refusal::Kind::NoKey, "this server asks for its key, as a bearer token or in x-api-key"};
    return std::nullopt;
}

bool Door::is_preflight(const HttpRequest& request)
{
    return request.method == "OPTIONS" && request.header("origin") != nullptr;
}

std::vector<HttpHeader> Door::headers_for(const HttpRequest& request) const
{
    const std::string* origin = request.header("origin");
    if (!origin || !knows_origin(*origin))
        return {};
    std::vector<HttpHeader> headers = {{"Access-Control-Allow-Origin", *origin}, {"Vary", "Origin"}};
    if (is_preflight(request)) {
        const std::string* wanted = request.header("access-control-request-headers");
        headers.push_back({"Access-Control-Allow-Methods", "GET, POST, DELETE"});
        headers.push_back({"Access-Control-Allow-Headers", wanted ? *wanted : "authorization, content-type"});
        headers.push_back({"Access-Control-Max-Age", "600"});
    }
    return headers;
}

/// Says whether the client called this server by a permitted name. A web page's owner can let its own name lead to
/// 127.0.0.1, and its requests then use that name; they cannot do so with an address.
bool Door::knows_host(std::string_view host) const
{
    const std::string lower = lower_case(host);
    const std::string_view name = name_of(lower);
    if (!is_port(std::string_view(lower).substr(name.size())))
        return false;
    return is_localhost(name) || is_ipv4(name) || is_ipv6(name) || is_host_of_containers(name) ||
           std::ranges::find(options_.hosts, name) != options_.hosts.end();
}

bool Door::knows_origin(std::string_view origin) const
{
    const std::string lower = lower_case(origin);
    if (std::ranges::find(options_.origins, lower) != options_.origins.end() ||
        std::ranges::find(options_.origins, "*") != options_.origins.end())
        return true;
    if (is_of_program(lower))
        return true;
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!lower.starts_with(scheme))
            continue;
        const std::string_view host = std::string_view(lower).substr(scheme.size());
        const std::string_view name = name_of(host);
        return is_this_machine(name) && is_port(host.substr(name.size()));
    }
    return false;
}

bool Door::has_key(const HttpRequest& request) const
{
    if (options_.keys.empty())
        return true;
    std::array<std::string_view, 2> given;
    if (const std::string* key = request.header("x-api-key"))
        given[0] = *key;
    if (const std::string* bearer = request.header("authorization");
        bearer && lower_case(bearer->substr(0, 7)) == "bearer ")
        given[1] = std::string_view(*bearer).substr(7);
    bool known = false;
    for (const std::string& key : options_.keys)  // compares all of them, so that the time tells nothing
        for (const std::string_view one : given)
            known |= !one.empty() && equal_in_constant_time(key, one);
    return known;
}

bool equal_in_constant_time(std::string_view key, std::string_view given)
{
    unsigned difference = key.size() == given.size() ? 0 : 1;
    for (std::size_t i = 0; i < key.size(); ++i)
        difference |= unsigned(static_cast<unsigned char>(key[i])) ^
                      (i < given.size() ? static_cast<unsigned char>(given[i]) : 0u);
    return difference == 0;
}

}  // namespace server
