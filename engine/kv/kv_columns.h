// KvColumns knows of every block column when it was last used, whether it is pinned or stays, and chooses from that
// which one leaves a device next and which one comes back. It moves nothing.
#pragma once

#include "engine/kv/column_rules.h"
#include "engine/kv/kv_cache.h"
#include "engine/telemetry.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace engine {

class KvColumns
{
public:
    KvColumns(const KvCache& cache, const DeviceKv& device);

    /// Begins a turn: what it uses is newer than all else, and what holds tokens of `pins` is pinned from then on.
    void begin_turn(std::vector<TokenRange> pins);
    /// Goes on with a conversation that was begun before, which has these pins.
    void go_on(std::span<const TokenRange> pins) { pins_.assign(pins.begin(), pins.end()); }
    /// Ends the turn of the conversation with these pages: where another one is in use, this one no longer is.
    void end_turn(std::span<const PageId> pages);
    /// Sets the pins of the conversation with these pages, at once.
    void set_pins(std::span<const PageId> pages, std::span<const TokenRange> pins);
    /// Notes that the conversation in use has these pages and is written from block `written` on.
    void use(std::span<const PageId> pages, int written);

    std::span<const PageFacts> all() const { return facts_; }  // (pages,)
    const PageFacts& of(PageId page) const { return facts_[std::size_t(page)]; }
    std::span<const PageId> pages_in_use() const { return in_use_; }  // in their order
    bool in_use(const PageFacts& facts) const;
    /// Says whether another conversation is in use beside the one that was used last: its windows stay, too.
    bool others_in_use() const;

    /// Sets which layers are on the device from now on: [0, count).
    void set_layers(int count) { layers_ = count; }
    bool on_device(int l) const { return l < layers_; }
    /// Says whether layer l is on the device and has KV of its own.
    bool keeps_kv(int l) const { return on_device(l) && cache_.layer(l).has_kv(); }
    /// Say whether a layer with KV on the device attends to everything, or has a window.
    bool full(int l) const { return keeps_kv(l) && cache_.layer(l).window == 0; }
    bool sliding(int l) const { return keeps_kv(l) && cache_.layer(l).window > 0; }
    std::int64_t bytes() const;  // of one column
    bool any_on_device(PageId page) const;
    /// Says whether the block of layer l leaves with its column. The window of the conversation in use stays; of others
    /// everything leaves.
    bool leaves(const PageFacts& facts, int l) const
    {
        return device_.holds(facts.page, l) && (full(l) || !in_use(facts));
    }

    std::optional<PageFacts> next_to_leave(KvPolicy policy) const;
    /// Returns the columns of the conversation in use that must leave so that its forced share lies on the host, in
    /// their order.
    std::vector<PageFacts> surplus(double offload_share) const;
    /// Returns the next column of the conversation in use that is to be on the device and is not, or not in all layers:
    /// first what always stays, then what is pinned, then the newest.
    std::optional<PageFacts> next_to_come(double offload_share) const;
    /// Returns the bytes that windows hold at the widest position of the block of `position`, beyond what they hold
    /// now.
    std::int64_t windows_to_come(int position) const;

private:
    struct Count {  // of columns of the conversation in use that may leave
        int all = 0;
        int here = 0;  // on the device, at least in part
        int pinned_here = 0;
        /// Counts the columns that a forced share leaves on the device.
        int most(double offload_share) const { return all - columns_kept_home(all, offload_share); }
    };
    bool all_on_device(PageId page) const;
    bool any_leaves(const PageFacts& facts) const;
    bool has_pins(int block, std::span<const TokenRange> pins) const;
    Count count() const;

    const KvCache& cache_;
    const DeviceKv& device_;
    int layers_ = 0;
    std::uint64_t turn_ = 1;
    std::vector<TokenRange> pins_;  // of the conversation in use
    std::vector<PageFacts> facts_;  // (pages,)
    std::vector<PageId> in_use_;    // pages of the conversation last used, in order
    bool last_is_over_ = false;     // its turn is over
};

}  // namespace engine
