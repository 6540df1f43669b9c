// What leaves a device when there is no room, and what comes back when there is.
#include "engine/kv/kv_pager.h"
#include "engine/metrics/clock.h"

#include <algorithm>
#include <utility>

namespace engine {

// Also when the next turn has begun and nothing of it was computed: it may be the same conversation's.
bool KvPager::in_use(const PageFacts& facts) const
{
    return !in_use_.empty() && facts.used_at == facts_[std::size_t(in_use_.front())].used_at;
}

std::optional<PageFacts> KvPager::next_to_leave() const
{
    std::optional<PageFacts> first;
    for (const PageFacts& facts : facts_) {
        if (!may_leave(facts, in_use(facts), policy_) || cache_.owners(facts.page) == 0 || !any_on_device(facts.page))
            continue;
        if (!first || leaves_before(facts, *first))
            first = facts;
    }
    return first;
}

void KvPager::evict(const PageFacts& facts, Event::Cause cause)
{
    std::erase_if(coming_, [&](const Coming& coming) { return coming.page == facts.page; });
    Event event;
    event.kind = Event::Kind::Offload;
    event.cause = cause;
    event.time_us = now_us();
    event.tokens = {facts.number * cache_.block_tokens(), (facts.number + 1) * cache_.block_tokens()};
    event.pinned = facts.pinned;
    for (int l = 0; l < cache_.num_layers(); ++l)
        // The window of the conversation in use stays; of others everything leaves.
        if (device_.holds(facts.page, l) && (full(l) || !in_use(facts))) {
            device_.drop(facts.page, l);
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
    while (vram_.used() + bytes > vram_.high_mark()) {
        const auto facts = next_to_leave();
        if (!facts)
            return false;
        evict(*facts, cause);
    }
    return true;
}

KvPager::Columns KvPager::columns_in_use() const
{
    Columns columns;
    for (const PageId page : in_use_) {
        const PageFacts& facts = facts_[std::size_t(page)];
        const bool here = !facts.stays && any_on_device(page);
        columns.all += !facts.stays;
        columns.here += here;
        columns.pinned_here += here && facts.pinned;
    }
    return columns;
}

/// That the forced share leaves on the device.
int KvPager::most_columns(const Columns& columns) const
{
    return columns.all - columns_kept_home(columns.all, offload_share_);
}

/// The forced share of the conversation in use lies on the host.
void KvPager::enforce_share()
{
    if (offload_share_ <= 0 || policy_ == KvPolicy::Resident)
        return;
    const Columns columns = columns_in_use();
    int surplus = columns.here - most_columns(columns);
    for (const bool pinned : {false, true})
        for (const PageId page : in_use_) {
            const PageFacts facts = facts_[std::size_t(page)];
            if (surplus <= 0 || facts.stays || facts.pinned != pinned || !any_on_device(page))
                continue;
            evict(facts, Event::Cause::User);
            --surplus;
        }
}

/// Of the conversation in use what is to be on the device and is not, or not in all layers: first what always stays,
/// then what is pinned, then the newest.
std::optional<PageFacts> KvPager::next_to_come() const
{
    const auto missing = [&](PageId page) {
        return cache_.owners(page) > 0 && !cache_.damaged(page) && !all_on_device(page);
    };
    for (const PageId page : in_use_)
        if (facts_[std::size_t(page)].stays && missing(page))
            return facts_[std::size_t(page)];
    const Columns columns = columns_in_use();
    const int most = most_columns(columns);
    for (const bool pinned : {true, false})
        for (auto page = in_use_.rbegin(); page != in_use_.rend(); ++page) {
            const PageFacts& facts = facts_[std::size_t(*page)];
            if (facts.pinned != pinned || !missing(*page))
                continue;
            // Where a share is forced, a pinned column comes in the place of one that is not.
            if (!any_on_device(*page) && (pinned ? columns.pinned_here : columns.here) >= most)
                break;
            return facts;
        }
    return std::nullopt;
}

/// What windows hold at the first token of a block, when they are widest, more than they do now.
std::int64_t KvPager::windows_to_come() const
{
    const int block = std::max(0, next_position_ - 1) / cache_.block_tokens();
    std::int64_t bytes = 0;
    for (int l = 0; l < cache_.num_layers(); ++l) {
        if (!sliding(l))
            continue;
        int blocks =
            window_blocks(widest_position(block, cache_.block_tokens()), cache_.layer(l).window, cache_.block_tokens());
        for (const PageId page : in_use_)
            blocks -= device_.holds(page, l);
        bytes += blocks * std::int64_t(cache_.layer(l).bytes());
    }
    return std::max<std::int64_t>(0, bytes);
}

/// Columns leave until there is room for one that comes. One that nobody pinned drives out other conversations' alone,
/// and leaves windows what they need: else they would send it away again.
bool KvPager::find_place(const PageFacts& coming)
{
    const auto next = next_to_leave();
    const bool swaps = next && takes_place_of(coming, *next);
    std::int64_t bytes = swaps ? 0 : windows_to_come();
    for (int l = 0; l < cache_.num_layers(); ++l)
        if (full(l) && !device_.holds(coming.page, l))
            bytes += std::int64_t(cache_.layer(l).bytes());
    while (vram_.used() + bytes > vram_.high_mark()) {
        const auto facts = next_to_leave();
        if (!facts || !gives_place(*facts, in_use(*facts), swaps))
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
    coming.event.pinned = facts.pinned;
    for (int l = 0; l < cache_.num_layers(); ++l) {
        if (!full(l) || device_.holds(facts.page, l))
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
    const auto facts = next_to_come();
    return facts && find_place(*facts) && fetch_column(*facts, cause);
}

}  // namespace engine
