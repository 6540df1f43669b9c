// Lists the tensor types of GGUF files: names, block lengths, bytes. Ids are those of the format (ggml's enum
// ggml_type, https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kernels {

enum class TensorType : std::uint32_t {
    F32 = 0,
    F16 = 1,
    Q4_0 = 2,
    Q4_1 = 3,
    Q5_0 = 6,
    Q5_1 = 7,
    Q8_0 = 8,
    Q2_K = 10,
    Q3_K = 11,
    Q4_K = 12,
    Q5_K = 13,
    Q6_K = 14,
    IQ2_XXS = 16,
    IQ2_XS = 17,
    IQ3_XXS = 18,
    IQ1_S = 19,
    IQ4_NL = 20,
    IQ3_S = 21,
    IQ2_S = 22,
    IQ4_XS = 23,
    IQ1_M = 29,
    BF16 = 30,
    TQ1_0 = 34,
    TQ2_0 = 35,
    MXFP4 = 39,
    NVFP4 = 40,
};
constexpr int kTensorTypeIds = 41;  // one past the largest id: the length of tables indexed by type

struct TypeTraits {
    TensorType type;
    const char* name;  // as llama.cpp writes it: "Q4_K"
    int block_len;     // weights in a block
    int block_bytes;   // bytes of a block
};

/// Returns what is known of a type id read from a file; null for a type this program cannot compute with.
const TypeTraits* type_traits(std::uint32_t id);
inline const TypeTraits& type_traits(TensorType type)
{
    return *type_traits(static_cast<std::uint32_t>(type));
}

/// Returns all types, in the order of their ids.
std::span<const TypeTraits> all_tensor_types();

/// Returns the bytes of a row of n weights. n must be a multiple of the block length.
inline std::size_t row_bytes(TensorType type, std::int64_t n)
{
    const TypeTraits& t = type_traits(type);
    return static_cast<std::size_t>(n / t.block_len) * static_cast<std::size_t>(t.block_bytes);
}

}  // namespace kernels
