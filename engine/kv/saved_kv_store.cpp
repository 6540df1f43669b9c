#include "engine/kv/saved_kv_store.h"

#include "engine/metrics/clock.h"
#include "engine/private_folder.h"

#include <algorithm>
#include <limits>
#include <system_error>

namespace engine {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".kv";
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

std::string mib(std::int64_t bytes)
{
    return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB";
}

}  // namespace

SavedKvStore::SavedKvStore(fs::path folder, Limits limits, std::function<void()> wake,
                           std::chrono::milliseconds grace_at_the_end)
    : folder_(std::move(folder))
    , wake_(std::move(wake))
    , grace_at_the_end_(grace_at_the_end)
    , limits_(limits)
    , give_up_at_us_(kNever)
{
    set_limits(limits);
    thread_ = std::thread([this] { work(); });
}

SavedKvStore::~SavedKvStore()
{
    give_up_at_us_ = now_us() + std::chrono::microseconds(grace_at_the_end_).count();
    {
        const std::lock_guard lock(mutex_);
        quit_ = true;
    }
    given_.notify_one();
    thread_.join();
}

bool SavedKvStore::usable(std::string_view conversation)
{
    return !conversation.empty() && conversation.size() <= 64 && std::ranges::all_of(conversation, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    });
}

fs::path SavedKvStore::path_of(std::string_view conversation) const
{
    return folder_ / (std::string(conversation) + std::string(kEnding));
}

// ---- the engine's thread ----

void SavedKvStore::give(Task task)
{
    {
        const std::lock_guard lock(mutex_);
        // Room for this ticket, those before it and the one under way: noting them as done then takes no memory.
        tickets_done_.reserve(tickets_done_.size() + waiting_.size() + 2);
        waiting_.push_back(std::move(task));
    }
    given_.notify_one();
}

/// Drops a conversation's saves that have not begun; without a name those of all. Called with the lock held.
void SavedKvStore::drop_saves(std::optional<std::string_view> conversation)
{
    std::erase_if(waiting_, [&](const Task& task) {
        const auto* const job = std::get_if<SavedKvJob>(&task);
        if (!job || (conversation && job->conversation != *conversation))
            return false;
        tickets_done_.push_back(job->ticket);
        has_news_ = true;
        return true;
    });
}

void SavedKvStore::save(SavedKvJob job)
{
    {
        const std::lock_guard lock(mutex_);
        drop_saves(job.conversation);  // this save replaces them
    }
    give(std::move(job));
}

void SavedKvStore::forget(const std::string& conversation)
{
    {
        const std::lock_guard lock(mutex_);
        drop_saves(conversation);
    }
    give(Forget{conversation});
}

void SavedKvStore::keep_only(std::vector<std::string> conversations)
{
    give(KeepOnly{std::move(conversations)});
}

void SavedKvStore::set_limits(Limits limits)
{
    give(SetLimits{limits});
}

/// Call it with the lock held.
bool SavedKvStore::concerns(const std::string& conversation) const
{
    const auto same = [&](const Task& task) {
        if (const auto* const job = std::get_if<SavedKvJob>(&task))
            return job->conversation == conversation;
        if (const auto* const forget = std::get_if<Forget>(&task))
            return forget->conversation == conversation;
        const auto* const keep = std::get_if<KeepOnly>(&task);
        return !keep || std::ranges::find(keep->conversations, conversation) == keep->conversations.end();
    };
    return (under_way_ && same(*under_way_)) || std::ranges::any_of(waiting_, same);
}

/// Says whether a job's pages and states are being read. Call it with the lock held.
bool SavedKvStore::reads_bytes() const
{
    return under_way_ && std::holds_alternative<SavedKvJob>(*under_way_);
}

/// Says whether a job waits. Call it with the lock held.
bool SavedKvStore::has_saves() const
{
    return std::ranges::any_of(waiting_, [](const Task& task) { return std::holds_alternative<SavedKvJob>(task); });
}

tl::expected<SavedKvReader, SavedKvMiss> SavedKvStore::open(const std::string& conversation,
                                                            std::shared_ptr<const SavedKvFormat> format,
                                                            const std::function<bool()>& goes_on)
{
    constexpr std::chrono::milliseconds kBetweenQuestions{20};
    if (!usable(conversation))
        return tl::unexpected(SavedKvMiss::NoFile);
    {
        std::unique_lock lock(mutex_);
        while (concerns(conversation) && goes_on())
            done_.wait_for(lock, kBetweenQuestions);
        if (concerns(conversation))
            return tl::unexpected(SavedKvMiss::NoFile);
    }
    auto reader = SavedKvReader::open(path_of(conversation), std::move(format));
    std::error_code ignored;  // the file only leaves a little earlier then
    if (reader)
        fs::last_write_time(path_of(conversation), fs::file_time_type::clock::now(), ignored);
    return reader;
}

void SavedKvStore::finish(std::chrono::milliseconds grace)
{
    give_up_at_us_ = now_us() + std::chrono::microseconds(grace).count();
    {
        std::unique_lock lock(mutex_);
        // The thread may be with the disk for long, where it cannot give up those that wait.
        if (!done_.wait_for(lock, grace, [&] { return !has_saves() && !reads_bytes(); }))
            drop_saves({});
        done_.wait(lock, [&] { return !reads_bytes(); });
    }
    give_up_at_us_ = kNever;
}

std::vector<int> SavedKvStore::take_done()
{
    const std::lock_guard lock(mutex_);
    has_news_ = !events_.empty();
    std::vector<int> done = tickets_done_;  // a copy: the room in it is promised, see give()
    tickets_done_.clear();
    return done;
}

std::vector<Event> SavedKvStore::take_events()
{
    const std::lock_guard lock(mutex_);
    has_news_ = !tickets_done_.empty();
    return std::exchange(events_, {});
}

// ---- the store's thread ----

void SavedKvStore::work()
{
    for (;;) {
        Task task;
        {
            std::unique_lock lock(mutex_);
            given_.wait(lock, [&] { return quit_ || !waiting_.empty(); });
            if (waiting_.empty())
                return;
            task = std::move(waiting_.front());
            waiting_.pop_front();
            under_way_ = &task;
        }
        try {
            std::visit([this](const auto& one) { carry_out(one); }, task);
        } catch (...) {  // no memory: this time it is not done
        }
        let_go();
    }
}

/// Notes that nobody has to wait for the task under way any more, and that a job's bytes are not needed. Does that once
/// for each task; wakes the engine's thread whenever there is something to take.
void SavedKvStore::let_go()
{
    bool news = false;
    {
        const std::lock_guard lock(mutex_);
        const Task* const task = std::exchange(under_way_, nullptr);
        if (const auto* const job = task ? std::get_if<SavedKvJob>(task) : nullptr) {
            tickets_done_.push_back(job->ticket);
            has_news_ = true;
        }
        news = has_news_;
    }
    done_.notify_all();
    if (news && wake_)
        wake();
}

void SavedKvStore::wake() const
try {
    wake_();
} catch (...) {
    return;  // no memory: it is heard of at the next occasion
}

void SavedKvStore::tell(Event event)
{
    event.time_us = now_us();
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
    has_news_ = true;
}

bool SavedKvStore::given_up() const
{
    return now_us() > give_up_at_us_;
}

void SavedKvStore::stop_writing(const std::string& why)
{
    writes_ = false;
    Event event;
    event.kind = Event::Kind::Warning;
    event.ok = false;
    event.sentence = why + ": until the program starts again, conversations are not saved for opening them quickly";
    tell(std::move(event));
}

std::vector<SavedKvStore::File> SavedKvStore::files() const
{
    std::vector<File> found;
    std::error_code error;
    for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
        std::error_code no_file;
        const fs::path name = entry->path().filename();
        if (name.extension() != kEnding || !entry->is_regular_file(no_file) || entry->is_symlink(no_file))
            continue;
        const auto used = entry->last_write_time(no_file);
        const auto bytes = entry->file_size(no_file);
        if (!no_file)
            found.push_back({entry->path(), used, std::int64_t(bytes)});
    }
    return found;
}

/// Deletes files that were used longest ago until this one fits; its own older version counts for nothing.
Status SavedKvStore::make_room(const SavedKvJob& job, const fs::path& path)
{
    const auto needed = std::int64_t(job.format->replies_at(int(job.ids.size()), int(job.states.size())));
    std::vector<File> others = files();
    std::int64_t own = 0, all = needed;
    std::erase_if(others, [&](const File& file) {
        own += file.path == path ? file.bytes : 0;
        return file.path == path;
    });
    for (const File& file : others)
        all += file.bytes;
    std::ranges::sort(others, {}, &File::used);
    std::error_code error;
    for (auto oldest = others.begin(); all > limits_.most_bytes && oldest != others.end(); ++oldest) {
        fs::remove(oldest->path, error);
        all -= oldest->bytes;
    }
    const fs::space_info space = fs::space(folder_, error);
    if (!error && std::int64_t(space.available) < needed - own + limits_.free_bytes)
        return fail(Error::Code::CannotWrite, "the disk is full");
    return {};
}

Status SavedKvStore::write(const SavedKvJob& job, const fs::path& path, Event& event)
{
    auto writer = SavedKvWriter::open(path, job.format, job.ids);
    if (!writer)
        return tl::unexpected(writer.error());
    const auto layers = std::size_t(job.format->num_layers());
    while (writer->has_next()) {
        if (given_up())
            return {};  // what is there so far is whole
        const auto blocks = std::span(job.blocks).subspan(std::size_t(writer->next_page()) * layers, layers);
        if (Status ok = writer->write_page(blocks); !ok)
            return ok;
    }
    for (const SavedState& state : job.states) {
        if (given_up())
            return {};
        if (Status ok = writer->write_state(state); !ok)
            return ok;
    }
    if (Status ok = writer->finish(job.replies); !ok)
        return ok;
    event.bytes = writer->bytes_written();
    event.tokens = {0, int(job.ids.size())};
    // A disk may take minutes, and reads neither pages nor states: whoever waits for them need not wait for it. Nor
    // need a reader, and what a power cut leaves of the file is checked when it is read.
    let_go();
    return writer->sync([this] { return !given_up(); });
}

void SavedKvStore::carry_out(const SavedKvJob& job)
{
    if (!writes_ || limits_.most_bytes <= 0 || job.ids.empty() || !usable(job.conversation) || given_up())
        return;
    const fs::path path = path_of(job.conversation);
    std::error_code error;
    const auto needed = std::int64_t(job.format->replies_at(int(job.ids.size()), int(job.states.size())));
    if (needed > limits_.most_bytes) {
        fs::remove(path, error);
        Event event;
        event.sentence = "the KV of this conversation (" + mib(needed) + ") is larger than what may be saved in all (" +
                         mib(limits_.most_bytes) + ")";
        if (!std::exchange(said_too_large_, true))
            tell(std::move(event));
        return;
    }
    (void)make_private_folder(folder_);  // where it cannot be made, nothing can be written either
    Event event;
    event.kind = Event::Kind::KvSaved;
    const std::int64_t start = now_us();
    Status done = make_room(job, path);
    if (done)
        done = write(job, path, event);
    if (!done) {
        fs::remove(path, error);
        stop_writing(done.error().what);
        return;
    }
    event.duration_us = now_us() - start;
    if (event.tokens.count() > 0)
        tell(std::move(event));
}

void SavedKvStore::carry_out(const Forget& task)
{
    std::error_code ignored;
    if (usable(task.conversation))
        fs::remove(path_of(task.conversation), ignored);
}

void SavedKvStore::carry_out(const KeepOnly& task)
{
    std::vector<fs::path> kept;
    for (const std::string& conversation : task.conversations)
        if (usable(conversation))
            kept.push_back(path_of(conversation));
    std::ranges::sort(kept);
    std::error_code ignored;
    for (const File& file : files())
        if (!std::ranges::binary_search(kept, file.path))
            fs::remove(file.path, ignored);
}

void SavedKvStore::carry_out(const SetLimits& task)
{
    limits_ = task.limits;
    writes_ = true;
    said_too_large_ = false;
    std::vector<File> all = files();
    std::ranges::sort(all, std::greater{}, &File::used);
    std::int64_t bytes = 0;
    std::error_code ignored;
    for (const File& file : all)
        if ((bytes += file.bytes) > limits_.most_bytes)
            fs::remove(file.path, ignored);
}

}  // namespace engine
