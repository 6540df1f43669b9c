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
    ShapeExperts experts = {};
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
enum class Fill { Matrix, Norm, Bias, RopeFactors };

struct ShapeTensor {
    std::string name;
    kernels::TensorType type = kernels::TensorType::F32;
    std::int64_t row_length = 0, rows = 0;  // rows 0: a vector
    Fill fill = Fill::Matrix;

    std::int64_t values() const { return row_length * (rows > 0 ? rows : 1); }
    std::int64_t bytes() const { return std::int64_t(kernels::row_bytes(type, row_length)) * (rows > 0 ? rows : 1); }
};

std::vector<ShapeTensor> shape_tensors(const ModelShape& shape, const Quantisation& quantisation);

}  // namespace engine
