// One token through both matrices of a gated feed-forward layer: a warp takes a row of the gates and the same row of
// the ups, and only what the gate lets through is written. The sums are those of matvec, in its order.
#include "kernels/cuda/gates.cuh"
#include "kernels/cuda/matvec.cuh"

using namespace kernels::cuda;

namespace {

// grid: (ceil(rows / kMatvecWarps), tokens)
template <class Weights>
__device__ void gated_matvec(const GatedMatvecArguments& gated)
{
    const MatvecArguments& a = gated.gate;
    const int row = int(blockIdx.x) * kMatvecWarps + warp();
    if (row >= a.rows)
        return;  // the whole warp
    const int token = int(blockIdx.y);
    const Operands operands = operands_of(a, token);
    const std::size_t at = operands.matrix * a.expert.bytes + std::size_t(row) * a.row_bytes;
    const std::byte* x = a.x + operands.x_offset;
    const std::byte* residual = a.residual ? a.residual + operands.x_offset : nullptr;

    float gate = 0.0f;
    float up = 0.0f;
    const int slices = Weights::slices(a.n);
#pragma unroll 2
    for (int slice = lane(); slice < slices; slice += kWarp) {
        const typename Weights::Taken gates = Weights::take(a.weights + at, slice);
        const typename Weights::Taken ups = Weights::take(gated.up + at, slice);
        gate += Weights::dot(gates, x, a.n);
        up += Weights::dot(ups, x, a.n);
        if (residual) {
            gate += Weights::dot(gates, residual, a.n);
            up += Weights::dot(ups, residual, a.n);
        }
    }
    gate = warp_sum(gate);
    up = warp_sum(up);
    if (lane() != 0)
        return;
    if (a.scale)
        gate *= a.scale[operands.matrix];
    if (gated.up_scale)
        up *= gated.up_scale[operands.matrix];
    const std::size_t bias = operands.matrix * std::size_t(a.rows) + std::size_t(row);
    if (a.bias)
        gate += a.bias[bias];
    if (gated.up_bias)
        up += gated.up_bias[bias];
    a.out[std::size_t(token) * std::size_t(a.out_stride) + std::size_t(row)] = gate_times(gated.gating, gate, up);
}

}  // namespace

#define GATED_MATVEC(name, Weights)                                                                                    \
    extern "C" __global__ void __launch_bounds__(kMatvecWarps* kWarp) name(const GatedMatvecArguments a)               \
    {                                                                                                                  \
        gated_matvec<Weights>(a);                                                                                      \
    }                                                                                                                  \
    EMULATED(name)
MATVEC_OF_EACH_TYPE(GATED_MATVEC, gated_matvec)
