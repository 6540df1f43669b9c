#include "engine/exec/cuda_host_part.h"

#include "engine/exec/cuda_address.h"

namespace engine {

namespace cuda = kernels::cuda;

CudaHostPart::CudaHostPart(CudaCalls& calls, const CudaStepInputs& inputs, CpuBackend& cpu, const CudaSizes& sizes)
    : calls_(calls)
    , inputs_(inputs)
    , cpu_(cpu)
    , partials_bytes_(cuda_aligned(sizes.host_partials))
    , most_heads_(sizes.heads)
{
}

Status CudaHostPart::allocate(int key_length)
{
    const std::size_t query_bytes = std::size_t(most_heads_) * std::size_t(key_length) * sizeof(float);
    if (Status ok = staging_.allocate(calls_.device(), partials_bytes_ + query_bytes * CudaSizes::kFewRows); !ok)
        return ok;
    return queries_came_.make(calls_.device());
}

cuda::DevicePtr CudaHostPart::partials() const
{
    return cuda_address(staging_.data());
}

void CudaHostPart::send_queries(const CudaAttending& a)
{
    const int heads = a.p.heads.heads, length = a.p.heads.key_length;
    calls_.launch(cuda::copy_heads, a.launch.q, cuda::Heads{heads, length, length}, a.launch.rows,
                  cuda::Rows{cuda_address(queries_of(0, a)), heads * length}, length);
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
        float* const to = reinterpret_cast<float*>(staging_.data()) + std::size_t(r) * std::size_t(layout.floats());
        cpu_.attend_host_blocks(queries_of(r, a), inputs_.host().tables.q_scale(a.p.layer_kind)[a.row + r], a.p, a.l,
                                step, step.one().first + a.row + r, {to, to + layout.sum(), to + layout.out()});
    }
}

float* CudaHostPart::queries_of(int r, const CudaAttending& a) const
{
    const std::size_t row = std::size_t(a.p.heads.heads) * std::size_t(a.p.heads.key_length);
    return reinterpret_cast<float*>(staging_.data() + partials_bytes_) + std::size_t(r) * row;
}

cuda::HostPartialsLayout CudaHostPart::layout_of(const CudaAttending& a)
{
    return {a.p.heads.heads, a.p.heads.value_length};
}

}  // namespace engine
