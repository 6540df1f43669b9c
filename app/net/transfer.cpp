#include "app/net/transfer.h"

#include "app/net/sha256.h"

#include <algorithm>
#include <array>
#include <new>

namespace net {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kBetweenReports = std::chrono::milliseconds(100);
constexpr std::size_t kHashedAtOnce = 1 << 20;

/// Stops the threads at the end of run(), also if an exception leaves it.
struct StopAtEnd {
    std::stop_source& stop;
    std::condition_variable_any& changed;
    ~StopAtEnd()
    {
        stop.request_stop();
        changed.notify_all();
    }
};

}  // namespace

Transfer::Transfer(HttpClient& client, const FileToFetch& file, const FetchLimits& limits, const RemoteFile& remote,
                   bool watched, PartFile& part, PartState& state)
    : client_(client)
    , file_(file)
    , limits_(limits)
    , remote_(remote)
    , watched_(watched)
    , part_(part)
    , state_(state)
    , throttle_(limits.most_bytes_per_s)
{
}

Result<std::string> Transfer::run(const std::function<void(const FetchProgress&)>& on_progress,
                                  const std::stop_token& stop)
{
    const std::stop_callback pass_on(stop, [this] {
        stop_.request_stop();
        changed_.notify_all();
    });
    {
        std::vector<std::jthread> threads;
        const int ranges = remote_.ranges ? std::max(1, limits_.connections) : 1;
        for (int i = 0; i < ranges; ++i)
            threads.emplace_back([this] { fetch_ranges(stop_.get_token()); });
        threads.emplace_back([this] { hash(stop_.get_token()); });
        const StopAtEnd stop_at_end{stop_, changed_};

        auto kept = Clock::now();
        std::int64_t kept_bytes = state_.done.total();
        std::unique_lock lock(mutex_);
        while (!failure_ && sha256_.empty() && !stop_.stop_requested()) {
            // Each piece that comes wakes this thread, too; whoever listens could not keep up with reports of them all.
            changed_.wait_for(lock, stop_.get_token(), kBetweenReports,
                              [this] { return failure_.has_value() || !sha256_.empty(); });
            const auto again = note_.empty() ? Clock::duration() : again_ - Clock::now();
            const FetchProgress progress{
                state_.done.total(), state_.bytes, hashed_bytes_, note_,
                std::max(std::chrono::ceil<std::chrono::seconds>(again), std::chrono::seconds(0))};
            lock.unlock();
            if (on_progress)
                on_progress(progress);
            if (progress.done_bytes != kept_bytes && Clock::now() - kept >= limits_.between_states) {
                if (Status ok = keep_state(); !ok)
                    give_up(ok.error());
                kept = Clock::now();
                kept_bytes = progress.done_bytes;
            }
            lock.lock();
        }
    }
    if (sha256_.empty())
        if (Status ok = keep_state(); !ok && !failure_)
            failure_ = ok.error();
    if (stop.stop_requested())
        return fail(Failure::Kind::Cancelled, "stopped");
    if (failure_)
        return tl::unexpected(*failure_);
    return sha256_;
}

/// Writes the state, after the bytes that it names have been written to the disk.
Status Transfer::keep_state()
{
    PartState now;
    {
        const std::lock_guard lock(mutex_);
        now = state_;
    }
    if (Status ok = part_.sync(); !ok)
        return ok;
    return write_part_state(state_path(file_.target), now);
}

void Transfer::give_up(Failure failure)
{
    {
        const std::lock_guard lock(mutex_);
        if (!failure_ && !stop_.stop_requested())
            failure_ = std::move(failure);
    }
    stop_.request_stop();
    changed_.notify_all();
}

std::optional<ByteRange> Transfer::take_gap()
{
    const std::lock_guard lock(mutex_);
    // Ranges that other threads are fetching count as there.
    ByteRanges spoken_for = state_.done;
    for (const ByteRange& r : taken_)
        spoken_for.add(r);
    const std::int64_t most = remote_.ranges ? std::max<std::int64_t>(1, limits_.range_bytes) : state_.bytes;
    const auto gap = spoken_for.first_gap(0, state_.bytes, most);
    if (gap)
        taken_.push_back(*gap);
    return gap;
}

void Transfer::fetch_ranges(const std::stop_token& stop)
try {
    while (const auto gap = take_gap()) {
        ByteRange left = *gap;
        for (int failures = 0; left.begin < left.end && !stop.stop_requested();) {
            const Status fetched = fetch_range(left, stop);
            const std::int64_t before = left.begin;
            {
                const std::lock_guard lock(mutex_);
                const auto rest = state_.done.first_gap(left.begin, left.end, left.end - left.begin);
                left.begin = rest ? rest->begin : left.end;
                if (!remote_.ranges && rest) {  // the server gives it only from its beginning
                    state_.done = {};
                    left.begin = 0;
                }
            }
            if (fetched)
                continue;
            failures = left.begin > before ? 1 : failures + 1;
            if (!may_pass(fetched.error().kind) || failures >= limits_.tries ||
                !wait_after(fetched.error(), failures, stop)) {
                give_up(fetched.error());
                return;
            }
        }
        const std::lock_guard lock(mutex_);
        std::erase_if(taken_, [&](const ByteRange& r) { return r.end == gap->end; });
        if (stop.stop_requested())
            return;
    }
} catch (const std::bad_alloc&) {
    give_up({Failure::Kind::BadRequest, "there is not enough memory to fetch the file"});
}

/// Waits after a failure, the longer the more there were. False: the server asks to wait too long, or it was stopped.
bool Transfer::wait_after(const Failure& failure, int failures, const std::stop_token& stop)
{
    if (failure.wait > limits_.longest_wait)
        return false;
    std::unique_lock lock(mutex_);
    const auto pause = std::max<Clock::duration>(limits_.first_pause * (1 << std::min(failures - 1, 5)), failure.wait);
    auto until = Clock::now() + pause;
    if (failure.kind == Failure::Kind::TooManyRequests)  // holds for all threads
        until = not_before_ = std::max(not_before_, until);
    note_ = failure.what;
    again_ = until;
    changed_.wait_until(lock, stop, until, [] { return false; });
    note_.clear();
    return !stop.stop_requested();
}

Status Transfer::fetch_range(ByteRange range, const std::stop_token& stop)
{
    using Kind = Failure::Kind;
    {
        std::unique_lock lock(mutex_);
        changed_.wait_until(lock, stop, not_before_, [this] { return Clock::now() >= not_before_; });
    }
    const bool whole = range.begin == 0 && range.end == state_.bytes;
    HttpRequest request{file_.url, "model file", {}, file_.token, {}};
    if (!whole || remote_.ranges)
        request.range = range;
    if (watched_ && is_strong(remote_.validator) && request.range)
        request.headers.push_back({"If-Range", remote_.validator});

    std::int64_t at = range.begin;
    HttpReader reader;
    reader.on_head = [&](const HttpHead& head) -> Status {
        const std::string validator = validator_of(head);
        if (watched_ && !validator.empty() && !remote_.validator.empty() && validator != remote_.validator)
            return fail(Kind::Changed, "the file has changed on the server while it was being fetched");
        if (!request.range)
            return {};
        if (head.status != 206)
            return fail(Kind::Changed, "the server gives no more parts of the file: it has changed, or the server has");
        const auto part = content_range(head.header("content-range"));
        if (!part || part->range.begin != range.begin || part->range.end > range.end)
            return fail(Kind::BadAnswer, "the server gives other bytes than those that it was asked for");
        if (part->total != state_.bytes)
            return fail(Kind::Changed, "the file has changed on the server: it has another size now");
        return {};
    };
    reader.on_bytes = [&](std::span<const std::byte> bytes) -> Status {
        if (std::int64_t(bytes.size()) > range.end - at)
            return fail(Kind::BadAnswer, "the server gives more bytes than it was asked for");
        if (Status ok = part_.write(at, bytes); !ok)
            return ok;
        {
            const std::lock_guard lock(mutex_);
            state_.done.add({at, at + std::int64_t(bytes.size())});
        }
        changed_.notify_all();
        at += std::int64_t(bytes.size());
        throttle_.wait_for(std::int64_t(bytes.size()), stop);
        return {};
    };
    const auto head = client_.get(request, reader, stop);
    if (!head)
        return tl::unexpected(head.error());
    if (at < range.end)
        return fail(Kind::Interrupted, "the server ended before all bytes were there");
    return {};
}

/// Hashes the file from its beginning, as its bytes come. They are read back from the file, mostly from the system's
/// cache, since they were written just now.
void Transfer::hash(const std::stop_token& stop)
try {
    Sha256 sha256;
    std::vector<std::byte> buffer(kHashedAtOnce);
    std::int64_t at = 0;
    while (at < state_.bytes) {
        std::int64_t there = 0;
        {
            std::unique_lock lock(mutex_);
            // Waits for a larger piece, not for every few bytes.
            const auto enough = [&] {
                there = state_.done.prefix();
                if (!remote_.ranges)  // it may begin anew, with other bytes
                    return there == state_.bytes;
                return there - at >= std::int64_t(kHashedAtOnce) || (there == state_.bytes && there > at);
            };
            if (!changed_.wait(lock, stop, enough))
                return;
        }
        if (stop.stop_requested())
            return;
        const auto bytes = std::span(buffer).first(std::size_t(std::min<std::int64_t>(there - at, kHashedAtOnce)));
        if (Status ok = part_.read(at, bytes); !ok)
            return give_up(ok.error());
        sha256.add(bytes);
        at += std::int64_t(bytes.size());
        const std::lock_guard lock(mutex_);
        hashed_bytes_ = at;
    }
    const std::lock_guard lock(mutex_);
    sha256_ = sha256.hex();
    changed_.notify_all();
} catch (const std::bad_alloc&) {
    give_up({Failure::Kind::BadRequest, "there is not enough memory to check the file"});
}

}  // namespace net
