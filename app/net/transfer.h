// Transfer fetches the missing bytes of one file with several threads, and hashes what is there meanwhile.
#pragma once

#include "app/net/fetch_file.h"
#include "app/net/part_file.h"
#include "app/net/part_state.h"
#include "app/net/remote_file.h"
#include "app/net/throttle.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace net {

/// Made by fetch_file(), on whose thread run() works. Its own threads end with run().
class Transfer
{
public:
    /// `state` says which bytes are there; it is kept up to date, also on the disk. `watched`: an answer whose
    /// validator is that of another version of the file fails with Changed.
    Transfer(HttpClient& client, const FileToFetch& file, const FetchLimits& limits, const RemoteFile& remote,
             bool watched, PartFile& part, PartState& state);

    /// Fetches what is missing. Returns the hash of the whole file, or why it could not be fetched.
    Result<std::string> run(const std::function<void(const FetchProgress&)>& on_progress, const std::stop_token& stop);

private:
    void fetch_ranges(const std::stop_token& stop);
    Status fetch_range(ByteRange range, const std::stop_token& stop);
    std::optional<ByteRange> take_gap();
    bool wait_after(const Failure& failure, int failures, const std::stop_token& stop);
    void hash(const std::stop_token& stop);
    void give_up(Failure failure);
    Status keep_state();

    HttpClient& client_;
    const FileToFetch& file_;
    const FetchLimits& limits_;
    const RemoteFile& remote_;
    const bool watched_;
    PartFile& part_;
    PartState& state_;  // `done` under mutex_

    Throttle throttle_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::vector<ByteRange> taken_;  // that threads are fetching
    std::optional<Failure> failure_;
    std::string note_;
    std::chrono::steady_clock::time_point again_;       // when the next try is made after the failure of note_
    std::chrono::steady_clock::time_point not_before_;  // a server has asked to wait until then
    std::int64_t hashed_bytes_ = 0;
    std::string sha256_;
    std::stop_source stop_;  // of all threads
};

}  // namespace net
