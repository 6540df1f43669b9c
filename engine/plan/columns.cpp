#include "engine/plan/columns.h"

#include "engine/device/vram.h"
#include "engine/kv/column_rules.h"
#include "engine/plan/expert_hits.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

/// Returns how many layers have their experts on the host when blocks begin to leave.
int fewest_experts(const DeviceShare& share)
{
    return share.host_expert_layers.value_or(share.layout.num_layers());
}

/// Returns the bytes that are left for KV below this mark.
std::int64_t kv_bytes_left(const DeviceShare& share, std::int64_t mark)
{
    const DeviceBytes without = share.layout.needed(share.layers, fewest_experts(share), 0);
    return mark - (without.total() - without.kv);
}

/// Says whether the first layers find room below the high mark with this many columns.
bool fit(const DeviceShare& share, int layers, int host_expert_layers, int columns)
{
    return share.layout.needed(layers, host_expert_layers, columns).total() <= share.high_mark_bytes;
}

int layers_that_fit(const DeviceShare& share)
{
    int layers = 0;
    while (layers < share.layout.num_layers() &&
           fit(share, layers + 1, fewest_experts(share), DeviceLayout::kFewestColumns))
        ++layers;
    return layers;
}

/// Returns how many columns may lie on the device where a share of them was asked to lie on the host.
int most_on_device(const DeviceShare& share, int total)
{
    return total - columns_kept_home(std::max(0, total - kStayingColumns), share.offload_share);
}

}  // namespace

std::int64_t limit_bytes(const PlacementOptions& options, const DeviceLayout& layout)
{
    return options.budget_fit_tokens > 0 ? layout.device_size(options.host_expert_layers.value_or(0),
                                                              options.budget_fit_tokens, options.watermark)
                                         : options.vram_budget_bytes;
}

std::int64_t emulated_bytes(const PlacementOptions& options, const DeviceLayout& layout)
{
    return options.emulated.vram_bytes > 0 ? options.emulated.vram_bytes
                                           : layout.device_size(options.host_expert_layers.value_or(0),
                                                                options.emulated.fit_tokens, options.watermark);
}

DeviceShare share_of(const PlacementOptions& options, DeviceLayout layout, std::int64_t free_bytes)
{
    DeviceShare share{std::move(layout)};
    share.budget_bytes = budget_bytes(limit_bytes(options, share.layout), free_bytes);
    share.high_mark_bytes = high_mark_bytes(share.budget_bytes, options.watermark);
    share.policy = options.kv_policy;
    share.offload_share = options.kv_offload_share;
    share.host_expert_layers = options.host_expert_layers;
    share.expert_skew = options.expert_skew.value_or(kExpectedSkew);
    share.layers = layers_on_device(share, options.device_layers);
    limit_expert_cache(share);
    return share;
}

int layers_on_device(DeviceShare share, std::optional<int> asked)
{
    share.layout.set_expert_cache_bytes(0);  // a layer saves more than copies of its experts
    share.layers = asked ? std::min(*asked, share.layout.num_layers()) : layers_that_fit(share);
    while (share.layers > 0 && (!fit(share, share.layers, fewest_experts(share), kStayingColumns + 1) ||
                                columns_before_spill(share, kStayingColumns) < kStayingColumns))
        --share.layers;
    return share.layers;
}

void limit_expert_cache(DeviceShare& share)
{
    DeviceLayout& layout = share.layout;
    const std::int64_t asked = layout.expert_cache_bytes();
    layout.set_expert_cache_bytes(0);
    const std::int64_t left = share.high_mark_bytes -
                              layout.needed(share.layers, fewest_experts(share), DeviceLayout::kFewestColumns).total();
    layout.set_expert_cache_bytes(std::clamp<std::int64_t>(left, 0, asked));
}

int columns_with_room(int columns)
{
    int room = DeviceLayout::kFewestColumns;
    while (room < columns)
        room = room % 3 == 0 ? room / 3 * 4 : room / 2 * 3;
    return room;
}

int host_expert_layers(const DeviceShare& share, int columns)
{
    if (share.host_expert_layers || !share.layout.has_experts())
        return std::min(share.host_expert_layers.value_or(0), share.layout.all_leave(share.layers));
    const int room = columns_with_room(columns);
    const int all = share.layout.all_leave(share.layers);
    int on_host = 0;
    while (on_host < all && !fit(share, share.layers, on_host, room))
        ++on_host;
    return on_host;
}

int columns_before_spill(const DeviceShare& share, int most)
{
    const DeviceLayout& layout = share.layout;
    const std::int64_t column = layout.column(share.layers);
    if (column == 0)
        return most;
    const std::int64_t left =
        kv_bytes_left(share, growth_mark(share.policy, share.budget_bytes, share.high_mark_bytes));
    int columns = 0;
    // A column is begun when the window has moved to its first token.
    while (columns < most &&
           (columns + 1) * column + layout.windows_at(share.layers, widest_position(columns, layout.block_tokens())) <=
               left)
        ++columns;
    return columns;
}

Columns columns_at(const DeviceShare& share, int tokens)
{
    const DeviceLayout& layout = share.layout;
    const std::int64_t column = layout.column(share.layers);
    Columns columns;
    columns.total = int((std::int64_t(tokens) + layout.block_tokens() - 1) / layout.block_tokens());
    columns.on_device = columns.total;
    if (column == 0 || columns.total == 0)
        return columns;
    if (share.policy == KvPolicy::Resident) {
        columns.on_device = columns_before_spill(share, columns.total);
        columns.stops = columns.on_device < columns.total;
        return columns;
    }
    const std::int64_t windows =
        layout.windows_at(share.layers, widest_position(columns.total - 1, layout.block_tokens()));
    const std::int64_t fit = (kv_bytes_left(share, share.high_mark_bytes) - windows) / column;
    columns.on_device = int(std::clamp<std::int64_t>(fit, std::min(kStayingColumns, columns.total), columns.total));
    columns.on_device = std::min(columns.on_device, most_on_device(share, columns.total));
    return columns;
}

}  // namespace engine
