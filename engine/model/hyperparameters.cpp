#include "engine/model/hyperparameters.h"

#include "engine/gguf/gguf_file.h"

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

// Upper limits far above any model, so that products of these numbers cannot overflow.
constexpr int kMaxLayers = int(kMaxLayerElements);
constexpr int kMaxDimension = 1 << 20;
constexpr int kMaxTokens = 1 << 27;

/// Reads `ARCH.key` values; remembers the first thing that was wrong.
class Reader
{
public:
    Reader(const GgufFile& file, std::string_view architecture)
        : file_(file)
        , prefix_(std::string(architecture) + ".")
    {
    }

    int required(std::string_view key, int lowest, int highest)
    {
        const auto value = file_.integer(prefix_ + std::string(key));
        if (!value)
            return wrong(prefix_ + std::string(key) + " is missing from the model file");
        return checked(key, *value, lowest, highest);
    }
    int optional(std::string_view key, int otherwise, int lowest, int highest)
    {
        const auto value = file_.integer(prefix_ + std::string(key));
        return value ? checked(key, *value, lowest, highest) : otherwise;
    }
    float number(std::string_view key, float otherwise)
    {
        const auto value = file_.number(prefix_ + std::string(key));
        if (!value)
            return otherwise;
        if (!std::isfinite(*value) || std::abs(*value) > 1e30)
            return float(wrong(prefix_ + std::string(key) + " is not a usable number"));
        return float(*value);
    }
    bool has(std::string_view key) const
    {
        const std::string name = prefix_ + std::string(key);
        return file_.integer(name) || file_.array_length(name);
    }
    std::string_view text(std::string_view key) { return file_.string(prefix_ + std::string(key)).value_or(""); }

    /// One value for each layer: a scalar in the file stands for all.
    std::vector<int> per_layer(std::string_view key, int layers, int otherwise, int lowest, int highest)
    {
        if (const auto entries = file_.array_length(prefix_ + std::string(key)).value_or(0);
            entries > kMaxLayerElements) {
            wrong(prefix_ + std::string(key) + " has " + std::to_string(entries) +
                  " entries, more than a model can have layers");
            return std::vector<int>(std::size_t(layers), lowest);
        }
        const auto values = file_.integers(prefix_ + std::string(key));
        if (!values) {
            const int all = optional(key, otherwise, lowest, highest);
            if (all < lowest)
                wrong(prefix_ + std::string(key) + " is missing from the model file");
            return std::vector<int>(std::size_t(layers), std::max(all, lowest));
        }
        if (int(values->size()) < layers) {
            wrong(prefix_ + std::string(key) + " has fewer entries than the model has layers");
            return std::vector<int>(std::size_t(layers), lowest);
        }
        std::vector<int> out;
        for (int l = 0; l < layers; ++l)
            out.push_back(checked(key, (*values)[std::size_t(l)], lowest, highest));
        return out;
    }

    int wrong(std::string sentence)
    {
        if (error_.empty())
            error_ = std::move(sentence);
        return 0;
    }
    const std::string& error() const { return error_; }

private:
    int checked(std::string_view key, std::int64_t value, int lowest, int highest)
    {
        if (value >= lowest && value <= highest)
            return int(value);
        wrong(prefix_ + std::string(key) + " is " + std::to_string(value) + ", outside what a model can have");
        return lowest;
    }

    const GgufFile& file_;
    std::string prefix_;
    std::string error_;
};

RopeScaling read_rope_scaling(Reader& in, const GgufFile& file, int context_length)
{
    RopeScaling s;
    s.original_context = in.optional("rope.scaling.original_context_length", context_length, 1, kMaxTokens);
    s.factor = in.number("rope.scaling.factor", in.number("rope.scale_linear", 1.0f));
    s.attn_factor = in.number("rope.scaling.attn_factor", 1.0f);
    s.yarn_beta_fast = in.number("rope.scaling.yarn_beta_fast", 32.0f);
    s.yarn_beta_slow = in.number("rope.scaling.yarn_beta_slow", 1.0f);
    s.yarn_log_multiplier = in.number("rope.scaling.yarn_log_multiplier", 0.0f);
    const std::string_view kind = in.text("rope.scaling.type");
    if (file.tensor("rope_factors_long.weight") || kind == "longrope")
        s.kind = RopeScaling::Kind::LongRope;
    else if (kind == "yarn")
        s.kind = RopeScaling::Kind::Yarn;
    else if (kind == "linear" || (kind.empty() && s.factor != 1.0f))
        s.kind = RopeScaling::Kind::Linear;
    else if (!kind.empty() && kind != "none")
        in.wrong("the rope scaling '" + std::string(kind.substr(0, 40)) + "' is not known to this version");
    if (s.factor <= 0.0f)
        s.factor = 1.0f;
    if (s.attn_factor <= 0.0f)
        s.attn_factor = 1.0f;
    return s;
}

/// Sizes at which a family's queries are scaled by the embedding's share of a head instead of the head's length.
bool scales_queries_by_embedding(const Hyperparameters& h)
{
    const std::size_t layers = h.layers.size();
    return (h.architecture->name == "gemma2" && layers == 46) || (h.architecture->name == "gemma3" && layers == 62);
}

/// The sizes of recurrent layers. Names of the keys: architectures with a short convolution have one of their own.
StateSpace read_state_space(Reader& in, const Hyperparameters& h)
{
    constexpr int kMostTaps = 64, kMostHeads = 1 << 14;
    StateSpace s;
    if (h.architecture->recurrent == Mixer::Attention)
        return s;
    if (h.architecture->recurrent == Mixer::ShortConvolution) {
        s.conv_width = in.required("shortconv.l_cache", 2, kMostTaps);
        s.heads = 1;
        s.head_length = h.embedding_length;
        return s;
    }
    s.conv_width = in.required("ssm.conv_kernel", 2, kMostTaps);
    s.state_size = in.required("ssm.state_size", 1, kMostHeads);
    s.groups = in.required("ssm.group_count", 1, kMostHeads);
    s.heads = in.required("ssm.time_step_rank", 1, kMostHeads);
    const int inner = in.required("ssm.inner_size", 1, kMaxDimension);
    if (s.heads < 1 || inner % s.heads != 0 || s.groups < 1 || s.heads % s.groups != 0) {
        in.wrong("the heads of the model's recurrent layers make no sense");
        return {};
    }
    s.head_length = inner / s.heads;
    if (std::int64_t(s.groups) * s.state_size > kMaxDimension ||
        std::int64_t(s.heads) * s.state_size * s.head_length > std::int64_t(1) << 28)
        in.wrong("the state of the model's recurrent layers is larger than any model's");
    return s;
}

/// Which layers are recurrent, for architectures that have such.
std::vector<int> recurrent_layers(Reader& in, const Hyperparameters& h, int layers, const std::vector<int>& kv_heads)
{
    std::vector<int> recurrent(std::size_t(layers), 0);
    if (h.architecture->recurrent == Mixer::Attention)
        return recurrent;
    const int interval = in.optional("full_attention_interval", h.architecture->full_attention_interval, 0, kMaxLayers);
    for (int l = 0; l < layers; ++l)
        recurrent[std::size_t(l)] = interval > 0 ? (l + 1) % interval != 0 : kv_heads[std::size_t(l)] == 0;
    if (in.has("attention.recurrent_layers"))
        recurrent = in.per_layer("attention.recurrent_layers", layers, 0, 0, 1);
    return recurrent;
}

/// `recurrent`: the layer keeps a state.
Mixer mixer_of(const Architecture& architecture, bool recurrent, int ffn_length)
{
    if (architecture.recurrent == Mixer::AttentionAndMamba2)
        return Mixer::AttentionAndMamba2;
    if (!recurrent)
        return Mixer::Attention;
    return architecture.one_part_layers && ffn_length > 0 ? Mixer::None : architecture.recurrent;
}

void read_layers(Reader& in, Hyperparameters& h, int layers)
{
    // A layer that does not attend has no heads.
    const int fewest = h.architecture->recurrent == Mixer::Attention ? 1 : 0;
    const auto heads = in.per_layer("attention.head_count", layers, 0, fewest, 1 << 14);
    const int most_heads = *std::max_element(heads.begin(), heads.end());
    const auto kv_heads = in.per_layer("attention.head_count_kv", layers, most_heads, fewest, 1 << 14);
    const auto ffn = in.per_layer("feed_forward_length", layers, h.expert_ffn_length,
                                  h.architecture->one_part_layers ? 0 : 1, kMaxDimension);
    const auto recurrent = recurrent_layers(in, h, layers, kv_heads);
    h.state_space = read_state_space(in, h);
    // A window counts only where the architecture slides: converters also write one for models (phi3, llama) that were
    // trained without, and llama.cpp ignores it there as well.
    const int period = h.architecture->window_period == 0 ? 0
                                                          : in.optional("attention.sliding_window_pattern",
                                                                        h.architecture->window_period, 0, kMaxLayers);
    for (int l = 0; l < layers; ++l) {
        const auto i = std::size_t(l);
        const bool slides = h.sliding_window > 0 && period > 0 && l % period < period - 1;
        LayerParameters layer{mixer_of(*h.architecture, recurrent[i] != 0, ffn[i]),
                              slides ? LayerKind::SlidingWindow : LayerKind::FullAttention, heads[i], kv_heads[i],
                              ffn[i]};
        layer.feed_forward = !h.architecture->one_part_layers || layer.mixer == Mixer::None;
        if (!attends(layer.mixer))
            layer.heads = layer.kv_heads = 0;
        else if (layer.kv_heads == 0 || layer.heads == 0 || layer.heads % layer.kv_heads != 0)
            in.wrong("the number of attention heads is not a multiple of the number of KV heads");
        h.layers.push_back(layer);
    }
}

}  // namespace

Result<Hyperparameters> read_hyperparameters(const GgufFile& file)
{
    const auto name = file.string("general.architecture");
    if (!name)
        return fail(Error::Code::BadFile, "the file does not name its architecture");
    Hyperparameters h;
    h.architecture = find_architecture(*name);
    if (!h.architecture)
        return fail(Error::Code::Unsupported,
                    "this version cannot run the architecture '" + std::string(name->substr(0, 60)) + "'");

    Reader in(file, *name);
    const int layers = in.required("block_count", 1, kMaxLayers);
    h.context_length = in.required("context_length", 1, kMaxTokens);
    h.embedding_length = in.required("embedding_length", 1, kMaxDimension);
    h.rms_epsilon = in.number("attention.layer_norm_rms_epsilon", 1e-5f);
    h.sliding_window = in.optional("attention.sliding_window", 0, 0, kMaxTokens);
    h.experts = in.optional("expert_count", 0, 0, 4096);
    h.experts_used = in.optional("expert_used_count", 0, 0, 4096);
    h.expert_ffn_length = in.optional("expert_feed_forward_length", 0, 0, kMaxDimension);
    h.expert_weights_scale = in.number("expert_weights_scale", 1.0f);
    if (h.expert_weights_scale == 0.0f)
        h.expert_weights_scale = 1.0f;
    h.attention_softcap = in.number("attn_logit_softcapping", 0.0f);
    h.final_softcap = in.number("final_logit_softcapping", 0.0f);
    h.temperature_scale = in.number("attention.temperature_scale", 0.0f);
    if (in.error().empty())
        read_layers(in, h, layers);
    if (!in.error().empty())
        return fail(Error::Code::BadFile, in.error());

    int most_heads = 1;
    for (const LayerParameters& layer : h.layers)
        most_heads = std::max(most_heads, layer.heads);
    const int default_head = std::max(1, h.embedding_length / most_heads);
    h.key_length = in.optional("attention.key_length", default_head, 1, 1 << 14);
    h.value_length = in.optional("attention.value_length", default_head, 1, 1 << 14);
    h.rope_dimensions = in.optional("rope.dimension_count", h.key_length, 0, h.key_length);
    h.rope_base = in.number("rope.freq_base", 10000.0f);
    const float local_base = h.architecture->local_rope_base > 0 ? h.architecture->local_rope_base : h.rope_base;
    h.rope_base_local = in.number("rope.freq_base_swa", local_base);
    h.rope_scaling = read_rope_scaling(in, file, h.context_length);
    const float scaled_by = scales_queries_by_embedding(h) ? float(default_head) : float(h.key_length);
    h.attention_scale = in.number("attention.scale", 1.0f / std::sqrt(scaled_by));

    if (h.key_length % 4 != 0 || h.value_length % 4 != 0 || h.rope_dimensions % 2 != 0)
        in.wrong("the model's head dimension is not a multiple of 4");
    if (!(h.rope_base > 0.0f) || !(h.rope_base_local > 0.0f))
        in.wrong("the model's rope base is not positive");
    if (h.experts > 0 && (h.experts_used < 1 || h.experts_used > h.experts || h.expert_ffn_length < 1))
        in.wrong("the model's expert counts make no sense");
    if (!in.error().empty())
        return fail(Error::Code::BadFile, in.error());
    return h;
}

}  // namespace engine
