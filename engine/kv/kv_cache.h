// KvCache is the paged KV cache of one model: page table of each sequence, where each block's bytes are, and the host's
// memory. One page is one block column: `block_tokens` tokens in all layers. Blocks of layers that a device computes
// lie there, too; the host's page is then their mirror. Used by the engine's thread only; attention reads blocks from
// the workers while that thread waits for them.
#pragma once

#include "engine/device/huge_array.h"
#include "engine/kv/device_kv.h"
#include "engine/kv/kv_sequence.h"
#include "engine/kv/kv_shape.h"
#include "engine/kv/kv_stream.h"
#include "engine/kv/recurrent_states.h"
#include "engine/result.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace engine {

/// The blocks of one layer that a step attends, in order, as they become readable:
/// while (blocks.next()) for b in [blocks.first(), blocks.last()) read blocks.block(b).
class KvBlocks
{
public:
    /// `on_host`: how many of them lie nowhere else.
    KvBlocks(KvStream* stream, std::span<const std::byte*> pointers, int layer, int first, int last, int on_host)
        : stream_(stream)
        , pointers_(pointers)
        , layer_(layer)
        , layer_first_(first)
        , run_last_(first)
        , last_(last)
        , on_host_(on_host)
    {
    }

    /// Goes on to the next run of blocks; those of the run before are not read any more. False: there is none.
    bool next();
    int first() const { return run_first_; }
    int last() const { return run_last_; }
    int count() const { return last_ - layer_first_; }
    /// Counts the blocks that are copied to the device ahead of their use.
    int streamed() const { return stream_ ? int(stream_->blocks_of(layer_).size()) : 0; }
    /// Counts the blocks that are read on the host.
    int read_on_host() const { return on_host_ - streamed(); }
    /// Returns the bytes of the first KV head; those of the others follow.
    const std::byte* block(int b) const { return pointers_[std::size_t(b)]; }

private:
    KvStream* stream_;  // null: nothing is streamed
    std::span<const std::byte*> pointers_;
    int layer_;
    int layer_first_;
    int run_first_ = 0, run_last_;
    int last_;
    int on_host_;
};

/// Limits the bytes that pages and states take together of the host's memory. `pages` pages and `states` states are
/// allowed in any case.
struct KvMemoryLimit {
    std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
    int pages = 0;
    int states = 0;
};

class KvCache
{
public:
    /// `page_limit` pages can be taken in all; their memory is allocated when they are first used.
    KvCache(std::vector<KvLayerShape> layers, int block_tokens, int page_limit,
            RecurrentStates states = RecurrentStates({}, 0));
    KvCache(const KvCache&) = delete;  // its states ask it for memory
    KvCache& operator=(const KvCache&) = delete;

    int block_tokens() const { return pool_.tokens_per_page(); }
    const KvLayerShape& layer(int l) const { return layers_[std::size_t(l)]; }
    std::span<const KvLayerShape> layers() const { return layers_; }
    /// Returns the layer whose blocks layer l reads: mostly itself.
    int source(int l) const { return layer(l).source < 0 ? l : layer(l).source; }
    /// Returns the bytes of a block that layer l reads.
    std::size_t read_bytes(int l) const { return layer(source(l)).bytes(); }
    std::size_t page_bytes() const { return page_bytes_; }
    int used_pages() const { return pool_.used_pages(); }
    int num_layers() const { return int(layers_.size()); }
    /// Counts the layers with KV of their own: this many blocks are in a page.
    int kv_layers() const { return int(std::ranges::count_if(layers_, &KvLayerShape::has_kv)); }

    /// Makes room for tokens [sequence.length(), tokens): takes pages, and copies a shared page that would be written.
    /// Error::ContextFull when the pool is exhausted, NoMemory when the system has none or may not be asked for more;
    /// the sequence is unchanged then.
    Status reserve(KvSequence& sequence, int tokens);
    /// Says whether the pool has what reserve() takes of it.
    bool has_pages_for(const KvSequence& sequence, int tokens) const;

    /// Allocates the next pages ahead, this many, where the device wants to know of memory long before it is used.
    void make_ahead(int pages);

    /// Returns the bytes that pages have, those of free ones included.
    std::int64_t allocated_bytes() const { return allocated_bytes_; }
    /// Sets the limit beyond which there is NoMemory. What is free gives its memory up first, for what is taken.
    void limit_memory(const KvMemoryLimit& limit);
    /// Does the same with a limit that changes: `limit` is called before memory is taken.
    void ask_for_limit(std::function<KvMemoryLimit()> limit) { limit_ = std::move(limit); }
    KvMemoryLimit memory_limit() const { return limit_(); }

    /// Forgets the tokens from `tokens` on, and those that were lost; pages that hold none of the rest are given back.
    /// A model with recurrent layers goes back to the checkpoint before. Answers how many tokens are left.
    int truncate(KvSequence& sequence, int tokens);

    /// Does the same for keys and values alone, where no token was lost: the state of recurrent layers is the caller's
    /// part.
    void cut_kv(KvSequence& sequence, int tokens);

    /// Returns a sequence that shares the first `tokens` tokens, or those up to the checkpoint before; no bytes are
    /// copied until one of the two writes. Throws std::bad_alloc; nothing is shared then.
    KvSequence branch(const KvSequence& from, int tokens);

    RecurrentStates& states() { return states_; }
    const RecurrentStates& states() const { return states_; }

    /// Returns the block of one layer and KV head that a step writes.
    std::byte* block(PageId page, int l, LayerOn on, int kv_head);
    /// Gives blocks [first, last) of a layer to a step's attention.
    KvBlocks open(const KvSequence& sequence, int l, LayerOn on, int first, int last) const;
    /// Does the same for a layer on the device; blocks that lie there or travel there are null.
    KvBlocks open_host(const KvSequence& sequence, int l, int first, int last) const;
    /// Returns the block's address on the device; null where it is not there, or not yet.
    DevicePtr device_block(PageId page, int l) const { return device_ ? device_->block(page, source(l)) : nullptr; }
    /// Call it within a step, for layers on the host that read layer l: what the step has written to that on the device
    /// from token `first` on, and all that its window sees, lies in the host's pages when this returns. take_status()
    /// says what has gone wrong.
    void bring_home(const KvSequence& sequence, int l, int first, int count);
    Status take_status() { return std::exchange(status_, {}); }
    /// Returns what travels to the device in this step; null: there is none.
    const KvStream* stream() const { return stream_; }
    Residency residency(PageId page, int l) const;

    /// Returns the block in the host's page: of a device layer the mirror.
    std::byte* host_block(PageId page, int l) const;
    /// Waits until the mirrors of all the sequence's pages are complete. DeviceLost.
    Status wait_mirrored(const KvSequence& sequence);
    int owners(PageId page) const { return pool_.owners(page); }
    int page_limit() const { return pool_.page_count(); }

    /// Marks a page whose bytes are lost; it stays so until it is given back.
    void mark_damaged(PageId page) { damaged_[std::size_t(page)] = true; }
    bool damaged(PageId page) const { return damaged_[std::size_t(page)]; }
    /// Counts the first tokens of the sequence that lie on undamaged pages, and after which there is a state.
    int intact_tokens(const KvSequence& sequence) const;

    /// Writes the blocks of one layer, all KV heads, in another type.
    using Rewrite =
        std::function<void(const KvLayerShape& from, const std::byte* old, const KvLayerShape& to, std::byte* block)>;
    /// Call it between steps, while no block lies on a device: keys and values are kept in these types from now on. The
    /// pages in use are written anew, one after another; one for which no memory is left is damaged.
    void set_types(kernels::KvType k_type, kernels::KvType v_type, const Rewrite& rewrite);

    /// Lets blocks lie on this device, too, from now on; null: no longer. It belongs to the caller.
    void set_device(DeviceKv* device, KvStream* stream, DeviceStates* states = nullptr);

private:
    void lay_out_page();
    std::int64_t most_bytes() const;
    std::int64_t bytes_with(std::size_t more) const;
    bool find_room(std::size_t bytes);
    HugeArray new_memory();
    void release(HugeArray memory, std::size_t bytes);
    Result<PageId> take_page();
    void give_back(PageId page);
    Status copy_page(PageId from, PageId to);
    Status wait_mirrored(PageId page);

    RecurrentStates states_;
    std::vector<KvLayerShape> layers_;
    std::vector<std::size_t> layer_offset_;  // (layers,) bytes from a page's start
    std::size_t page_bytes_ = 0;
    PagePool pool_;
    std::vector<HugeArray> memory_;  // (pages,) none until first used, or used again after it was given up
    std::int64_t allocated_bytes_ = 0;
    std::function<KvMemoryLimit()> limit_ = [] { return KvMemoryLimit(); };
    DeviceKv* device_ = nullptr;
    KvStream* stream_ = nullptr;
    std::vector<char> damaged_;                     // (pages,)
    mutable std::vector<const std::byte*> opened_;  // (pages,) what open() found; kept so that it allocates nothing
    Status status_;                                 // of bring_home()
};

}  // namespace engine
