#include "engine/model/read_streams.h"

#include "engine/gguf/gguf_file.h"
#include "engine/model/hyperparameter_reader.h"

#include <algorithm>
#include <limits>

namespace engine {

namespace {

/// Reads the numbers of AltUp; where the file does not say them, they are those of the only models that have it.
void read_altup(HyperparameterReader& in, Hyperparameters& h)
{
    constexpr int kAltUpStreams = 4, kLaurelRank = 64;
    h.streams = {in.optional("altup.num_inputs", kAltUpStreams, 2, kMostStreams), kLaurelRank};
    if (in.optional("altup.active_idx", 0, 0, kMostStreams) != 0)
        in.wrong("the model's layers read another stream than the first, which this version does not know");
}

/// Reads `count` numbers, each within bounds.
std::vector<int> numbers(HyperparameterReader& in, std::string_view key, int count, int lowest, int highest)
{
    const auto values = in.integers(key);
    if (int(values.size()) != count)
        in.wrong("the file's " + std::string(key) + " does not have " + std::to_string(count) + " entries");
    std::vector<int> out(std::size_t(count), lowest);
    for (std::size_t i = 0; i < std::min(out.size(), values.size()); ++i) {
        if (values[i] < lowest || values[i] > highest)
            in.wrong("the file's " + std::string(key) + " has entries outside what a model can have");
        out[i] = int(std::clamp<std::int64_t>(values[i], lowest, highest));
    }
    return out;
}

void read_hash(HyperparameterReader& in, const GgufFile& file, NgramParameters& n)
{
    const GgufTensor* const table = file.tensor("per_layer_token_embd.weight");
    n.table_rows = table ? int(std::clamp<std::int64_t>(table->dims[1], 0, std::numeric_limits<int>::max())) : 0;
    for (const std::int64_t multiplier : in.integers("ple.layer_multipliers"))
        n.multipliers.push_back(std::uint64_t(multiplier));
    if (int(n.multipliers.size()) != n.longest)
        in.wrong("the model's n-grams are hashed by another number of factors than they have tokens");
    n.offsets = numbers(in, "ple.head_offsets", n.rows_of_token(), 0, std::max(0, n.table_rows - 1));
    n.sizes = numbers(in, "ple.head_vocab_sizes", n.rows_of_token(), 1, std::max(1, n.table_rows));
    for (std::size_t i = 0; i < n.sizes.size(); ++i)
        if (n.sizes[i] > n.table_rows - n.offsets[i])
            in.wrong("the model's n-grams have more rows than their table");
    for (const std::int64_t id : in.integers("ple.eos_token_id"))
        n.ends.push_back(int(std::clamp<std::int64_t>(id, -1, std::numeric_limits<int>::max())));
    if (n.ends.empty())
        in.wrong("the file does not say which token the model's n-grams end at");
}

void read_ngrams(HyperparameterReader& in, const GgufFile& file, Hyperparameters& h)
{
    constexpr int kLongest = 16, kMostHeads = 1024, kMostTaps = 16;
    for (const std::int64_t layer : in.integers("ple.layers")) {
        if (layer < 0 || layer >= std::int64_t(h.layers.size()))
            in.wrong("the file names a layer for n-grams that it does not have");
        else
            h.layers[std::size_t(layer)].ngrams = true;
    }
    if (std::ranges::none_of(h.layers, &LayerParameters::ngrams))
        return;
    NgramParameters& n = h.ngrams;
    n.longest = in.required("ple.ngram_size", 2, kLongest);
    n.heads = in.required("ple.heads_per_ngram", 1, kMostHeads);
    n.taps = in.required("ple.conv_kernel", 1, kMostTaps);
    n.row_length = in.required("embedding_length_per_layer_input", 1, kMaxDimension);
    if (std::int64_t(n.rows_of_token()) * n.row_length > kMaxDimension)
        in.wrong("the model's n-grams have more values than any model's");
    if (in.error().empty())
        read_hash(in, file, n);
}

}  // namespace

void read_streams(HyperparameterReader& in, const GgufFile& file, Hyperparameters& h)
{
    switch (h.architecture->streams) {
    case Streams::One:
        return;
    case Streams::AltUp:
        read_altup(in, h);
        break;
    case Streams::HyperConnections:
        h.streams = {in.required("hyper_connection.count", 2, kMostStreams),
                     in.required("hyper_connection.low_rank", 1, kMaxDimension), true};
        read_ngrams(in, file, h);
        break;
    }
    if (h.embedding_length > kMaxDimension / kMostStreams)
        in.wrong("the model's residual streams are longer than any model's");
}

void read_dense_context(HyperparameterReader& in, Hyperparameters& h)
{
    const auto ratios = in.per_layer("attention.compress_ratios", int(h.layers.size()), 0, 0, kMaxTokens);
    if (std::ranges::none_of(ratios, [](int ratio) { return ratio > 0; }))
        return;
    h.dense_context = in.required("attention.indexer.top_k", 1, kMaxTokens);
    h.context_length = std::min(h.context_length, h.dense_context);
}

}  // namespace engine
