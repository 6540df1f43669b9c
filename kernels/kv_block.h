// Describes one KV block of one KV head: the keys and values of `tokens` consecutive tokens. The byte layout is the
// same in every memory, so a block moves by a plain copy.
//
//   K   (tokens / 16, head_dim / 4, 16, 4) values   16 tokens x 4 values side by side: a register holds the same four
//                                                   dimensions of 16 keys, so dot products need no horizontal sums
//   K scales (tokens,) float                        q8_0 only
//   V   (tokens, head_dim) values
//   V scales (tokens,) float                        q8_0 only
//
// In latent attention a value is the first part of its key: there is no V, and values are read where the keys lie.
#pragma once

#include <cstddef>

namespace kernels {

/// Says how keys or values are stored. Q8_0 here: 8 bits a value, one float scale per token and head.
enum class KvType { F32, F16, Q8_0 };

constexpr int kKvGroupTokens = 16;  // K tokens that lie interleaved; a block's length is a multiple of this
constexpr int kKvGroupValues = 4;   // K values of one token that lie together; head_dim is a multiple of this

constexpr std::size_t kv_value_bytes(KvType type)
{
    return type == KvType::F32 ? 4 : type == KvType::F16 ? 2 : 1;
}

/// Returns the bytes of the scale that each key and each value has besides its numbers.
constexpr std::size_t kv_scale_bytes(KvType type)
{
    return type == KvType::Q8_0 ? sizeof(float) : 0;
}

/// Returns the bytes of one key or value of one token and head, its scale included.
constexpr std::size_t kv_vector_bytes(KvType type, int length)
{
    return std::size_t(length) * kv_value_bytes(type) + kv_scale_bytes(type);
}

struct KvBlockLayout {
    KvType k_type = KvType::F16;
    KvType v_type = KvType::F16;
    int k_dim = 0;                // head dimension of the keys
    int v_dim = 0;                // head dimension of the values
    int tokens = 0;               // block length
    bool values_in_keys = false;  // a value is the first v_dim values of its key; v_type is k_type

    /// Sets both types. Values that are the first part of their keys get the type of the keys.
    constexpr void set_types(KvType keys, KvType values)
    {
        k_type = keys;
        v_type = values_in_keys ? keys : values;
    }
    constexpr bool has_types(KvType keys, KvType values) const
    {
        return k_type == keys && (values_in_keys || v_type == values);
    }

    constexpr std::size_t k_scales_offset() const
    {
        return std::size_t(tokens) * std::size_t(k_dim) * kv_value_bytes(k_type);
    }
    constexpr std::size_t k_bytes() const { return k_scales_offset() + scale_bytes(k_type); }
    constexpr std::size_t v_offset() const { return values_in_keys ? 0 : k_bytes(); }
    constexpr std::size_t v_scales_offset() const
    {
        return values_in_keys ? k_scales_offset()
                              : k_bytes() + std::size_t(tokens) * std::size_t(v_dim) * kv_value_bytes(v_type);
    }
    constexpr std::size_t bytes() const { return values_in_keys ? k_bytes() : v_scales_offset() + scale_bytes(v_type); }

    /// Returns the bytes of one token's key and value.
    constexpr std::size_t token_bytes() const
    {
        return kv_vector_bytes(k_type, k_dim) + (values_in_keys ? 0 : kv_vector_bytes(v_type, v_dim));
    }

    /// How often attention reads each byte on average: values that are a part of their keys are read a second time.
    constexpr double reads() const { return values_in_keys ? 1.0 + double(v_dim) / double(k_dim) : 1.0; }

    /// Index of a key's value within K: value d of token t.
    constexpr std::size_t k_index(int t, int d) const
    {
        const auto group = std::size_t(t / kKvGroupTokens) * std::size_t(k_dim / kKvGroupValues);
        return ((group + std::size_t(d / kKvGroupValues)) * kKvGroupTokens + std::size_t(t % kKvGroupTokens)) *
                   kKvGroupValues +
               std::size_t(d % kKvGroupValues);
    }
    /// Index of value d of token t within V, or within K where there is no V.
    constexpr std::size_t v_index(int t, int d) const
    {
        return values_in_keys ? k_index(t, d) : std::size_t(t) * std::size_t(v_dim) + std::size_t(d);
    }

private:
    constexpr std::size_t scale_bytes(KvType type) const { return std::size_t(tokens) * kv_scale_bytes(type); }
};

}  // namespace kernels
