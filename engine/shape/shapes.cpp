#include "engine/shape/shapes.h"

#include <cmath>

namespace engine {

namespace {

using kernels::TensorType;

// Numbers of llama.cpp's enum llama_ftype.
constexpr Quantisation kQuantisations[] = {
    {"q4_k_m", 15, TensorType::Q4_K, TensorType::Q6_K},     {"q5_k_m", 17, TensorType::Q5_K, TensorType::Q6_K},
    {"q6_k", 18, TensorType::Q6_K, TensorType::Q6_K},       {"q4_0", 2, TensorType::Q4_0, TensorType::Q6_K},
    {"q8_0", 7, TensorType::Q8_0, TensorType::Q8_0},        {"f16", 1, TensorType::F16, TensorType::F16},
    {"bf16", 32, TensorType::BF16, TensorType::BF16},       {"iq4_nl", 25, TensorType::IQ4_NL, TensorType::Q6_K},
    {"iq4_xs", 30, TensorType::IQ4_XS, TensorType::Q6_K},   {"iq3_s", 26, TensorType::IQ3_S, TensorType::Q6_K},
    {"iq3_xxs", 23, TensorType::IQ3_XXS, TensorType::Q5_K}, {"iq2_s", 28, TensorType::IQ2_S, TensorType::Q5_K},
    {"iq2_xs", 20, TensorType::IQ2_XS, TensorType::Q5_K},   {"iq2_xxs", 19, TensorType::IQ2_XXS, TensorType::Q5_K},
    {"iq1_m", 31, TensorType::IQ1_M, TensorType::Q5_K},     {"iq1_s", 24, TensorType::IQ1_S, TensorType::Q5_K},
    {"tq2_0", 37, TensorType::TQ2_0, TensorType::Q6_K},     {"tq1_0", 36, TensorType::TQ1_0, TensorType::Q6_K},
    {"nvfp4", 39, TensorType::NVFP4, TensorType::Q8_0},
};

/// Says whether a layer's attn_v and ffn_down are in the better type of the mixed quantisations.
bool keeps_more_bits(int layer, int layers)
{
    return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
}

/// Returns the type, or one that takes its place where a row is no whole number of its blocks.
TensorType fitting(TensorType type, std::int64_t row_length)
{
    for (const TensorType candidate : {type, TensorType::Q8_0})
        if (row_length % kernels::type_traits(candidate).block_len == 0)
            return candidate;
    return TensorType::F16;
}

class TensorList
{
public:
    void matrix(std::string name, TensorType type, std::int64_t row_length, std::int64_t rows)
    {
        list_.push_back({std::move(name) + ".weight", fitting(type, row_length), row_length, rows});
    }
    void vector(std::string name, std::int64_t length, Fill fill)
    {
        list_.push_back({std::move(name), TensorType::F32, length, 0, fill});
    }
    void norm(std::string name, std::int64_t length, float mean = 1)
    {
        list_.push_back({std::move(name), TensorType::F32, length, 0, Fill::Norm, mean});
    }
    std::vector<ShapeTensor> take() { return std::move(list_); }

private:
    std::vector<ShapeTensor> list_;
};

/// Returns the type of attn_v and ffn_down; Q4_0 files mix nothing within the layers.
TensorType some_better(const ModelShape& s, const Quantisation& quantisation, int l)
{
    return quantisation.most != TensorType::Q4_0 && keeps_more_bits(l, s.layers) ? quantisation.better
                                                                                 : quantisation.most;
}

void add_gemma4_layer(TensorList& list, const ModelShape& s, const Quantisation& quantisation, int l)
{
    const std::string p = "blk." + std::to_string(l) + ".";
    const Gemma4Parts& g = s.gemma4;
    const bool full = g.full(l);
    const int length = full ? g.full_head_length : s.head_length;
    const int q = s.heads * length, kv = (full ? g.full_kv_heads : s.kv_heads) * length;
    const int ffn = s.feed_forward_of(l);
    const TensorType most = quantisation.most, some = some_better(s, quantisation, l);
    const float head_mean = std::pow(float(length), -0.25f);  // scores are not scaled
    list.norm(p + "attn_norm.weight", s.embedding);
    list.matrix(p + "attn_q", most, s.embedding, q);
    list.norm(p + "attn_q_norm.weight", length, head_mean);
    if (l < s.first_reader()) {
        list.matrix(p + "attn_k", most, s.embedding, kv);
        list.norm(p + "attn_k_norm.weight", length, head_mean);
        if (!full || !g.values_are_keys)
            list.matrix(p + "attn_v", some, s.embedding, kv);
    }
    list.matrix(p + "attn_output", most, q, s.embedding);
    list.norm(p + "post_attention_norm.weight", s.embedding);
    list.norm(p + "ffn_norm.weight", s.embedding);
    list.matrix(p + "ffn_gate", most, s.embedding, ffn);
    list.matrix(p + "ffn_up", most, s.embedding, ffn);
    list.matrix(p + "ffn_down", some, ffn, s.embedding);
    list.norm(p + "post_ffw_norm.weight", s.embedding);
    if (const ShapeExperts& e = s.experts; e.count > 0) {
        list.matrix(p + "ffn_gate_inp", TensorType::F32, s.embedding, e.count);
        list.norm(p + "ffn_gate_inp.scale", s.embedding, std::sqrt(float(s.embedding)));
        list.matrix(p + "ffn_gate_up_exps", most, s.embedding, std::int64_t(2) * e.feed_forward * e.count);
        list.matrix(p + "ffn_down_exps", some, e.feed_forward, std::int64_t(s.embedding) * e.count);
        list.norm(p + "ffn_down_exps.scale", e.count);
        for (const char* name : {"pre_ffw_norm_2", "post_ffw_norm_1", "post_ffw_norm_2"})
            list.norm(p + name + ".weight", s.embedding);
    }
    if (g.side > 0) {
        list.matrix(p + "inp_gate", most, s.embedding, g.side);
        list.matrix(p + "proj", most, g.side, s.embedding);
        list.norm(p + "post_norm.weight", s.embedding);
    }
    list.norm(p + "layer_output_scale.weight", 1);
}

/// Adds the feed-forward part of a dense layer, or that of a shared expert, which `suffix` names.
void add_feed_forward(TensorList& list, const std::string& p, const std::string& suffix, const ModelShape& s,
                      int length, TensorType most, TensorType down)
{
    if (s.gated_feed_forward)
        list.matrix(p + "ffn_gate" + suffix, most, s.embedding, length);
    list.matrix(p + "ffn_up" + suffix, most, s.embedding, length);
    list.matrix(p + "ffn_down" + suffix, down, length, s.embedding);
}

void add_experts(TensorList& list, const std::string& p, const ModelShape& s, TensorType most, TensorType down)
{
    const ShapeExperts& e = s.experts;
    const std::int64_t rows = std::int64_t(e.feed_forward) * e.count, out_rows = std::int64_t(s.embedding) * e.count;
    list.matrix(p + "ffn_gate_inp", TensorType::F32, s.embedding, e.count);
    if (e.choice_bias)
        list.vector(p + "exp_probs_b.bias", e.count, Fill::Bias);
    if (s.gated_feed_forward)
        list.matrix(p + "ffn_gate_exps", e.mxfp4 ? TensorType::MXFP4 : most, s.embedding, rows);
    list.matrix(p + "ffn_up_exps", e.mxfp4 ? TensorType::MXFP4 : most, s.embedding, rows);
    list.matrix(p + "ffn_down_exps", e.mxfp4 ? TensorType::MXFP4 : down, e.feed_forward, out_rows);
    if (e.biases) {
        list.vector(p + "ffn_gate_inp.bias", e.count, Fill::Bias);
        list.vector(p + "ffn_gate_exps.bias", rows, Fill::Bias);
        list.vector(p + "ffn_up_exps.bias", rows, Fill::Bias);
        list.vector(p + "ffn_down_exps.bias", out_rows, Fill::Bias);
    }
    if (e.shared_feed_forward > 0)
        add_feed_forward(list, p, "_shexp", s, e.shared_feed_forward, most, down);
    if (e.shared_weight)
        list.matrix(p + "ffn_gate_inp_shexp", TensorType::F32, s.embedding, 1);
}

/// Adds the mixer of a layer that reads a state.
void add_state_mixer(TensorList& list, const std::string& p, const ModelShape& s, TensorType most)
{
    const StateParts& state = s.state;
    const int dim = s.embedding;
    if (state.kind == StateParts::Kind::Convolution) {
        list.matrix(p + "shortconv.in_proj", most, dim, 3 * std::int64_t(dim));
        list.matrix(p + "shortconv.conv", TensorType::F32, state.conv_width, dim);
        list.matrix(p + "shortconv.out_proj", most, dim, dim);
        return;
    }
    if (state.kind == StateParts::Kind::DeltaNet) {
        list.matrix(p + "attn_qkv", most, dim, state.channels());
        list.matrix(p + "attn_gate", most, dim, state.inner());
        list.matrix(p + "ssm_beta", most, dim, state.heads);
        list.matrix(p + "ssm_alpha", most, dim, state.heads);
        list.norm(p + "ssm_norm.weight", state.head_length);
    } else {
        list.matrix(p + "ssm_in", most, dim, std::int64_t(state.inner()) + state.channels() + state.heads);
        list.vector(p + "ssm_conv1d.bias", state.channels(), Fill::Bias);
        list.vector(p + "ssm_d", state.heads, Fill::Norm);
        list.norm(p + "ssm_norm.weight", state.inner());
    }
    list.matrix(p + "ssm_conv1d", TensorType::F32, state.conv_width, state.channels());
    list.vector(p + "ssm_dt.bias", state.heads, Fill::TimeStep);
    list.vector(p + "ssm_a", state.heads, Fill::Decay);
    list.matrix(p + "ssm_out", most, state.inner(), dim);
}

void add_latent_attention(TensorList& list, const std::string& p, const ModelShape& s, TensorType most)
{
    const LatentParts& a = s.latent;
    const std::int64_t q = std::int64_t(s.heads) * (a.plain + a.rotated);
    if (a.query_rank > 0) {
        list.matrix(p + "attn_q_a", most, s.embedding, a.query_rank);
        list.norm(p + "attn_q_a_norm.weight", a.query_rank);
        list.matrix(p + "attn_q_b", most, a.query_rank, q);
    } else {
        list.matrix(p + "attn_q", most, s.embedding, q);
    }
    list.matrix(p + "attn_kv_a_mqa", most, s.embedding, a.rank + a.rotated);
    list.norm(p + "attn_kv_a_norm.weight", a.rank);
    list.matrix(p + "attn_k_b", most, a.plain, std::int64_t(a.rank) * s.heads);
    list.matrix(p + "attn_v_b", most, a.rank, std::int64_t(a.value) * s.heads);
    list.matrix(p + "attn_output", most, s.heads * a.value, s.embedding);
}

void add_attention(TensorList& list, const std::string& p, const ModelShape& s, TensorType most, TensorType some)
{
    const int q = s.heads * s.head_length, kv = s.kv_heads * s.head_length;
    list.matrix(p + "attn_q", most, s.embedding, s.gated_queries ? 2 * q : q);
    list.matrix(p + "attn_k", most, s.embedding, kv);
    list.matrix(p + "attn_v", some, s.embedding, kv);
    if (s.qkv_bias) {
        list.vector(p + "attn_q.bias", q, Fill::Bias);
        list.vector(p + "attn_k.bias", kv, Fill::Bias);
        list.vector(p + "attn_v.bias", kv, Fill::Bias);
    }
    if (s.head_norms) {
        list.vector(p + "attn_q_norm.weight", s.head_length, Fill::Norm);
        list.vector(p + "attn_k_norm.weight", s.head_length, Fill::Norm);
    }
    list.matrix(p + "attn_output", most, q, s.embedding);
    if (s.sinks) {
        list.vector(p + "attn_output.bias", s.embedding, Fill::Bias);
        list.vector(p + "attn_sinks.weight", s.heads, Fill::Bias);
    }
}

/// Adds layer l; the number `layers` is the block that guesses tokens ahead.
void add_layer(TensorList& list, const ModelShape& s, const Quantisation& quantisation, int l)
{
    const std::string p = "blk." + std::to_string(l) + ".";
    const TensorType most = quantisation.most;
    const TensorType some = some_better(s, quantisation, l);
    const char kind = l < s.layers ? s.kind(l) : 'a';
    list.vector(p + "attn_norm.weight", s.embedding, Fill::Norm);
    if (kind == 'r')
        add_state_mixer(list, p, s, most);
    else if (kind == 'a' && s.latent.rank > 0)
        add_latent_attention(list, p, s, most);
    else if (kind == 'a')
        add_attention(list, p, s, most, some);
    if (s.one_part() && kind != 'f')
        return;
    if (s.post_norms) {
        list.vector(p + "post_attention_norm.weight", s.embedding, Fill::Norm);
        list.vector(p + "post_ffw_norm.weight", s.embedding, Fill::Norm);
    }
    if (!s.ffn_norm.empty())
        list.vector(p + std::string(s.ffn_norm) + ".weight", s.embedding, Fill::Norm);
    if (s.experts.count > 0 && l >= s.experts.dense_layers)
        add_experts(list, p, s, most, some);
    else
        add_feed_forward(list, p, "", s, s.feed_forward, most, some);
}

void add_mtp_block(TensorList& list, const ModelShape& s, const Quantisation& quantisation)
{
    add_layer(list, s, quantisation, s.layers);
    const std::string p = "blk." + std::to_string(s.layers) + ".nextn.";
    list.matrix(p + "eh_proj", quantisation.most, 2 * s.embedding, s.embedding);
    for (const char* const norm : {"enorm", "hnorm", "shared_head_norm"})
        list.vector(p + norm + ".weight", s.embedding, Fill::Norm);
}

}  // namespace

std::span<const Quantisation> known_quantisations()
{
    return kQuantisations;
}

std::vector<ShapeTensor> shape_tensors(const ModelShape& s, const Quantisation& quantisation)
{
    TensorList list;
    list.matrix("token_embd", s.tied ? quantisation.better : quantisation.most, s.embedding, s.vocabulary);
    list.vector(std::string(s.output_norm) + ".weight", s.embedding, Fill::Norm);
    if (!s.tied)
        list.matrix("output", quantisation.better, s.embedding, s.vocabulary);
    if (s.stretch.factor > 0)
        list.vector("rope_freqs.weight", s.head_length / 2, Fill::RopeFactors);
    if (s.gemma4.period > 0)
        list.vector("rope_freqs.weight", s.gemma4.full_head_length / 2, Fill::FewPairsTurn);
    if (const int side = s.layers * s.gemma4.side; side > 0) {
        list.matrix("per_layer_token_embd", quantisation.most, side, s.vocabulary);
        list.matrix("per_layer_model_proj", quantisation.most, s.embedding, side);
        list.norm("per_layer_proj_norm.weight", s.gemma4.side);
    }
    for (int l = 0; l < s.layers; ++l)
        (s.gemma4.period > 0 ? add_gemma4_layer : add_layer)(list, s, quantisation, l);
    if (s.mtp)
        add_mtp_block(list, s, quantisation);
    return list.take();
}

}  // namespace engine
