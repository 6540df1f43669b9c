#include "engine/plan/columns.h"

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

// The first block and the one that is being written always stay.
constexpr int kStaying = 2;
// What leaves makes room for so many columns beside the one that is needed.
constexpr int kRoom = 2;

}  // namespace

int columns_before_spill(const DeviceShare& share, int most)
{
    const DeviceLayout& layout = share.layout;
    const std::int64_t column = layout.column(share.layers);
    if (column == 0)
        return most;
    const std::int64_t mark = share.policy == KvPolicy::Resident ? share.budget_bytes : share.high_mark_bytes;
    const DeviceBytes without = layout.needed(share.layers, 0);
    const std::int64_t left = mark - (without.total() - without.kv);
    int columns = 0;
    // A column is begun when the window has moved to its first token.
    while (columns < most &&
           (columns + 1) * column + layout.windows_at(share.layers, columns * layout.block_tokens()) <= left)
        ++columns;
    return columns;
}

namespace {

/// What lies on the device as a conversation grows token by token.
class Growth
{
public:
    explicit Growth(const DeviceShare& share)
        : layout_(share.layout)
        , layers_(share.layers)
        , column_(layout_.column(layers_))
    {
        const DeviceBytes without = layout_.needed(layers_, 0);
        left_ = share.high_mark_bytes - (without.total() - without.kv);
    }

    int columns() const { return columns_; }

    /// Its next block, of which the tokens up to `last` are computed.
    void add_block(int last)
    {
        const int first = blocks_++ * layout_.block_tokens();
        const std::int64_t windows = layout_.windows_at(layers_, first);
        ++columns_;
        if (columns_ * column_ + windows > left_) {
            const std::int64_t room = (left_ - kRoom * column_ - windows) / column_;
            columns_ = int(std::clamp<std::int64_t>(room, std::min(kStaying, blocks_), columns_));
        }
        // There may be room for a column again: one with each token.
        if (columns_ == blocks_ || !finds_room(last - 1))
            return;
        for (int token = first + 1; token <= last && columns_ < blocks_; ++token)
            if (finds_room(token - 1))
                ++columns_;
    }

private:
    /// For one more column, after the token at `position`, beside the next row of windows.
    bool finds_room(int position) const
    {
        const std::int64_t window_row = layout_.block_row(layers_) - column_;
        return (columns_ + 1 + kRoom) * column_ + layout_.windows_at(layers_, position) + window_row <= left_;
    }

    const DeviceLayout& layout_;
    int layers_;
    std::int64_t column_;
    std::int64_t left_;  // for KV, below the mark
    int blocks_ = 0, columns_ = 0;
};

/// At least so many lie on the host, where a share of them was asked for.
int most_on_device(const DeviceShare& share, int total)
{
    const int movable = share.layout.column(share.layers) > 0 ? std::max(0, total - kStaying) : 0;
    return total - int(std::ceil(share.offload_share * movable - 1e-9));
}

int blocks_of(const DeviceShare& share, int tokens)
{
    const int block = share.layout.block_tokens();
    return int((std::int64_t(tokens) + block - 1) / block);
}

}  // namespace

Columns columns_at(const DeviceShare& share, int tokens)
{
    Columns columns;
    columns.total = blocks_of(share, tokens);
    const int room = columns_before_spill(share, columns.total);
    if (share.policy == KvPolicy::Resident) {
        columns.mean_on_device = room;
        columns.stops = room < columns.total;
        return columns;
    }
    columns.mean_on_device = columns.total;
    if (room < columns.total) {
        const int least = std::max(room - kRoom, std::min(kStaying, columns.total));
        columns.mean_on_device = (least + std::max(room, least)) / 2.0;
    }
    columns.mean_on_device = std::min(columns.mean_on_device, double(most_on_device(share, columns.total)));
    return columns;
}

int columns_on_device(const DeviceShare& share, int tokens)
{
    const int total = blocks_of(share, tokens);
    const int room = columns_before_spill(share, total);
    if (share.policy == KvPolicy::Resident)
        return room;
    if (room >= total)
        return most_on_device(share, total);
    Growth growth(share);
    for (int b = 0; b < total; ++b)
        growth.add_block(std::min((b + 1) * share.layout.block_tokens(), tokens - 1));
    return std::min(growth.columns(), most_on_device(share, total));
}

}  // namespace engine
