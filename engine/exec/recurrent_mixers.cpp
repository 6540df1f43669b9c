#include "engine/exec/recurrent_mixers.h"

#include <array>

namespace engine {

/// Gated delta net (arXiv 2412.06464).
static void delta_net(const Hyperparameters& h, const LayerWeights& w, Rows& x, float* state, Backend& on,
                      Activations& a)
{
    const StateSpace& s = h.state_space;
    const int z = s.conv_channels(), beta = z + s.inner(), alpha = beta + s.heads;
    const std::array<Product, 4> apart{Product{&w.mix_in, nullptr, 0}, Product{&w.mix_gate, nullptr, z},
                                       Product{&w.mix_beta, nullptr, beta}, Product{&w.mix_alpha, nullptr, alpha}};
    on.products(x, apart, a.qkv);
    on.delta_net(a.qkv,
                 {s, h.architecture->heads_in_runs, h.architecture->sigmoid_output_gate, h.rms_epsilon, w.conv_taps,
                  w.dt_bias, w.decay, w.mix_norm, state},
                 a.attended);
}

/// Mamba-2 (arXiv 2405.21060).
static void mamba2(const Hyperparameters& h, const LayerWeights& w, Rows& x, float* state, Backend& on, Activations& a)
{
    const Product in{&w.mix_in, nullptr, 0};
    on.products(x, std::span(&in, 1), a.qkv);
    on.mamba2(a.qkv,
              {h.state_space, h.rms_epsilon, w.conv_taps, w.conv_bias, w.dt_bias, w.decay, w.skip, w.mix_norm, state},
              a.attended);
}

/// The gated short convolution of LFM2.
static void short_convolution(const Hyperparameters& h, const LayerWeights& w, Rows& x, float* state, Backend& on,
                              Activations& a)
{
    const Product in{&w.mix_in, nullptr, 0};
    on.products(x, std::span(&in, 1), a.qkv);
    on.short_convolution(a.qkv, {h.state_space.conv_width, h.state_space.inner(), w.conv_taps, state}, a.attended);
}

void mix_recurrent(const Hyperparameters& h, Mixer mixer, const LayerWeights& w, Rows& x, float* state, Backend& on,
                   Activations& a)
{
    switch (mixer) {
    case Mixer::DeltaNet:
        return delta_net(h, w, x, state, on, a);
    case Mixer::Mamba2:
    case Mixer::AttentionAndMamba2:
        return mamba2(h, w, x, state, on, a);
    case Mixer::ShortConvolution:
        return short_convolution(h, w, x, state, on, a);
    case Mixer::Attention:
    case Mixer::None:
        return;
    }
}

}  // namespace engine
