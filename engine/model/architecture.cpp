#include "engine/model/architecture.h"

#include <algorithm>

namespace engine {

static constexpr std::string_view kPostAttention = "post_attention_norm", kPostFfw = "post_ffw_norm";

static constexpr Architecture kArchitectures[] = {
    {.name = "llama", .rope_neox = false},
    {.name = "mistral3", .rope_neox = false},
    {.name = "qwen2"},
    {.name = "qwen3"},
    {.name = "qwen3moe"},
    {.name = "qwen3vl"},
    {.name = "qwen3vlmoe"},
    {.name = "gemma2",
     .gate = Gate::Gelu,
     .scale_embeddings = true,
     .window_period = 2,
     .attn_post_norm = kPostAttention,
     .ffn_post_norm = kPostFfw},
    {.name = "gemma3",
     .gate = Gate::Gelu,
     .scale_embeddings = true,
     .window_period = 6,
     .local_rope_base = 10000.0f,
     .attn_post_norm = kPostAttention,
     .ffn_post_norm = kPostFfw},
    {.name = "phi3"},
    {.name = "gpt-oss", .gate = Gate::SwigluOai, .window_period = 2, .ffn_norm = kPostAttention},
    {.name = "smollm3", .rope_neox = false, .rope_layers = RopeLayers::AllButEveryFourth},
    {.name = "ernie4_5", .rope_neox = false},
    {.name = "ernie4_5-moe", .rope_neox = false},
    {.name = "seed_oss", .ffn_norm = kPostAttention},
    {.name = "hunyuan-dense", .qk_norm = QkNorm::HeadsAfterRope},
    {.name = "hunyuan-moe", .qk_norm = QkNorm::HeadsAfterRope},
    {.name = "glm4", .rope_neox = false, .attn_post_norm = kPostAttention, .ffn_post_norm = kPostFfw},
    {.name = "glm4moe", .ffn_norm = kPostAttention, .router_scores = RouterScores::Sigmoid},
    {.name = "minimax-m2", .qk_norm = QkNorm::WholeRows, .router_scores = RouterScores::Sigmoid},
    {.name = "olmo2",  // and OLMo 3, whose files say that layers slide
     .window_period = 4,
     .local_rope_unscaled = true,
     .attn_norm = {},
     .ffn_norm = {},
     .attn_post_norm = kPostAttention,
     .ffn_post_norm = kPostFfw,
     .qk_norm = QkNorm::WholeRows},
    {.name = "granite",
     .rope_neox = false,
     .rope_layers = RopeLayers::WhereFinetuned,
     .logit_scale = LogitScale::Divides},
    {.name = "granitemoe",
     .rope_neox = false,
     .rope_layers = RopeLayers::WhereFinetuned,
     .logit_scale = LogitScale::Divides},
    {.name = "cohere2",
     .rope_neox = false,
     .norm = NormKind::Layer,
     .window_period = 4,
     .ffn_norm = {},
     .rope_layers = RopeLayers::SlidingLayers,
     .branches = Branches::Parallel},
    {.name = "muse-glimmer",
     .rope_neox = false,
     .norm_embeddings = true,
     .window_period = 4,
     .attn_post_norm = kPostAttention,
     .ffn_post_norm = kPostFfw,
     .post_norm_epsilon = 1e-8f,
     .rope_layers = RopeLayers::SlidingLayers,
     .attention_gate = AttentionGate::Apart},
    {.name = "llama4",
     .rope_neox = false,
     .window_period = 4,
     .window = WindowKind::Chunks,
     .default_window = 8192,
     .rope_layers = RopeLayers::SlidingLayers,
     .qk_norm = QkNorm::HeadsAfterRope,
     .qk_norm_weight = QkNormWeight::One,
     .temperature = {.scale = 0.1f, .length = 8192, .offset = 1, .full_layers_only = true},
     .router_scores = RouterScores::Sigmoid,
     .expert_weights = ExpertWeights::AsScored,
     .expert_weighs = ExpertWeighs::Input},
};

std::span<const Architecture> all_architectures()
{
    return kArchitectures;
}

const Architecture* find_architecture(std::string_view name)
{
    const auto found = std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                                    [&](const auto& a) { return a.name == name; });
    return found == std::end(kArchitectures) ? nullptr : found;
}

}  // namespace engine
