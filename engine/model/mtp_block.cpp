#include "engine/model/mtp_block.h"

#include "engine/model/weight_reader.h"

#include <algorithm>
#include <string>

namespace engine {

std::optional<Hyperparameters> mtp_hyperparameters(const Hyperparameters& model)
{
    const auto last =
        std::ranges::find(model.layers.rbegin(), model.layers.rend(), Mixer::Attention, &LayerParameters::mixer);
    if (model.mtp_blocks == 0 || last == model.layers.rend() || model.streams.several() || model.side_length > 0)
        return std::nullopt;
    Hyperparameters h = model;
    h.layers = {*last};
    h.layers.front().kv_source = -1;
    h.layers.front().ngrams = false;
    h.layers.front().feed_forward = true;
    return h;
}

Result<Weights> read_mtp_block(const GgufFile& file, const Hyperparameters& h, int block, const Weights& model)
{
    using Need = WeightReader::Need;
    Weights w;
    WeightReader in(file, w);
    const int dim = h.embedding_length;
    const std::string layer = "blk." + std::to_string(block) + ".", own = layer + "nextn.";
    w.token_embedding = in.matrix(own + "embed_tokens.weight", dim, h.vocabulary, 1, Need::Optional);
    if (!w.token_embedding)
        w.token_embedding = model.token_embedding;
    w.head.output = in.matrix(own + "shared_head_head.weight", dim, h.vocabulary, 1, Need::Optional);
    if (!w.head.output)
        w.head.output = model.head.output;
    w.head.norm = in.scaled(in.vector(own + "shared_head_norm.weight", dim, Need::Optional), dim, h.logit_scale);
    if (!w.head.norm)
        w.head.norm = model.head.norm;
    w.rope_factors = model.rope_factors;
    w.rope_factors_long = model.rope_factors_long;
    w.rope_factors_short = model.rope_factors_short;
    w.mtp_input = {in.vector(own + "enorm.weight", dim), in.vector(own + "hnorm.weight", dim),
                   in.matrix(own + "eh_proj.weight", 2 * dim, dim)};
    read_layer(in, layer, h, 0, w.layers.emplace_back());
    if (in.failed())
        return tl::unexpected(in.error());
    for (const GgufTensor& tensor : file.tensors())
        if (tensor.block() == block)
            w.bytes += std::int64_t(tensor.bytes.size());
    return w;
}

}  // namespace engine
