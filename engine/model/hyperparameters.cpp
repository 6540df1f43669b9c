#include "engine/model/hyperparameters.h"

#include "engine/gguf/gguf_file.h"
#include "engine/model/hyperparameter_reader.h"
#include "engine/model/read_streams.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace engine {

namespace {

using Reader = HyperparameterReader;

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

/// Says whether queries are scaled by the embedding's share of a head instead of the head's length, as in these sizes.
bool scales_queries_by_embedding(const Hyperparameters& h)
{
    const std::size_t layers = h.layers.size();
    return (h.architecture->name == "gemma2" && layers == 46) || (h.architecture->name == "gemma3" && layers == 62);
}

/// Reads the sizes of recurrent layers. Architectures with a short convolution have a key of their own for its width.
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

/// Says which layers are recurrent, for architectures that have such.
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

/// Returns what mixes the tokens of a layer, by its numbers of heads. `recurrent`: it keeps a state.
Mixer mixer_of(const Architecture& architecture, bool recurrent, int heads, int kv_heads, int ffn_length)
{
    if (architecture.recurrent == Mixer::AttentionAndMamba2)
        return Mixer::AttentionAndMamba2;
    if (architecture.parts_may_lack && heads == 0)
        return Mixer::None;
    if (architecture.parts_may_lack && kv_heads == 0)
        return Mixer::Matrix;
    if (!recurrent)
        return Mixer::Attention;
    return architecture.one_part_layers && ffn_length > 0 ? Mixer::None : architecture.recurrent;
}

/// Returns the length of the rows of a matrix of layer `l`. 0: the layer has none of that name.
int rows_length(Reader& in, const GgufFile& file, int l, std::string_view matrix)
{
    const std::string name = "blk." + std::to_string(l) + std::string(matrix);
    const GgufTensor* tensor = file.tensor(name);
    if (tensor && tensor->dims[0] > kMaxDimension)
        return in.wrong("the tensor " + name + " is larger than a model can have it");
    return tensor ? int(tensor->dims[0]) : 0;
}

bool rotates(Reader& in, const Hyperparameters& h, int l, bool slides)
{
    switch (h.architecture->rope_layers) {
    case RopeLayers::AllButEveryFourth:
        return l % 4 != 3;
    case RopeLayers::SlidingLayers:
        return slides || h.sliding_window == 0;
    case RopeLayers::WhereFinetuned:
        return in.boolean("rope.scaling.finetuned").value_or(true);
    case RopeLayers::None:
        return false;
    case RopeLayers::All:
        break;
    }
    return true;
}

/// Says whether values (i, i + n/2) of a head turn together, not neighbours.
bool rotates_halves(Reader& in, const Architecture& a)
{
    const auto sections = in.integers("rope.dimension_sections");
    const bool divided = sections.size() > 1 && sections[0] > 0 && sections[1] > 0;
    return a.rope_neox || (a.neox_in_sections && divided);
}

void read_layers(Reader& in, const GgufFile& file, Hyperparameters& h, int layers)
{
    const Architecture& a = *h.architecture;
    // A layer that does not attend has no heads.
    const bool all_attend = a.recurrent == Mixer::Attention && !a.parts_may_lack;
    const int fewest = all_attend ? 1 : 0;
    const auto heads = in.per_layer("attention.head_count", layers, 0, fewest, 1 << 14);
    const int most_heads = *std::max_element(heads.begin(), heads.end());
    const auto kv_heads = in.per_layer("attention.head_count_kv", layers, most_heads, fewest, 1 << 14);
    const auto ffn = in.per_layer("feed_forward_length", layers, h.expert_ffn_length,
                                  a.one_part_layers || a.parts_may_lack ? 0 : 1, kMaxDimension);
    if (h.expert_ffn_length < 0) {  // The file does not say it apart; the length that it says may be a shared expert's.
        const int routed = rows_length(in, file, layers - 1, ".ffn_down_exps.weight");
        h.expert_ffn_length = h.experts == 0 ? 0 : routed > 0 ? routed : ffn.back();
    }
    const auto recurrent = recurrent_layers(in, h, layers, kv_heads);
    h.state_space = read_state_space(in, h);
    // A window counts only where the architecture slides: converters also write one for models (phi3, llama) that were
    // trained without, and llama.cpp ignores it there as well.
    std::vector<bool> slides(static_cast<std::size_t>(layers));
    if (a.window_period > 0 && h.sliding_window > 0) {
        slides = in.sliding_layers(layers, a.window_period);
        if (std::ranges::find(slides, true) == slides.end())
            h.sliding_window = 0;
    }
    for (int l = 0; l < layers; ++l) {
        const auto i = std::size_t(l);
        const LayerKind kind = slides[i] ? LayerKind::SlidingWindow : LayerKind::FullAttention;
        // Files do not agree on the key of the shared expert's length, so it is taken from the tensor.
        const int shared = rows_length(in, file, l, ".ffn_down_shexp.weight");
        LayerParameters layer{mixer_of(a, recurrent[i] != 0, heads[i], kv_heads[i], ffn[i]),
                              kind,
                              heads[i],
                              kv_heads[i],
                              shared > 0 ? shared : ffn[i],
                              rotates(in, h, l, slides[i])};
        layer.feed_forward = a.one_part_layers ? layer.mixer == Mixer::None : !a.parts_may_lack || layer.ffn_length > 0;
        if (!attends(layer.mixer))
            layer.heads = layer.kv_heads = 0;
        else if (layer.kv_heads == 0 || layer.heads == 0 || layer.heads % layer.kv_heads != 0)
            in.wrong("the number of attention heads is not a multiple of the number of KV heads");
        h.layers.push_back(layer);
    }
}

/// Reads the lengths of heads, which may be others in sliding layers.
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
        if (!has_local_rope(h) && layer.rope_dimensions != rope)
            in.wrong("the model's sliding layers rotate in a way that its architecture does not know");
    }
}

/// Lets the last layers read the keys and values of the last one of their kind that has its own, where the model does.
void share_kv(Reader& in, Hyperparameters& h)
{
    const int layers = int(h.layers.size());
    const int with_kv = h.architecture->layers_with_kv;
    const int shared = with_kv > 0 ? std::max(0, layers - with_kv) : 0;
    const int first = layers - in.optional("attention.shared_kv_layers", shared, 0, layers);
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

/// Reads the lengths of latent attention. In the file they are those of the row that is kept or, in older ones, those
/// of the heads.
void read_latent(Reader& in, Hyperparameters& h)
{
    constexpr int kMostLength = 1 << 14;
    const LayerParameters file = h.layers.front();
    LatentShape& s = h.latent;
    s.rank = in.required("attention.kv_lora_rank", 1, kMostLength);
    s.query_rank = in.optional("attention.q_lora_rank", 0, 0, kMaxDimension);
    s.key_length = in.optional("attention.key_length_mla", file.key_length, 1, kMostLength);
    s.value_length = in.optional("attention.value_length_mla", file.value_length, 1, kMostLength);
    s.plain = s.key_length - file.rope_dimensions;
    if (s.plain < 1 || file.rope_dimensions < 2 || s.plain % 4 != 0 || s.rank % 4 != 0 ||
        file.rope_dimensions % 4 != 0 || s.value_length % 4 != 0)
        in.wrong("the lengths of the model's latent attention make no sense");
    for (LayerParameters& layer : h.layers) {
        if (layer.kv_source >= 0 || layer.kind != LayerKind::FullAttention)
            in.wrong("the model's latent attention has windows or shared layers, which its architecture does not know");
        layer.kv_heads = 1;
        layer.key_length = s.rank + file.rope_dimensions;
        layer.value_length = s.rank;
    }
}

/// Returns the scale of attention for files that do not say it.
float default_attention_scale(const Hyperparameters& h, int default_head)
{
    if (h.architecture->attention_scale > 0)
        return h.architecture->attention_scale;
    const int length = h.latent ? h.latent.key_length : scales_queries_by_embedding(h) ? default_head : h.longest_key();
    const RopeScaling& rope = h.rope_scaling;
    // Latent attention has YaRN's magnitude on its scores, not on the rotations: a part of the key is not rotated.
    const bool by_yarn = h.latent && rope.kind == RopeScaling::Kind::Yarn && rope.factor > 1.0f;
    const float magnitude = by_yarn ? 1.0f + rope.yarn_log_multiplier * std::log(rope.factor) : 1.0f;
    return magnitude * magnitude / std::sqrt(float(length));
}

/// Reads the groups of experts. Where all of them compete, there are none.
void read_expert_groups(Reader& in, Hyperparameters& h)
{
    const int groups = in.optional("expert_group_count", 0, 0, 4096);
    const int used = in.optional("expert_group_used_count", 0, 0, 4096);
    if (groups <= 1 || used == groups || h.experts == 0)
        return;
    if (used < 1 || used > groups || h.experts % groups != 0 || h.experts_used > h.experts / groups * used)
        in.wrong("the groups of the model's experts make no sense");
    h.expert_groups = groups;
    h.expert_groups_used = used;
}

/// Recognises GLM-4.7-Flash by its numbers of layers and tokens. Its files do not say that they mean sigmoids.
bool is_glm_flash(const Hyperparameters& h, const GgufFile& file, int blocks)
{
    const GgufTensor* table = file.tensor("token_embd.weight");
    return h.architecture->name == "deepseek2" && (blocks == 47 || blocks == 48) && table && table->dims[1] == 154880;
}

void read_experts(Reader& in, const GgufFile& file, int blocks, Hyperparameters& h)
{
    h.experts = in.optional("expert_count", 0, 0, 4096);
    if (h.experts == 1 && h.architecture->name == "hunyuan-dense")  // so its first files call the feed-forward part
        h.experts = 0;
    h.experts_used = in.optional("expert_used_count", 0, 0, 4096);
    h.expert_ffn_length = in.optional("expert_feed_forward_length", -1, 0, kMaxDimension);
    const int latent = in.optional("moe_latent_size", 0, 0, kMaxDimension);
    h.expert_length = latent > 0 ? latent : h.embedding_length;
    h.expert_weights_scale = in.factor("expert_weights_scale", 1.0f);
    h.router_scores = h.architecture->router_scores;
    h.expert_weights = h.architecture->expert_weights;
    constexpr int kNone = 0, kSoftmax = 1, kSigmoid = 2, kSoftmaxOfChosen = 3;  // llama.cpp, include/llama.h
    switch (const int scores = in.optional("expert_gating_func", kNone, kNone, 255)) {
    case kNone:
        if (is_glm_flash(h, file, blocks))
            h.router_scores = RouterScores::Sigmoid;
        break;
    case kSoftmaxOfChosen:  // of all, and made to sum to one: the same
        h.expert_weights = ExpertWeights::SumToOne;
        [[fallthrough]];
    case kSoftmax:
        h.router_scores = RouterScores::Softmax;
        break;
    case kSigmoid:
        h.router_scores = RouterScores::Sigmoid;
        break;
    default:
        in.wrong("the file's experts are chosen in a way (" + std::to_string(scores) + ") that is not known");
    }
    if (const auto norm = in.boolean("expert_weights_norm"))
        h.expert_weights = *norm ? ExpertWeights::SumToOne : ExpertWeights::AsScored;
    read_expert_groups(in, h);
}

struct Factors {
    float embedding, residual, logit;
};

/// Returns the factors of models whose files do not say them.
Factors default_factors(const Hyperparameters& h, int layers)
{
    if (h.architecture->name == "minicpm")  // its first models, which have these
        return {12.0f, 1.4f / std::sqrt(float(layers)), float(h.embedding_length) / 256.0f};
    return {h.architecture->scale_embeddings ? std::sqrt(float(h.embedding_length)) : 1.0f, 1.0f, 1.0f};
}

void read_scales(Reader& in, int layers, Hyperparameters& h)
{
    const Architecture& a = *h.architecture;
    const Factors unsaid = default_factors(h, layers);
    const float residual_scale = in.factor("residual_scale", unsaid.residual);
    constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
    h.rms_epsilon = in.number("attention.layer_norm_rms_epsilon", in.number("attention.layer_norm_epsilon", kMissing));
    if (std::isnan(h.rms_epsilon))  // models differ in it, so that no guess is good
        in.wrong(std::string(a.name) + ".attention.layer_norm_rms_epsilon is missing from the model file");
    h.stream_epsilon = h.rms_epsilon / (residual_scale * residual_scale);
    h.post_norm_epsilon = a.post_norm_epsilon > 0.0f ? a.post_norm_epsilon : h.rms_epsilon;
    h.embedding_scale = in.factor("embedding_scale", unsaid.embedding) / residual_scale;
    const float logit_scale = in.factor("logit_scale", unsaid.logit);
    h.logit_scale = a.logit_scale == LogitScale::Divides ? 1.0f / logit_scale : logit_scale;
}

/// Reads the temperature of attention. Call it when the rope scaling has been read.
void read_temperature(Reader& in, Hyperparameters& h)
{
    h.temperature = h.architecture->temperature;
    h.temperature.scale = in.number("attention.temperature_scale", h.temperature.scale);
    const int length = h.temperature.length > 0 ? h.temperature.length : h.rope_scaling.original_context;
    h.temperature.length = in.optional("attention.temperature_length", std::max(1, length), 1, kMaxTokens);
}

/// Says where the weights of the norms of queries and keys come from. Of Llama 4, the model with 128 experts (Maverick)
/// has no such norms.
QkNormWeight qk_norm_weight(const Hyperparameters& h)
{
    constexpr int kMaverickExperts = 128;
    return h.experts == kMaverickExperts ? QkNormWeight::FromFile : h.architecture->qk_norm_weight;
}

}  // namespace

int Hyperparameters::recurrent_input_cols(Mixer mixer) const
{
    const StateSpace& s = state_space;
    switch (mixer) {
    case Mixer::DeltaNet:
        return s.conv_channels() + s.inner() + 2 * s.heads;
    case Mixer::Mamba2:
    case Mixer::AttentionAndMamba2:
        return s.inner() + s.conv_channels() + s.heads;
    case Mixer::ShortConvolution:
        return 3 * s.inner();
    case Mixer::Attention:
    case Mixer::Matrix:
    case Mixer::None:
        break;
    }
    return 0;
}

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
        if (layer.kind == kind || !has_local_rope(*this))
            most = std::max(most, layer.rope_dimensions);
    return most;
}

bool has_local_rope(const Hyperparameters& h)
{
    const bool scaled = h.rope_scaling.kind != RopeScaling::Kind::None;
    return h.architecture->local_rope_base > 0 ||
           (h.architecture->local_rope_unscaled && scaled && h.sliding_window > 0);
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
    const int blocks = in.required("block_count", 1, kMaxLayers);
    h.mtp_blocks = in.optional("nextn_predict_layers", 0, 0, std::max(0, blocks - 1));
    const int layers = blocks - h.mtp_blocks;
    h.context_length = in.required("context_length", 1, kMaxTokens);
    h.embedding_length = in.required("embedding_length", 1, kMaxDimension);
    h.sliding_window = in.optional("attention.sliding_window", h.architecture->default_window, 0, kMaxTokens);
    h.pooling = Pooling(std::max(0, in.optional("pooling_type", 0, -1, int(Pooling::Rank))));  // -1: it does not say
    h.attention_softcap = in.number("attn_logit_softcapping", 0.0f);
    h.final_softcap = in.number("final_logit_softcapping", 0.0f);
    read_experts(in, file, blocks, h);
    read_scales(in, layers, h);
    if (in.error().empty())
        read_layers(in, file, h, layers);
    if (!in.error().empty())
        return fail(Error::Code::BadFile, in.error());

    int most_heads = 1;
    for (const LayerParameters& layer : h.layers)
        most_heads = std::max(most_heads, layer.heads);
    const int default_head = std::max(1, h.embedding_length / most_heads);
    read_streams(in, file, h);
    if (!h.streams.connected)
        h.side_length =
            in.optional("embedding_length_per_layer_input", h.architecture->side_length, 0, kMaxDimension / layers);
    h.rope_neox = rotates_halves(in, *h.architecture);
    h.rope_base = in.number("rope.freq_base", 10000.0f);
    const float local_base = h.architecture->local_rope_base > 0 ? h.architecture->local_rope_base : h.rope_base;
    h.rope_base_local = in.number("rope.freq_base_swa", local_base);
    h.rope_scaling = read_rope_scaling(in, file, h.context_length);
    read_head_lengths(in, h, default_head);
    share_kv(in, h);
    if (h.architecture->latent_attention)
        read_latent(in, h);
    h.attention_scale = in.factor("attention.scale", default_attention_scale(h, default_head));
    read_temperature(in, h);
    read_dense_context(in, h);
    h.qk_norm_weight = qk_norm_weight(h);

    if (!(h.rope_base > 0.0f) || !(h.rope_base_local > 0.0f))
        in.wrong("the model's rope base is not positive");
    if (h.architecture->attention_gate != AttentionGate::None && h.longest_key() != h.longest_value())
        in.wrong("the model's attention has gates, but keys and values of different lengths");
    if (!std::isfinite(h.stream_epsilon) || !std::isfinite(h.embedding_scale) || !std::isfinite(h.logit_scale))
        in.wrong("the model's factors make no sense");
    if (h.architecture->output_norm.empty() && h.logit_scale != 1.0f)
        in.wrong("the model has a factor on its logits that its architecture does not know");
    if (h.experts > 0 && (h.experts_used < 1 || h.experts_used > h.experts || h.expert_ffn_length < 1))
        in.wrong("the model's expert counts make no sense");
    if (!in.error().empty())
        return fail(Error::Code::BadFile, in.error());
    return h;
}

}  // namespace engine
