#include "engine/shape/shapes.h"

namespace engine {

namespace {

using kernels::TensorType;

// Numbers of the published models' configuration files.
constexpr ModelShape kShapes[] = {
    {.name = "tiny-llama",
     .architecture = "llama",
     .layers = 2,
     .embedding = 256,
     .feed_forward = 512,
     .heads = 8,
     .kv_heads = 2,
     .head_length = 32,
     .vocabulary = 512,
     .context = 8192,
     .rope_base = 1e4f},
    {.name = "tiny-gemma3",
     .architecture = "gemma3",
     .layers = 6,
     .embedding = 128,
     .feed_forward = 256,
     .heads = 2,
     .kv_heads = 1,
     .head_length = 64,
     .vocabulary = 512,
     .context = 8192,
     .rope_base = 1e6f,
     .window = 32,
     .tied = true,
     .head_norms = true,
     .post_norms = true},
    {.name = "tiny-glm4moe",
     .architecture = "glm4moe",
     .layers = 3,
     .embedding = 256,
     .feed_forward = 512,
     .heads = 4,
     .kv_heads = 2,
     .head_length = 64,
     .vocabulary = 512,
     .context = 8192,
     .rope_base = 1e6f,
     .qkv_bias = true,
     .ffn_norm = "post_attention_norm",
     .rotated = 32,
     .experts = {.count = 8,
                 .used = 2,
                 .feed_forward = 256,
                 .shared_feed_forward = 256,
                 .dense_layers = 1,
                 .choice_bias = true}},
    {.name = "llama-3.2-1b",
     .architecture = "llama",
     .layers = 16,
     .embedding = 2048,
     .feed_forward = 8192,
     .heads = 32,
     .kv_heads = 8,
     .head_length = 64,
     .vocabulary = 128256,
     .context = 131072,
     .rope_base = 5e5f,
     .tied = true,
     .stretch = {32, 1, 4, 8192}},
    {.name = "llama-3.2-3b",
     .architecture = "llama",
     .layers = 28,
     .embedding = 3072,
     .feed_forward = 8192,
     .heads = 24,
     .kv_heads = 8,
     .head_length = 128,
     .vocabulary = 128256,
     .context = 131072,
     .rope_base = 5e5f,
     .tied = true,
     .stretch = {32, 1, 4, 8192}},
    {.name = "llama-3.1-8b",
     .architecture = "llama",
     .layers = 32,
     .embedding = 4096,
     .feed_forward = 14336,
     .heads = 32,
     .kv_heads = 8,
     .head_length = 128,
     .vocabulary = 128256,
     .context = 131072,
     .rope_base = 5e5f,
     .stretch = {8, 1, 4, 8192}},
    {.name = "mistral-7b",
     .architecture = "llama",
     .layers = 32,
     .embedding = 4096,
     .feed_forward = 14336,
     .heads = 32,
     .kv_heads = 8,
     .head_length = 128,
     .vocabulary = 32768,
     .context = 32768,
     .rope_base = 1e6f},
    {.name = "qwen2.5-0.5b",
     .architecture = "qwen2",
     .layers = 24,
     .embedding = 896,
     .feed_forward = 4864,
     .heads = 14,
     .kv_heads = 2,
     .head_length = 64,
     .vocabulary = 151936,
     .context = 32768,
     .rope_base = 1e6f,
     .tied = true,
     .qkv_bias = true},
    {.name = "qwen3-0.6b",
     .architecture = "qwen3",
     .layers = 28,
     .embedding = 1024,
     .feed_forward = 3072,
     .heads = 16,
     .kv_heads = 8,
     .head_length = 128,
     .vocabulary = 151936,
     .context = 40960,
     .rope_base = 1e6f,
     .tied = true,
     .head_norms = true},
    {.name = "qwen3-8b",
     .architecture = "qwen3",
     .layers = 36,
     .embedding = 4096,
     .feed_forward = 12288,
     .heads = 32,
     .kv_heads = 8,
     .head_length = 128,
     .vocabulary = 151936,
     .context = 40960,
     .rope_base = 1e6f,
     .head_norms = true},
    {.name = "qwen3-30b-a3b",
     .architecture = "qwen3moe",
     .layers = 48,
     .embedding = 2048,
     .feed_forward = 6144,
     .heads = 32,
     .kv_heads = 4,
     .head_length = 128,
     .vocabulary = 151936,
     .context = 40960,
     .rope_base = 1e6f,
     .head_norms = true,
     .experts = {.count = 128, .used = 8, .feed_forward = 768}},
    {.name = "smollm3-3b",
     .architecture = "smollm3",
     .layers = 36,
     .embedding = 2048,
     .feed_forward = 11008,
     .heads = 16,
     .kv_heads = 4,
     .head_length = 128,
     .vocabulary = 128256,
     .context = 65536,
     .rope_base = 5e6f,
     .tied = true},
    {.name = "command-r7b",
     .architecture = "cohere2",
     .layers = 32,
     .embedding = 4096,
     .feed_forward = 14336,
     .heads = 32,
     .kv_heads = 8,
     .head_length = 128,
     .vocabulary = 256000,
     .context = 131072,
     .rope_base = 5e4f,
     .window = 4096,
     .tied = true,
     .ffn_norm = {}},
    {.name = "seed-oss-36b",
     .architecture = "seed_oss",
     .layers = 64,
     .embedding = 5120,
     .feed_forward = 27648,
     .heads = 80,
     .kv_heads = 8,
     .head_length = 128,
     .vocabulary = 155136,
     .context = 524288,
     .rope_base = 1e7f,
     .qkv_bias = true,
     .ffn_norm = "post_attention_norm"},
    {.name = "glm-4.5-air",  // without its block that predicts several tokens
     .architecture = "glm4moe",
     .layers = 46,
     .embedding = 4096,
     .feed_forward = 10944,
     .heads = 96,
     .kv_heads = 8,
     .head_length = 128,
     .vocabulary = 151552,
     .context = 131072,
     .rope_base = 1e6f,
     .qkv_bias = true,
     .ffn_norm = "post_attention_norm",
     .rotated = 64,
     .experts = {.count = 128,
                 .used = 8,
                 .feed_forward = 1408,
                 .shared_feed_forward = 1408,
                 .dense_layers = 1,
                 .choice_bias = true}},
};

// Numbers of llama.cpp's enum llama_ftype.
constexpr Quantisation kQuantisations[] = {
    {"q4_k_m", 15, TensorType::Q4_K, TensorType::Q6_K},     {"q5_k_m", 17, TensorType::Q5_K, TensorType::Q6_K},
    {"q6_k", 18, TensorType::Q6_K, TensorType::Q6_K},       {"q4_0", 2, TensorType::Q4_0, TensorType::Q6_K},
    {"q8_0", 7, TensorType::Q8_0, TensorType::Q8_0},        {"f16", 1, TensorType::F16, TensorType::F16},
    {"bf16", 32, TensorType::BF16, TensorType::BF16},       {"iq4_nl", 25, TensorType::IQ4_NL, TensorType::Q6_K},
    {"iq4_xs", 30, TensorType::IQ4_XS, TensorType::Q6_K},   {"iq3_s", 26, TensorType::IQ3_S, TensorType::Q6_K},
    {"iq3_xxs", 23, TensorType::IQ3_XXS, TensorType::Q5_K}, {"iq2_s", 28, TensorType::IQ2_S, TensorType::Q5_K},
    {"iq2_xs", 20, TensorType::IQ2_XS, TensorType::Q5_K},   {"iq2_xxs", 19, TensorType::IQ2_XXS, TensorType::Q5_K},
    {"iq1_m", 31, TensorType::IQ1_M, TensorType::Q5_K},     {"iq1_s", 24, TensorType::IQ1_S, TensorType::Q5_K},
    {"tq2_0", 37, TensorType::TQ2_0, TensorType::Q6_K},     {"tq1_0", 36, TensorType::TQ1_0, TensorType::Q6_K},
    {"nvfp4", 39, TensorType::NVFP4, TensorType::Q8_0},
};

/// The layers whose attn_v and ffn_down the mixed quantisations keep in the better type.
bool keeps_more_bits(int layer, int layers)
{
    return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
}

/// The type, or what takes its place where a row is no whole number of its blocks.
TensorType fitting(TensorType type, std::int64_t row_length)
{
    for (const TensorType candidate : {type, TensorType::Q8_0})
        if (row_length % kernels::type_traits(candidate).block_len == 0)
            return candidate;
    return TensorType::F16;
}

class TensorList
{
public:
    void matrix(std::string name, TensorType type, std::int64_t row_length, std::int64_t rows)
    {
        list_.push_back({std::move(name) + ".weight", fitting(type, row_length), row_length, rows});
    }
    void vector(std::string name, std::int64_t length, Fill fill)
    {
        list_.push_back({std::move(name), TensorType::F32, length, 0, fill});
    }
    std::vector<ShapeTensor> take() { return std::move(list_); }

private:
    std::vector<ShapeTensor> list_;
};

/// One of a dense layer, or what takes its place; `suffix` tells a shared expert's from others.
void add_feed_forward(TensorList& list, const std::string& p, const std::string& suffix, int embedding, int length,
                      TensorType most, TensorType down)
{
    list.matrix(p + "ffn_gate" + suffix, most, embedding, length);
    list.matrix(p + "ffn_up" + suffix, most, embedding, length);
    list.matrix(p + "ffn_down" + suffix, down, length, embedding);
}

void add_experts(TensorList& list, const std::string& p, const ModelShape& s, TensorType most, TensorType down)
{
    const ShapeExperts& e = s.experts;
    list.matrix(p + "ffn_gate_inp", TensorType::F32, s.embedding, e.count);
    if (e.choice_bias)
        list.vector(p + "exp_probs_b.bias", e.count, Fill::Bias);
    list.matrix(p + "ffn_gate_exps", most, s.embedding, std::int64_t(e.feed_forward) * e.count);
    list.matrix(p + "ffn_up_exps", most, s.embedding, std::int64_t(e.feed_forward) * e.count);
    list.matrix(p + "ffn_down_exps", down, e.feed_forward, std::int64_t(s.embedding) * e.count);
    if (e.shared_feed_forward > 0)
        add_feed_forward(list, p, "_shexp", s.embedding, e.shared_feed_forward, most, down);
}

void add_layer(TensorList& list, const ModelShape& s, const Quantisation& quantisation, int l)
{
    const std::string p = "blk." + std::to_string(l) + ".";
    const int q = s.heads * s.head_length, kv = s.kv_heads * s.head_length;
    const TensorType most = quantisation.most;
    // Q4_0 files mix nothing within the layers.
    const TensorType some = most != TensorType::Q4_0 && keeps_more_bits(l, s.layers) ? quantisation.better : most;
    list.vector(p + "attn_norm.weight", s.embedding, Fill::Norm);
    list.matrix(p + "attn_q", most, s.embedding, q);
    list.matrix(p + "attn_k", most, s.embedding, kv);
    list.matrix(p + "attn_v", some, s.embedding, kv);
    if (s.qkv_bias) {
        list.vector(p + "attn_q.bias", q, Fill::Bias);
        list.vector(p + "attn_k.bias", kv, Fill::Bias);
        list.vector(p + "attn_v.bias", kv, Fill::Bias);
    }
    if (s.head_norms) {
        list.vector(p + "attn_q_norm.weight", s.head_length, Fill::Norm);
        list.vector(p + "attn_k_norm.weight", s.head_length, Fill::Norm);
    }
    list.matrix(p + "attn_output", most, q, s.embedding);
    if (s.post_norms) {
        list.vector(p + "post_attention_norm.weight", s.embedding, Fill::Norm);
        list.vector(p + "post_ffw_norm.weight", s.embedding, Fill::Norm);
    }
    if (!s.ffn_norm.empty())
        list.vector(p + std::string(s.ffn_norm) + ".weight", s.embedding, Fill::Norm);
    if (s.experts.count > 0 && l >= s.experts.dense_layers)
        add_experts(list, p, s, most, some);
    else
        add_feed_forward(list, p, "", s.embedding, s.feed_forward, most, some);
}

}  // namespace

std::span<const ModelShape> known_shapes()
{
    return kShapes;
}

std::span<const Quantisation> known_quantisations()
{
    return kQuantisations;
}

std::vector<ShapeTensor> shape_tensors(const ModelShape& s, const Quantisation& quantisation)
{
    TensorList list;
    list.matrix("token_embd", s.tied ? quantisation.better : quantisation.most, s.embedding, s.vocabulary);
    list.vector("output_norm.weight", s.embedding, Fill::Norm);
    if (!s.tied)
        list.matrix("output", quantisation.better, s.embedding, s.vocabulary);
    if (s.stretch.factor > 0)
        list.vector("rope_freqs.weight", s.head_length / 2, Fill::RopeFactors);
    for (int l = 0; l < s.layers; ++l)
        add_layer(list, s, quantisation, l);
    return list.take();
}

}  // namespace engine
