#include "engine/exec/activations.h"

#include <algorithm>

namespace engine {

namespace {

/// Widest row over all layers.
template <class Width>
int widest(const Hyperparameters& h, const Width& width)
{
    int most = 1;
    for (const LayerParameters& layer : h.layers)
        most = std::max(most, width(layer));
    return most;
}

/// Says whether experts read and give fewer values than the stream has.
bool has_latent_experts(const Hyperparameters& h)
{
    return h.experts > 0 && h.expert_length != h.embedding_length;
}

/// Returns the columns of the inputs that layers get of each token by itself.
int side_cols(const Hyperparameters& h)
{
    return std::max(int(h.layers.size()) * h.side_length, h.ngrams.values());
}

/// Says whether layers have a dense part beside experts.
bool has_both_parts(const Hyperparameters& h)
{
    return h.experts > 0 && h.architecture->dense_beside_experts;
}

}  // namespace

int widest_ffn(const Hyperparameters& h)
{
    return widest(h, [](const LayerParameters& layer) { return layer.ffn_length; });
}

PositionTables::PositionTables(const Hyperparameters& h, int max_rows, RowMemory& memory)
    : has_local_(has_local_rope(h))
    , pairs_(h.rope_dimensions(LayerKind::FullAttention) / 2)
    , local_pairs_(has_local_ ? h.rope_dimensions(LayerKind::SlidingWindow) / 2 : 0)
    , neox_(h.rope_neox)
    , scales_(h.temperature.full_layers_only ? 2 : 1)
    , floats_per_row_(2 * pairs_ + 2 * local_pairs_ + scales_)
    , rows_(1, floats_per_row_ * max_rows, memory)
{
}

Rotation PositionTables::rotation(LayerKind kind) const
{
    const float* cos = data() + begin_of(kind);
    return {cos, cos + angles(kind), pairs(kind), neox_};
}

Activations::Activations(const Hyperparameters& h, int max_rows, RowMemory& memory, int head_rows)
    : tables(h, max_rows, memory)
    , hidden(max_rows, h.embedding_length, memory)
    , x(max_rows, h.embedding_length, memory)
    , qkv(max_rows,
          widest(h,
                 [&](const LayerParameters& layer) {
                     return std::max(head_layout(h, layer).cols(), h.recurrent_input_cols(layer.mixer));
                 }),
          memory)
    , attended(max_rows, widest(h, [&](const LayerParameters& layer) { return mixer_cols(h, layer); }), memory)
    , gate_up(max_rows, std::max(2 * widest_ffn(h), h.side_length), memory)
    , inner(max_rows, std::max(widest_ffn(h), h.side_length), memory)
    , branch(max_rows, h.embedding_length, memory)
    , weight(max_rows, 1, memory)
    , routed(has_both_parts(h) ? max_rows : 0, h.embedding_length, memory)
    , beside(has_both_parts(h) ? max_rows : 0, h.embedding_length, memory)
    , expert_in(has_latent_experts(h) ? max_rows : 0, h.expert_length, memory)
    , expert_sum(has_latent_experts(h) ? max_rows : 0, h.expert_length, memory)
    , streams(h.streams.several() ? max_rows : 0, h.streams.count * h.embedding_length, memory)
    , stream_routes(h.streams.several() ? max_rows : 0, h.streams.count, memory)
    , low_rank(h.streams.rank > 0 ? max_rows : 0, h.streams.rank, memory)
    , stream_norms(h.streams.connected ? max_rows : 0, h.streams.count * h.embedding_length, memory)
    , stream_gates(h.streams.connected ? max_rows : 0, h.streams.count * h.embedding_length, memory)
    , last_streams(h.streams.several() ? 1 : 0, h.streams.count * h.embedding_length, memory)
    , side(side_cols(h) > 0 ? max_rows : 0, side_cols(h), memory)
    , last(head_rows, h.embedding_length, memory)
    , last_x(head_rows, h.embedding_length, memory)
    , logits(head_rows, h.vocabulary, memory)
    , query_low(h.latent.query_rank > 0 ? max_rows : 0, h.latent.query_rank, memory)
    , latent_heads(h.latent ? max_rows : 0,
                   widest(h,
                          [&](const LayerParameters& layer) {
                              return layer.heads * std::max(h.latent.rank, h.latent.key_length);
                          }),
                   memory)
    , drafted(h, max_rows, memory)
    , several_streams_(h.streams.several())
    , rounds_side_(h.ngrams.longest > 0)
    , rounds_hidden_(attention_reads_hidden(*h.architecture) || feed_forward_reads_hidden(*h.architecture) ||
                     h.side_length > 0)
{
}

std::size_t Activations::bytes() const
{
    std::size_t bytes = tables.bytes() + drafted.bytes();
    for (const Rows* rows : {&hidden,       &x,
                             &qkv,          &attended,
                             &gate_up,      &inner,
                             &branch,       &weight,
                             &routed,       &beside,
                             &expert_in,    &expert_sum,
                             &streams,      &stream_routes,
                             &low_rank,     &stream_norms,
                             &stream_gates, &last_streams,
                             &side,         &last,
                             &last_x,       &logits,
                             &query_low,    &latent_heads})
        bytes += rows->bytes();
    return bytes;
}

void Activations::take_rounded(bool residuals)
{
    for (Rows* rows : {&x, &attended, &inner, &routed, &expert_in, &expert_sum, &low_rank, &stream_norms, &last_x,
                       &query_low, &hidden, &side}) {
        if ((rows == &hidden && !rounds_hidden_) || (rows == &side && !rounds_side_))
            continue;
        rows->q8(0);
        if (residuals)
            rows->q8_residual(0);
    }
}

}  // namespace engine
