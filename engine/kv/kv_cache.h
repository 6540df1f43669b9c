// The paged KV cache of one model: page table of each sequence, where each block's bytes are, and the memory itself.
// One page is one block column: `block_tokens` tokens in all layers. Used by the engine's thread only; attention reads
// blocks from the workers while that thread waits for them.
#pragma once

#include "engine/kv/page_pool.h"
#include "engine/result.h"
#include "engine/telemetry.h"
#include "kernels/kv_block.h"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace engine {

/// The shape of one layer's KV.
struct KvLayerShape {
    int kv_heads = 0;
    kernels::KvBlockLayout block;  // of one KV head
    std::size_t bytes() const { return std::size_t(kv_heads) * block.bytes(); }
};

/// The tokens of one sequence and the pages that hold their KV. Tokens [0, ids.size()) have been computed.
struct KvSequence {
    std::vector<PageId> pages;
    std::vector<int> ids;
    std::uint64_t last_used = 0;  // higher is later
    int length() const { return int(ids.size()); }
};

class KvCache
{
public:
    /// `page_limit` pages can be taken in all; their memory is allocated when they are first used.
    KvCache(std::vector<KvLayerShape> layers, int block_tokens, int page_limit);

    int block_tokens() const { return pool_.tokens_per_page(); }
    const KvLayerShape& layer(int l) const { return layers_[std::size_t(l)]; }
    std::size_t page_bytes() const { return page_bytes_; }
    int used_pages() const { return pool_.used_pages(); }
    int num_layers() const { return int(layers_.size()); }

    /// Makes room for tokens [sequence.length(), tokens): takes pages, and copies a shared page that would be written.
    /// Error::ContextFull when the pool is exhausted, NoMemory when the system has none; the sequence is unchanged
    /// then.
    Status reserve(KvSequence& sequence, int tokens);

    /// Forgets the tokens from `tokens` on; pages that hold none of the rest are given back.
    void truncate(KvSequence& sequence, int tokens);

    /// A sequence that shares the first `tokens` tokens; no bytes are copied until one of the two writes.
    KvSequence branch(const KvSequence& from, int tokens);

    /// The block of one layer and KV head: where its bytes are now.
    std::byte* block(PageId page, int l, int kv_head);
    const std::byte* block(PageId page, int l, int kv_head) const;
    Residency residency(PageId page, int l) const { return residency_[index(page, l)]; }

private:
    struct FreeAligned {
        void operator()(std::byte* p) const;
    };
    using PageMemory = std::unique_ptr<std::byte[], FreeAligned>;

    std::size_t index(PageId page, int l) const { return std::size_t(page) * layers_.size() + std::size_t(l); }
    Result<PageId> take_page();

    std::vector<KvLayerShape> layers_;
    std::vector<std::size_t> layer_offset_;  // (layers,) bytes from a page's start
    std::size_t page_bytes_ = 0;
    PagePool pool_;
    std::vector<PageMemory> memory_;    // (pages,) null until first used; kept when a page is given back
    std::vector<Residency> residency_;  // (pages, layers)
};

}  // namespace engine
