#include "engine/plan/columns.h"

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

// The first block and the one that is being written always stay.
constexpr int kStaying = 2;

/// For KV, below this mark.
std::int64_t kv_bytes_left(const DeviceShare& share, std::int64_t mark)
{
    const DeviceBytes without = share.layout.needed(share.layers, 0);
    return mark - (without.total() - without.kv);
}

/// At least so many lie on the host, where a share of them was asked for.
int most_on_device(const DeviceShare& share, int total)
{
    const int movable = std::max(0, total - kStaying);
    return total - int(std::ceil(share.offload_share * movable - 1e-9));
}

}  // namespace

int layers_on_device(DeviceShare share, std::optional<int> asked)
{
    share.layers =
        asked ? std::min(*asked, share.layout.num_layers()) : share.layout.layers_that_fit(share.high_mark_bytes);
    while (share.layers > 0 && (share.layout.needed(share.layers, 0).total() > share.high_mark_bytes ||
                                columns_before_spill(share, kStaying) < kStaying))
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
        kv_bytes_left(share, share.policy == KvPolicy::Resident ? share.budget_bytes : share.high_mark_bytes);
    int columns = 0;
    // A column is begun when the window has moved to its first token.
    while (columns < most &&
           (columns + 1) * column + layout.windows_at(share.layers, columns * layout.block_tokens()) <= left)
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
    // Windows are widest at the first token of a block, and what they take then is left to them.
    const std::int64_t windows = layout.windows_at(share.layers, (columns.total - 1) * layout.block_tokens());
    const std::int64_t fit = (kv_bytes_left(share, share.high_mark_bytes) - windows) / column;
    columns.on_device = int(std::clamp<std::int64_t>(fit, std::min(kStaying, columns.total), columns.total));
    columns.on_device = std::min(columns.on_device, most_on_device(share, columns.total));
    return columns;
}

}  // namespace engine
