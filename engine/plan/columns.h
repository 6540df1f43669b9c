// Computes how many layers a device takes, which experts, and how many block columns of a growing conversation lie
// there. It is the arithmetic of what the pager does; ModelPlacement itself uses it.
//
// Where nobody says how many layers leave their experts on the host, experts get the room that the layers and the
// conversation's KV leave: a token reads all of its KV and few of the experts, so a byte of KV saves more time. The
// experts of the first layers leave first, and no block leaves before them.
#pragma once

#include "engine/placement_options.h"
#include "engine/plan/device_bytes.h"

#include <optional>

namespace engine {

/// Says where the first `layers` of a model lie, and what may be used there.
struct DeviceShare {
    DeviceLayout layout;
    int layers = 0;
    std::int64_t budget_bytes = 0;
    std::int64_t high_mark_bytes = 0;  // above it blocks leave
    KvPolicy policy = KvPolicy::Auto;
    double offload_share = 0;
    std::optional<int> host_expert_layers = {};  // the first ones leave them on the host; empty: as KV asks
    double expert_skew = 1;                      // of what tokens choose; see expected_hits()
};

/// Returns what the user allows of a device's memory, in bytes or for this many tokens; 0: all that is free.
std::int64_t limit_bytes(const PlacementOptions& options, const DeviceLayout& layout);
/// Returns the memory of the emulated device, given in the same two ways.
std::int64_t emulated_bytes(const PlacementOptions& options, const DeviceLayout& layout);
/// Returns the share of a device that has `free_bytes` beside other programs: as many layers as were asked for, or fit.
DeviceShare share_of(const PlacementOptions& options, DeviceLayout layout, std::int64_t free_bytes);

/// Block columns of a conversation.
struct Columns {
    int total = 0;
    int on_device = 0;
    bool stops = false;  // `resident`: this many tokens find no room
    int on_host() const { return total - on_device; }
};

/// Returns the layers that a device of this budget holds, whatever it held before: those asked for, or as many as fit
/// (empty). `share.layers` does not matter.
int layers_on_device(DeviceShare share, std::optional<int> asked);

/// Limits the bytes for copies of experts to those that the share's layers and the fewest columns leave.
void limit_expert_cache(DeviceShare& share);

/// Returns for how many columns room is made where there are so many: the next of 4, 6, 8, 12, 16, 24, ...
int columns_with_room(int columns);

/// Returns how many layers leave their experts on the host beside this many block columns. They are counted in the
/// layout's order, and only those among the share's layers matter. It is the number that was asked for, or else the
/// smallest that makes room for these columns and some more, so that not every new column drives out experts.
int host_expert_layers(const DeviceShare& share, int columns);

/// Counts the columns that find room before the first one leaves, `most` at most.
int columns_before_spill(const DeviceShare& share, int most);
/// Counts the block columns of a conversation of this many tokens.
Columns columns_at(const DeviceShare& share, int tokens);

}  // namespace engine
