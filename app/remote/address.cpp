#include "app/remote/address.h"

#include "app/net/url.h"
#include "engine/utf8_path.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace remote {

namespace {

constexpr std::size_t kLongestAddress = 2000;

std::string trimmed(std::string_view text)
{
    const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
    while (!text.empty() && is_space(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && is_space(text.back()))
        text.remove_suffix(1);
    return std::string(text);
}

bool ends_with_any_case(std::string_view text, std::string_view end)
{
    return text.size() >= end.size() &&
           std::equal(end.begin(), end.end(), text.end() - std::ptrdiff_t(end.size()), [](char a, char b) {
               return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
           });
}

/// Says whether a host can only be on this machine or a local network: a name without a dot, an address in numbers, or
/// a name with an ending that no public name has.
bool is_near(std::string_view host)
{
    if (host.starts_with('[') || host.find('.') == std::string_view::npos)
        return true;
    if (host.find_first_not_of("0123456789.") == std::string_view::npos)
        return true;
    return std::ranges::any_of(std::array{".local", ".lan", ".home", ".internal", ".localhost"},
                               [&](const char* end) { return ends_with_any_case(host, end); });
}

int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    const char upper = char(std::toupper(static_cast<unsigned char>(c)));
    return upper >= 'A' && upper <= 'F' ? upper - 'A' + 10 : -1;
}

std::string unescaped(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const int high = text[i] == '%' && i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
        const int low = high >= 0 ? digit_of(text[i + 2]) : -1;
        if (low >= 0)
            i += 2;
        out += low >= 0 ? char(high * 16 + low) : text[i];
    }
    return out;
}

}  // namespace

net::Result<std::string> read_address(std::string_view typed)
{
    using Kind = net::Failure::Kind;
    std::string url = trimmed(typed);
    if (url.empty())
        return net::fail(Kind::BadRequest, "type an address, such as 192.168.0.5:8000");
    if (url.size() > kLongestAddress)
        return net::fail(Kind::BadRequest, "this is too long for an address");
    if (url.find("://") == std::string::npos) {
        const std::size_t end = url.starts_with('[') ? url.find(']') + 1 : url.find_first_of(":/");
        url = (is_near(std::string_view(url).substr(0, end)) ? "http://" : "https://") + url;
    }
    url = url.substr(0, url.find_first_of("?#"));
    if (url.find('@') != std::string::npos)
        return net::fail(Kind::BadRequest, "an address with a name and a password in it is not used; a key goes into "
                                           "its own field");
    const auto origin = net::origin_of(url);
    if (!origin)
        return net::fail(Kind::BadRequest, "'" + url + "' is no address of the web");
    const std::size_t path = url.find('/', url.find("://") + 3);
    std::string rest = path == std::string::npos ? std::string() : url.substr(path);
    const auto cut = [&rest](std::string_view end) {
        while (rest.ends_with('/'))
            rest.pop_back();
        if (ends_with_any_case(rest, end))
            rest.resize(rest.size() - end.size());
    };
    // The address may have been copied with the API's path, from documentation or another program.
    for (const char* end : {"/chat/completions", "/completions", "/models", "/v1"})
        cut(end);
    cut("");
    const bool usual = origin->port == (origin->scheme == "https" ? "443" : "80");
    return origin->scheme + "://" + origin->host + (usual ? std::string() : ':' + origin->port) + rest;
}

std::string host_of(const std::string& url)
{
    const auto origin = net::origin_of(url);
    return origin ? origin->text() : url;
}

bool is_in_clear(const std::string& url)
{
    const auto origin = net::origin_of(url);
    return origin && origin->scheme == "http" && !origin->is_this_machine();
}

std::filesystem::path path_of(const RemoteModel& model)
{
    return engine::utf8_path(model.server + "/#" + net::escaped_value(model.model));
}

std::optional<RemoteModel> model_at(const std::filesystem::path& path)
{
    const std::string text = engine::utf8_text(path);
    const std::size_t mark = text.find("/#");
    if (mark == std::string::npos || !(text.starts_with("http://") || text.starts_with("https://")))
        return {};
    return RemoteModel{text.substr(0, mark), unescaped(std::string_view(text).substr(mark + 2))};
}

}  // namespace remote
