#include "app/net/fetch_file.h"

#include "app/net/part_file.h"
#include "app/net/part_state.h"
#include "app/net/remote_file.h"
#include "app/net/sha256.h"
#include "app/net/transfer.h"
#include "engine/utf8_path.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <system_error>
#include <vector>

namespace net {

namespace {

using Kind = Failure::Kind;

constexpr int kAnew = 2;  // this many times a file that changes on the server is begun anew

std::string name_of(const std::filesystem::path& path)
{
    return '\'' + engine::utf8_text(path) + '\'';
}

std::string name_of(const FileToFetch& file)
{
    return file.name.empty() ? name_of(file.target.filename()) : '\'' + file.name + '\'';
}

std::string gigabytes(std::int64_t bytes)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f GB", double(bytes) / 1e9);
    return text.data();
}

std::optional<std::int64_t> free_bytes(const std::filesystem::path& folder)
{
    std::error_code error;
    const auto space = std::filesystem::space(folder, error);
    if (error)
        return {};
    return std::int64_t(std::min<std::uintmax_t>(space.available, INT64_MAX));
}

Result<std::string> hash_of(const std::filesystem::path& path, std::int64_t bytes,
                            const std::function<void(const FetchProgress&)>& on_progress, const std::stop_token& stop)
{
    std::ifstream file(path, std::ios::binary);
    std::vector<char> buffer(4 << 20);
    Sha256 sha256;
    for (std::int64_t at = 0; at < bytes;) {
        if (stop.stop_requested())
            return fail(Kind::Cancelled, "stopped");
        file.read(buffer.data(), std::streamsize(std::min<std::int64_t>(bytes - at, std::int64_t(buffer.size()))));
        if (file.gcount() <= 0)
            return fail(Kind::CannotRead, name_of(path) + " cannot be read");
        sha256.add(std::as_bytes(std::span(buffer).first(std::size_t(file.gcount()))));
        at += file.gcount();
        if (on_progress)
            on_progress({bytes, bytes, at, {}});
    }
    return sha256.hex();
}

/// Checks the file that has the target's name already. CannotWrite or WrongHash: it is another file than the one that
/// was asked for, and is left as it is.
Result<Fetched> look_at_target(const FileToFetch& file, std::int64_t bytes, const std::string& sha256,
                               const std::function<void(const FetchProgress&)>& on_progress,
                               const std::stop_token& stop)
{
    std::error_code error;
    const auto there = std::filesystem::file_size(file.target, error);
    if (error || std::int64_t(there) != bytes)
        return fail(Kind::CannotWrite,
                    name_of(file.target) + " is there already and is another file; it was left as it is");
    const auto hash = hash_of(file.target, bytes, on_progress, stop);
    if (!hash)
        return tl::unexpected(hash.error());
    if (!sha256.empty() && *hash != sha256)
        return fail(Kind::WrongHash,
                    name_of(file.target) +
                        " is there already with other bytes: it is damaged, another version, or another "
                        "model of that name; remove it, and it can be fetched");
    std::filesystem::remove(state_path(file.target), error);  // left by a fetch that was broken off at its very end
    return Fetched{file.target, bytes, bytes, *hash, !sha256.empty(), true};
}

Result<std::filesystem::path> made_folder(const FileToFetch& file)
{
    std::filesystem::path folder = file.target.has_parent_path() ? file.target.parent_path() : ".";
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        return fail(Kind::CannotWrite, "the folder " + name_of(folder) + " cannot be made");
    return folder;
}

Status look_for_room(const std::filesystem::path& folder, const FetchLimits& limits, std::int64_t bytes,
                     std::int64_t there)
{
    const auto free = limits.free_bytes ? limits.free_bytes(folder) : free_bytes(folder);
    if (const std::int64_t wanted = bytes - there + limits.spare_bytes; free && *free < wanted)
        return fail(Kind::DiskFull, "there is not enough room in " + name_of(folder) + ": it takes " +
                                        gigabytes(wanted) + " and " + gigabytes(*free) + " are free");
    return {};
}

/// Waits for `pause`, and reports each second why and how long still.
void wait_and_say(const FileToFetch& file, const Failure& failure, std::chrono::milliseconds pause,
                  const std::function<void(const FetchProgress&)>& on_progress, const std::stop_token& stop)
{
    using namespace std::chrono;
    const auto part = read_part_state(state_path(file.target));
    const auto until = steady_clock::now() + pause;
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any nothing;
    for (auto now = steady_clock::now(); now < until && !stop.stop_requested(); now = steady_clock::now()) {
        const auto left = ceil<seconds>(until - now);
        if (on_progress)
            on_progress({part ? part->done.total() : 0, file.bytes.value_or(0), 0, failure.what, left});
        // Waits until one second less is left.
        nothing.wait_until(lock, stop, until - (left - seconds(1)), [] { return false; });
    }
}

/// Asks the server about the file, and again after a failure that may pass, but not if the host cannot be reached at
/// all.
Result<RemoteFile> ask_patiently(HttpClient& client, const FileToFetch& file, const FetchLimits& limits,
                                 const std::function<void(const FetchProgress&)>& on_progress,
                                 const std::stop_token& stop)
{
    auto pause = limits.first_pause;
    for (int tries = 1;; ++tries) {
        auto remote = ask_for_file(client, file.url, file.token, stop);
        if (remote || !may_pass(remote.error().kind) || remote.error().kind == Kind::NoConnection ||
            tries >= limits.tries || remote.error().wait > limits.longest_wait)
            return remote;
        wait_and_say(file, remote.error(), std::max<std::chrono::milliseconds>(pause, remote.error().wait), on_progress,
                     stop);
        pause *= 2;
    }
}

/// Tries once to fetch the file. Goes on with the part that is there if it is of the same file.
Result<Fetched> attempt(HttpClient& client, const FileToFetch& file, const FetchLimits& limits,
                        const RemoteFile& remote, const std::string& sha256, bool watched,
                        const std::function<void(const FetchProgress&)>& on_progress, const std::stop_token& stop)
{
    const std::filesystem::path part_file = part_path(file.target);
    auto before = read_part_state(state_path(file.target));
    std::error_code error;
    const bool same = before && before->bytes == remote.bytes && before->sha256 == sha256 &&
                      // Without a known hash only the validator tells whether it is the same file.
                      (before->validator == remote.validator || !sha256.empty()) &&
                      (!remote.validator.empty() || !sha256.empty()) && remote.ranges &&
                      std::filesystem::file_size(part_file, error) == std::uintmax_t(remote.bytes) && !error;
    PartState state = same ? std::move(*before) : PartState{};
    state.bytes = remote.bytes;
    state.sha256 = sha256;
    state.validator = remote.validator;
    const auto folder = made_folder(file);
    if (!folder)
        return tl::unexpected(folder.error());
    auto part = PartFile::open(part_file);
    if (!part)
        return tl::unexpected(part.error());
    if (!same) {
        // By an old state, bytes of the new part would count as fetched; and an old part takes the room of the new one.
        std::filesystem::remove(state_path(file.target), error);
        if (Status ok = part->reserve(0); !ok)
            return tl::unexpected(ok.error());
    }
    if (Status ok = look_for_room(*folder, limits, remote.bytes, same ? remote.bytes : 0); !ok) {
        if (!same)
            std::filesystem::remove(part_file, error);
        return tl::unexpected(ok.error());
    }
    if (Status ok = part->reserve(remote.bytes); !ok) {
        if (!same)  // it would take room on the disk for nothing
            std::filesystem::remove(part_file, error);
        return tl::unexpected(ok.error());
    }

    const std::int64_t kept = state.done.total();
    const auto hash = Transfer(client, file, limits, remote, watched, *part, state).run(on_progress, stop);
    if (!hash)
        return tl::unexpected(hash.error());
    if (!sha256.empty() && *hash != sha256) {
        return fail(Kind::WrongHash, "the bytes that came for " + name_of(file) +
                                         " are not those that it should have (SHA-256 " + hash->substr(0, 12) +
                                         "… instead of " + sha256.substr(0, 12) + "…); they were thrown away");
    }
    if (std::filesystem::exists(file.target, error))
        return fail(Kind::CannotWrite, name_of(file.target) + " has come up meanwhile; it was left as it is");
    if (Status ok = part->move_to(file.target); !ok)
        return tl::unexpected(ok.error());
    std::filesystem::remove(state_path(file.target), error);
    return Fetched{file.target, remote.bytes, kept, *hash, !sha256.empty()};
}

}  // namespace

void forget_part(const std::filesystem::path& target)
{
    const std::filesystem::path part_file = part_path(target);
    std::error_code error;
    if (std::filesystem::exists(part_file, error)) {
        const auto part = PartFile::open(part_file);  // no other program can open it until it is removed
        if (!part && part.error().kind == Kind::Busy)
            return;
        std::filesystem::remove(part_file, error);
    }
    std::filesystem::remove(state_path(target), error);
}

Status room_for(const std::vector<const FileToFetch*>& files, const FetchLimits& limits)
{
    std::int64_t missing = 0;
    std::filesystem::path folder;
    for (const FileToFetch* const file : files) {
        std::error_code error;
        if (std::filesystem::exists(file->target, error))
            continue;
        // A part takes the room of its whole file from the beginning.
        const auto part = std::filesystem::file_size(part_path(file->target), error);
        missing += std::max<std::int64_t>(0, file->bytes.value_or(0) - (error ? 0 : std::int64_t(part)));
        folder = file->target.parent_path();
    }
    std::error_code error;
    while (folder.has_relative_path() && !std::filesystem::exists(folder, error))  // it is made later
        folder = folder.parent_path();
    return missing > 0 ? look_for_room(folder.empty() ? "." : folder, limits, missing, 0) : Status();
}

Result<Fetched> fetch_file(HttpClient& client, const FileToFetch& file, const FetchLimits& limits,
                           const std::function<void(const FetchProgress&)>& on_progress, const std::stop_token& stop)
{
    if (!file.sha256.empty() && !is_sha256(file.sha256))
        return fail(Kind::BadAnswer, "the list of files has no hash where one should be");
    for (int anew = 0;; ++anew) {
        std::error_code error;
        if (std::filesystem::exists(file.target, error) && file.bytes && !file.sha256.empty())
            return look_at_target(file, *file.bytes, file.sha256, on_progress, stop);
        const auto remote = ask_patiently(client, file, limits, on_progress, stop);
        if (!remote)
            return tl::unexpected(remote.error());
        if (file.bytes && *file.bytes != remote->bytes)
            return fail(Kind::Changed, "the server has " + std::to_string(remote->bytes) + " bytes of " +
                                           name_of(file) + ", and its list of files says " +
                                           std::to_string(*file.bytes));
        const std::string& sha256 = file.sha256.empty() ? remote->sha256 : file.sha256;
        if (std::filesystem::exists(file.target, error))
            return look_at_target(file, remote->bytes, sha256, on_progress, stop);
        // Some servers give one file several validators. If there is a hash to check the file in the end, the
        // validators are ignored at the second try.
        const bool watched = anew == 0 || sha256.empty();
        auto fetched = attempt(client, file, limits, *remote, sha256, watched, on_progress, stop);
        if (fetched)
            return fetched;
        const bool changed = fetched.error().kind == Kind::Changed;
        if (changed || fetched.error().kind == Kind::WrongHash)
            forget_part(file.target);
        if (!changed || anew == kAnew)
            return fetched;
    }
}

}  // namespace net
