// Finds out what can be said of a model file before it is loaded.
#include "engine/model_info.h"

#include "engine/caught.h"
#include "engine/engine.h"
#include "engine/gguf/gguf_file.h"
#include "engine/gguf/nearest_name.h"
#include "engine/gguf/printable.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>

namespace engine {
namespace {

constexpr std::string_view kRunnable[] = {
    "llama",     "mistral3",  "internlm2",    "arcee",         "deci",          "minicpm",        "qwen2",
    "qwen2vl",   "qwen2moe",  "qwen3",        "qwen3moe",      "qwen3vl",       "qwen3vlmoe",     "mellum",
    "gemma",     "gemma2",    "gemma3",       "gemma3n",       "gemma4",        "phi3",           "gpt-oss",
    "smollm3",   "ernie4_5",  "ernie4_5-moe", "seed_oss",      "hunyuan-dense", "hunyuan-moe",    "chatglm",
    "glm4",      "glm4moe",   "dots1",        "bailingmoe",    "bailingmoe2",   "minimax-m2",     "olmoe",
    "olmo2",     "exaone",    "exaone4",      "exaone-moe",    "afmoe",         "granite",        "granitemoe",
    "command-r", "cohere2",   "muse-glimmer", "llama4",        "qwen35",        "qwen35moe",      "qwen3next",
    "qwen4exp",  "lfm2",      "lfm2moe",      "granitehybrid", "nemotron_h",    "nemotron_h_moe", "falcon-h1",
    "deepseek",  "deepseek2", "mistral4"};

/// Names a general.file_type (llama.cpp's enum llama_ftype, include/llama.h); empty for a number that means nothing
/// now.
std::string file_type_name(std::int64_t id)
{
    static constexpr std::string_view kNames[] = {
        "F32",   "F16",     "Q4_0",      "Q4_1",   "",       "",        "",         "Q8_0",     "Q5_0",
        "Q5_1",  "Q2_K",    "Q3_K_S",    "Q3_K_M", "Q3_K_L", "Q4_K_S",  "Q4_K_M",   "Q5_K_S",   "Q5_K_M",
        "Q6_K",  "IQ2_XXS", "IQ2_XS",    "Q2_K_S", "IQ3_XS", "IQ3_XXS", "IQ1_S",    "IQ4_NL",   "IQ3_S",
        "IQ3_M", "IQ2_S",   "IQ2_M",     "IQ4_XS", "IQ1_M",  "BF16",    "Q4_0_4_4", "Q4_0_4_8", "Q4_0_8_8",
        "TQ1_0", "TQ2_0",   "MXFP4_MOE", "NVFP4",  "Q1_0",   "Q2_0"};
    constexpr std::int64_t kGuessed = 1024;  // added where the converter did not know
    id &= ~kGuessed;
    return id >= 0 && id < std::ssize(kNames) ? std::string(kNames[static_cast<std::size_t>(id)]) : std::string();
}

/// Reads keys that begin with the architecture's name, as numbers that fit an int; others count as missing.
class Hyperparameters
{
public:
    Hyperparameters(const GgufFile& gguf, std::string architecture)
        : gguf_(gguf)
        , prefix_(std::move(architecture) + '.')
    {
    }

    int number(std::string_view key, int otherwise = 0) const
    {
        return as_int(gguf_.integer(prefix_ + std::string(key)), otherwise);
    }

    /// Returns a number for each layer: the key has one for all layers, or one for each.
    std::vector<int> per_layer(std::string_view key, int layers, int otherwise) const
    {
        const auto each =
            gguf_.integers(prefix_ + std::string(key), kMaxLayerElements).value_or(std::vector<std::int64_t>());
        std::vector<int> values(static_cast<std::size_t>(layers), number(key, otherwise));
        for (std::size_t i = 0; i < std::min(values.size(), each.size()); ++i)
            values[i] = as_int(each[i], otherwise);
        return values;
    }

    /// Counts the entries of a list.
    int count(std::string_view key) const
    {
        return int(
            std::min<std::uint64_t>(gguf_.array_length(prefix_ + std::string(key)).value_or(0), kMaxLayerElements));
    }

    /// Says which layers see a window only: a flag for each, or a period, of which the last one sees everything.
    std::vector<bool> sliding(int layers) const
    {
        const std::string key = prefix_ + "attention.sliding_window_pattern";
        const auto flags = gguf_.integers(key, kMaxLayerElements).value_or(std::vector<std::int64_t>());
        const int period = as_int(gguf_.integer(key), 0);
        std::vector<bool> slides;
        for (int l = 0; l < layers; ++l)
            slides.push_back(flags.empty() ? period > 0 && l % period < period - 1
                                           : std::size_t(l) < flags.size() && flags[std::size_t(l)] != 0);
        return slides;
    }

    static int as_int(std::optional<std::int64_t> value, int otherwise)
    {
        return value && *value >= 0 && *value <= std::numeric_limits<int>::max() ? static_cast<int>(*value) : otherwise;
    }

private:
    const GgufFile& gguf_;
    std::string prefix_;
};

/// Counts the layers at the end that read the keys and values of earlier ones.
int layers_without_kv(const Hyperparameters& shape, const ModelInfo& info)
{
    constexpr int kWithKv = 20;  // of gemma3n, where the file does not say
    const int otherwise = info.architecture == "gemma3n" ? std::max(0, info.layers - kWithKv) : 0;
    return shape.number("attention.shared_kv_layers", otherwise);
}

/// Counts the values that residual streams take of a row, where a model has several.
std::int64_t stream_values(const Hyperparameters& shape, const ModelInfo& info)
{
    constexpr int kAltUpStreams = 4, kLaurelRank = 64, kMostStreams = 8;
    const bool altup = info.architecture == "gemma3n";
    const int count = shape.number(altup ? "altup.num_inputs" : "hyper_connection.count", altup ? kAltUpStreams : 0);
    // With hyper-connections, the normed streams and the gates on them are kept as well.
    return std::int64_t(std::min(kMostStreams, count)) * (altup ? 1 : 3) * (std::int64_t(info.embedding_length) + 1) +
           (altup ? kLaurelRank : shape.number("hyper_connection.low_rank"));
}

/// Describes what the decoder and its backend allocate beside weights and KV: the rows of one prefill chunk, and the
/// logits.
void describe_scratch(const GgufFile& gguf, const Hyperparameters& shape, std::int64_t key_length,
                      std::int64_t value_length, ModelInfo& info)
{
    constexpr int kMost = 1 << 24;  // keeps a hostile file's numbers from overflowing
    constexpr std::int64_t kFloat = sizeof(float);
    const auto at_most = [](std::int64_t value) { return std::min<std::int64_t>(value, kMost); };
    const std::int64_t dim = at_most(info.embedding_length), heads = at_most(info.heads);
    const std::int64_t q_dim = at_most(heads * key_length);
    const std::int64_t kv_dim = at_most(info.kv_heads * (key_length + value_length));
    const int named_expert_ffn = shape.number("expert_feed_forward_length");
    const auto ffns = shape.per_layer("feed_forward_length", info.layers, named_expert_ffn);
    // Where a file has one length it is the experts', too, unless their tensors have another one.
    const bool one_length = named_expert_ffn == 0 && info.experts > 0 && !ffns.empty();
    std::int64_t expert_ffn = at_most(one_length ? ffns.back() : named_expert_ffn);
    std::int64_t ffn = ffns.empty() ? 0 : at_most(*std::max_element(ffns.begin(), ffns.end()));
    std::int64_t gates = 0;
    for (const GgufTensor& tensor : gguf.tensors()) {
        if (tensor.name.ends_with(".ffn_down_shexp.weight"))
            ffn = std::max(ffn, at_most(tensor.dims[0]));
        if (one_length && tensor.name.ends_with(".ffn_down_exps.weight"))
            expert_ffn = at_most(tensor.dims[0]);
        if (tensor.name.ends_with(".attn_gate.weight"))
            gates = q_dim;
    }

    const std::int64_t query_rank = at_most(shape.number("attention.q_lora_rank"));
    const std::int64_t dense = 4 * dim + 2 * q_dim + gates + kv_dim + 3 * ffn + query_rank;
    const std::int64_t routed = at_most(info.experts_used) * (2 * dim + 3 * expert_ffn) + at_most(info.experts);
    // Rows that enter products are kept rounded to 8 bits besides, with scales and sums; with experts, two times.
    const std::int64_t rounded = (info.experts > 0 ? 2 : 1) * (dim + q_dim + ffn + routed / 2);
    const std::int64_t angles = 2 * key_length;  // cos and sin of half the dimensions, two kinds of layers
    const std::int64_t beside = info.experts > 0 ? 2 * dim : 0;  // where a dense part lies beside them
    // Per-layer embeddings: what the table and the embedding say to all layers.
    const int side_length = shape.number("embedding_length_per_layer_input", info.architecture == "gemma3n" ? 256 : 0);
    const std::int64_t side = 2 * at_most(info.layers * at_most(side_length)) + at_most(stream_values(shape, info));
    info.memory.scratch_bytes_per_row = (dense + routed + beside + angles + side) * kFloat + rounded * 15 / 8;

    // Of each thread: queries and sums of a tile of rows, scores of a block; and with experts the products of a piece
    // of work, and a row that is rounded again.
    constexpr int kThreads = 8, kBlockTokens = 256, kTileRows = 16;  // as good as any: this part is small
    constexpr std::int64_t kMostHeads = 16;                          // at once
    const std::int64_t group = info.kv_heads > 0 ? std::min(heads / info.kv_heads, kMostHeads) : 0;
    const std::int64_t sums = 2 + value_length;
    const std::int64_t attention = group * (kTileRows * (key_length + sums) + sums + kBlockTokens);
    const std::int64_t again = info.experts > 0 ? 256 * 64 + dim : 0;
    info.memory.scratch_bytes_fixed = ((1 + kMostRowsTogether) * at_most(info.vocabulary) + 2 * dim +
                                       at_most(stream_values(shape, info)) + kThreads * (attention + again)) *
                                      kFloat;
}

/// Says whether attention and a recurrent part of each layer read the same rows.
bool attends_as_well(const ModelInfo& info)
{
    return info.architecture == "falcon-h1";
}

/// (layers,) whether a layer keeps a state of fixed size. Feed-forwards alone count as none.
std::vector<bool> recurrent_layers(const Hyperparameters& shape, const ModelInfo& info, std::span<const int> kv_heads)
{
    const bool any = shape.number("ssm.state_size") > 0 || shape.number("shortconv.l_cache") > 0;
    std::vector<bool> recurrent(kv_heads.size(), any && attends_as_well(info));
    if (!any || attends_as_well(info))
        return recurrent;
    const bool by_four = info.architecture.starts_with("qwen3") || info.architecture.starts_with("qwen4");
    const int interval = shape.number("full_attention_interval", by_four ? 4 : 0);
    const auto ffn = shape.per_layer("feed_forward_length", info.layers, 0);
    const auto named = shape.per_layer("attention.recurrent_layers", info.layers, -1);
    const bool one_part = info.architecture.starts_with("nemotron_h");
    for (std::size_t l = 0; l < recurrent.size(); ++l) {
        recurrent[l] = interval > 0 ? (int(l) + 1) % interval != 0 : kv_heads[l] == 0 && !(one_part && ffn[l] > 0);
        if (named[l] >= 0)
            recurrent[l] = named[l] > 0;
    }
    return recurrent;
}

/// Describes what recurrent layers keep of a conversation, whatever its length.
void describe_state(const Hyperparameters& shape, const std::vector<bool>& recurrent, ModelInfo& info)
{
    constexpr int kMost = 1 << 20;  // keeps a hostile file's numbers from overflowing
    const auto number = [&](std::string_view key) -> std::int64_t { return std::min(shape.number(key), kMost); };
    const std::int64_t inner = number("ssm.inner_size"), size = number("ssm.state_size");
    const std::int64_t channels = inner + 2 * std::min<std::int64_t>(kMost, number("ssm.group_count") * size);
    std::int64_t floats = std::max<std::int64_t>(0, number("ssm.conv_kernel") - 1) * channels + inner * size;
    if (const std::int64_t taps = number("shortconv.l_cache"); taps > 0)
        floats = (taps - 1) * info.embedding_length;
    info.memory.recurrent_layers = int(std::ranges::count(recurrent, true));
    // What a convolution over n-grams reaches back on, of all residual streams.
    const std::int64_t reach = std::max<std::int64_t>(0, number("ple.conv_kernel") - 1) * number("ple.ngram_size");
    const std::int64_t wide = std::min<std::int64_t>(kMost, number("hyper_connection.count") * info.embedding_length);
    const std::int64_t ngrams = std::int64_t(shape.count("ple.layers")) * std::min<std::int64_t>(kMost, reach) * wide;
    info.memory.state_bytes = (info.memory.recurrent_layers * floats + ngrams) * std::int64_t(sizeof(float));
}

/// Counts the values that recurrent layers read of a token; they are kept for drafted tokens.
std::int64_t recurrent_input(const Hyperparameters& shape, const ModelInfo& info)
{
    constexpr int kMost = 1 << 20;  // as above
    const auto number = [&](std::string_view key) -> std::int64_t { return std::min(shape.number(key), kMost); };
    if (number("shortconv.l_cache") > 0)
        return 3 * std::int64_t(info.embedding_length);
    return 2 * (number("ssm.inner_size") + number("ssm.group_count") * number("ssm.state_size") +
                number("ssm.time_step_rank"));
}

/// Adds without overflow: tensors may overlap in a hostile file, so that their sum may be anything.
std::int64_t added(std::int64_t a, std::int64_t b)
{
    return a > std::numeric_limits<std::int64_t>::max() - b ? std::numeric_limits<std::int64_t>::max() : a + b;
}

/// Says whether the file's block for guessing tokens can be used: only in models with one residual stream and no inputs
/// per layer.
bool uses_mtp(const Hyperparameters& shape)
{
    return shape.number("nextn_predict_layers") > 0 && shape.number("hyper_connection.count") == 0 &&
           shape.number("embedding_length_per_layer_input") == 0;
}

/// Takes the blocks at the end that guess tokens ahead out of the count of layers.
void leave_predictions_aside(const Hyperparameters& shape, ModelInfo& info)
{
    const int predicting = shape.number("nextn_predict_layers");
    if (predicting == 0 || predicting >= info.layers)
        return;
    info.warnings.push_back(std::to_string(predicting) + " of the file's " + std::to_string(info.layers) +
                            " blocks guess" + (predicting == 1 ? "es" : "") + " tokens ahead" +
                            (uses_mtp(shape) ? "" : ", which this version does not use"));
    info.layers -= predicting;
}

/// Describes the first block that guesses tokens ahead; it has as many heads as the layers.
void describe_mtp(const GgufFile& gguf, const Hyperparameters& shape, std::int64_t numbers, ModelInfo& info)
{
    const std::string block = "blk." + std::to_string(info.layers);
    if (!uses_mtp(shape) || !gguf.tensor(block + ".nextn.eh_proj.weight"))
        return;
    info.memory.mtp_numbers = numbers;
    for (const GgufTensor& tensor : gguf.tensors())
        if (tensor.block() == info.layers)
            info.memory.mtp_weight_bytes =
                added(info.memory.mtp_weight_bytes, static_cast<std::int64_t>(tensor.bytes.size()));
}

/// Ends the context where attention would begin to read only a part of it.
void limit_to_dense_attention(const Hyperparameters& shape, ModelInfo& info)
{
    const auto ratios = shape.per_layer("attention.compress_ratios", info.layers, 0);
    const int dense = shape.number("attention.indexer.top_k");
    if (dense == 0 || dense >= info.context_tokens || std::ranges::none_of(ratios, [](int ratio) { return ratio > 0; }))
        return;
    info.warnings.push_back("beyond " + std::to_string(dense) +
                            " tokens this model reads a part of its context only, " +
                            "which this version does not compute: of its " + std::to_string(info.context_tokens) +
                            " tokens of context " + std::to_string(dense) + " are used");
    info.context_tokens = dense;
}

void describe_shape(const GgufFile& gguf, ModelInfo& info)
{
    const Hyperparameters shape(gguf, info.architecture);
    info.context_tokens = shape.number("context_length");
    info.layers = shape.number("block_count");
    info.embedding_length = shape.number("embedding_length");
    info.experts = shape.number("expert_count");
    if (info.experts == 1 && info.architecture == "hunyuan-dense")  // so its first files call the feed-forward part
        info.experts = 0;
    info.experts_used = shape.number("expert_used_count");
    if (info.layers > static_cast<int>(kMaxLayerElements)) {
        info.warnings.push_back("the file claims " + std::to_string(info.layers) + " layers");
        info.layers = 0;
    }

    leave_predictions_aside(shape, info);
    limit_to_dense_attention(shape, info);

    const std::vector<int> heads = shape.per_layer("attention.head_count", info.layers, 0);
    info.heads = heads.empty() ? 0 : *std::max_element(heads.begin(), heads.end());
    std::vector<int> kv_heads = shape.per_layer("attention.head_count_kv", info.layers, info.heads);
    // Latent attention keeps one row of each token, which is the key of all heads, and its first part their value.
    const int rank = shape.number("attention.kv_lora_rank");
    if (rank > 0)
        std::ranges::fill(kv_heads, 1);
    info.kv_heads = kv_heads.empty() ? 0 : *std::max_element(kv_heads.begin(), kv_heads.end());

    const int default_length = info.heads > 0 ? info.embedding_length / info.heads : 0;
    constexpr int kMaxFactor = 1 << 20;  // 2^20 heads x 2^21 values x 2 bytes x 2^16 layers fit
    const int kept_key = std::min(rank, kMaxFactor) + std::min(shape.number("rope.dimension_count"), kMaxFactor);
    const int key_length = rank > 0 ? kept_key : shape.number("attention.key_length", default_length);
    const int value_length = rank > 0 ? rank : shape.number("attention.value_length", default_length);
    const int sliding_key_length = shape.number("attention.key_length_swa", key_length);
    const int sliding_value_length = shape.number("attention.value_length_swa", value_length);
    if (std::max({info.kv_heads, key_length, value_length, sliding_key_length, sliding_value_length}) > kMaxFactor) {
        info.warnings.push_back("the sizes of the attention heads make no sense");
        return;
    }
    const std::vector<bool> recurrent = recurrent_layers(shape, info, kv_heads);
    describe_state(shape, recurrent, info);
    const std::vector<bool> slides = shape.sliding(info.layers);
    const int own = info.layers - layers_without_kv(shape, info);
    for (int l = 0; l < own; ++l) {
        const auto i = static_cast<std::size_t>(l);
        const std::int64_t layer_kv_heads = recurrent[i] && !attends_as_well(info) ? 0 : kv_heads[i];
        info.memory.kv_layers += layer_kv_heads > 0 ? 1 : 0;
        info.memory.kv_and_state_layers += layer_kv_heads > 0 && recurrent[i] ? 1 : 0;
        info.memory.kv_heads += layer_kv_heads;
        info.memory.key_numbers += layer_kv_heads * (slides[i] ? sliding_key_length : key_length);
        if (rank == 0)
            info.memory.value_numbers += layer_kv_heads * (slides[i] ? sliding_value_length : value_length);
    }
    info.kv_bytes_per_token_f16 = 2 * (info.memory.key_numbers + info.memory.value_numbers);
    const std::int64_t most_kv_heads = kv_heads.empty() ? 0 : *std::max_element(kv_heads.begin(), kv_heads.end());
    describe_mtp(gguf, shape, most_kv_heads * (std::int64_t(key_length) + (rank > 0 ? 0 : value_length)), info);
    describe_scratch(gguf, shape, std::max(key_length, sliding_key_length),
                     std::max(value_length, sliding_value_length), info);
    info.memory.scratch_bytes_fixed += kMostRowsTogether * std::int64_t(info.memory.recurrent_layers) *
                                       recurrent_input(shape, info) * std::int64_t(sizeof(float));
    if (info.memory.mtp_numbers > 0)  // the block computes by itself, in steps of kMtpRows rows
        info.memory.scratch_bytes_fixed +=
            kMtpRows * info.memory.scratch_bytes_per_row +
            (1 + kMostRowsTogether) * std::int64_t(info.vocabulary) * std::int64_t(sizeof(float));
}

void describe_vocabulary(const GgufFile& gguf, ModelInfo& info)
{
    info.tokenizer = printable(gguf.string("tokenizer.ggml.model").value_or(""));
    info.has_chat_template = gguf.string("tokenizer.chat_template").has_value();
    const auto tokens = gguf.array_length("tokenizer.ggml.tokens");
    info.vocabulary = tokens ? Hyperparameters::as_int(static_cast<std::int64_t>(*tokens), 0)
                             : Hyperparameters(gguf, info.architecture).number("vocab_size");
    if (const GgufTensor* embedding = gguf.tensor("token_embd.weight"); embedding && info.vocabulary == 0)
        info.vocabulary = Hyperparameters::as_int(embedding->dims[1], 0);
}

/// Says whether a model uses the tensor: not if it is an encoder's, or of a block that is left aside.
bool is_used(const GgufTensor& tensor, const ModelInfo& info)
{
    return !tensor.of_encoder() && !tensor.of_loose_mtp() && (info.layers == 0 || tensor.block() < info.layers);
}

void leave_encoders_aside(const GgufFile& gguf, ModelInfo& info)
{
    std::int64_t count = 0, bytes = 0;
    for (const GgufTensor& tensor : gguf.tensors())
        if (tensor.of_encoder()) {
            ++count;
            bytes = added(bytes, static_cast<std::int64_t>(tensor.bytes.size()));
        }
    if (count > 0)
        info.warnings.push_back(std::to_string(count) + " of the file's " + std::to_string(gguf.tensors().size()) +
                                " tensors (" + std::to_string(bytes >> 20) +
                                " MiB) read pictures or sounds, which this version does not use");
}

void describe_weights(const GgufFile& gguf, ModelInfo& info)
{
    for (const GgufTensor& tensor : gguf.tensors()) {
        if (!is_used(tensor, info))
            continue;
        const auto bytes = static_cast<std::int64_t>(tensor.bytes.size());
        info.parameters = added(info.parameters, tensor.elements());
        info.weight_bytes = added(info.weight_bytes, bytes);
        auto& of_type = info.bytes_by_type[tensor.type_name()];
        of_type = added(of_type, bytes);
    }
    if (const auto id = gguf.integer("general.file_type"))
        info.quantization = file_type_name(*id);
    if (info.quantization.empty() && !info.bytes_by_type.empty())
        info.quantization =
            std::max_element(info.bytes_by_type.begin(), info.bytes_by_type.end(), [](const auto& a, const auto& b) {
                return a.second < b.second;
            })->first;
}

/// Says whether the epsilon of the norms is missing, without which the model cannot be loaded. A header without weights
/// of a layer says too little to tell.
bool lacks_epsilon(const GgufFile& gguf, const ModelInfo& info)
{
    const auto in_layer = [](const GgufTensor& tensor) { return tensor.block() >= 0; };
    return std::ranges::any_of(gguf.tensors(), in_layer) &&
           !gguf.number(info.architecture + ".attention.layer_norm_rms_epsilon") &&
           !gguf.number(info.architecture + ".attention.layer_norm_epsilon");
}

/// Says whether the file holds only the block that guesses tokens ahead: some programs want it in a file of its own.
bool holds_predictions_alone(const GgufFile& gguf, const ModelInfo& info)
{
    const auto in_layer = [&](const GgufTensor& tensor) { return tensor.block() >= 0 && is_used(tensor, info); };
    const auto in_block = [&](const GgufTensor& tensor) { return tensor.block() >= info.layers; };
    return info.layers > 0 && std::ranges::none_of(gguf.tensors(), in_layer) &&
           std::ranges::any_of(gguf.tensors(), in_block);
}

/// Says why this version cannot run a correct file; empty: nothing speaks against it so far.
std::string obstacle_of(const GgufFile& gguf, const ModelInfo& info)
{
    // This is asked first, since such a file, for example an importance matrix, may have no architecture.
    if (const auto kind = gguf.string("general.type"); kind && *kind != "model")
        return "this file is no model by itself, it holds a '" + printable(*kind) + "'";
    if (info.architecture.empty())
        return "the file does not name its architecture";
    if (gguf.tensors().empty())
        return "this file holds a vocabulary only, no weights";
    if (info.architecture == "clip")
        return "this file is the part of a model that reads pictures or sounds, not the model itself";
    if (std::find(std::begin(kRunnable), std::end(kRunnable), info.architecture) == std::end(kRunnable)) {
        const std::string_view nearest = nearest_name(info.architecture, kRunnable);
        return "this version cannot run the architecture '" + info.architecture + "'" +
               (nearest.empty() ? std::string() : "; the nearest that it can is '" + std::string(nearest) + "'");
    }
    if (gguf.boolean(info.architecture + ".attention.causal") == false)
        return "this model reads texts forwards and backwards at once, which this version does not compute";
    if (holds_predictions_alone(gguf, info))
        return "this file holds only the block of a model that guesses tokens ahead, not the model itself";
    if (lacks_epsilon(gguf, info))
        return info.architecture + ".attention.layer_norm_rms_epsilon is missing from the model file";
    for (const GgufTensor& tensor : gguf.tensors())
        if (is_used(tensor, info) && !tensor.can_compute())
            return "this version cannot compute with " + tensor.type_name() + ", the type of tensor '" +
                   printable(tensor.name) + "'";
    return {};
}

}  // namespace

Result<ModelInfo> inspect_model(const std::filesystem::path& path, const std::stop_token& stop)
try {
    const auto gguf = GgufFile::open(path, stop);
    if (!gguf)
        return tl::unexpected(gguf.error());

    ModelInfo info;
    info.path = gguf->paths().front();
    info.split_files = static_cast<int>(gguf->paths().size());
    info.file_bytes = static_cast<std::int64_t>(gguf->file_bytes());
    info.architecture = printable(gguf->string("general.architecture").value_or(""));
    info.name = printable(gguf->string("general.name").value_or(""), 200);
    if (info.name.empty())
        info.name = printable(path_text(info.path.stem()), 200);
    info.license = printable(gguf->string("general.license").value_or(""), 200);
    info.type = printable(gguf->string("general.type").value_or(""));
    info.embeds = gguf->integer(info.architecture + ".pooling_type").value_or(0) > 0;
    describe_vocabulary(*gguf, info);
    describe_shape(*gguf, info);
    describe_weights(*gguf, info);
    leave_encoders_aside(*gguf, info);
    info.obstacle = obstacle_of(*gguf, info);
    info.runnable = info.obstacle.empty();
    if (auto whole = gguf->still_whole(); !whole)
        return tl::unexpected(whole.error());
    return info;
} catch (...) {
    return caught("to describe the model");
}

}  // namespace engine
