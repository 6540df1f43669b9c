#include "engine/plan/columns.h"

#include "engine/device/vram.h"
#include "engine/kv/column_rules.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

/// The bytes that are left for KV below this mark.
std::int64_t kv_bytes_left(const DeviceShare& share, std::int64_t mark)
{
    const DeviceBytes without = share.layout.needed(share.layers, 0);
    return mark - (without.total() - without.kv);
}

/// How many columns may lie on the device where a share of them was asked to lie on the host.
int most_on_device(const DeviceShare& share, int total)
{
    return total - columns_kept_home(std::max(0, total - kStayingColumns), share.offload_share);
}

}  // namespace

std::int64_t limit_bytes(const PlacementOptions& options, const DeviceLayout& layout)
{
    return options.budget_fit_tokens > 0 ? layout.device_size(options.budget_fit_tokens, options.watermark)
                                         : options.vram_budget_bytes;
}

std::int64_t emulated_bytes(const PlacementOptions& options, const DeviceLayout& layout)
{
    return options.emulated.vram_bytes > 0 ? options.emulated.vram_bytes
                                           : layout.device_size(options.emulated.fit_tokens, options.watermark);
}

DeviceShare share_of(const PlacementOptions& options, DeviceLayout layout, std::int64_t free_bytes)
{
    DeviceShare share{std::move(layout)};
    share.budget_bytes = budget_bytes(limit_bytes(options, share.layout), free_bytes);
    share.high_mark_bytes = high_mark_bytes(share.budget_bytes, options.watermark);
    share.policy = options.kv_policy;
    share.offload_share = options.kv_offload_share;
    share.layers = layers_on_device(share, options.device_layers);
    return share;
}

int layers_on_device(DeviceShare share, std::optional<int> asked)
{
    share.layers =
        asked ? std::min(*asked, share.layout.num_layers()) : share.layout.layers_that_fit(share.high_mark_bytes);
    while (share.layers > 0 && (share.layout.needed(share.layers, 0).total() > share.high_mark_bytes ||
                                columns_before_spill(share, kStayingColumns) < kStayingColumns))
        --share.layers;
    return share.layers;
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
