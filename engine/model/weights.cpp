#include "engine/model/weights.h"

#include "engine/gguf/printable.h"
#include "engine/model/latent_weights.h"
#include "engine/model/stream_weights.h"
#include "engine/model/weight_reader.h"

#include <cmath>
#include <string>

namespace engine {

namespace {

using Need = WeightReader::Need;

void read_queries_keys_values(WeightReader& in, const std::string& p, const Hyperparameters& h,
                              const LayerParameters& layer, LayerWeights& w)
{
    const int dim = h.embedding_length;
    const int q_dim = layer.heads * layer.key_length;
    const int k_dim = layer.kv_heads * layer.key_length;
    const int v_dim = layer.kv_heads * layer.value_length;
    const bool own_kv = layer.kv_source < 0;
    const bool with_gates = h.architecture->attention_gate == AttentionGate::BesideQueries;
    const int q_rows = with_gates ? 2 * q_dim : q_dim;
    const int rows = q_rows + k_dim + v_dim;
    const Matrix fused = own_kv ? in.matrix(p + "attn_qkv.weight", dim, rows, 1, Need::Optional) : Matrix();
    const Vector bias = fused ? in.vector(p + "attn_qkv.bias", rows, Need::Optional) : nullptr;
    if (fused && with_gates) {  // their products go to places that do not follow each other
        w.q = fused.part(0, q_rows);
        w.k = fused.part(q_rows, k_dim);
        w.v = fused.part(q_rows + k_dim, v_dim);
        w.q_bias = bias;
        w.k_bias = bias ? bias + q_rows : nullptr;
        w.v_bias = bias ? bias + q_rows + k_dim : nullptr;
    } else if (fused) {
        w.qkv = fused;
        w.qkv_bias = bias;
    } else {
        w.q = in.matrix(p + "attn_q.weight", dim, q_rows);
        w.q_bias = in.vector(p + "attn_q.bias", q_rows, Need::Optional);
    }
    if (own_kv && !fused) {
        const bool values_may_be_keys = h.architecture->norm_values && layer.key_length == layer.value_length;
        w.k = in.matrix(p + "attn_k.weight", dim, k_dim);
        w.v = in.matrix(p + "attn_v.weight", dim, v_dim, 1, values_may_be_keys ? Need::Optional : Need::Required);
        w.k_bias = in.vector(p + "attn_k.bias", k_dim, Need::Optional);
        w.v_bias = in.vector(p + "attn_v.bias", v_dim, Need::Optional);
    }
    if (h.architecture->attention_gate == AttentionGate::Apart)
        w.attn_gate = in.matrix(p + "attn_gate.weight", dim, layer.heads * layer.value_length);
}

void read_qk_norms(WeightReader& in, const std::string& p, const Hyperparameters& h, const LayerParameters& layer,
                   LayerWeights& w)
{
    if (h.qk_norm_weight == QkNormWeight::One) {
        if (layer.rope)  // Llama 4 norms what it has rotated
            w.q_norm = w.k_norm = in.ones(layer.key_length);
        return;
    }
    const QkNorm norm = h.architecture->qk_norm;
    const bool whole = norm == QkNorm::WholeRows || norm == QkNorm::HeadsByThemselves;
    const Need all = h.architecture->norm_values ? Need::Required : Need::Optional;
    // Where queries lie beside gates, their norm brings them to their place, so that it has to be there.
    const Need need = h.architecture->attention_gate == AttentionGate::BesideQueries ? Need::Required : all;
    w.q_norm = in.vector(p + "attn_q_norm.weight", (whole ? layer.heads : 1) * layer.key_length, need);
    if (layer.kv_source >= 0)
        return;
    w.k_norm = in.vector(p + "attn_k_norm.weight", (whole ? layer.kv_heads : 1) * layer.key_length, all);
    w.v_norm = h.architecture->norm_values ? in.ones(layer.value_length) : nullptr;
}

void read_attention(WeightReader& in, const std::string& p, const Hyperparameters& h, const LayerParameters& layer,
                    LayerWeights& w)
{
    const int dim = h.embedding_length;
    if (h.latent) {
        read_latent_attention(in, p, h, layer, w);
    } else {
        read_queries_keys_values(in, p, h, layer, w);
        read_qk_norms(in, p, h, layer, w);
    }
    w.sinks = in.vector(p + "attn_sinks.weight", layer.heads, Need::Optional);
    const int value_length = h.latent ? h.latent.value_length : layer.value_length;
    w.attn_out = in.matrix(p + "attn_output.weight", layer.heads * value_length, dim);
    w.attn_out_bias = in.vector(p + "attn_output.bias", dim, Need::Optional);
    if (!h.architecture->attn_post_norm.empty())
        w.attn_post_norm = in.vector(p + std::string(h.architecture->attn_post_norm) + ".weight", dim);
}

/// Reads beta and alpha. The file may have one matrix for both, by key head: [beta of its value heads, alpha of its
/// value heads].
void read_delta_gates(WeightReader& in, const std::string& p, int dim, const StateSpace& s, LayerWeights& w)
{
    const Matrix both = in.matrix(p + "ssm_ba.weight", dim, 2 * s.heads, 1, Need::Optional);
    if (!both) {
        w.mix_beta = in.matrix(p + "ssm_beta.weight", dim, s.heads);
        w.mix_alpha = in.matrix(p + "ssm_alpha.weight", dim, s.heads);
        return;
    }
    const int run = s.heads / s.groups;
    w.mix_beta = in.rows_of(both, 2 * run, {{0, run}});
    w.mix_alpha = in.rows_of(both, 2 * run, {{run, run}});
}

/// Reads q, k, v and z. Old files have one matrix for all, by key head: [q, k, v of its value heads, z of its value
/// heads].
void read_delta_input(WeightReader& in, const std::string& p, int dim, const StateSpace& s, LayerWeights& w)
{
    const std::int64_t rows = std::int64_t(s.conv_channels()) + s.inner();
    const Matrix all = in.matrix(p + "ssm_in.weight", dim, rows, 1, Need::Optional);
    if (!all) {
        w.mix_in = in.matrix(p + "attn_qkv.weight", dim, s.conv_channels());
        w.mix_gate = in.matrix(p + "attn_gate.weight", dim, s.inner());
        return;
    }
    const int keys = s.state_size, values = s.inner() / s.groups, period = 2 * (keys + values);
    w.mix_in = in.rows_of(all, period, {{0, keys}, {keys, keys}, {2 * keys, values}});
    w.mix_gate = in.rows_of(all, period, {{2 * keys + values, values}});
}

void read_delta_net(WeightReader& in, const std::string& p, int dim, const StateSpace& s, LayerWeights& w)
{
    read_delta_input(in, p, dim, s, w);
    read_delta_gates(in, p, dim, s, w);
    w.conv_taps = in.taps(p + "ssm_conv1d.weight", s.conv_width, s.conv_channels());
    w.dt_bias = in.vector(p + "ssm_dt.bias", s.heads);
    w.decay = in.vector(p + "ssm_a", s.heads);
    w.mix_norm = in.vector(p + "ssm_norm.weight", s.head_length);
    w.mix_out = in.matrix(p + "ssm_out.weight", s.inner(), dim);
}

void read_mamba2(WeightReader& in, const std::string& p, int dim, const StateSpace& s, LayerWeights& w)
{
    w.mix_in = in.matrix(p + "ssm_in.weight", dim, s.inner() + s.conv_channels() + s.heads);
    w.conv_taps = in.taps(p + "ssm_conv1d.weight", s.conv_width, s.conv_channels());
    w.conv_bias = in.vector(p + "ssm_conv1d.bias", s.conv_channels(), Need::Optional);
    w.dt_bias = in.vector(p + "ssm_dt.bias", s.heads);
    w.decay = in.vector(p + "ssm_a", s.heads);
    w.skip = in.vector(p + "ssm_d", s.heads);
    w.mix_norm = in.vector(p + "ssm_norm.weight", s.inner(), Need::Optional);
    w.mix_out = in.matrix(p + "ssm_out.weight", s.inner(), dim);
}

void read_recurrent(WeightReader& in, const std::string& p, const Hyperparameters& h, Mixer mixer, LayerWeights& w)
{
    const StateSpace& s = h.state_space;
    const int dim = h.embedding_length;
    switch (mixer) {
    case Mixer::DeltaNet:
        return read_delta_net(in, p, dim, s, w);
    case Mixer::Mamba2:
    case Mixer::AttentionAndMamba2:
        return read_mamba2(in, p, dim, s, w);
    case Mixer::ShortConvolution:
        w.mix_in = in.matrix(p + "shortconv.in_proj.weight", dim, 3 * std::int64_t(dim));
        w.conv_taps = in.taps(p + "shortconv.conv.weight", s.conv_width, dim);
        w.mix_out = in.matrix(p + "shortconv.out_proj.weight", dim, dim);
        return;
    case Mixer::Attention:
    case Mixer::Matrix:
    case Mixer::None:
        return;
    }
}

void read_experts(WeightReader& in, const std::string& p, const Hyperparameters& h, LayerWeights& w)
{
    const int dim = h.expert_length, ffn = h.expert_ffn_length, experts = h.experts;
    w.router_bias = in.vector(p + "ffn_gate_inp.bias", experts, Need::Optional);
    w.choice_bias = in.vector(p + "exp_probs_b.bias", experts, Need::Optional);
    if (dim != h.embedding_length) {
        w.latent_down = in.matrix(p + "ffn_latent_down.weight", h.embedding_length, dim);
        w.latent_up = in.matrix(p + "ffn_latent_up.weight", dim, h.embedding_length);
    }
    const bool gated = has_gate(h.architecture->gate);
    if (gated)
        w.up_experts = in.matrix(p + "ffn_gate_up_exps.weight", dim, 2 * ffn, experts, Need::Optional);
    if (!w.up_experts) {
        if (gated)
            w.gate_experts = in.matrix(p + "ffn_gate_exps.weight", dim, ffn, experts);
        w.up_experts = in.matrix(p + "ffn_up_exps.weight", dim, ffn, experts);
        w.gate_experts_bias = in.vector(p + "ffn_gate_exps.bias", std::int64_t(ffn) * experts, Need::Optional);
        w.up_experts_bias = in.vector(p + "ffn_up_exps.bias", std::int64_t(ffn) * experts, Need::Optional);
    }
    w.down_experts = in.matrix(p + "ffn_down_exps.weight", ffn, dim, experts);
    w.down_experts_bias = in.vector(p + "ffn_down_exps.bias", std::int64_t(dim) * experts, Need::Optional);
    // NVFP4's own factors bear the same name; a model's are multiplied into them where there are both.
    if (!w.down_experts.scale)
        w.down_experts_scale = in.vector(p + "ffn_down_exps.scale", experts, Need::Optional);
}

/// Reads the norms of a layer that has both, a dense part and experts. The router reads the residual stream as
/// rms(x) * scale / sqrt(dim).
void read_branch_norms(WeightReader& in, const std::string& p, int dim, LayerWeights& w)
{
    w.router_norm = in.scaled(in.vector(p + "ffn_gate_inp.scale", dim), dim, 1.0f / std::sqrt(float(dim)));
    w.experts_norm = in.vector(p + "pre_ffw_norm_2.weight", dim);
    w.dense_post_norm = in.vector(p + "post_ffw_norm_1.weight", dim);
    w.experts_post_norm = in.vector(p + "post_ffw_norm_2.weight", dim);
}

/// Reads what a layer does after its feed-forward part.
void read_layer_end(WeightReader& in, const std::string& p, const Hyperparameters& h, LayerWeights& w)
{
    const int dim = h.embedding_length;
    if (h.side_length > 0) {
        w.side_gate = in.matrix(p + "inp_gate.weight", dim, h.side_length);
        w.side_out = in.matrix(p + "proj.weight", h.side_length, dim);
        w.side_post_norm = in.vector(p + "post_norm.weight", dim);
    }
    if (const Vector scale = in.vector(p + "layer_output_scale.weight", 1, Need::Optional))
        w.output_scale = *scale;
}

void read_shared_expert(WeightReader& in, const std::string& p, const Hyperparameters& h, const LayerParameters& layer,
                        LayerWeights& w)
{
    const int dim = h.embedding_length, ffn = layer.ffn_length;
    w.down = in.matrix(p + "ffn_down_shexp.weight", ffn, dim, 1, Need::Optional);
    if (!w.down)
        return;
    if (has_gate(h.architecture->gate))
        w.gate = in.matrix(p + "ffn_gate_shexp.weight", dim, ffn);
    w.up = in.matrix(p + "ffn_up_shexp.weight", dim, ffn);
    w.shared_weight = in.matrix(p + "ffn_gate_inp_shexp.weight", dim, 1, 1, Need::Optional);
}

void read_feed_forward(WeightReader& in, const std::string& p, const Hyperparameters& h, int l, LayerWeights& w)
{
    // 95 % of a normal distribution lie below its mean and this many standard deviations.
    constexpr float kSparseDeviations = 1.6448533535f;
    const LayerParameters& layer = h.layers[std::size_t(l)];
    const int dim = h.embedding_length, ffn = layer.ffn_length;
    // falcon-h1's has no ".weight"
    if (const std::string norm = p + std::string(h.architecture->ffn_norm); !h.architecture->ffn_norm.empty())
        w.ffn_norm = in.vector(in.has(norm) ? norm : norm + ".weight", dim);
    if (!h.architecture->ffn_post_norm.empty())
        w.ffn_post_norm = in.vector(p + std::string(h.architecture->ffn_post_norm) + ".weight", dim);
    if (h.experts > 0) {
        w.router = in.matrix(p + "ffn_gate_inp.weight", dim, h.experts, 1, Need::Optional);
        if (w.router) {
            read_experts(in, p, h, w);
            if (!h.architecture->dense_beside_experts)
                return read_shared_expert(in, p, h, layer, w);
            read_branch_norms(in, p, dim, w);
        }
    }
    w.gate = in.matrix(p + "ffn_gate.weight", dim, ffn, 1, Need::Optional);
    if (l < h.architecture->sparse_layers)
        w.gate_deviations = kSparseDeviations;
    const bool alone = w.gate || !has_gate(h.architecture->gate);
    w.up = in.matrix(p + "ffn_up.weight", dim, alone ? ffn : 2 * ffn);
    w.down = in.matrix(p + "ffn_down.weight", ffn, dim);
    if (w.gate)
        w.gate_bias = in.vector(p + "ffn_gate.bias", ffn, Need::Optional);
    w.up_bias = in.vector(p + "ffn_up.bias", alone ? ffn : 2 * std::int64_t(ffn), Need::Optional);
    w.down_bias = in.vector(p + "ffn_down.bias", dim, Need::Optional);
}

}  // namespace

bool is_left_aside(const GgufTensor& tensor, const Hyperparameters& h)
{
    return tensor.of_encoder() || tensor.of_loose_mtp() || tensor.block() >= int(h.layers.size());
}

void read_layer(WeightReader& in, const std::string& prefix, const Hyperparameters& h, int l, LayerWeights& layer)
{
    const LayerParameters& parameters = h.layers[std::size_t(l)];
    const bool alone = h.architecture->parts_may_lack && parameters.mixer == Mixer::None;
    if (!h.architecture->attn_norm.empty() && !alone)
        layer.attn_norm = in.vector(prefix + std::string(h.architecture->attn_norm) + ".weight", h.embedding_length);
    if (attends(parameters.mixer))
        read_attention(in, prefix, h, parameters, layer);
    if (parameters.mixer == Mixer::Matrix)
        layer.attn_out = in.matrix(prefix + "attn_output.weight", h.embedding_length, h.embedding_length);
    read_recurrent(in, prefix, h, parameters.mixer, layer);
    if (parameters.feed_forward)
        read_feed_forward(in, prefix, h, l, layer);
    read_layer_end(in, prefix, h, layer);
    if (h.streams.several())
        read_layer_streams(in, prefix, h, l, layer);
}

/// Refuses a file with a bias that nothing reads: without it the model would say wrong words.
static void refuse_unread_biases(WeightReader& in, const GgufFile& file, const Hyperparameters& h)
{
    for (const GgufTensor& tensor : file.tensors())
        if (tensor.name.ends_with(".bias") && !is_left_aside(tensor, h) && !in.has_read(tensor))
            in.wrong(Error::Code::Unsupported,
                     "this version does not compute with the tensor " + printable(tensor.name));
}

Result<Weights> Weights::read(const GgufFile& file, const Hyperparameters& h)
{
    Weights w;
    WeightReader in(file, w);
    const int dim = h.embedding_length, vocabulary = h.vocabulary;
    w.token_embedding = in.matrix("token_embd.weight", dim, vocabulary);
    w.head.output = in.matrix("output.weight", dim, vocabulary, 1, Need::Optional);
    if (!w.head.output)
        w.head.output = w.token_embedding;
    if (const std::string norm(h.architecture->output_norm); !norm.empty())
        w.head.norm = in.scaled(in.vector(norm + ".weight", dim), dim, h.logit_scale);
    if (h.architecture->norm_embeddings)
        w.embedding_norm = in.ones(dim);
    const int pairs = h.rope_dimensions(LayerKind::FullAttention) / 2;
    w.rope_factors = in.optional_values("rope_freqs.weight", pairs);
    w.rope_factors_long = in.optional_values("rope_factors_long.weight", pairs);
    w.rope_factors_short = in.optional_values("rope_factors_short.weight", pairs);
    if (h.side_length > 0) {
        const int side = int(h.layers.size()) * h.side_length;
        w.side_embedding = in.matrix("per_layer_token_embd.weight", side, vocabulary);
        w.side_projection = in.matrix("per_layer_model_proj.weight", dim, side);
        w.side_norm = in.scaled(in.vector("per_layer_proj_norm.weight", h.side_length), h.side_length, std::sqrt(0.5f));
    }
    if (h.streams.several())
        read_model_streams(in, h, w);
    for (std::size_t l = 0; l < h.layers.size() && !in.failed(); ++l)
        read_layer(in, "blk." + std::to_string(l) + ".", h, int(l), w.layers.emplace_back());
    refuse_unread_biases(in, file, h);
    if (in.failed())
        return tl::unexpected(in.error());
    for (const GgufTensor& tensor : file.tensors())
        if (!is_left_aside(tensor, h))
            w.bytes += std::int64_t(tensor.bytes.size());
    return w;
}

std::int64_t decode_bytes(const Weights& weights, const Hyperparameters& h)
{
    std::int64_t experts = 0;
    for (const LayerWeights& w : weights.layers)
        for (const Matrix* stack : {&w.gate_experts, &w.up_experts, &w.down_experts})
            if (*stack)
                experts += std::int64_t(stack->bytes());
    const std::int64_t idle_experts = experts * (h.experts - h.experts_used);
    const bool tied = weights.head.output.data == weights.token_embedding.data;
    const std::int64_t tables =
        std::int64_t(weights.side_embedding.bytes()) + (tied ? 0 : std::int64_t(weights.token_embedding.bytes()));
    return weights.bytes - idle_experts - tables;
}

}  // namespace engine
