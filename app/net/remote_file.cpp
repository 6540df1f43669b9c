#include "app/net/remote_file.h"

#include "app/net/sha256.h"
#include "app/net/url.h"

#include <charconv>

namespace net {

namespace {

std::optional<std::int64_t> number(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
        return {};
    return value;
}

std::string without_quotes(std::string_view tag)
{
    if (tag.size() >= 2 && tag.front() == '"' && tag.back() == '"')
        tag = tag.substr(1, tag.size() - 2);
    return std::string(tag);
}

}  // namespace

std::optional<ContentRange> content_range(std::string_view value)
{
    const std::size_t dash = value.find('-'), slash = value.find('/');
    if (!value.starts_with("bytes ") || dash == std::string_view::npos || slash == std::string_view::npos ||
        dash > slash)
        return {};
    const auto first = number(value.substr(6, dash - 6)), last = number(value.substr(dash + 1, slash - dash - 1)),
               total = number(value.substr(slash + 1));
    if (!first || !last || !total || *first > *last || *last >= *total)
        return {};
    return ContentRange{{*first, *last + 1}, *total};
}

std::string validator_of(const HttpHead& head)
{
    const std::string_view tag = head.header("etag");
    return std::string(tag.empty() ? head.header("last-modified") : tag);
}

bool is_strong(const std::string& validator)
{
    return !validator.empty() && !validator.starts_with("W/");
}

Result<RemoteFile> ask_for_file(HttpClient& client, const std::string& url, const std::string& token,
                                const std::stop_token& stop)
{
    RemoteFile file;
    bool known = false;
    HttpReader reader;
    reader.on_head = [&](const HttpHead& head) -> Status {
        const auto part = content_range(head.header("content-range"));
        const auto whole = number(head.header("content-length"));
        file.ranges = head.status == 206;
        file.validator = validator_of(head);
        if (const std::string linked = without_quotes(head.first_header("x-linked-etag")); is_sha256(linked))
            file.sha256 = linked;
        if (file.ranges ? !part : !whole)
            return fail(Failure::Kind::BadAnswer, "the server does not say how long the file is");
        file.bytes = file.ranges ? part->total : *whole;
        known = true;
        return {};
    };
    // If the server sends the whole file, the request ends at the first bytes.
    reader.on_bytes = [&](std::span<const std::byte>) -> Status {
        return file.ranges ? Status() : fail(Failure::Kind::Cancelled, "enough");
    };
    auto head = client.get({url, "size of a file", {}, token, ByteRange{0, 1}}, reader, stop);
    if (!known)
        return head ? fail(Failure::Kind::BadAnswer, "the server's answer has no head")
                    : tl::unexpected(std::move(head.error()));
    if (stop.stop_requested())
        return fail(Failure::Kind::Cancelled, "stopped");
    if (file.bytes == 0)
        return fail(Failure::Kind::BadAnswer, "the file is empty");
    return file;
}

}  // namespace net
