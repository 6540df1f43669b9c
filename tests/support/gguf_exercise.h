// Asks everything of an open GGUF file that can be asked: for files that may be damaged.
#pragma once

#include "engine/gguf/gguf_file.h"

#include <cstdint>

namespace support {

/// Reads every value as every kind and the ends of every tensor. The result depends on all of them, so that nothing
/// is optimised away.
inline std::uint64_t exercise(const engine::GgufFile& gguf)
{
    std::uint64_t seen = 0;
    for (const auto& entry : gguf.printed_metadata()) {
        const std::string& key = entry.key;  // damaged keys may be printed differently; then they are just not found
        seen += entry.value.size();
        seen += gguf.string(key).value_or("").size();
        seen += static_cast<std::uint64_t>(gguf.integer(key).value_or(1));
        seen += gguf.number(key).value_or(2) > 0;
        seen += gguf.boolean(key).value_or(false);
        for (const std::string_view text : gguf.strings(key).value_or(std::vector<std::string_view>{}))
            seen += text.empty() ? 0 : static_cast<unsigned char>(text.back());
        seen += gguf.floats(key).value_or(std::vector<float>{}).size();
        seen += gguf.integers(key).value_or(std::vector<std::int64_t>{}).size();
        seen += gguf.array_length(key).value_or(0);
    }
    for (const engine::GgufTensor& tensor : gguf.tensors()) {
        seen += static_cast<std::uint64_t>(tensor.elements()) + tensor.type_name().size();
        seen += gguf.tensor(tensor.name) == &tensor ? 1 : 0;
        if (!tensor.bytes.empty())
            seen += std::to_integer<unsigned>(tensor.bytes.front()) + std::to_integer<unsigned>(tensor.bytes.back());
        gguf.prefetch_pages(tensor.bytes);
        gguf.release_pages(tensor.bytes);
    }
    return seen;
}

}  // namespace support
