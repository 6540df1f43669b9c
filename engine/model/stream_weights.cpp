#include "engine/model/stream_weights.h"

#include "engine/model/weight_reader.h"

namespace engine {

static void read_altup(WeightReader& in, const std::string& prefix, const Hyperparameters& h, LayerWeights& w)
{
    const int dim = h.embedding_length, streams = h.streams.count;
    AltUpWeights& a = w.altup;
    a.router = in.matrix(prefix + "altup_router.weight", dim, streams);
    a.router_norm = in.scaled(in.vector(prefix + "altup_router_norm.weight", dim), dim, 1.0f / float(dim));
    a.predict = in.vector(prefix + "altup_predict_coef.weight", std::int64_t(streams) * streams * streams);
    a.correct = in.vector(prefix + "altup_correct_coef.weight", std::int64_t(streams) * streams);
    a.scale = in.vector(prefix + "altup_correct_scale.weight", dim);
    a.laurel_down = in.matrix(prefix + "laurel_l.weight", dim, h.streams.rank);
    a.laurel_up = in.matrix(prefix + "laurel_r.weight", h.streams.rank, dim);
    a.laurel_norm = in.vector(prefix + "laurel_post_norm.weight", dim);
}

/// Reads one connection. `name`: what the names of its tensors begin with.
static StreamConnection read_connection(WeightReader& in, const std::string& name, const Hyperparameters& h)
{
    const int wide = h.streams.count * h.embedding_length;
    const float share = 1.0f / float(h.streams.count);
    StreamConnection c;
    c.norm = in.vector(name + "_norm.weight", wide);
    c.down = in.scaled(in.matrix(name + "_down.weight", wide, h.streams.rank), share);
    c.up = in.matrix(name + "_up.weight", h.streams.rank, wide);
    return c;
}

static StreamConnection read_part_connection(WeightReader& in, const std::string& name, const Hyperparameters& h)
{
    StreamConnection c = read_connection(in, name, h);
    const Matrix inject = in.matrix(name + "_inject.weight", h.streams.count * h.embedding_length, h.streams.count);
    c.inject = in.scaled(inject, 1.0f / float(h.streams.count));
    return c;
}

static void read_ngrams(WeightReader& in, const std::string& prefix, const Hyperparameters& h, LayerWeights& w)
{
    const int wide = h.streams.count * h.embedding_length, values = h.ngrams.values();
    NgramWeights& n = w.ngrams;
    n.key = in.matrix(prefix + "ple_key.weight", values, wide);
    n.value = in.matrix(prefix + "ple_value.weight", values, h.embedding_length);
    n.key_norm = in.vector(prefix + "ple_norm_key.weight", wide);
    n.query_norm = in.vector(prefix + "ple_norm_query.weight", wide);
    n.conv_norm = in.vector(prefix + "ple_norm_conv.weight", wide);
    n.taps = in.taps(prefix + "ple_conv1d.weight", h.ngrams.taps, wide, h.ngrams.longest);
}

void read_layer_streams(WeightReader& in, const std::string& prefix, const Hyperparameters& h, int l, LayerWeights& w)
{
    if (!h.streams.connected)
        return read_altup(in, prefix, h, w);
    w.attn_streams = read_part_connection(in, prefix + "hc_attn", h);
    w.ffn_streams = read_part_connection(in, prefix + "hc_ffn", h);
    if (h.layers[std::size_t(l)].ngrams)
        read_ngrams(in, prefix, h, w);
}

void read_model_streams(WeightReader& in, const Hyperparameters& h, Weights& w)
{
    if (h.streams.connected) {
        w.head.streams = read_connection(in, "output_hc", h);
        if (h.ngrams.longest > 0)
            w.side_embedding = in.matrix("per_layer_token_embd.weight", h.ngrams.row_length, h.ngrams.table_rows);
        return;
    }
    const int dim = h.embedding_length, others = h.streams.count - 1;
    const Matrix to = in.matrix("altup_proj.weight", dim, dim, others);
    const Matrix from = in.matrix("altup_unembd_proj.weight", dim, dim, others);
    for (int s = 0; s < others && to && from; ++s) {
        w.stream_in[std::size_t(s)] = to.expert(s);
        w.head.stream_out[std::size_t(s)] = from.expert(s);
    }
}

}  // namespace engine
