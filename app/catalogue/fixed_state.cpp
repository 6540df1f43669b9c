#include "app/catalogue/fixed_state.h"

#include "engine/memory_plan.h"

#include <algorithm>

namespace {

constexpr int kLongConversation = 128 * 1024;

}  // namespace

FixedState::FixedState(const engine::ModelInfo& model, const engine::LoadRequest& request)
{
    const engine::MemoryShape& shape = model.memory;
    if (shape.recurrent_layers == 0 || shape.state_bytes == 0)
        return;
    engine::LoadRequest whole = request;
    whole.context_tokens = std::min(model.context_tokens, kLongConversation);
    const engine::MemoryNeed need = engine::memory_need(model, whole);
    const int withoutKv = shape.recurrent_layers - shape.kv_and_state_layers;
    layers = shape.recurrent_layers;
    ofLayers = model.layers;
    bytes = double(need.state_bytes);
    besideKv = withoutKv == 0;
    tokens = whole.context_tokens;
    conversationBytes = double(need.kv_bytes) + bytes;
    if (shape.kv_layers > 0)
        withoutBytes = double(need.kv_bytes) / shape.kv_layers * (shape.kv_layers + withoutKv);
}

#include "moc_fixed_state.cpp"
