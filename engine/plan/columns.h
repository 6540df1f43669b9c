// How many block columns of a growing conversation lie on a device: the pager's rules (kv_pager.h) as arithmetic.
#pragma once

#include "engine/placement_options.h"
#include "engine/plan/device_bytes.h"

namespace engine {

/// Where the first `layers` of a model lie, and what may be used there.
struct DeviceShare {
    DeviceLayout layout;
    int layers = 0;
    std::int64_t budget_bytes = 0;
    std::int64_t high_mark_bytes = 0;  // above it blocks leave
    KvPolicy policy = KvPolicy::Auto;
    double offload_share = 0;
};

struct Columns {
    int total = 0;
    /// On average while it grows: three columns leave at once, and the next ones take their place.
    double mean_on_device = 0;
    bool stops = false;  // `resident`: so many tokens find no room
    double mean_on_host() const { return total - mean_on_device; }
};

/// Columns that find room before the first one leaves, `most` at most.
int columns_before_spill(const DeviceShare& share, int most);
/// Of a conversation of so many tokens.
Columns columns_at(const DeviceShare& share, int tokens);
/// Exactly, of one that grew token by token.
int columns_on_device(const DeviceShare& share, int tokens);

}  // namespace engine
