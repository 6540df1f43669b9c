#include "engine/kv/kv_pager.h"

#include "engine/metrics/clock.h"

#include <algorithm>
#include <utility>

namespace engine {

KvPager::KvPager(KvCache& cache, Vram& vram, DeviceKv& device, KvStream& stream)
    : cache_(cache)
    , vram_(vram)
    , device_(device)
    , stream_(stream)
    , columns_(cache, device)
    , mirrored_rows_(std::size_t(cache.page_limit()))
{
}

void KvPager::begin_turn(std::vector<TokenRange> pins)
{
    columns_.begin_turn(std::move(pins));
    said_pins_leave_ = false;
}

void KvPager::set_pins(std::span<const PageId> pages, std::span<const TokenRange> pins)
{
    columns_.set_pins(pages, pins);
    said_pins_leave_ = false;
}

void KvPager::use(std::span<const PageId> pages, int tokens)
{
    columns_.use(pages, tokens / cache_.block_tokens());
    next_position_ = tokens;
}

int KvPager::first_needed_block(int l, int first) const
{
    if (cache_.layer(l).window > 0)
        return cache_.layer(l).first_block(first);
    return policy_ == KvPolicy::Resident ? 0 : first / cache_.block_tokens();
}

/// Drops the blocks that no token of the conversation in use sees from `first` on.
void KvPager::trim_windows(int first)
{
    const std::span<const PageId> pages = columns_.pages_in_use();
    for (int l = 0; l < cache_.num_layers(); ++l)
        for (int b = columns_.sliding(l) ? std::min(cache_.layer(l).first_block(first), int(pages.size())) - 1 : -1;
             b >= 0 && device_.holds(pages[std::size_t(b)], l); --b)
            (void)drop(pages[std::size_t(b)], l);  // where it fails the page is marked as damaged
}

void KvPager::grow_ahead()
{
    std::int64_t in_a_row = 0;
    std::size_t largest = 0;
    for (int l = 0; l < cache_.num_layers(); ++l)
        if (keeps_kv(l)) {
            ++in_a_row;
            largest = std::max(largest, cache_.layer(l).bytes());
        }
    device_.grow_ahead(in_a_row * (longest_step_ / cache_.block_tokens() + 1), largest, vram_.high_mark());
}

Status KvPager::prepare(const KvSequence& sequence, int first, int count)
{
    const int tokens = cache_.block_tokens();
    const int tail = first / tokens, last = (first + count - 1) / tokens;
    note_arrivals();
    columns_.use(sequence.pages, tail);
    trim_windows(first);

    std::int64_t missing = 0;
    for (int l = 0; l < cache_.num_layers(); ++l)
        for (int b = keeps_kv(l) ? first_needed_block(l, first) : last + 1; b <= last; ++b)
            if (!device_.holds(sequence.pages[std::size_t(b)], l))
                missing += std::int64_t(cache_.layer(l).bytes());
    if (vram_.used() > mark())  // other programs have taken memory, or other uses have grown
        make_room(0, Event::Cause::OtherProgram);
    give_up_spare();
    if (missing > 0)
        make_room(missing, Event::Cause::Watermark);
    if (policy_ == KvPolicy::Resident &&
        vram_.used() + missing > growth_mark(policy_, vram_.budget(), vram_.high_mark()))
        return fail(Error::Code::ContextFull, "the memory of the device is full, and the policy 'resident' lets "
                                              "nothing leave it");

    for (int l = 0; l < cache_.num_layers(); ++l)
        for (int b = keeps_kv(l) ? first_needed_block(l, first) : last + 1; b <= last; ++b) {
            const PageId page = sequence.pages[std::size_t(b)];
            if (!device_.holds(page, l)) {
                const bool empty = b * tokens >= first;
                if (Status ok = place(page, l, empty); !ok)
                    return ok;
            }
            if (Status ok = device_.wait_arrived(page, l); !ok)
                return ok;
            // Rows that were taken back and are written again may still be on their way to the mirror.
            if (b == tail && first % tokens < mirrored_rows_[std::size_t(page)])
                if (Status ok = device_.wait_mirrored(page, l); !ok)
                    return ok;
        }
    enforce_share();
    plan_stream(sequence, first, count);
    grow_ahead();
    return {};
}

/// Gives up what is held above the watermark, but for what blocks cannot help leaving free of their slabs: where one of
/// these went, the very next blocks would need it again.
void KvPager::give_up_spare()
{
    device_.keep_within(std::min(vram_.budget(), vram_.high_mark() + device_.unfilled_bytes()));
}

std::int64_t KvPager::mark() const
{
    const std::int64_t others = vram_.used() - vram_.used(Vram::Use::Kv);
    const bool holds = full_.budget == vram_.budget() && full_.others == others;
    return holds ? std::min(vram_.high_mark(), full_.used) : vram_.high_mark();
}

/// Brings a block to the device, empty or from its mirror. Where it finds no place although there is room by the bytes
/// that are used, columns leave until it does; from now on they leave earlier.
Status KvPager::place(PageId page, int l, bool empty)
{
    for (;;) {
        Status ok = empty ? device_.take(page, l) : device_.fetch(page, l, cache_.host_block(page, l));
        if (ok || ok.error().code != Error::Code::DeviceFull)
            return ok;
        full_ = {vram_.budget(), vram_.used() - vram_.used(Vram::Use::Kv), vram_.used()};
        const auto facts = columns_.next_to_leave(policy_);
        if (!facts)
            return ok;
        evict(*facts, Event::Cause::Watermark);
    }
}

Status KvPager::prepare_on_host(const KvSequence& sequence, int first, int count)
{
    const int tokens = cache_.block_tokens();
    const int last = (first + count - 1) / tokens;
    note_arrivals();
    columns_.use(sequence.pages, first / tokens);
    trim_windows(first);
    stream_.clear();
    attended_on_host_bytes_ = 0;
    for (int b = 0; b <= last; ++b)
        for (int l = 0; l < cache_.num_layers(); ++l) {
            const PageId page = sequence.pages[std::size_t(b)];
            if (Status ok = device_.wait_mirrored(page, l); !ok)
                return ok;
            if (b >= first / tokens)
                device_.drop(page, l);
            if (b < first / tokens && b >= cache_.layer(l).first_block(first))
                attended_on_host_bytes_ += std::int64_t(cache_.layer(l).bytes());
        }
    next_position_ = first + count;
    return {};
}

/// Lists the host blocks of device layers that stream, in the order in which the step attends them.
void KvPager::plan_stream(const KvSequence& sequence, int first, int count)
{
    stream_.clear();
    attended_on_host_bytes_ = 0;
    const std::span complete(sequence.pages.data(), std::size_t(first / cache_.block_tokens()));
    for (int l = 0; l < cache_.num_layers(); ++l) {
        if (!columns_.on_device(l) || !columns_.full(cache_.source(l)))
            continue;
        const std::size_t bytes = cache_.read_bytes(l);
        const auto on_host = [&](PageId page) { return !cache_.device_block(page, l); };
        auto left = int(std::ranges::count_if(complete, on_host));
        const int streamed = blocks_to_stream(l, left, int(complete.size()) + 1, count == 1);
        for (int b = 0; left > 0; ++b) {
            const PageId page = complete[std::size_t(b)];
            if (!on_host(page))
                continue;
            if (left-- <= streamed)
                stream_.add({l, b, cache_.host_block(page, l), bytes});
            else
                attended_on_host_bytes_ += std::int64_t(bytes);
        }
    }
    stream_.start();
}

int KvPager::blocks_to_stream(int l, int on_host, int blocks, bool decode) const
{
    if (stream_.slot_count() == 0 || on_host == 0)
        return 0;
    if (!decode || policy_ == KvPolicy::Stream)  // a prefill attends on the device
        return on_host;
    return policy_ == KvPolicy::Auto && stream_choice_ ? std::clamp(stream_choice_(l, on_host, blocks), 0, on_host) : 0;
}

Status KvPager::finish(const KvSequence& sequence, int first, int count)
{
    if (!stream_.status())
        return stream_.status();
    if (Status ok = cache_.take_status(); !ok)
        return ok;
    if (Status ok = vram_.device().copy_after_compute(Device::Direction::ToHost); !ok)
        return ok;
    const int tokens = cache_.block_tokens();
    for (int b = first / tokens; b * tokens < first + count; ++b) {
        const PageId page = sequence.pages[std::size_t(b)];
        const int begin = std::max(first - b * tokens, 0), end = std::min(first + count - b * tokens, tokens);
        for (int l = 0; l < cache_.num_layers(); ++l)
            if (keeps_kv(l))
                if (Status ok = device_.mirror(page, l, cache_.host_block(page, l), begin, end); !ok)
                    return ok;
        mirrored_rows_[std::size_t(page)] = end;
    }
    next_position_ = first + count;
    return {};
}

void KvPager::evict(const PageFacts& facts, Event::Cause cause)
{
    std::erase_if(coming_, [&](const Coming& coming) { return coming.page == facts.page; });
    Event event;
    event.kind = Event::Kind::Offload;
    event.cause = cause;
    event.time_us = now_us();
    event.tokens = {facts.number * cache_.block_tokens(), (facts.number + 1) * cache_.block_tokens()};
    event.page = facts.page;
    event.pinned = facts.pinned;
    for (int l = 0; l < cache_.num_layers(); ++l)
        if (columns_.leaves(facts, l)) {
            (void)drop(facts.page, l);  // where it fails the page is marked as damaged
            ++event.blocks;
            event.bytes += std::int64_t(cache_.layer(l).bytes());
        }
    event.duration_us = now_us() - event.time_us;
    events_.push_back(event);
    if (facts.pinned && !std::exchange(said_pins_leave_, true)) {
        Event warning;
        warning.cause = cause;
        warning.time_us = event.time_us;
        warning.tokens = event.tokens;
        warning.sentence = "more is pinned than the device has room for: the oldest of it leaves, too";
        events_.push_back(std::move(warning));
    }
}

bool KvPager::make_room(std::int64_t bytes, Event::Cause cause)
{
    while (vram_.used() + bytes > mark()) {
        const auto facts = columns_.next_to_leave(policy_);
        if (!facts)
            return false;
        evict(*facts, cause);
    }
    if (bytes == 0)
        device_.keep_within(vram_.high_mark());
    return true;
}

/// Sends columns home until the forced share of the conversation in use lies on the host.
void KvPager::enforce_share()
{
    if (offload_share_ <= 0 || policy_ == KvPolicy::Resident)
        return;
    for (const PageFacts& facts : columns_.surplus(offload_share_))
        evict(facts, Event::Cause::User);
}

/// Lets columns leave until there is room for one that comes. A column that nobody pinned drives out only those of
/// other conversations, and leaves windows what they need, since they would send it away again.
bool KvPager::find_place(const PageFacts& coming)
{
    const auto next = columns_.next_to_leave(policy_);
    const bool swaps = next && takes_place_of(coming, *next);
    std::int64_t bytes = swaps ? 0 : columns_.windows_to_come(std::max(0, next_position_ - 1));
    for (int l = 0; l < cache_.num_layers(); ++l)
        if (columns_.full(l) && !device_.holds(coming.page, l))
            bytes += std::int64_t(cache_.layer(l).bytes());
    while (vram_.used() + bytes > mark()) {
        const auto facts = columns_.next_to_leave(policy_);
        if (!facts || !gives_place(*facts, columns_.in_use(*facts), swaps))
            return false;
        evict(*facts, swaps && coming.pinned ? Event::Cause::User : Event::Cause::Watermark);
    }
    return true;
}

bool KvPager::fetch_column(const PageFacts& facts, Event::Cause cause)
{
    Coming coming{facts.page, {}};
    coming.event.kind = Event::Kind::Fetch;
    coming.event.cause = facts.pinned ? Event::Cause::User : cause;
    coming.event.time_us = now_us();
    coming.event.tokens = {facts.number * cache_.block_tokens(), (facts.number + 1) * cache_.block_tokens()};
    coming.event.page = facts.page;
    coming.event.pinned = facts.pinned;
    for (int l = 0; l < cache_.num_layers(); ++l) {
        if (!columns_.full(l) || device_.holds(facts.page, l))
            continue;
        if (!device_.fetch(facts.page, l, cache_.host_block(facts.page, l)))
            return false;
        ++coming.event.blocks;
        coming.event.bytes += std::int64_t(cache_.layer(l).bytes());
    }
    coming_.push_back(coming);
    return true;
}

bool KvPager::bring_back(Event::Cause cause)
{
    if (policy_ == KvPolicy::CpuDecode)  // a prefill takes what it needs, and an answer nothing
        return false;
    trim_windows();
    give_up_spare();
    grow_ahead();
    const auto facts = columns_.next_to_come(offload_share_);
    return facts && find_place(*facts) && fetch_column(*facts, cause);
}

void KvPager::settle()
{
    for (const Coming& coming : coming_)
        for (int l = 0; l < cache_.num_layers(); ++l)
            (void)device_.wait_arrived(coming.page, l);  // a lost device is noticed by the next step
    note_arrivals();
    device_.settle_slabs();
}

void KvPager::note_arrivals()
{
    device_.note_arrivals();
    std::erase_if(coming_, [&](Coming& coming) {
        for (int l = 0; l < cache_.num_layers(); ++l)
            if (device_.residency(coming.page, l) == Residency::Moving)
                return false;
        coming.event.duration_us = now_us() - coming.event.time_us;
        events_.push_back(coming.event);
        return true;
    });
}

/// Lets columns leave until the others find room for their blocks of layer l, so that those that stay are whole: a
/// column that lies on the device in some layers only takes room and saves little. False: nothing more can leave.
bool KvPager::make_room_to_join(int l)
{
    const auto missing = [&] {
        return std::ranges::count_if(columns_.all(), [&](const PageFacts& facts) {
            return !device_.holds(facts.page, l) && columns_.any_on_device(facts.page);
        });
    };
    while (vram_.used() + missing() * std::int64_t(cache_.layer(l).bytes()) > mark()) {
        const auto facts = columns_.next_to_leave(policy_);
        if (!facts)
            return false;
        evict(*facts, Event::Cause::Split);
    }
    return true;
}

Result<int> KvPager::join(int l)
{
    int blocks = 0;
    if (!columns_.full(l))
        return blocks;
    const bool all = make_room_to_join(l);
    const auto bytes = std::int64_t(cache_.layer(l).bytes());
    for (const PageFacts& facts : columns_.all()) {
        if (device_.holds(facts.page, l) || !columns_.any_on_device(facts.page))
            continue;
        if (!all && vram_.used() + bytes > mark())
            break;
        if (const Status ok = place(facts.page, l, false); !ok)
            return tl::unexpected(ok.error());
        ++blocks;
    }
    return blocks;
}

Status KvPager::leave(int l)
{
    Status status;
    for (const PageFacts& facts : columns_.all())
        if (const Status ok = drop(facts.page, l); !ok)
            status = ok;
    return status;
}

// Drops a block from the device. Where the device failed before all had reached the host, the page is computed anew.
Status KvPager::drop(PageId page, int l)
{
    Status mirrored = device_.wait_mirrored(page, l);
    if (!mirrored)
        cache_.mark_damaged(page);
    device_.drop(page, l);
    return mirrored;
}

void KvPager::mark_lost()
{
    for (const PageFacts& facts : columns_.all())
        for (int l = 0; l < cache_.num_layers(); ++l)
            if (!device_.mirror_complete(facts.page, l))
                cache_.mark_damaged(facts.page);
}

}  // namespace engine
