#include "engine/model/latent_weights.h"

#include "engine/model/weight_reader.h"

namespace engine {

/// Reads the matrices that make a head's keys and values of the latent row. Older files have both in one, by head:
/// [keys, values].
static void read_latent_stacks(WeightReader& in, const std::string& p, const LatentShape& s, int heads, LayerWeights& w)
{
    w.stacked_heads = heads;
    if (in.has(p + "attn_k_b.weight") || !in.has(p + "attn_kv_b.weight")) {
        w.k_up = in.matrix(p + "attn_k_b.weight", s.plain, s.rank, heads);
        w.v_up = in.matrix(p + "attn_v_b.weight", s.rank, s.value_length, heads);
        return;
    }
    const int period = s.plain + s.value_length;
    const Matrix both = in.matrix(p + "attn_kv_b.weight", s.rank, std::int64_t(heads) * period);
    if (!both)
        return;
    w.k_up = in.turned_over(both, heads, s.plain);
    w.v_up = in.rows_of(both, period, {{s.plain, s.value_length}});
    w.v_up.rows = s.value_length;
    if (both.scale)
        w.v_up.scale = in.repeated(*both.scale, heads);
}

void read_latent_attention(WeightReader& in, const std::string& p, const Hyperparameters& h,
                           const LayerParameters& layer, LayerWeights& w)
{
    const LatentShape& s = h.latent;
    const int dim = h.embedding_length, q_rows = layer.heads * s.key_length;
    if (s.query_rank > 0) {
        w.q_low = in.matrix(p + "attn_q_a.weight", dim, s.query_rank);
        w.q_low_norm = in.vector(p + "attn_q_a_norm.weight", s.query_rank);
        w.q = in.matrix(p + "attn_q_b.weight", s.query_rank, q_rows);
    } else {
        w.q = in.matrix(p + "attn_q.weight", dim, q_rows);
    }
    w.kv_low = in.matrix(p + "attn_kv_a_mqa.weight", dim, layer.key_length);
    w.kv_low_norm = in.vector(p + "attn_kv_a_norm.weight", s.rank);
    read_latent_stacks(in, p, s, layer.heads, w);
}

}  // namespace engine
