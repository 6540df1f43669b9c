// The shape of one layer's KV.
#pragma once

#include "kernels/kv_block.h"

#include <cstddef>

namespace engine {

struct KvLayerShape {
    int kv_heads = 0;
    kernels::KvBlockLayout block;  // of one KV head
    int window = 0;                // tokens a token sees, itself included; 0: all
    std::size_t bytes() const { return std::size_t(kv_heads) * block.bytes(); }

    /// The first block that a token at `position` sees.
    int first_block(int position) const
    {
        return window > 0 && position >= window ? (position - window + 1) / block.tokens : 0;
    }
};

}  // namespace engine
