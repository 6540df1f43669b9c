#include "engine/exec/cuda_host_part.h"

#include "engine/exec/cuda_address.h"

namespace engine {

namespace cuda = kernels::cuda;

CudaHostPart::CudaHostPart(CudaCalls& calls, const CudaStepInputs& inputs, CpuBackend& cpu, const CudaSizes& sizes,
                           CudaArena& memory)
    : calls_(calls)
    , inputs_(inputs)
    , cpu_(cpu)
    , partials_bytes_(sizes.host_partials)
    , most_heads_(sizes.heads)
    , partials_(memory.take(sizes.host_partials))
{
}

Status CudaHostPart::allocate(int key_length)
{
    const std::size_t query_bytes = std::size_t(most_heads_) * std::size_t(key_length) * sizeof(float);
    const std::size_t bytes = cuda_aligned(query_bytes * CudaSizes::kFewRows) + partials_bytes_;
    if (Status ok = staging_.allocate(calls_.device(), bytes); !ok)
        return ok;
    return queries_came_.make(calls_.device());
}

cuda::DevicePtr CudaHostPart::partials() const
{
    return cuda_address(partials_);
}

void CudaHostPart::send_queries(const CudaAttending& a)
{
    const std::size_t bytes = query_bytes(a);
    for (int r = 0; r < a.launch.rows; ++r) {
        const auto from = a.launch.q.at + std::size_t(r) * std::size_t(a.launch.q.stride) * sizeof(float);
        calls_.run([&] {
            return calls_.driver().copy_to_host(staging_.data() + std::size_t(r) * bytes, from, bytes, calls_.queue());
        });
    }
}

void CudaHostPart::note_queries()
{
    calls_.run([&] { return calls_.driver().record(queries_came_.get(), calls_.queue()); });
}

void CudaHostPart::wait_and_attend(const CudaAttending& a)
{
    calls_.run([&] { return calls_.driver().synchronize(queries_came_.get()); });
    if (calls_.ok())
        attend(a);
}

void CudaHostPart::attend(const CudaAttending& a)
{
    const Step& step = inputs_.step();
    const StepClock::Scope on_host(step.clock, StepClock::Part::HostAttention);
    const cuda::HostPartialsLayout layout = layout_of(a);
    for (int r = 0; r < a.launch.rows; ++r) {
        const auto* q = reinterpret_cast<const float*>(staging_.data() + std::size_t(r) * query_bytes(a));
        float* const to = partials_of(a) + std::size_t(r) * std::size_t(layout.floats());
        cpu_.attend_host_blocks(q, inputs_.host().tables.q_scale(a.p.layer_kind)[a.row + r], a.p, a.l, step,
                                step.one().first + a.row + r, {to, to + layout.sum(), to + layout.out()});
    }
}

void CudaHostPart::bring_partials(const CudaAttending& a)
{
    const std::size_t bytes = std::size_t(a.launch.rows * layout_of(a).floats()) * sizeof(float);
    calls_.run(
        [&] { return calls_.driver().copy_to_device(cuda_address(partials_), partials_of(a), bytes, calls_.queue()); });
}

float* CudaHostPart::partials_of(const CudaAttending& a) const
{
    return reinterpret_cast<float*>(staging_.data() + query_bytes(a) * CudaSizes::kFewRows);
}

cuda::HostPartialsLayout CudaHostPart::layout_of(const CudaAttending& a)
{
    return {a.p.heads.heads, a.p.heads.value_length};
}

std::size_t CudaHostPart::query_bytes(const CudaAttending& a)
{
    return std::size_t(a.p.heads.heads) * std::size_t(a.p.heads.key_length) * sizeof(float);
}

}  // namespace engine
