#include "engine/exec/cuda_host_experts.h"

#include "engine/exec/cuda_address.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace engine {

namespace cuda = kernels::cuda;

static std::size_t value_bytes(int rows, int cols)
{
    return std::size_t(rows) * std::size_t(cols) * sizeof(float);
}

CudaHostExperts::CudaHostExperts(CudaCalls& calls, const CudaStepInputs& inputs, CpuBackend& cpu, CudaExperts& device,
                                 CudaRecorder& recorder, const Hyperparameters& h, int max_rows)
    : calls_(calls)
    , inputs_(inputs)
    , cpu_(cpu)
    , device_(device)
    , recorder_(recorder)
    , experts_used_(h.experts_used)
    , x_(max_rows, h.expert_length)
    , routed_(max_rows, h.embedding_length)
    , out_(max_rows, h.expert_length)
{
}

Status CudaHostExperts::allocate()
{
    if (Status ok = staging_.allocate(calls_.device(), x_.value_capacity_bytes() + routed_.value_capacity_bytes() +
                                                           out_.value_capacity_bytes() + 2 * pairs_bytes());
        !ok)
        return ok;
    return rows_came_.make(calls_.device());
}

float* CudaHostExperts::staged_routed() const
{
    return reinterpret_cast<float*>(staging_.data() + x_.value_capacity_bytes());
}

float* CudaHostExperts::staged_out() const
{
    return reinterpret_cast<float*>(staging_.data() + x_.value_capacity_bytes() + routed_.value_capacity_bytes());
}

int* CudaHostExperts::staged_chosen() const
{
    return reinterpret_cast<int*>(reinterpret_cast<std::byte*>(staged_out()) + out_.value_capacity_bytes());
}

float* CudaHostExperts::staged_weights() const
{
    return reinterpret_cast<float*>(reinterpret_cast<std::byte*>(staged_chosen()) + pairs_bytes());
}

std::size_t CudaHostExperts::pairs_bytes() const
{
    return cuda_aligned(value_bytes(cuda::kFewTokens, experts_used_));
}

void CudaHostExperts::send(const Rows& from, float* to)
{
    calls_.run([&] {
        return calls_.driver().copy_to_host(to, cuda_address(from.row(0)), value_bytes(from.count(), from.cols()),
                                            calls_.queue());
    });
}

void CudaHostExperts::send_pairs(cuda::DevicePtr from, void* to, int pairs)
{
    static_assert(sizeof(int) == sizeof(float));
    calls_.run([&] { return calls_.driver().copy_to_host(to, from, value_bytes(pairs, 1), calls_.queue()); });
}

void CudaHostExperts::bring(Rows& out)
{
    calls_.run([&] {
        return calls_.driver().copy_to_device(cuda_address(out.row(0)), staged_out(),
                                              value_bytes(out.count(), out.cols()), calls_.queue());
    });
}

void CudaHostExperts::compute(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out)
{
    if (inputs_.cached_experts(p.layer).cache && x.count() <= cuda::kFewTokens)
        return compute_with_copies(x, w, p, out);
    CudaHostExpertsCall call{.weights = w.experts_on_host, .p = p, .rows = x.count(), .cols = x.cols()};
    send(x, staged_x());
    if (p.routed_by) {
        send(*p.routed_by, staged_routed());
        call.routed_cols = p.routed_by->cols();
    }
    out.set_shape(x.count(), w.down_experts.rows);
    if (recorder_.is_recording())
        recorder_.cut(call);
    else
        wait_and_compute(call);
    bring(out);
}

/// The device chooses, tells the host, and goes on with the experts that it has.
void CudaHostExperts::compute_with_copies(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out)
{
    cuda::Routing routing = device_.choose(x, w, p);
    routing.places = inputs_.expert_places(p.layer);
    const int pairs = x.count() * p.used;
    send(x, staged_x());
    send_pairs(routing.chosen, staged_chosen(), pairs);
    send_pairs(routing.weights, staged_weights(), pairs);
    if (recorder_.is_recording())
        recorder_.cut(CudaRowsSent{});
    else
        note_rows();
    device_.compute_chosen(x, w, ExpertCache::within_slot(w), p, routing);
    const CudaHostExpertsCall call{
        .weights = w.experts_on_host, .p = p, .rows = x.count(), .cols = x.cols(), .has_copies = true};
    if (recorder_.is_recording())
        recorder_.cut(call);
    else
        wait_and_compute(call);
    out.set_shape(x.count(), w.down_experts.rows);
    bring(out);
    device_.add_up(p, routing, out);
}

void CudaHostExperts::note_rows()
{
    calls_.run([&] { return calls_.driver().record(rows_came_.get(), calls_.queue()); });
}

void CudaHostExperts::wait_and_compute(const CudaHostExpertsCall& call)
{
    refill();
    const cuda::Driver& driver = calls_.driver();
    calls_.run(
        [&] { return call.has_copies ? driver.synchronize(rows_came_.get()) : driver.synchronize(calls_.queue()); });
    if (!calls_.ok())
        return;
    const StepClock::Scope on_host(inputs_.step().clock, StepClock::Part::HostLayers);
    x_.set_shape(call.rows, call.cols);
    std::memcpy(x_.row(0), staging_.data(), value_bytes(call.rows, call.cols));
    ExpertParameters p = call.p;
    p.tokens = inputs_.step().groups;
    if (call.has_copies) {
        compute_rest(call, p);
    } else {
        if (p.routed_by) {
            routed_.set_shape(call.rows, call.routed_cols);
            std::memcpy(routed_.row(0), staged_routed(), value_bytes(call.rows, call.routed_cols));
            p.routed_by = &routed_;
        }
        cpu_.experts(x_, *call.weights, p, out_);
    }
    std::memcpy(staged_out(), out_.row(0), value_bytes(out_.count(), out_.cols()));
}

/// The experts that the device does not compute in this step.
void CudaHostExperts::compute_rest(const CudaHostExpertsCall& call, const ExpertParameters& p)
{
    const auto pairs = std::size_t(call.rows * p.used);
    const ChosenExperts chosen{.experts = {staged_chosen(), pairs},
                               .weights = {staged_weights(), pairs},
                               .elsewhere = inputs_.expert_places_here(p.layer),
                               .cache = inputs_.cached_experts(p.layer).cache};
    cpu_.rest_of_experts(x_, *call.weights, p, chosen, out_);
    to_refill_ = p.layer;
}

void CudaHostExperts::begin_step()
{
    if (refills_ < kMostRefills)
        last_refilled_ = -1;
    to_refill_ = -1;
    refills_ = 0;
}

/// A copy begins while the device is busy with what follows the layer whose choices are known; in the same step, since
/// the next one is told where experts lie when it begins.
void CudaHostExperts::refill()
{
    if (to_refill_ < 0 || refills_ >= kMostRefills || !calls_.ok())
        return;
    const int layer = std::exchange(to_refill_, -1);
    const CudaStepInputs::CachedExperts& of = inputs_.cached_experts(layer);
    if (layer <= last_refilled_ || !of.cache || !of.cache->refill(*of.weights))
        return;
    last_refilled_ = layer;
    ++refills_;
}

}  // namespace engine
