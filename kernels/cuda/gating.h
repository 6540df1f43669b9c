// Names the gates of feed-forward layers for launchers and kernels.
#pragma once

namespace kernels::cuda {

/// ReluSquared uses the gate alone.
enum class GateKind { Silu, Gelu, SwigluOai, ReluSquared };

struct Gating {
    GateKind kind = GateKind::Silu;
    float alpha = 0.0f, limit = 0.0f;  // of SwigluOai
};

}  // namespace kernels::cuda
