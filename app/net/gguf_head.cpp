#include "app/net/gguf_head.h"

#include "engine/utf8_path.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

namespace net {

namespace {

using Kind = Failure::Kind;

constexpr std::int64_t kFirstBytes = 1 << 20;
constexpr std::int64_t kLongestHeader = 128 << 20;
constexpr std::uint64_t kMostEntries = 1 << 20;  // keys, or tensors
constexpr std::uint32_t kMostDimensions = 8;
constexpr std::uint32_t kString = 8, kArray = 9;

/// Size in bytes of each of GGUF's value types; 0 for strings and arrays, which have none of their own.
constexpr std::array<std::uint64_t, 13> kSizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

/// Goes through a header without keeping anything of it. good(): all bytes that were skipped or read were there.
class Walker
{
public:
    explicit Walker(std::span<const std::byte> bytes)
        : bytes_(bytes)
    {
    }
    template <class T>
    T number()
    {
        T value{};
        if (skip(sizeof value))
            std::memcpy(&value, bytes_.data() + at_ - sizeof value, sizeof value);
        return value;
    }
    bool skip(std::uint64_t count)
    {
        good_ = good_ && count <= bytes_.size() - at_;
        if (good_)
            at_ += std::size_t(count);
        return good_;
    }
    bool skip_string() { return skip(number<std::uint64_t>()) && good_; }
    /// Skips a value. False: its bytes have not come yet or, if bad() is true, it cannot be a value.
    bool skip_value(std::uint32_t type)
    {
        if (type == kString)
            return skip_string();
        if (type != kArray)
            return skip_numbers(type, 1);
        const auto element = number<std::uint32_t>();
        const auto count = number<std::uint64_t>();
        if (element != kString)
            return skip_numbers(element, count);
        for (std::uint64_t i = 0; i < count && good_; ++i)
            skip_string();
        return good_;
    }
    bool good() const { return good_; }
    bool bad() const { return bad_; }
    std::int64_t at() const { return std::int64_t(at_); }

private:
    bool skip_numbers(std::uint32_t type, std::uint64_t count)
    {
        if (good_ && (type >= kSizes.size() || kSizes[type] == 0 || count > std::uint64_t(kLongestHeader))) {
            bad_ = true;
            good_ = false;
        }
        return good_ && skip(count * kSizes[type]);
    }

    std::span<const std::byte> bytes_;
    std::size_t at_ = 0;
    bool good_ = true;
    bool bad_ = false;
};

/// Makes a folder that only this user can open. The destructor deletes it with its files.
class TemporaryFolder
{
public:
    TemporaryFolder()
    {
        std::error_code error;
        const auto all = std::filesystem::temp_directory_path(error);
        std::random_device random;
        for (int tries = 0; tries < 8 && !error && path_.empty(); ++tries) {
            auto path = all / ("spillway-header-" + std::to_string(random()) + std::to_string(random()));
            if (std::filesystem::create_directory(path, error)) {
                path_ = std::move(path);
                std::filesystem::permissions(path_, std::filesystem::perms::owner_all, error);
            }
        }
    }
    ~TemporaryFolder()
    {
        std::error_code error;
        if (!path_.empty())
            std::filesystem::remove_all(path_, error);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

Result<std::string> fetch_header(HttpClient& client, const RemotePart& part, const std::stop_token& stop)
{
    std::string header;
    for (std::int64_t wanted = kFirstBytes;; wanted *= 4) {
        const ByteRange range{std::int64_t(header.size()), std::min(wanted, part.bytes)};
        HttpReader reader;
        reader.on_head = [&](const HttpHead& head) -> Status {
            if (head.status != 206)  // the server gives no parts: it begins at the file's beginning
                header.clear();
            return {};
        };
        reader.on_bytes = [&](std::span<const std::byte> bytes) -> Status {
            const auto left = std::size_t(range.end) - header.size();
            header.append(reinterpret_cast<const char*>(bytes.data()), std::min(left, bytes.size()));
            return bytes.size() <= left ? Status() : fail(Kind::Cancelled, "enough");
        };
        const auto head = client.get({part.url, "header of a model file", {}, part.token, range}, reader, stop);
        if (stop.stop_requested())
            return fail(Kind::Cancelled, "stopped");
        if (!head && std::int64_t(header.size()) != range.end)
            return tl::unexpected(head.error());
        const auto bytes = header_bytes(std::as_bytes(std::span(header)));
        if (!bytes)
            return tl::unexpected(bytes.error());
        if (*bytes) {
            header.resize(std::size_t(**bytes));
            return header;
        }
        if (std::int64_t(header.size()) != range.end || range.end == part.bytes || wanted > kLongestHeader)
            return fail(Kind::BadAnswer, part.name + " ends inside its header");
    }
}

}  // namespace

Result<std::optional<std::int64_t>> header_bytes(std::span<const std::byte> beginning)
{
    Walker walker(beginning);
    const auto mark = walker.number<std::array<char, 4>>();
    const auto version = walker.number<std::uint32_t>();
    const auto tensors = walker.number<std::uint64_t>();
    const auto keys = walker.number<std::uint64_t>();
    if (!walker.good())
        return std::optional<std::int64_t>();
    if (std::string_view(mark.data(), mark.size()) != "GGUF" || version < 2 || version > 3 || tensors > kMostEntries ||
        keys > kMostEntries)
        return fail(Kind::BadAnswer, "this is no GGUF file that can be read here");
    for (std::uint64_t i = 0; i < keys && walker.good(); ++i)
        if (walker.skip_string())
            walker.skip_value(walker.number<std::uint32_t>());
    for (std::uint64_t i = 0; i < tensors && walker.good(); ++i) {
        walker.skip_string();
        const auto dimensions = walker.number<std::uint32_t>();
        if (walker.good() && dimensions > kMostDimensions)
            return fail(Kind::BadAnswer, "the file's header makes no sense");
        walker.skip(dimensions * sizeof(std::uint64_t) + sizeof(std::uint32_t) + sizeof(std::uint64_t));
    }
    if (walker.bad())
        return fail(Kind::BadAnswer, "the file's header makes no sense");
    if (!walker.good())
        return std::optional<std::int64_t>();
    return std::optional(walker.at());
}

Result<RemoteModel> inspect_remote(HttpClient& client, const std::vector<RemotePart>& parts,
                                   const std::stop_token& stop)
{
    const auto folder = std::make_shared<const TemporaryFolder>();
    if (folder->path().empty())
        return fail(Kind::CannotWrite, "there is no folder for temporary files");
    for (const RemotePart& part : parts) {
        const auto header = fetch_header(client, part, stop);
        if (!header)
            return tl::unexpected(header.error());
        const auto file = folder->path() / engine::utf8_path(part.name);
        std::ofstream out(file, std::ios::binary);
        out << *header;
        out.close();
        std::error_code error;
        std::filesystem::resize_file(file, std::uintmax_t(part.bytes), error);  // a hole, where the system has holes
        if (!out || error)
            return fail(Kind::CannotWrite, "the folder for temporary files has no room for a model's header");
    }
    const std::string& first = parts.front().name;
    const auto at = folder->path() / engine::utf8_path(first);
    auto info = engine::inspect_model(at, stop);
    if (!info)
        return fail(info.error().code == engine::Error::Code::Cancelled ? Kind::Cancelled : Kind::BadAnswer,
                    first + " cannot be used: " + info.error().what);
    info->path.clear();
    return RemoteModel{std::move(*info), at, folder};
}

}  // namespace net
