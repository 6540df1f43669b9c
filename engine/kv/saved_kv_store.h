// SavedKvStore keeps the folder of saved KV, one file for each conversation. When it grows too large, files that were
// used longest ago are deleted.
#pragma once

#include "engine/kv/saved_kv_file.h"
#include "engine/telemetry.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

namespace engine {

/// Holds what is to be written. The bytes belong to the caller, and stay as they are until take_done() names the
/// ticket: they have been written then, but may not be on the disk yet.
struct SavedKvJob {
    std::string conversation;
    std::shared_ptr<const SavedKvFormat> format;
    std::vector<int> ids;
    std::vector<const std::byte*> blocks;  // (pages, layers) each of the first KV head
    std::vector<SavedState> states;        // of recurrent layers, of fewer tokens first
    SavedReplies replies;
    int ticket = 0;
};

/// Writes on a thread of its own, in the order in which it was asked. Used by the engine's thread.
class SavedKvStore
{
public:
    struct Limits {
        std::int64_t most_bytes = 0;  // of all files; 0: nothing is kept
        // Left free on the disk for what matters more.
        std::int64_t free_bytes = std::int64_t(256) << 20;
    };

    /// `wake` is called on the store's thread when there is something to take. Nothing is made before there is
    /// something to write. Throws std::system_error where the system gives no more threads.
    SavedKvStore(std::filesystem::path folder, Limits limits, std::function<void()> wake,
                 std::chrono::milliseconds grace_at_the_end = std::chrono::seconds(3));
    /// Does what was asked for, but for pages that would take longer than the grace.
    ~SavedKvStore();
    SavedKvStore(const SavedKvStore&) = delete;
    SavedKvStore& operator=(const SavedKvStore&) = delete;

    /// Says whether a file may have this name: not one that could lead out of the folder, or that no system takes.
    static bool usable(std::string_view conversation);
    const std::filesystem::path& folder() const { return folder_; }

    void save(SavedKvJob job);
    void forget(const std::string& conversation);
    void keep_only(std::vector<std::string> conversations);
    void set_limits(Limits limits);

    /// Opens the file after all that was asked for this conversation before has been done, though what was written may
    /// not be on the disk yet; `goes_on` false ends the wait.
    tl::expected<SavedKvReader, SavedKvMiss> open(const std::string& conversation,
                                                  std::shared_ptr<const SavedKvFormat> format,
                                                  const std::function<bool()>& goes_on);

    /// Waits until no job is left and no job's bytes are read any more, but for no disk; what takes longer than `grace`
    /// is given up.
    void finish(std::chrono::milliseconds grace);

    /// Says whether take_done() or take_events() has something. Costs next to nothing.
    bool has_news() const { return has_news_.load(std::memory_order_acquire); }
    std::vector<int> take_done();
    std::vector<Event> take_events();

private:
    struct Forget {
        std::string conversation;
    };
    struct KeepOnly {
        std::vector<std::string> conversations;
    };
    struct SetLimits {
        Limits limits;
    };
    using Task = std::variant<SavedKvJob, Forget, KeepOnly, SetLimits>;
    struct File {
        std::filesystem::path path;
        std::filesystem::file_time_type used;
        std::int64_t bytes = 0;
    };

    void give(Task task);
    void drop_saves(std::optional<std::string_view> conversation);
    bool concerns(const std::string& conversation) const;
    bool reads_bytes() const;
    bool has_saves() const;
    void work();
    void let_go();
    void carry_out(const SavedKvJob& job);
    void carry_out(const Forget& task);
    void carry_out(const KeepOnly& task);
    void carry_out(const SetLimits& task);
    Status make_room(const SavedKvJob& job, const std::filesystem::path& path);
    Status write(const SavedKvJob& job, const std::filesystem::path& path, Event& event);
    bool given_up() const;
    void stop_writing(const std::string& why);
    void wake() const;
    void tell(Event event);
    std::filesystem::path path_of(std::string_view conversation) const;
    std::vector<File> files() const;

    const std::filesystem::path folder_;
    const std::function<void()> wake_;
    const std::chrono::milliseconds grace_at_the_end_;

    // The store's thread only.
    Limits limits_;
    bool writes_ = true;  // until the disk refuses
    bool said_too_large_ = false;

    std::mutex mutex_;
    std::condition_variable given_, done_;
    std::deque<Task> waiting_;
    const Task* under_way_ = nullptr;  // on the thread's stack; none while only the disk is waited for
    bool quit_ = false;
    std::vector<int> tickets_done_;
    std::vector<Event> events_;
    std::atomic<bool> has_news_ = false;
    std::atomic<std::int64_t> give_up_at_us_;
    std::thread thread_;
};

}  // namespace engine
