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
    bool is_array(std::string_view key) { return file_.array_length(prefix_ + std::string(key)).has_value(); }
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

/// A window counts only where the architecture slides: converters also write one for models (phi3, llama) that were
/// trained without, and llama.cpp ignores it there as well.
std::vector<bool> sliding_layers(Reader& in, const Hyperparameters& h, int layers)
{
    constexpr std::string_view kPattern = "attention.sliding_window_pattern";
    std::vector<bool> slides(std::size_t(layers), false);
    if (h.architecture->window_period == 0 || h.sliding_window == 0)
        return slides;
    if (in.is_array(kPattern)) {  // a flag for each layer
        const std::vector<int> flags = in.per_layer(kPattern, layers, 0, 0, 1);
        slides.assign(flags.begin(), flags.end());
        return slides;
    }
    const int period = in.optional(kPattern, h.architecture->window_period, 0, kMaxLayers);
    for (int l = 0; l < layers; ++l)
        slides[std::size_t(l)] = period > 0 && l % period < period - 1;
    return slides;
}

void read_layers(Reader& in, Hyperparameters& h, int layers)
{
    const auto heads = in.per_layer("attention.head_count", layers, 0, 1, 1 << 14);
    const int first_heads = heads.front();
    const auto kv_heads = in.per_layer("attention.head_count_kv", layers, first_heads, 1, 1 << 14);
    const auto ffn = in.per_layer("feed_forward_length", layers, h.expert_ffn_length, 1, kMaxDimension);
    const std::vector<bool> slides = sliding_layers(in, h, layers);
    for (int l = 0; l < layers; ++l) {
        const auto i = std::size_t(l);
        h.layers.push_back({.kind = slides[i] ? LayerKind::SlidingWindow : LayerKind::FullAttention,
                            .heads = heads[i],
                            .kv_heads = kv_heads[i],
                            .ffn_length = ffn[i]});
        if (heads[i] % kv_heads[i] != 0)
            in.wrong("the number of attention heads is not a multiple of the number of KV heads");
    }
}

/// Sliding layers may have heads of another length.
void read_head_lengths(Reader& in, Hyperparameters& h, int default_head)
{
    constexpr int kMostLength = 1 << 14;
    const int key = in.optional("attention.key_length", default_head, 1, kMostLength);
    const int value = in.optional("attention.value_length", default_head, 1, kMostLength);
    const int rope = in.optional("rope.dimension_count", key, 0, key);
    const int sliding_key = in.optional("attention.key_length_swa", key, 1, kMostLength);
    const int sliding_value = in.optional("attention.value_length_swa", value, 1, kMostLength);
    const int sliding_rope =
        in.optional("rope.dimension_count_swa", sliding_key == key ? rope : sliding_key, 0, sliding_key);
    for (LayerParameters& layer : h.layers) {
        const bool slides = layer.kind == LayerKind::SlidingWindow;
        layer.key_length = slides ? sliding_key : key;
        layer.value_length = slides ? sliding_value : value;
        layer.rope_dimensions = slides ? sliding_rope : rope;
        if (layer.key_length % 4 != 0 || layer.value_length % 4 != 0 || layer.rope_dimensions % 2 != 0)
            in.wrong("the model's head dimension is not a multiple of 4");
        if (h.architecture->local_rope_base == 0.0f && layer.rope_dimensions != rope)
            in.wrong("the model's sliding layers rotate in a way that its architecture does not know");
    }
}

/// The last layers may read the keys and values of the last one of their kind that has its own.
void share_kv(Reader& in, Hyperparameters& h)
{
    const int layers = int(h.layers.size());
    const int first = layers - in.optional("attention.shared_kv_layers", 0, 0, layers);
    for (int l = first; l < layers; ++l) {
        LayerParameters& layer = h.layers[std::size_t(l)];
        int source = first - 1;
        while (source >= 0 && h.layers[std::size_t(source)].kind != layer.kind)
            --source;
        if (source < 0) {
            in.wrong("the model's layers share keys and values that no layer has");
            return;
        }
        const LayerParameters& from = h.layers[std::size_t(source)];
        if (from.kv_heads != layer.kv_heads || from.key_length != layer.key_length ||
            from.value_length != layer.value_length)
            in.wrong("the model's layers share keys and values of different shapes");
        layer.kv_source = source;
    }
}

}  // namespace

int Hyperparameters::longest_key() const
{
    int most = 0;
    for (const LayerParameters& layer : layers)
        most = std::max(most, layer.key_length);
    return most;
}

int Hyperparameters::longest_value() const
{
    int most = 0;
    for (const LayerParameters& layer : layers)
        most = std::max(most, layer.value_length);
    return most;
}

int Hyperparameters::rope_dimensions(LayerKind kind) const
{
    int most = 0;
    for (const LayerParameters& layer : layers)
        if (layer.kind == kind)
            most = std::max(most, layer.rope_dimensions);
    return most;
}

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

    const int default_head = std::max(1, h.embedding_length / h.layers.front().heads);
    read_head_lengths(in, h, default_head);
    share_kv(in, h);
    h.side_length = in.optional("embedding_length_per_layer_input", 0, 0, kMaxDimension / layers);
    h.rope_base = in.number("rope.freq_base", 10000.0f);
    const float local_base = h.architecture->local_rope_base > 0 ? h.architecture->local_rope_base : h.rope_base;
    h.rope_base_local = in.number("rope.freq_base_swa", local_base);
    h.rope_scaling = read_rope_scaling(in, file, h.context_length);
    const float scaled_by = scales_queries_by_embedding(h) ? float(default_head) : float(h.longest_key());
    const float scale =
        h.architecture->attention_scale > 0 ? h.architecture->attention_scale : 1.0f / std::sqrt(scaled_by);
    h.attention_scale = in.number("attention.scale", scale);

    if (!(h.rope_base > 0.0f) || !(h.rope_base_local > 0.0f))
        in.wrong("the model's rope base is not positive");
    if (h.experts > 0 && (h.experts_used < 1 || h.experts_used > h.experts || h.expert_ffn_length < 1))
        in.wrong("the model's expert counts make no sense");
    if (!in.error().empty())
        return fail(Error::Code::BadFile, in.error());
    return h;
}

}  // namespace engine
