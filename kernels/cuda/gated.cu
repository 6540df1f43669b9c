// Gated activations of a feed-forward layer: a thread a value. gate_up: (rows, 2 n), the gates first; out: (rows, n),
// which may be the gates' own place.
#include "kernels/cuda/device.h"

using namespace kernels::cuda;

namespace {

__device__ inline float sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

template <class Gate>
__device__ void gated(const float* gate_up, int stride, int n, float* out, int out_stride, const Gate& gate)
{
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    const float* row = gate_up + std::size_t(blockIdx.y) * std::size_t(stride);
    out[std::size_t(blockIdx.y) * std::size_t(out_stride) + std::size_t(i)] = gate(row[i], row[n + i]);
}

}  // namespace

extern "C" __global__ void silu_mul(const float* gate_up, int stride, int n, float* out, int out_stride)
{
    gated(gate_up, stride, n, out, out_stride, [](float g, float u) { return g * sigmoid(g) * u; });
}
EMULATED(silu_mul);

// gelu(x) = x / 2 * (1 + tanh(u)) = x * sigmoid(2 u), u = sqrt(2 / pi) * (x + 0.044715 x^3)
extern "C" __global__ void gelu_mul(const float* gate_up, int stride, int n, float* out, int out_stride)
{
    gated(gate_up, stride, n, out, out_stride, [](float g, float u) {
        constexpr float kTwoSqrtTwoOverPi = 1.5957691216057308f;
        return g * sigmoid(kTwoSqrtTwoOverPi * (g + 0.044715f * g * g * g)) * u;
    });
}
EMULATED(gelu_mul);

// gpt-oss: g = min(gate, limit), u = clamp(up, -limit, limit); g * sigmoid(alpha * g) * (u + 1)
extern "C" __global__ void swiglu_oai(const float* gate_up, int stride, float alpha, float limit, int n, float* out,
                                      int out_stride)
{
    gated(gate_up, stride, n, out, out_stride, [=](float gate, float up) {
        const float g = fminf(gate, limit);
        const float u = fminf(fmaxf(up, -limit), limit);
        return g * sigmoid(alpha * g) * (u + 1.0f);
    });
}
EMULATED(swiglu_oai);
