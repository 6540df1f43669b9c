#include "engine/kv/kv_columns.h"

#include <algorithm>
#include <utility>

namespace engine {

KvColumns::KvColumns(const KvCache& cache, const DeviceKv& device)
    : cache_(cache)
    , device_(device)
    , facts_(std::size_t(cache.page_limit()))
{
    in_use_.reserve(facts_.size());
    for (int page = 0; page < cache.page_limit(); ++page)
        facts_[std::size_t(page)].page = page;
}

void KvColumns::begin_turn(std::vector<TokenRange> pins)
{
    ++turn_;
    pins_ = std::move(pins);
}

void KvColumns::end_turn(std::span<const PageId> pages)
{
    if (in_use_.empty() || pages.empty())
        return;
    const auto [own, rest] = std::ranges::mismatch(pages, in_use_);  // branches share the first ones
    // The pages in use behind all of these have been cut off since, or belong to a branch that goes on.
    const auto cut_off = [this](PageId page) { return cache_.owners(page) == 0; };
    last_is_over_ = last_is_over_ || (own == pages.end() && std::all_of(rest, in_use_.end(), cut_off));
    const std::uint64_t before = of(in_use_.front()).used_at - 1;
    std::for_each(own, pages.end(), [&](PageId page) {
        PageFacts& facts = facts_[std::size_t(page)];
        facts.used_at = std::min(facts.used_at, before);
    });
}

void KvColumns::set_pins(std::span<const PageId> pages, std::span<const TokenRange> pins)
{
    for (int b = 0; b < int(pages.size()); ++b)
        facts_[std::size_t(pages[std::size_t(b)])].pinned = has_pins(b, pins);
    if (std::ranges::equal(pages, in_use_))
        go_on(pins);
}

void KvColumns::use(std::span<const PageId> pages, int written)
{
    const bool last_is_over = std::exchange(last_is_over_, false);
    for (const PageId page : in_use_) {
        PageFacts& facts = facts_[std::size_t(page)];
        facts.stays = false;
        facts.used_at = last_is_over ? std::min(facts.used_at, turn_ - 1) : facts.used_at;
    }
    in_use_.assign(pages.begin(), pages.end());
    for (int b = 0; b < int(in_use_.size()); ++b) {
        PageFacts& facts = facts_[std::size_t(in_use_[std::size_t(b)])];
        facts.used_at = turn_;
        facts.number = b;
        facts.stays = column_stays(b, written);
        facts.pinned = has_pins(b, pins_);
    }
}

bool KvColumns::has_pins(int block, std::span<const TokenRange> pins) const
{
    const int first = block * cache_.block_tokens(), last = first + cache_.block_tokens();
    return std::ranges::any_of(pins, [&](const TokenRange& pin) { return pin.first < last && pin.last > first; });
}

// Says whether the column is of the conversation in use, also when the next turn has begun and nothing of it was
// computed: it may be the same conversation's.
bool KvColumns::in_use(const PageFacts& facts) const
{
    return !in_use_.empty() && facts.used_at == of(in_use_.front()).used_at;
}

bool KvColumns::others_in_use() const
{
    return std::ranges::any_of(facts_, [&](const PageFacts& facts) {
        return in_use(facts) && cache_.owners(facts.page) > 0 &&
               std::ranges::find(in_use_, facts.page) == in_use_.end();
    });
}

std::int64_t KvColumns::bytes() const
{
    std::int64_t bytes = 0;
    for (int l = 0; l < cache_.num_layers(); ++l)
        if (full(l))
            bytes += std::int64_t(cache_.layer(l).bytes());
    return bytes;
}

bool KvColumns::any_on_device(PageId page) const
{
    for (int l = 0; l < cache_.num_layers(); ++l)
        if (full(l) && device_.holds(page, l))
            return true;
    return false;
}

bool KvColumns::all_on_device(PageId page) const
{
    for (int l = 0; l < cache_.num_layers(); ++l)
        if (full(l) && !device_.holds(page, l))
            return false;
    return true;
}

bool KvColumns::any_leaves(const PageFacts& facts) const
{
    for (int l = 0; l < cache_.num_layers(); ++l)
        if (leaves(facts, l))
            return true;
    return false;
}

std::optional<PageFacts> KvColumns::next_to_leave(KvPolicy policy) const
{
    std::optional<PageFacts> first;
    for (const PageFacts& facts : facts_) {
        if (!may_leave(facts, in_use(facts), policy) || cache_.owners(facts.page) == 0 || !any_leaves(facts))
            continue;
        if (!first || leaves_before(facts, *first))
            first = facts;
    }
    return first;
}

KvColumns::Count KvColumns::count() const
{
    Count count;
    for (const PageId page : in_use_) {
        const PageFacts& facts = of(page);
        const bool here = !facts.stays && any_on_device(page);
        count.all += !facts.stays;
        count.here += here;
        count.pinned_here += here && facts.pinned;
    }
    return count;
}

std::vector<PageFacts> KvColumns::surplus(double offload_share) const
{
    const Count columns = count();
    const int surplus = columns.here - columns.most(offload_share);
    std::vector<PageFacts> leaving;
    for (const bool pinned : {false, true})
        for (const PageId page : in_use_) {
            if (int(leaving.size()) >= surplus)
                return leaving;
            if (const PageFacts& facts = of(page); !facts.stays && facts.pinned == pinned && any_on_device(page))
                leaving.push_back(facts);
        }
    return leaving;
}

std::optional<PageFacts> KvColumns::next_to_come(double offload_share) const
{
    const auto missing = [&](PageId page) {
        return cache_.owners(page) > 0 && !cache_.damaged(page) && !all_on_device(page);
    };
    for (const PageId page : in_use_)
        if (of(page).stays && missing(page))
            return of(page);
    const Count columns = count();
    const int most = columns.most(offload_share);
    for (const bool pinned : {true, false})
        for (auto page = in_use_.rbegin(); page != in_use_.rend(); ++page) {
            const PageFacts& facts = of(*page);
            if (facts.pinned != pinned || !missing(*page))
                continue;
            // Where a share is forced, a pinned column comes in the place of one that is not.
            if (!any_on_device(*page) && (pinned ? columns.pinned_here : columns.here) >= most)
                break;
            return facts;
        }
    return std::nullopt;
}

std::int64_t KvColumns::windows_to_come(int position) const
{
    const int tokens = cache_.block_tokens();
    std::int64_t bytes = 0;
    for (int l = 0; l < cache_.num_layers(); ++l) {
        if (!sliding(l))
            continue;
        int blocks = window_blocks(widest_position(position / tokens, tokens), cache_.layer(l).window, tokens);
        for (const PageId page : in_use_)
            blocks -= device_.holds(page, l);
        bytes += blocks * std::int64_t(cache_.layer(l).bytes());
    }
    return std::max<std::int64_t>(0, bytes);
}

}  // namespace engine
