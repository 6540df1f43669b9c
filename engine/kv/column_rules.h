// Says which block columns of a conversation stay on a device, which leave first, how many a forced share sends home
// and what room one needs that comes back: pure functions, the same for KvPager and for the planner.
#pragma once

#include "engine/kv/kv_shape.h"
#include "engine/kv/page_pool.h"
#include "engine/placement_options.h"

#include <cmath>
#include <cstdint>
#include <tuple>

namespace engine {

struct PageFacts {
    PageId page = -1;
    bool pinned = false;        // asked for by the user: leaves only when nothing else can
    bool stays = false;         // first or last block of the conversation in use: never leaves
    std::uint64_t used_at = 0;  // turn in which a conversation last used it; higher is later
    int number = 0;             // block number in that conversation
};

/// Columns that never leave: the first one and the one that is being written.
inline constexpr int kStayingColumns = 2;

/// Says whether column `number` stays where the step begins to write in column `written`.
constexpr bool column_stays(int number, int written)
{
    return number == 0 || number >= written;
}

/// Says whether `a` leaves before `b`: pinned ones last; else what was used longest ago, then the oldest tokens.
inline bool leaves_before(const PageFacts& a, const PageFacts& b)
{
    return std::tuple(a.pinned, a.used_at, a.number, a.page) < std::tuple(b.pinned, b.used_at, b.number, b.page);
}

/// Says whether a column may leave the device. `in_use`: it belongs to the conversation that was used last.
constexpr bool may_leave(const PageFacts& facts, bool in_use, KvPolicy policy)
{
    return !facts.stays && !(in_use && policy == KvPolicy::Resident);
}

/// Returns the bytes up to which KV may grow before a column leaves or, under `resident`, the conversation stops.
constexpr std::int64_t growth_mark(KvPolicy policy, std::int64_t budget, std::int64_t high_mark)
{
    return policy == KvPolicy::Resident ? budget : high_mark;
}

/// Returns how many of `movable` columns a forced share keeps on the host: rounded up, but for the error of the
/// product.
inline int columns_kept_home(int movable, double offload_share)
{
    return int(std::ceil(offload_share * movable - 1e-9));
}

/// Counts the blocks of a layer with a window that lie on the device when the token at `position` is computed by
/// itself.
constexpr int window_blocks(int position, int window, int block_tokens)
{
    return position / block_tokens - first_block_seen(position, window, block_tokens) + 1;
}

/// Returns the token of this block at which windows touch the most blocks: its first. A column that comes back leaves
/// them so much room; else they would send it away again.
constexpr int widest_position(int block, int block_tokens)
{
    return block * block_tokens;
}

/// Says whether a coming column drives out others of its own conversation: one that stays or is pinned, while `next`,
/// the first to leave, is not pinned.
constexpr bool takes_place_of(const PageFacts& coming, const PageFacts& next)
{
    return (coming.pinned || coming.stays) && !next.pinned;
}

/// Says whether a column leaves for one that comes. `in_use`: it is of the same conversation; `swaps`: see
/// takes_place_of().
constexpr bool gives_place(const PageFacts& leaving, bool in_use, bool swaps)
{
    return !leaving.pinned && (swaps || !in_use);
}

}  // namespace engine
