#include "engine/exec/cuda_host_experts.h"

#include "engine/exec/cuda_address.h"

#include <algorithm>
#include <cstring>

namespace engine {

static std::size_t value_bytes(int rows, int cols)
{
    return std::size_t(rows) * std::size_t(cols) * sizeof(float);
}

CudaHostExperts::CudaHostExperts(CudaCalls& calls, const CudaStepInputs& inputs, CpuBackend& cpu,
                                 CudaRecorder& recorder, const Hyperparameters& h, int max_rows)
    : calls_(calls)
    , inputs_(inputs)
    , cpu_(cpu)
    , recorder_(recorder)
    , x_(max_rows, h.expert_length)
    , routed_(max_rows, h.embedding_length)
    , out_(max_rows, h.expert_length)
{
}

Status CudaHostExperts::allocate()
{
    return staging_.allocate(calls_.device(),
                             x_.value_capacity_bytes() + routed_.value_capacity_bytes() + out_.value_capacity_bytes());
}

float* CudaHostExperts::staged_routed() const
{
    return reinterpret_cast<float*>(staging_.data() + x_.value_capacity_bytes());
}

float* CudaHostExperts::staged_out() const
{
    return reinterpret_cast<float*>(staging_.data() + x_.value_capacity_bytes() + routed_.value_capacity_bytes());
}

void CudaHostExperts::send(const Rows& from, float* to)
{
    calls_.run([&] {
        return calls_.driver().copy_to_host(to, cuda_address(from.row(0)), value_bytes(from.count(), from.cols()),
                                            calls_.queue());
    });
}

void CudaHostExperts::compute(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out)
{
    CudaHostExpertsCall call{.weights = w.experts_on_host, .p = p, .rows = x.count(), .cols = x.cols()};
    send(x, reinterpret_cast<float*>(staging_.data()));
    if (p.routed_by) {
        send(*p.routed_by, staged_routed());
        call.routed_cols = p.routed_by->cols();
    }
    out.set_shape(x.count(), w.down_experts.rows);
    if (recorder_.is_recording())
        recorder_.cut(call);
    else
        wait_and_compute(call);
    calls_.run([&] {
        return calls_.driver().copy_to_device(cuda_address(out.row(0)), staged_out(),
                                              value_bytes(out.count(), out.cols()), calls_.queue());
    });
}

void CudaHostExperts::wait_and_compute(const CudaHostExpertsCall& call)
{
    calls_.run([&] { return calls_.driver().synchronize(calls_.queue()); });
    if (!calls_.ok())
        return;
    const StepClock::Scope on_host(inputs_.step().clock, StepClock::Part::HostLayers);
    x_.set_shape(call.rows, call.cols);
    std::memcpy(x_.row(0), staging_.data(), value_bytes(call.rows, call.cols));
    ExpertParameters p = call.p;
    if (p.routed_by) {
        routed_.set_shape(call.rows, call.routed_cols);
        std::memcpy(routed_.row(0), staged_routed(), value_bytes(call.rows, call.routed_cols));
        p.routed_by = &routed_;
    }
    cpu_.experts(x_, *call.weights, p, out_);
    std::memcpy(staged_out(), out_.row(0), value_bytes(out_.count(), out_.cols()));
}

}  // namespace engine
