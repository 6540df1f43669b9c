#include "engine/model/stream_weights.h"

#include "engine/model/weight_reader.h"

namespace engine {

void read_layer_streams(WeightReader& in, const std::string& prefix, const Hyperparameters& h, LayerWeights& w)
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

void read_model_streams(WeightReader& in, const Hyperparameters& h, Weights& w)
{
    const int dim = h.embedding_length, others = h.streams.count - 1;
    const Matrix to = in.matrix("altup_proj.weight", dim, dim, others);
    const Matrix from = in.matrix("altup_unembd_proj.weight", dim, dim, others);
    for (int s = 0; s < others && to && from; ++s) {
        w.stream_in[std::size_t(s)] = to.expert(s);
        w.head.stream_out[std::size_t(s)] = from.expert(s);
    }
}

}  // namespace engine
