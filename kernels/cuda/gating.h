// Names the gates of feed-forward layers for launchers and kernels.
#pragma once

namespace kernels::cuda {

enum class GateKind { Silu, Gelu, SwigluOai };

struct Gating {
    GateKind kind = GateKind::Silu;
    float alpha = 0.0f, limit = 0.0f;  // of SwigluOai
};

}  // namespace kernels::cuda
