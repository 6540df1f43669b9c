// KvPager keeps the KV of device layers within the device's budget: it brings what the next step needs, sends away what
// finds no room and fetches it again, in the order that KvColumns chooses. The unit is the block column: a page's
// blocks in all device layers that attend to everything. Sliding layers keep only the blocks that their window touches,
// and those never leave.
#pragma once

#include "engine/kv/kv_cache.h"
#include "engine/kv/kv_columns.h"
#include "engine/placement_options.h"
#include "engine/telemetry.h"

#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace engine {

class KvPager
{
public:
    KvPager(KvCache& cache, Vram& vram, DeviceKv& device, KvStream& stream);

    /// Sets which layers are on the device from now on, [0, count); see join() and leave() for their KV.
    void set_layers(int count) { columns_.set_layers(count); }
    void set_policy(KvPolicy policy) { policy_ = policy; }
    KvPolicy policy() const { return policy_; }
    /// Says under `auto`, in a decode step, how many of the `on_host` blocks of layer l, which has `blocks` in all,
    /// travel to the device; the CPU attends the others. Without a choice none does.
    using StreamChoice = std::function<int(int l, int on_host, int blocks)>;
    void set_stream_choice(StreamChoice choice) { stream_choice_ = std::move(choice); }
    /// Sets how many tokens a step computes at most: room for their blocks is taken ahead.
    void set_longest_step(int tokens) { longest_step_ = tokens; }
    /// Keeps at least this share of the blocks that may leave on the host.
    void set_offload_share(double share) { offload_share_ = share; }
    double offload_share() const { return offload_share_; }

    /// Begins a new turn of a conversation: its blocks are now the newest, and those that hold tokens of `pins` are
    /// pinned.
    void begin_turn(std::vector<TokenRange> pins);
    /// Goes on with the turn of a conversation, which may be another one than in the step before. Call it before its
    /// step.
    void go_on(std::span<const TokenRange> pins) { columns_.go_on(pins); }
    /// Ends the turn of the conversation with these pages, while those of others may go on.
    void end_turn(std::span<const PageId> pages) { columns_.end_turn(pages); }
    /// Sets the pins of the conversation with these pages.
    void set_pins(std::span<const PageId> pages, std::span<const TokenRange> pins);
    /// Makes this the conversation in use, which another device held, or none did: its columns come to this one.
    void use(std::span<const PageId> pages, int tokens);
    bool others_in_use() const { return columns_.others_in_use(); }
    bool pinned(PageId page) const { return columns_.of(page).pinned; }

    /// Call it before a step that computes tokens [first, first + count) of the sequence: the blocks they write and
    /// those that sliding layers see are on the device, others have left where there was no room, and what must travel
    /// is on its way. ContextFull under `resident`; DeviceFull when not even that fits; DeviceLost.
    Status prepare(const KvSequence& sequence, int first, int count);
    /// Call it after the step: what was written goes to the mirror.
    Status finish(const KvSequence& sequence, int first, int count);
    /// Call it before a step that computes device layers on the host: their blocks' mirrors are complete, and are
    /// written from now on.
    Status prepare_on_host(const KvSequence& sequence, int first, int count);

    /// Lets blocks leave until `bytes` more are below the watermark. False: not so many can leave.
    bool make_room(std::int64_t bytes, Event::Cause cause);
    /// Brings back one column of the conversation last used: those that always stay and pinned ones first, then the
    /// newest. It may take the place of another conversation's column; one that stays or is pinned also that of any
    /// column that is not. False: there is none, or no room.
    bool bring_back(Event::Cause cause);
    /// Waits until what is coming back is there.
    void settle();
    /// Makes windows that a prefill made wide as narrow as its last token's.
    void trim_windows() { trim_windows(next_position_ - 1); }
    /// Call it when a layer has come to the device. Its blocks of the columns that lie there follow, and columns leave
    /// until all of them find room. Returns how many blocks followed.
    Result<int> join(int l);
    /// Sends all blocks of one layer home: it is computed on the host from now on.
    Status leave(int l);

    /// Call it when the device is gone: pages whose mirror is not complete are damaged.
    void mark_lost();

    std::int64_t column_bytes() const { return columns_.bytes(); }
    /// Returns the bytes that the last step's attention read through the link, and in place on the host.
    std::int64_t streamed_bytes() const { return std::int64_t(stream_.streamed_bytes()); }
    std::int64_t attended_on_host_bytes() const { return attended_on_host_bytes_; }

    std::vector<Event> take_events() { return std::exchange(events_, {}); }

private:
    struct Coming {  // a column on its way back
        PageId page = -1;
        Event event;
    };
    void trim_windows(int first);
    void grow_ahead();
    void give_up_spare();
    /// Returns the mark above which columns leave: the watermark, or less where blocks found no place below it.
    std::int64_t mark() const;
    Status place(PageId page, int l, bool empty);
    bool keeps_kv(int l) const { return columns_.on_device(l) && cache_.layer(l).has_kv(); }
    int first_needed_block(int l, int first) const;
    void evict(const PageFacts& facts, Event::Cause cause);
    bool fetch_column(const PageFacts& facts, Event::Cause cause);
    bool make_room_to_join(int l);
    bool find_place(const PageFacts& coming);
    void enforce_share();
    void plan_stream(const KvSequence& sequence, int first, int count);
    Status drop(PageId page, int l);
    int blocks_to_stream(int l, int on_host, int blocks, bool decode) const;
    void note_arrivals();

    KvCache& cache_;
    Vram& vram_;
    DeviceKv& device_;
    KvStream& stream_;
    KvPolicy policy_ = KvPolicy::Auto;
    StreamChoice stream_choice_;
    double offload_share_ = 0;
    int longest_step_ = 0;
    /// Holds what was in use when a block last found no place. While the budget and the other uses are the same, the
    /// device counts as full at `used`.
    struct Full {
        std::int64_t budget = -1, others = 0, used = 0;
    };
    Full full_;
    KvColumns columns_;
    bool said_pins_leave_ = false;    // since the pins were set
    std::vector<int> mirrored_rows_;  // (pages,) rows that were sent to the mirror
    int next_position_ = 0;           // in the conversation in use
    std::vector<Coming> coming_;
    std::int64_t attended_on_host_bytes_ = 0;
    std::vector<Event> events_;
};

}  // namespace engine
