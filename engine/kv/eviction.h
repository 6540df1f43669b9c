// Which block column leaves a device first (design D7). A pure function of what is known of a page.
#pragma once

#include "engine/kv/page_pool.h"

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

/// Pinned ones last; else what was used longest ago, then the oldest tokens.
inline bool leaves_before(const PageFacts& a, const PageFacts& b)
{
    return std::tuple(a.pinned, a.used_at, a.number, a.page) < std::tuple(b.pinned, b.used_at, b.number, b.page);
}

}  // namespace engine
