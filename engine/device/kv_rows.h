// Copies rows of KV blocks between two memories: what a step wrote, while the rest of the block is there already.
#pragma once

#include "kernels/kv_block.h"

#include <cstddef>

namespace engine {

/// Tokens [first, last) of the blocks of all KV heads of one layer and page, one block after another.
struct KvRows {
    kernels::KvBlockLayout layout;
    int kv_heads = 0;
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    int first = 0, last = 0;

    std::size_t bytes() const;
};

void copy_kv_rows(const KvRows& rows);

}  // namespace engine
