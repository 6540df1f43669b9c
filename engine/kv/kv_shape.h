// Describes the shape of one layer's KV.
#pragma once

#include "kernels/kv_block.h"

#include <cstddef>

namespace engine {

/// Returns the first block that a token at `position` sees; `window` 0: it sees all.
constexpr int first_block_seen(int position, int window, int block_tokens)
{
    return window > 0 && position >= window ? (position - window + 1) / block_tokens : 0;
}

/// Says where a step computes a layer. On the host it reads and writes the host's pages alone; on the device it does so
/// with the blocks that lie there.
enum class LayerOn { Host, Device };

struct KvLayerShape {
    int kv_heads = 0;
    kernels::KvBlockLayout block;  // of one KV head
    int window = 0;                // tokens a token sees, itself included; 0: all
    int source = -1;               // the layer whose blocks it reads; -1: it has its own
    bool has_kv() const { return source < 0 && kv_heads > 0; }
    /// Returns the bytes of a block of all KV heads; 0 where the layer has no KV of its own.
    std::size_t bytes() const { return has_kv() ? std::size_t(kv_heads) * block.bytes() : 0; }

    int first_block(int position) const { return first_block_seen(position, window, block.tokens); }
};

}  // namespace engine
