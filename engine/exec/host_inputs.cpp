#include "engine/exec/host_inputs.h"

#include <cmath>

namespace engine {

static std::span<const float> rope_factors(const Weights& w, const Hyperparameters& h, int context_tokens)
{
    if (h.rope_scaling.kind != RopeScaling::Kind::LongRope)
        return w.rope_factors;
    return context_tokens > h.rope_scaling.original_context ? w.rope_factors_long : w.rope_factors_short;
}

HostInputs::HostInputs(const Hyperparameters& h, const Weights& weights, int context_tokens, int max_rows)
    : h_(h)
    , weights_(weights)
    , rope_full_(rope_frequencies(h, LayerKind::FullAttention, rope_factors(weights, h, context_tokens)))
    , rope_local_(rope_frequencies(h, LayerKind::SlidingWindow, rope_factors(weights, h, context_tokens)))
    , projected_(h.side_length > 0 ? max_rows : 0, int(h.layers.size()) * h.side_length)
    , ngrams_(h.ngrams, max_rows)
{
    tokens_.reserve(std::size_t(max_rows));
}

void HostInputs::make(CpuBackend& host, const Step& step, Activations& to)
{
    tokens_.clear();
    to.tables.set_rows(step.rows());
    for (const RowGroup& group : step.groups) {
        tokens_.insert(tokens_.end(), group.tokens.begin(), group.tokens.end());
        fill_positions(group, to.tables);
    }
    const Matrix& table = weights_.token_embedding;
    host.embed(table, tokens_, h_.embedding_scale * (table.scale ? *table.scale : 1.0f), to.hidden);
    if (weights_.embedding_norm)
        host.rms_norm(to.hidden, weights_.embedding_norm, h_.rms_epsilon, to.hidden);
    if (h_.side_length > 0)
        make_side(host, to);
    if (h_.ngrams.longest > 0) {
        for (const RowGroup& group : step.groups)
            ngrams_.rows_of(group.sequence->ids, group.tokens, group.row);
        const Matrix& rows = weights_.side_embedding;
        host.embed(rows, ngrams_.found(step.rows()), rows.scale ? *rows.scale : 1.0f, to.side,
                   h_.ngrams.rows_of_token());
    }
}

/// Fills the tables that depend on positions: rotations, and the factors on queries.
void HostInputs::fill_positions(const RowGroup& group, PositionTables& tables) const
{
    const int first = group.first, count = group.count();
    const auto angles = [&](const RopeFrequencies& frequencies, LayerKind kind) {
        const std::size_t begin = std::size_t(group.row) * std::size_t(tables.rotation(kind).pairs);
        rope_table(frequencies, first, count, tables.cos(kind) + begin, tables.sin(kind) + begin);
    };
    constexpr auto kFull = LayerKind::FullAttention, kSliding = LayerKind::SlidingWindow;
    angles(rope_full_, kFull);
    if (tables.has_local())
        angles(rope_local_, kSliding);
    const QueryTemperature& temperature = h_.temperature;
    for (int t = 0; t < count; ++t) {
        // Llama 4 and Mistral 3 sharpen attention with distance.
        const double periods = std::floor(double(first + t + temperature.offset) / temperature.length);
        const double factor = temperature.scale != 0.0f ? 1.0 + temperature.scale * std::log1p(periods) : 1.0;
        tables.q_scale(kFull)[group.row + t] = float(h_.attention_scale * factor);
        if (tables.has_plain_scales())
            tables.q_scale(kSliding)[group.row + t] = h_.attention_scale;
    }
}

/// Makes each layer's own input of each token: half of it comes from a table, half from the token's embedding.
/// side = (rms_norm(projection * x / sqrt(dim)) + sqrt(length) * row of the table) / sqrt(2)
void HostInputs::make_side(CpuBackend& host, Activations& to)
{
    host.embed(weights_.side_embedding, tokens_, std::sqrt(float(h_.side_length) / 2), to.side);
    const Product projection{&weights_.side_projection, nullptr, 0};
    host.products(to.hidden, std::span(&projection, 1), projected_);
    // A norm takes 1 / sqrt(dim) out again, but for its epsilon; 1 / sqrt(2) is in its weights.
    host.norm_heads(projected_, {0, int(h_.layers.size()), h_.side_length, h_.side_length}, weights_.side_norm,
                    h_.rms_epsilon * float(h_.embedding_length), 0);
    host.add(projected_, to.side);
}

}  // namespace engine
