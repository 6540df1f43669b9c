#include "engine/exec/backend.h"

namespace engine {

static void norm_queries_keys(Backend& on, Rows& qkv, const HeadPreparation& p)
{
    const HeadLayout& heads = p.heads;
    const bool whole = p.norm == QkNorm::WholeRows;  // normed as one long head
    const int d = heads.key_length;
    const HeadColumns q = whole ? HeadColumns{0, 1, heads.k_col(), heads.k_col()}
                                : HeadColumns{heads.projected_q_col(), heads.heads, d, heads.projected_q_stride()};
    const HeadColumns k = whole ? HeadColumns{heads.k_col(), 1, heads.kv_heads * d, heads.kv_heads * d}
                                : HeadColumns{heads.k_col(), heads.kv_heads, d, d};
    const auto norm = [&](const HeadColumns& from, Vector weight, int to) {
        if (weight && p.norm == QkNorm::HeadsByThemselves)
            on.layer_norm_heads(qkv, from, weight, p.epsilon);
        else if (weight)
            on.norm_heads(qkv, from, weight, p.epsilon, to);
    };
    norm(q, p.q_norm, 0);
    norm(k, p.k_norm, heads.k_col());
    const int v_length = heads.value_length;
    if (p.v_norm)
        on.norm_heads(qkv, {heads.v_col(), heads.kv_heads, v_length, v_length}, p.v_norm, p.epsilon, heads.v_col());
}

void Backend::prepare_heads(Rows& qkv, const HeadPreparation& p, int l, const Step& step)
{
    const bool norm_last = p.norm == QkNorm::HeadsAfterRope;
    if (!norm_last)
        norm_queries_keys(*this, qkv, p);
    if (p.rotation)
        rope_heads(qkv, 0, p.heads.heads + (p.own_kv ? p.heads.kv_heads : 0), p.heads.key_length, *p.rotation);
    if (norm_last)
        norm_queries_keys(*this, qkv, p);
    if (p.own_kv)
        store_kv(qkv, p.heads, l, step);
}

void Backend::project_heads(Rows& x, std::span<const Product> products, Rows& qkv, const HeadPreparation& p, int l,
                            const Step& step)
{
    this->products(x, products, qkv);
    prepare_heads(qkv, p, l, step);
}

}  // namespace engine
