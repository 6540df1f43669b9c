// Lists the shapes of known models, and which type each tensor has under a quantisation. Values only.
#pragma once

#include "kernels/types.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Says how Llama 3.1 and later stretch their rotations.
struct StretchedRope {
    float factor = 0;  // 0: they do not
    float low = 1, high = 4;
    int original_context = 8192;
};

/// Holds the numbers of Gemma 4's own parts: of every `period` layers the last one sees everything.
struct Gemma4Parts {
    int period = 0;            // 0: it is another model
    int full_head_length = 0;  // of layers that see everything, as full_kv_heads
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
    bool shared_weight = false;  // the shared expert is weighted by token
    bool sigmoid = false;        // scores are the sigmoid of logits, not their softmax
    bool sum_to_one = true;      // the weights of the chosen experts do
    float scale = 1;             // of their results
    bool mxfp4 = false;          // whatever the quantisation, since they were trained in it
    bool biases = false;         // of the experts and of what chooses them
};

/// Holds the state of layers that keep one instead of keys and values.
struct StateParts {
    enum class Kind { None, DeltaNet, Mamba2, Convolution };
    Kind kind = Kind::None;
    int conv_width = 0;
    int size = 0, groups = 0;  // values of a key (Mamba-2: of B and C), and how many keys there are
    int heads = 0, head_length = 0;

    int inner() const { return heads * head_length; }
    int channels() const { return inner() + 2 * groups * size; }
};

/// Keys and values of all heads in one row of `rank` + `rotated` values; rank 0: they are not in such a row.
struct LatentParts {
    int rank = 0, query_rank = 0;  // query_rank 0: queries come of one matrix
    int plain = 0, rotated = 0;    // values of a head's key
    int value = 0;
};

struct ModelShape {
    std::string_view name = {};
    std::string_view architecture = {};
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
    /// A letter for each layer, from the start again after the last: it (a)ttends, (r)eads a state, or is a
    /// (f)eed-forward part alone; where there is such an f, the others have none.
    std::string_view layer_kinds = "a";
    StateParts state = {};
    LatentParts latent = {};
    bool gated_queries = false;      // attn_q has a gate beside each head's query
    bool gated_feed_forward = true;  // false: no ffn_gate
    bool sinks = false;              // and a bias of the attention's output
    bool turns = true;               // false: the file says that rotations are not used
    float yarn_factor = 0;           // 0: rotations are not stretched so
    std::string_view output_norm = "output_norm";
    bool mtp = false;  // behind the layers a block that guesses tokens ahead: a layer that attends

    char kind(int layer) const { return layer_kinds[std::size_t(layer) % layer_kinds.size()]; }
    bool one_part() const { return layer_kinds.find('f') != layer_kinds.npos; }
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
/// Returns those of known_shapes() whose layers are not all alike, or attend by a latent row.
std::span<const ModelShape> mixed_shapes();
std::span<const Quantisation> known_quantisations();

/// Says what random values a tensor gets.
enum class Fill { Matrix, Norm, Bias, RopeFactors, FewPairsTurn, Decay, TimeStep };

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
