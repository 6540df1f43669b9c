#include "engine/model/architecture.h"

#include <algorithm>

namespace engine {

static constexpr Architecture kArchitectures[] = {
    {.name = "llama", .rope_neox = false},
    {.name = "mistral3", .rope_neox = false},
    {.name = "qwen2"},
    {.name = "qwen3"},
    {.name = "qwen3moe"},
    {.name = "gemma2",
     .gate = Gate::Gelu,
     .scale_embeddings = true,
     .window_period = 2,
     .attn_post_norm = "post_attention_norm",
     .ffn_post_norm = "post_ffw_norm"},
    {.name = "gemma3",
     .gate = Gate::Gelu,
     .scale_embeddings = true,
     .window_period = 6,
     .local_rope_base = 10000.0f,
     .attn_post_norm = "post_attention_norm",
     .ffn_post_norm = "post_ffw_norm"},
    {.name = "gemma4",
     .gate = Gate::Gelu,
     .scale_embeddings = true,
     .window_period = 6,
     .local_rope_base = 10000.0f,
     .attn_post_norm = "post_attention_norm",
     .ffn_post_norm = "post_ffw_norm",
     .attention_scale = 1.0f,
     .norm_values = true,
     .dense_beside_experts = true},
    {.name = "phi3"},
    {.name = "gpt-oss", .gate = Gate::SwigluOai, .window_period = 2, .ffn_norm = "post_attention_norm"},
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
