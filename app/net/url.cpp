#include "app/net/url.h"

#include <algorithm>
#include <cctype>
#include <curl/curl.h>
#include <memory>

namespace net {

namespace {

using Url = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

std::string part(CURLU* url, CURLUPart which)
{
    char* text = nullptr;
    if (curl_url_get(url, which, &text, CURLU_DEFAULT_PORT) != CURLUE_OK)
        return {};
    std::string copy(text);
    curl_free(text);
    return copy;
}

std::string escaped(std::string_view text, std::string_view kept)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80 && (std::isalnum(byte) != 0 || kept.find(c) != std::string_view::npos)) {
            out += c;
        } else {
            out += '%';
            out += digits[byte >> 4];
            out += digits[byte & 15];
        }
    }
    return out;
}

}  // namespace

bool Origin::is_this_machine() const
{
    return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

std::string Origin::text() const
{
    const bool usual = port == (scheme == "https" ? "443" : "80");
    return usual ? host : host + ':' + port;
}

bool has_host(std::string_view list, std::string_view host)
{
    constexpr std::string_view between = ", \t";
    if (list == "*")
        return true;
    if (host.size() > 2 && host.front() == '[')  // the list has addresses without brackets
        host = host.substr(1, host.size() - 2);
    while (true) {
        list.remove_prefix(std::min(list.find_first_not_of(between), list.size()));
        if (list.empty())
            return false;
        std::string_view name = list.substr(0, list.find_first_of(between));
        list.remove_prefix(name.size());
        if (name.front() == '.')
            name.remove_prefix(1);
        if (name.empty() || name.size() > host.size())
            continue;
        const std::string_view end = host.substr(host.size() - name.size());
        const bool is_whole = end.size() == host.size() || host[host.size() - end.size() - 1] == '.';
        if (is_whole && std::equal(end.begin(), end.end(), name.begin(),
                                   [](char a, unsigned char b) { return a == char(std::tolower(b)); }))
            return true;
    }
}

std::optional<Origin> origin_of(const std::string& url)
{
    const Url parsed(curl_url(), curl_url_cleanup);
    // A text that is no URL is refused, also one with a space or a control character in it.
    if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK)
        return {};
    Origin origin{part(parsed.get(), CURLUPART_SCHEME), part(parsed.get(), CURLUPART_HOST),
                  part(parsed.get(), CURLUPART_PORT)};
    std::transform(origin.host.begin(), origin.host.end(), origin.host.begin(),
                   [](unsigned char c) { return char(std::tolower(c)); });
    if ((origin.scheme != "http" && origin.scheme != "https") || origin.host.empty() ||
        !part(parsed.get(), CURLUPART_USER).empty() || !part(parsed.get(), CURLUPART_PASSWORD).empty())
        return {};
    return origin;
}

std::optional<std::string> joined(const std::string& url, const std::string& location)
{
    const Url parsed(curl_url(), curl_url_cleanup);
    if (!parsed || location.empty() || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK ||
        curl_url_set(parsed.get(), CURLUPART_URL, location.c_str(), CURLU_URLENCODE) != CURLUE_OK)
        return {};
    char* text = nullptr;
    if (curl_url_get(parsed.get(), CURLUPART_URL, &text, 0) != CURLUE_OK)
        return {};
    std::string copy(text);
    curl_free(text);
    return copy;
}

std::string escaped_path(std::string_view path)
{
    return escaped(path, "-._~/");
}

std::string escaped_value(std::string_view value)
{
    return escaped(value, "-._~");
}

}  // namespace net
