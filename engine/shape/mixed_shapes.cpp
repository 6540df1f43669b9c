#include "engine/shape/shapes.h"

namespace engine {

using Kind = StateParts::Kind;

/// Fills in what Qwen 3.5 and its relatives have in common: three gated delta nets, then one attention with gates.
static constexpr ModelShape gated_delta(ModelShape s, int value_heads)
{
    s.context = 262144;
    s.rope_base = 1e7f;
    s.head_length = 256;
    s.rotated = 64;
    s.head_norms = true;
    s.ffn_norm = "post_attention_norm";
    s.layer_kinds = "rrra";
    s.state = {Kind::DeltaNet, 4, 128, 16, value_heads, 128};
    s.gated_queries = true;
    return s;
}

static constexpr ModelShape qwen35(std::string_view name, int layers, int embedding, int feed_forward, int heads,
                                   int kv_heads, int value_heads, bool tied)
{
    return gated_delta({.name = name,
                        .architecture = "qwen35",
                        .layers = layers,
                        .embedding = embedding,
                        .feed_forward = feed_forward,
                        .heads = heads,
                        .kv_heads = kv_heads,
                        .vocabulary = 248320,
                        .tied = tied},
                       value_heads);
}

/// Returns the same shape for a file that can guess tokens ahead.
static constexpr ModelShape with_mtp(ModelShape s, std::string_view name)
{
    s.name = name;
    s.mtp = true;
    return s;
}

/// Fills in what gpt-oss's two sizes have in common.
static constexpr ModelShape gpt_oss(std::string_view name, int layers, int experts)
{
    return {.name = name,
            .architecture = "gpt-oss",
            .layers = layers,
            .embedding = 2880,
            .feed_forward = 2880,
            .heads = 64,
            .kv_heads = 8,
            .head_length = 64,
            .vocabulary = 201088,
            .context = 131072,
            .rope_base = 1.5e5f,
            .window = 128,
            .qkv_bias = true,
            .ffn_norm = "post_attention_norm",
            .experts = {.count = experts, .used = 4, .feed_forward = 2880, .mxfp4 = true, .biases = true},
            .sinks = true,
            .yarn_factor = 32};
}

/// Makes a small model with the parts of another, which `s` says.
static constexpr ModelShape tiny(ModelShape s, std::string_view name, std::string_view architecture)
{
    s.name = name;
    s.architecture = architecture;
    s.layers = 4;
    s.embedding = 256;
    s.feed_forward = 512;
    s.heads = 4;
    s.kv_heads = s.latent.rank > 0 ? 1 : 2;
    s.head_length = 64;
    s.vocabulary = 512;
    s.context = 8192;
    if (s.rope_base == 0)
        s.rope_base = 1e6f;
    return s;
}

static constexpr ModelShape kTinyQwen35 = tiny({.tied = true,
                                                .head_norms = true,
                                                .ffn_norm = "post_attention_norm",
                                                .rotated = 16,
                                                .layer_kinds = "rrra",
                                                .state = {Kind::DeltaNet, 4, 64, 2, 4, 64},
                                                .gated_queries = true},
                                               "tiny-qwen35", "qwen35");

// Numbers of the published models' configuration files. Of LFM2 8B the sizes and how many of its layers attend were
// compared, not which; of Granite 4.0 H tiny the layers of two others of its family. Some contexts and rotation bases
// were not compared with a file; the speed does not depend on them.
static constexpr ModelShape kQwen35_4b = qwen35("qwen3.5-4b", 32, 2560, 9216, 16, 4, 32, true);
static constexpr ModelShape kQwen35_27b = qwen35("qwen3.5-27b", 64, 5120, 17408, 24, 4, 48, false);
static constexpr ModelShape kMixedShapes[] = {
    kTinyQwen35,
    with_mtp(kTinyQwen35, "tiny-qwen35-mtp"),
    tiny({.head_norms = true,
          .ffn_norm = "post_attention_norm",
          .rotated = 16,
          .experts = {.count = 8, .used = 2, .feed_forward = 256, .shared_feed_forward = 256, .shared_weight = true},
          .layer_kinds = "rrra",
          .state = {Kind::DeltaNet, 4, 64, 2, 4, 64},
          .gated_queries = true},
         "tiny-qwen35moe", "qwen35moe"),
    tiny({.tied = true, .layer_kinds = "rarr", .state = {Kind::Mamba2, 4, 64, 1, 8, 32}, .turns = false},
         "tiny-granitehybrid", "granitehybrid"),
    tiny({.ffn_norm = {},
          .experts = {.count = 8,
                      .used = 2,
                      .feed_forward = 256,
                      .shared_feed_forward = 256,
                      .choice_bias = true,
                      .sigmoid = true,
                      .scale = 2.5f},
          .layer_kinds = "rfaf",
          .state = {Kind::Mamba2, 4, 64, 2, 8, 32},
          .gated_feed_forward = false},
         "tiny-nemotron-h-moe", "nemotron_h_moe"),
    tiny({.tied = true,
          .head_norms = true,
          .layer_kinds = "rrar",
          .state = {.kind = Kind::Convolution, .conv_width = 3},
          .output_norm = "token_embd_norm"},
         "tiny-lfm2", "lfm2"),
    tiny({.rotated = 32,
          .experts = {.count = 8,
                      .used = 2,
                      .feed_forward = 256,
                      .shared_feed_forward = 256,
                      .dense_layers = 1,
                      .choice_bias = true,
                      .sigmoid = true,
                      .scale = 1.8f},
          .latent = {128, 64, 64, 32, 64}},
         "tiny-deepseek2", "deepseek2"),
    tiny({.window = 32,
          .qkv_bias = true,
          .ffn_norm = "post_attention_norm",
          .experts = {.count = 4, .used = 2, .feed_forward = 256, .mxfp4 = true, .biases = true},
          .sinks = true,
          .yarn_factor = 32},
         "tiny-gpt-oss", "gpt-oss"),
    qwen35("qwen3.5-0.8b", 24, 1024, 3584, 8, 2, 16, true),
    qwen35("qwen3.5-2b", 24, 2048, 6144, 8, 2, 16, true),
    kQwen35_4b,
    with_mtp(kQwen35_4b, "qwen3.5-4b-mtp"),
    qwen35("qwen3.5-9b", 32, 4096, 12288, 16, 4, 32, false),
    kQwen35_27b,
    with_mtp(kQwen35_27b, "qwen3.5-27b-mtp"),
    gated_delta(
        {.name = "qwen3.5-35b-a3b",
         .architecture = "qwen35moe",
         .layers = 40,
         .embedding = 2048,
         .feed_forward = 512,
         .heads = 16,
         .kv_heads = 2,
         .vocabulary = 248320,
         .experts = {.count = 256, .used = 8, .feed_forward = 512, .shared_feed_forward = 512, .shared_weight = true}},
        32),
    gated_delta(
        {.name = "qwen3-next-80b-a3b",
         .architecture = "qwen3next",
         .layers = 48,
         .embedding = 2048,
         .feed_forward = 5120,
         .heads = 16,
         .kv_heads = 2,
         .vocabulary = 151936,
         .experts = {.count = 512, .used = 10, .feed_forward = 512, .shared_feed_forward = 512, .shared_weight = true}},
        32),
    gpt_oss("gpt-oss-20b", 24, 32),
    gpt_oss("gpt-oss-120b", 36, 128),
    {.name = "deepseek-v2-lite",
     .architecture = "deepseek2",
     .layers = 27,
     .embedding = 2048,
     .feed_forward = 10944,
     .heads = 16,
     .kv_heads = 1,
     .vocabulary = 102400,
     .context = 163840,
     .rope_base = 1e4f,
     .rotated = 64,
     .experts = {.count = 64,
                 .used = 6,
                 .feed_forward = 1408,
                 .shared_feed_forward = 2816,
                 .dense_layers = 1,
                 .sum_to_one = false},
     .latent = {512, 0, 128, 64, 128},
     .yarn_factor = 40},
    {.name = "glm-4.7-flash",  // without its block that predicts several tokens
     .architecture = "deepseek2",
     .layers = 47,
     .embedding = 2048,
     .feed_forward = 10240,
     .heads = 20,
     .kv_heads = 1,
     .vocabulary = 154880,
     .context = 202752,
     .rope_base = 1e6f,
     .rotated = 64,
     .experts = {.count = 64,
                 .used = 4,
                 .feed_forward = 1536,
                 .shared_feed_forward = 1536,
                 .dense_layers = 1,
                 .choice_bias = true,
                 .sigmoid = true,
                 .scale = 1.8f},
     .latent = {512, 768, 192, 64, 256}},
    {.name = "lfm2-1.2b",
     .architecture = "lfm2",
     .layers = 16,
     .embedding = 2048,
     .feed_forward = 8192,
     .heads = 32,
     .kv_heads = 8,
     .head_length = 64,
     .vocabulary = 65536,
     .context = 128000,
     .rope_base = 1e6f,
     .tied = true,
     .head_norms = true,
     .layer_kinds = "rrarrarrarararar",
     .state = {.kind = Kind::Convolution, .conv_width = 3},
     .output_norm = "token_embd_norm"},
    {.name = "lfm2-8b-a1b",
     .architecture = "lfm2moe",
     .layers = 24,
     .embedding = 2048,
     .feed_forward = 7168,
     .heads = 32,
     .kv_heads = 8,
     .head_length = 64,
     .vocabulary = 65536,
     .context = 128000,
     .rope_base = 1e6f,
     .tied = true,
     .head_norms = true,
     .experts = {.count = 32, .used = 4, .feed_forward = 1792, .dense_layers = 2, .choice_bias = true, .sigmoid = true},
     .layer_kinds = "rrarrrarrrarrrarrrarrarr",
     .state = {.kind = Kind::Convolution, .conv_width = 3},
     .output_norm = "token_embd_norm"},
    {.name = "granite-4.0-h-micro",
     .architecture = "granitehybrid",
     .layers = 40,
     .embedding = 2048,
     .feed_forward = 8192,
     .heads = 32,
     .kv_heads = 8,
     .head_length = 64,
     .vocabulary = 100352,
     .context = 131072,
     .rope_base = 1e4f,
     .tied = true,
     .layer_kinds = "rrrrrarrrr",
     .state = {Kind::Mamba2, 4, 128, 1, 64, 64},
     .turns = false},
    {.name = "granite-4.0-h-tiny",
     .architecture = "granitehybrid",
     .layers = 40,
     .embedding = 1536,
     .feed_forward = 512,
     .heads = 12,
     .kv_heads = 4,
     .head_length = 128,
     .vocabulary = 100352,
     .context = 131072,
     .rope_base = 1e4f,
     .tied = true,
     .experts = {.count = 64, .used = 6, .feed_forward = 512, .shared_feed_forward = 1024},
     .layer_kinds = "rrrrrarrrr",
     .state = {Kind::Mamba2, 4, 128, 1, 48, 64},
     .turns = false},
    {.name = "nemotron-3-nano-30b-a3b",
     .architecture = "nemotron_h_moe",
     .layers = 52,
     .embedding = 2688,
     .feed_forward = 1856,
     .heads = 32,
     .kv_heads = 2,
     .head_length = 128,
     .vocabulary = 131072,
     .context = 262144,
     .rope_base = 1e4f,
     .ffn_norm = {},
     .experts = {.count = 128,
                 .used = 6,
                 .feed_forward = 1856,
                 .shared_feed_forward = 3712,
                 .choice_bias = true,
                 .sigmoid = true,
                 .scale = 2.5f},
     .layer_kinds = "rfrfrafrfrfrafrfrfrafrfrfrafrfrfrafrfrfrfrafrfrfrfrf",
     .state = {Kind::Mamba2, 4, 128, 8, 64, 64},
     .gated_feed_forward = false},
};

std::span<const ModelShape> mixed_shapes()
{
    return kMixedShapes;
}

}  // namespace engine
