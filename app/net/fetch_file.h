// fetch_file() fetches one file: in several ranges at a time, checked, and resumed where it was broken off.
#pragma once

#include "app/net/http_client.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace net {

struct FileToFetch {
    std::string url;
    std::string token = {};
    std::string sha256 = {};                 // empty: it is not known what it should be
    std::optional<std::int64_t> bytes = {};  // as a list of files has it
    std::filesystem::path target = {};
    std::string name = {};  // for people, where the target is called by its hash
};

struct FetchLimits {
    int connections = 4;
    std::int64_t range_bytes = 32 << 20;
    int tries = 6;                                        // of a range without a byte of progress
    std::chrono::milliseconds first_pause{1000};          // after a failure; doubled with each
    std::chrono::seconds longest_wait{300};               // that a server may ask for
    std::chrono::milliseconds between_states{2000};       // a power cut costs the bytes of this time at most
    std::int64_t spare_bytes = std::int64_t(64) << 20;    // left free on the disk
    std::function<std::int64_t()> most_bytes_per_s = {};  // of all ranges together; 0: as fast as they come
    /// Says how many bytes are free in a folder, in place of the system. For tests.
    std::function<std::optional<std::int64_t>(const std::filesystem::path&)> free_bytes = {};
};

struct FetchProgress {
    std::int64_t done_bytes = 0;
    std::int64_t total_bytes = 0;
    std::int64_t checked_bytes = 0;  // hashed
    std::string note = {};           // why it goes slowly: "huggingface.co asks to wait ..."
    std::chrono::seconds again{0};   // until the next try; 0: it does not wait for one
};

struct Fetched {
    std::filesystem::path path;
    std::int64_t bytes = 0;
    std::int64_t kept_bytes = 0;  // of these, were here before
    std::string sha256;           // as computed
    bool checked = false;         // it is the one that it should be
    bool was_there = false;       // the target existed already
};

/// Fetches the file and blocks meanwhile; progress comes on the calling thread, some ten times a second. When it fails
/// or is stopped, the part that has come stays beside the target, and the next call goes on with it, also in another
/// process. The target itself exists only when all of it is right. A target that exists is checked, not fetched again.
Result<Fetched> fetch_file(HttpClient& client, const FileToFetch& file, const FetchLimits& limits,
                           const std::function<void(const FetchProgress&)>& on_progress, const std::stop_token& stop);

/// Fails with DiskFull where the disk has no room for all that is missing of these files. They lie in one folder.
Status room_for(const std::vector<const FileToFetch*>& files, const FetchLimits& limits);

/// Removes the part of a file that is not whole yet, unless another program is fetching it.
void forget_part(const std::filesystem::path& target);

}  // namespace net
