// Lists the shapes of known models, and which type each tensor has under a quantisation. Values only.
#pragma once

#include "kernels/types.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// How Llama 3.1 and later stretch their rotations.
struct StretchedRope {
    float factor = 0;  // 0: they do not
    float low = 1, high = 4;
    int original_context = 8192;
};

/// What Gemma 4 has besides: of every `period` layers the last one sees everything.
struct Gemma4Parts {
    int period = 0;            // 0: it is another model
    int full_head_length = 0;  // of layers that see everything, as their KV heads
    int full_kv_heads = 0;
    bool values_are_keys = false;  // such layers have no attn_v
    int shared_kv_layers = 0;      // at the end; they read earlier layers' KV
    bool wide_readers = false;     // their feed-forward part is twice as wide
    int side = 0;                  // values that each layer gets of each token

    bool full(int layer) const { return (layer + 1) % period == 0; }
};

/// Layers with experts; `count` 0: there are none.
struct ShapeExperts {
    int count = 0, used = 0;
    int feed_forward = 0, shared_feed_forward = 0;
    int dense_layers = 0;  // come first and have none
    bool choice_bias = false;
};

struct ModelShape {
    std::string_view name;
    std::string_view architecture;
    int layers = 0, embedding = 0, feed_forward = 0;
    int heads = 0, kv_heads = 0, head_length = 0;
    int vocabulary = 0, context = 0;
    float rope_base = 0;
    int window = 0;                          // of sliding layers
    bool tied = false;                       // the output is the embedding
    bool qkv_bias = false;                   // qwen2
    bool head_norms = false;                 // qwen3, gemma3
    bool post_norms = false;                 // gemma3
    std::string_view ffn_norm = "ffn_norm";  // empty: there is none
    int rotated = 0;                         // values of a head; 0: all
    StretchedRope stretch = {};
    Gemma4Parts gemma4 = {};
    ShapeExperts experts = {};

    int first_reader() const { return layers - gemma4.shared_kv_layers; }
    int feed_forward_of(int layer) const
    {
        return feed_forward * (gemma4.wide_readers && layer >= first_reader() ? 2 : 1);
    }
};

/// One quantisation as files have it: most matrices in one type, some in a better one.
struct Quantisation {
    std::string_view name;
    int file_type = 0;  // general.file_type
    kernels::TensorType most, better;
};

std::span<const ModelShape> known_shapes();
std::span<const Quantisation> known_quantisations();

/// What random values a tensor gets.
enum class Fill { Matrix, Norm, Bias, RopeFactors, FewPairsTurn };

struct ShapeTensor {
    std::string name;
    kernels::TensorType type = kernels::TensorType::F32;
    std::int64_t row_length = 0, rows = 0;  // rows 0: a vector
    Fill fill = Fill::Matrix;
    float mean = 1;  // of a norm's values

    std::int64_t values() const { return row_length * (rows > 0 ? rows : 1); }
    std::int64_t bytes() const { return std::int64_t(kernels::row_bytes(type, row_length)) * (rows > 0 ? rows : 1); }
};

std::vector<ShapeTensor> shape_tensors(const ModelShape& shape, const Quantisation& quantisation);

}  // namespace engine
