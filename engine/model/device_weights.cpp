#include "engine/model/device_weights.h"

#include <type_traits>
#include <utility>

namespace engine {

namespace {

/// Calls visit(pointer, bytes) for every tensor there is. W: weights, const or not
template <class W, class Visit>
requires std::is_same_v<std::remove_const_t<W>, HeadWeights>
void for_each_tensor(W& w, const Hyperparameters& h, int, LayerPart, const Visit& visit)
{
    if (w.norm)
        visit(w.norm, std::size_t(h.embedding_length) * sizeof(float));
    if (w.streams.norm)
        visit(w.streams.norm, std::size_t(h.streams.count) * std::size_t(h.embedding_length) * sizeof(float));
    const auto matrix = [&](auto& m) {
        if (m)
            visit(m.data, m.bytes());
        if (m.scale)
            visit(m.scale, sizeof(float));
    };
    matrix(w.output);
    for (auto& m : w.stream_out)
        matrix(m);
    matrix(w.streams.down);
    matrix(w.streams.up);
}

template <class W, class Visit>
requires std::is_same_v<std::remove_const_t<W>, LayerWeights>
void for_each_tensor(W& w, const Hyperparameters& h, int l, LayerPart part, const Visit& visit)
{
    const LayerParameters& p = h.layers[std::size_t(l)];
    const int q_dim = p.heads * p.key_length;
    const int k_dim = p.kv_heads * p.key_length, v_dim = p.kv_heads * p.value_length;

    for_each_matrix(w, h.experts, part, [&](auto& matrix, int stack) {
        visit(matrix.data, matrix.bytes() * std::size_t(stack));
        if (matrix.scale)
            visit(matrix.scale, std::size_t(stack) * sizeof(float));
    });
    if (part == LayerPart::Experts)
        return;

    const auto vector = [&](auto& data, int length) {
        if (data)
            visit(data, std::size_t(length) * sizeof(float));
    };
    const QkNorm norm = h.architecture->qk_norm;
    const bool whole_rows = norm == QkNorm::WholeRows || norm == QkNorm::HeadsByThemselves;
    vector(w.attn_norm, h.embedding_length);
    vector(w.q_bias, w.q.rows);
    vector(w.k_bias, k_dim);
    vector(w.v_bias, v_dim);
    vector(w.qkv_bias, q_dim + k_dim + v_dim);
    vector(w.q_norm, whole_rows ? q_dim : p.key_length);
    vector(w.k_norm, whole_rows ? k_dim : p.key_length);
    vector(w.v_norm, p.value_length);
    vector(w.q_low_norm, h.latent.query_rank);
    vector(w.kv_low_norm, h.latent.rank);
    vector(w.sinks, p.heads);
    vector(w.attn_out_bias, h.embedding_length);
    vector(w.attn_post_norm, h.embedding_length);
    const StateSpace& space = h.state_space;
    vector(w.conv_taps, space.conv_width * space.conv_channels());
    vector(w.conv_bias, space.conv_channels());
    vector(w.dt_bias, space.heads);
    vector(w.decay, space.heads);
    vector(w.skip, space.heads);
    vector(w.mix_norm, p.mixer == Mixer::DeltaNet ? space.head_length : space.inner());
    vector(w.ffn_norm, h.embedding_length);
    vector(w.ffn_post_norm, h.embedding_length);
    vector(w.gate_bias, w.gate.rows);
    vector(w.up_bias, w.up.rows);
    vector(w.down_bias, w.down.rows);
    vector(w.router_bias, h.experts);
    vector(w.choice_bias, h.experts);
    vector(w.gate_experts_bias, h.experts * h.expert_ffn_length);
    vector(w.up_experts_bias, h.experts * h.expert_ffn_length);
    vector(w.down_experts_bias, h.experts * h.expert_length);
    vector(w.down_experts_scale, h.experts);
    vector(w.router_norm, h.embedding_length);
    vector(w.experts_norm, h.embedding_length);
    vector(w.dense_post_norm, h.embedding_length);
    vector(w.experts_post_norm, h.embedding_length);
    vector(w.side_post_norm, h.embedding_length);
    const int streams = h.streams.count;
    vector(w.altup.router_norm, h.embedding_length);
    vector(w.altup.predict, streams * streams * streams);
    vector(w.altup.correct, streams * streams);
    vector(w.altup.scale, h.embedding_length);
    vector(w.altup.laurel_norm, h.embedding_length);
    const int wide = streams * h.embedding_length;
    vector(w.attn_streams.norm, wide);
    vector(w.ffn_streams.norm, wide);
    vector(w.ngrams.key_norm, wide);
    vector(w.ngrams.query_norm, wide);
    vector(w.ngrams.conv_norm, wide);
    vector(w.ngrams.taps, h.ngrams.spread_taps() * wide);
}

const std::byte* as_bytes(const std::byte* data)
{
    return data;
}
const std::byte* as_bytes(Vector data)
{
    return reinterpret_cast<const std::byte*>(data);
}

void point(const std::byte*& data, DevicePtr to)
{
    data = to;
}
void point(Vector& data, DevicePtr to)
{
    data = reinterpret_cast<const float*>(to);
}

}  // namespace

std::size_t aligned_on_device(std::size_t bytes)
{
    constexpr std::size_t kAlignment = 256;
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

template <class W>
std::int64_t DeviceWeights<W>::bytes(const W& weights, const Hyperparameters& h, int l, LayerPart part)
{
    std::size_t sum = 0;
    for_each_tensor(weights, h, l, part, [&](const auto&, std::size_t bytes) { sum += aligned_on_device(bytes); });
    return std::int64_t(sum);
}

template <class W>
Result<DeviceWeights<W>> DeviceWeights<W>::copy(Vram& vram, const W& weights, const Hyperparameters& h, int l,
                                                LayerPart part)
{
    const auto bytes = std::size_t(DeviceWeights::bytes(weights, h, l, part));
    if (bytes == 0)  // a layer that does nothing
        return DeviceWeights(vram, nullptr, 0, weights);
    const auto memory = vram.take(Vram::Use::Weights, bytes);
    if (!memory)
        return tl::unexpected(memory.error());
    DeviceWeights copy(vram, *memory, bytes, weights);
    DevicePtr to = *memory;
    Status status;
    for_each_tensor(copy.weights_, h, l, part, [&](auto& data, std::size_t tensor_bytes) {
        if (!status)
            return;
        const auto ticket = vram.device().to_device(as_bytes(data), to, tensor_bytes);
        if (!ticket) {
            status = tl::unexpected(ticket.error());
            return;
        }
        copy.coming_ = *ticket;
        point(data, to);
        to += aligned_on_device(tensor_bytes);
    });
    if (!status)
        return tl::unexpected(status.error());
    return copy;
}

template <class W>
Status DeviceWeights<W>::wait()
{
    return vram_->device().wait(Device::Direction::ToDevice, coming_);
}

template <class W>
DeviceWeights<W>::DeviceWeights(DeviceWeights&& other) noexcept
    : vram_(other.vram_)
    , memory_(std::exchange(other.memory_, nullptr))
    , bytes_(other.bytes_)
    , coming_(other.coming_)
    , weights_(other.weights_)
{
}

template <class W>
DeviceWeights<W>::~DeviceWeights()
{
    if (!memory_)
        return;
    (void)wait();
    vram_->give_back(Vram::Use::Weights, memory_, bytes_);
}

template class DeviceWeights<LayerWeights>;
template class DeviceWeights<HeadWeights>;

}  // namespace engine
