// Computes gated activations: what a feed-forward layer makes of a gate and the value beside it.
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/cuda/gating.h"

namespace kernels::cuda {

__device__ inline float sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

__device__ inline float silu_times(float gate, float up)
{
    return gate * sigmoid(gate) * up;
}

// gelu(x) = x / 2 * (1 + tanh(u)) = x * sigmoid(2 u), u = sqrt(2 / pi) * (x + 0.044715 x^3)
__device__ inline float gelu_times(float gate, float up)
{
    constexpr float kTwoSqrtTwoOverPi = 1.5957691216057308f;
    return gate * sigmoid(kTwoSqrtTwoOverPi * (gate + 0.044715f * gate * gate * gate)) * up;
}

// gpt-oss: g = min(gate, limit), u = clamp(up, -limit, limit); g * sigmoid(alpha * g) * (u + 1)
__device__ inline float swiglu_oai_times(float gate, float up, float alpha, float limit)
{
    const float g = fminf(gate, limit);
    const float u = fminf(fmaxf(up, -limit), limit);
    return g * sigmoid(alpha * g) * (u + 1.0f);
}

__device__ inline float gate_times(const Gating& gating, float gate, float up)
{
    switch (gating.kind) {
    case GateKind::Silu:
        return silu_times(gate, up);
    case GateKind::Gelu:
        return gelu_times(gate, up);
    case GateKind::ReluSquared:
        return fmaxf(gate, 0.0f) * fmaxf(gate, 0.0f);
    case GateKind::SwigluOai:
        break;
    }
    return swiglu_oai_times(gate, up, gating.alpha, gating.limit);
}

}  // namespace kernels::cuda
