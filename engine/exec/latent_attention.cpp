#include "engine/exec/latent_attention.h"

#include <span>

namespace engine {

/// Writes each head's own query to latent_heads, and to qkv, behind the heads' place, the row that is kept; nothing is
/// rotated yet.
static void project(const Hyperparameters& h, const LayerWeights& w, const HeadLayout& heads, Rows& x, Backend& on,
                    Activations& a)
{
    const int k_col = heads.k_col(), rank = h.latent.rank;
    const Product queries{&w.q, nullptr, 0}, low{&w.q_low, nullptr, 0}, kept{&w.kv_low, nullptr, k_col};
    if (w.q_low) {
        on.products(x, std::span(&low, 1), a.query_low);
        on.rms_norm(a.query_low, w.q_low_norm, h.rms_epsilon, a.query_low);
    }
    on.products(w.q_low ? a.query_low : x, std::span(&queries, 1), a.latent_heads);
    on.products(x, std::span(&kept, 1), a.qkv);
    on.norm_heads(a.qkv, {k_col, 1, rank, rank}, w.kv_low_norm, h.rms_epsilon, k_col);
}

void make_latent_queries(const Hyperparameters& h, const LayerWeights& w, const HeadLayout& heads,
                         const Rotation& rotation, Rows& x, Backend& on, Activations& a)
{
    const LatentShape& s = h.latent;
    const int n = heads.heads, rope = s.key_length - s.plain;
    project(h, w, heads, x, on, a);
    on.rope_heads(a.latent_heads, s.plain, n, s.key_length, rotation);
    on.rope_heads(a.qkv, heads.k_col() + s.rank, 1, rope, rotation);
    on.multiply_heads(a.latent_heads, {0, n, s.plain, s.key_length}, w.k_up, a.qkv, {0, n, s.rank, heads.key_length});
    on.copy_heads(a.latent_heads, {s.plain, n, rope, s.key_length}, a.qkv, {s.rank, n, rope, heads.key_length});
}

void make_values_of_latent(const LatentShape& s, const LayerWeights& w, const HeadLayout& heads, Backend& on,
                           Activations& a)
{
    const int n = heads.heads;
    a.attended.set_shape(a.latent_heads.count(), n * s.value_length);
    on.multiply_heads(a.latent_heads, {0, n, s.rank, s.rank}, w.v_up, a.attended,
                      {0, n, s.value_length, s.value_length});
}

}  // namespace engine
