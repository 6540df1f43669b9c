#include "engine/model/weights.h"

#include "kernels/cpu.h"

#include <string>

namespace engine {

/// Finds tensors by name and checks their shape; remembers the first thing that was wrong.
class WeightReader
{
public:
    WeightReader(const GgufFile& file, Weights& weights)
        : file_(file)
        , weights_(weights)
    {
    }

    enum class Need { Required, Optional };

    /// A tensor of `rows` rows of n, `stack` of them one after another.
    Matrix matrix(const std::string& name, int n, std::int64_t rows, int stack = 1, Need need = Need::Required)
    {
        const GgufTensor* tensor = find(name, n, stack == 1 ? rows : rows * stack, need);
        if (!tensor)
            return {};
        const auto type = tensor->type;
        if (n % kernels::type_traits(type).block_len != 0) {
            wrong(Error::Code::BadFile, name + " has rows that are not a whole number of blocks");
            return {};
        }
        Matrix m{type, n, int(rows), tensor->bytes.data()};
        if (const GgufTensor* scale = file_.scale_of(*tensor))
            m.scale = vector(scale->name, stack);
        return m;
    }

    Vector vector(const std::string& name, std::int64_t n, Need need = Need::Required)
    {
        const GgufTensor* tensor = find(name, 0, n, need);
        if (!tensor)
            return nullptr;
        if (tensor->type == kernels::TensorType::F32 && std::uintptr_t(tensor->bytes.data()) % alignof(float) == 0)
            return reinterpret_cast<const float*>(tensor->bytes.data());
        if (n % kernels::type_traits(tensor->type).block_len != 0) {
            wrong(Error::Code::BadFile, name + " is not a whole number of blocks");
            return nullptr;
        }
        auto& values = weights_.converted_.emplace_back(std::size_t(n));
        kernels::cpu_kernels().dequantize(tensor->type, int(n), tensor->bytes.data(), values.data());
        return values.data();
    }

    std::vector<float> optional_values(const std::string& name, int n)
    {
        const Vector values = vector(name, n, Need::Optional);
        return values ? std::vector<float>(values, values + n) : std::vector<float>{};
    }

    void wrong(Error::Code code, std::string sentence)
    {
        if (error_.what.empty())
            error_ = {code, std::move(sentence)};
    }
    bool failed() const { return !error_.what.empty(); }
    const Error& error() const { return error_; }

private:
    /// n = 0: any shape with `count` elements; else rows of n, `count` of them.
    const GgufTensor* find(const std::string& name, int n, std::int64_t count, Need need)
    {
        const GgufTensor* tensor = file_.tensor(name);
        if (!tensor) {
            if (need == Need::Required)
                wrong(Error::Code::BadFile, "the tensor " + name + " is missing from the model file");
            return nullptr;
        }
        if (!tensor->can_compute()) {
            wrong(Error::Code::Unsupported, "the tensor " + name + " has the type " + tensor->type_name() +
                                                ", which this version cannot compute with");
            return nullptr;
        }
        const auto& d = tensor->dims;
        const bool fits = n == 0 ? d[0] * d[1] * d[2] * d[3] == count : d[0] == n && d[1] * d[2] * d[3] == count;
        if (!fits) {
            wrong(Error::Code::BadFile, "the tensor " + name + " does not have the shape the model's numbers call for");
            return nullptr;
        }
        return tensor;
    }

    const GgufFile& file_;
    Weights& weights_;
    Error error_;
};

namespace {

using Need = WeightReader::Need;

void read_attention(WeightReader& in, const std::string& p, const Hyperparameters& h, const LayerParameters& layer,
                    LayerWeights& w)
{
    const int dim = h.embedding_length;
    const int q_dim = layer.heads * h.key_length;
    const int k_dim = layer.kv_heads * h.key_length;
    const int v_dim = layer.kv_heads * h.value_length;
    w.attn_norm = in.vector(p + "attn_norm.weight", dim);
    w.qkv = in.matrix(p + "attn_qkv.weight", dim, q_dim + k_dim + v_dim, 1, Need::Optional);
    if (w.qkv) {
        w.qkv_bias = in.vector(p + "attn_qkv.bias", q_dim + k_dim + v_dim, Need::Optional);
    } else {
        w.q = in.matrix(p + "attn_q.weight", dim, q_dim);
        w.k = in.matrix(p + "attn_k.weight", dim, k_dim);
        w.v = in.matrix(p + "attn_v.weight", dim, v_dim);
        w.q_bias = in.vector(p + "attn_q.bias", q_dim, Need::Optional);
        w.k_bias = in.vector(p + "attn_k.bias", k_dim, Need::Optional);
        w.v_bias = in.vector(p + "attn_v.bias", v_dim, Need::Optional);
    }
    w.q_norm = in.vector(p + "attn_q_norm.weight", h.key_length, Need::Optional);
    w.k_norm = in.vector(p + "attn_k_norm.weight", h.key_length, Need::Optional);
    w.sinks = in.vector(p + "attn_sinks.weight", layer.heads, Need::Optional);
    w.attn_out = in.matrix(p + "attn_output.weight", layer.heads * h.value_length, dim);
    w.attn_out_bias = in.vector(p + "attn_output.bias", dim, Need::Optional);
    if (!h.architecture->attn_post_norm.empty())
        w.attn_post_norm = in.vector(p + std::string(h.architecture->attn_post_norm) + ".weight", dim);
}

void read_experts(WeightReader& in, const std::string& p, const Hyperparameters& h, LayerWeights& w)
{
    const int dim = h.embedding_length, ffn = h.expert_ffn_length, experts = h.experts;
    w.router_bias = in.vector(p + "ffn_gate_inp.bias", experts, Need::Optional);
    w.gate_experts = in.matrix(p + "ffn_gate_exps.weight", dim, ffn, experts);
    w.up_experts = in.matrix(p + "ffn_up_exps.weight", dim, ffn, experts);
    w.down_experts = in.matrix(p + "ffn_down_exps.weight", ffn, dim, experts);
    w.gate_experts_bias = in.vector(p + "ffn_gate_exps.bias", std::int64_t(ffn) * experts, Need::Optional);
    w.up_experts_bias = in.vector(p + "ffn_up_exps.bias", std::int64_t(ffn) * experts, Need::Optional);
    w.down_experts_bias = in.vector(p + "ffn_down_exps.bias", std::int64_t(dim) * experts, Need::Optional);
}

void read_feed_forward(WeightReader& in, const std::string& p, const Hyperparameters& h, const LayerParameters& layer,
                       LayerWeights& w)
{
    const int dim = h.embedding_length, ffn = layer.ffn_length;
    w.ffn_norm = in.vector(p + std::string(h.architecture->ffn_norm) + ".weight", dim);
    if (!h.architecture->ffn_post_norm.empty())
        w.ffn_post_norm = in.vector(p + std::string(h.architecture->ffn_post_norm) + ".weight", dim);
    if (h.experts > 0) {
        w.router = in.matrix(p + "ffn_gate_inp.weight", dim, h.experts, 1, Need::Optional);
        if (w.router)
            return read_experts(in, p, h, w);
    }
    w.gate = in.matrix(p + "ffn_gate.weight", dim, ffn, 1, Need::Optional);
    w.up = in.matrix(p + "ffn_up.weight", dim, w.gate ? ffn : 2 * ffn);
    w.down = in.matrix(p + "ffn_down.weight", ffn, dim);
}

}  // namespace

Result<Weights> Weights::read(const GgufFile& file, const Hyperparameters& h)
{
    Weights w;
    WeightReader in(file, w);
    const int dim = h.embedding_length, vocabulary = h.vocabulary;
    w.token_embedding = in.matrix("token_embd.weight", dim, vocabulary);
    w.head.output = in.matrix("output.weight", dim, vocabulary, 1, Need::Optional);
    if (!w.head.output)
        w.head.output = w.token_embedding;
    w.head.norm = in.vector("output_norm.weight", dim);
    w.rope_factors = in.optional_values("rope_freqs.weight", h.rope_dimensions / 2);
    w.rope_factors_long = in.optional_values("rope_factors_long.weight", h.rope_dimensions / 2);
    w.rope_factors_short = in.optional_values("rope_factors_short.weight", h.rope_dimensions / 2);
    for (std::size_t l = 0; l < h.layers.size() && !in.failed(); ++l) {
        const std::string prefix = "blk." + std::to_string(l) + ".";
        LayerWeights& layer = w.layers.emplace_back();
        read_attention(in, prefix, h, h.layers[l], layer);
        read_feed_forward(in, prefix, h, h.layers[l], layer);
    }
    if (in.failed())
        return tl::unexpected(in.error());
    for (const GgufTensor& tensor : file.tensors())
        w.bytes += std::int64_t(tensor.bytes.size());
    return w;
}

}  // namespace engine
