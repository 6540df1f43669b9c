#include "engine/exec/activations.h"

#include <algorithm>

namespace engine {

namespace {

/// Columns of what a recurrent layer's mixer is given: all products of its input.
int mixed_cols(const Hyperparameters& h, const LayerParameters& layer)
{
    const StateSpace& s = h.state_space;
    switch (layer.mixer) {
    case Mixer::DeltaNet:
        return s.conv_channels() + s.inner() + 2 * s.heads;
    case Mixer::Mamba2:
    case Mixer::AttentionAndMamba2:
        return s.inner() + s.conv_channels() + s.heads;
    case Mixer::ShortConvolution:
        return 3 * s.inner();
    case Mixer::Attention:
    case Mixer::None:
        break;
    }
    return 0;
}

/// Widest row over all layers.
template <class Width>
int widest(const Hyperparameters& h, const Width& width)
{
    int most = 1;
    for (const LayerParameters& layer : h.layers)
        most = std::max(most, width(layer));
    return most;
}

}  // namespace

PositionTables::PositionTables(const Hyperparameters& h, int max_rows, RowMemory& memory)
    : pairs_(h.rope_dimensions / 2)
    , neox_(h.architecture->rope_neox)
    , tables_(has_local_rope(h) ? 4 : 2)
    , scales_(h.temperature.full_layers_only ? 2 : 1)
    , floats_per_row_(tables_ * pairs_ + scales_)
    , rows_(1, floats_per_row_ * max_rows, memory)
{
}

Rotation PositionTables::rotation(LayerKind kind) const
{
    const float* cos = data() + std::size_t(is_local(kind) ? 2 : 0) * angles();
    return {cos, cos + angles(), pairs_, neox_};
}

Activations::Activations(const Hyperparameters& h, int max_rows, RowMemory& memory)
    : tables(h, max_rows, memory)
    , hidden(max_rows, h.embedding_length, memory)
    , x(max_rows, h.embedding_length, memory)
    , qkv(max_rows,
          widest(h,
                 [&](const LayerParameters& layer) {
                     return std::max(head_layout(h, layer).cols(), mixed_cols(h, layer));
                 }),
          memory)
    , attended(max_rows, widest(h, [&](const LayerParameters& layer) { return mixer_cols(h, layer); }), memory)
    , gate_up(max_rows, 2 * widest(h, [](const LayerParameters& layer) { return layer.ffn_length; }), memory)
    , inner(max_rows, widest(h, [](const LayerParameters& layer) { return layer.ffn_length; }), memory)
    , branch(max_rows, h.embedding_length, memory)
    , weight(max_rows, 1, memory)
    , last(1, h.embedding_length, memory)
    , last_x(1, h.embedding_length, memory)
    , logits(1, h.vocabulary, memory)
    , rounds_hidden_(attention_reads_hidden(*h.architecture) || feed_forward_reads_hidden(*h.architecture))
{
}

std::size_t Activations::bytes() const
{
    std::size_t bytes = tables.bytes();
    for (const Rows* rows : {&hidden, &x, &qkv, &attended, &gate_up, &inner, &branch, &weight, &last, &last_x, &logits})
        bytes += rows->bytes();
    return bytes;
}

void Activations::take_rounded(bool residuals)
{
    for (Rows* rows : {&x, &attended, &inner, &last_x, &hidden}) {
        if (rows == &hidden && !rounds_hidden_)
            continue;
        rows->q8(0);
        if (residuals)
            rows->q8_residual(0);
    }
}

}  // namespace engine
