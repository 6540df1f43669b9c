#include "engine/exec/recurrent_mixers.h"

#include <array>

namespace engine {

/// A sequence's state of a layer, and the rows of the step that move it on.
struct StateOfRows {
    float* state;
    RowRange rows;
};

/// The gated delta net's input (arXiv 2412.06464).
static void project_delta_net(const StateSpace& s, const LayerWeights& w, Rows& x, Backend& on, Rows& out)
{
    const int z = s.conv_channels(), beta = z + s.inner(), alpha = beta + s.heads;
    const std::array<Product, 4> apart{Product{&w.mix_in, nullptr, 0}, Product{&w.mix_gate, nullptr, z},
                                       Product{&w.mix_beta, nullptr, beta}, Product{&w.mix_alpha, nullptr, alpha}};
    on.products(x, apart, out);
}

/// a.attended = the mixer's result for those rows of `mixed`.
static void mix_rows(const Hyperparameters& h, Mixer mixer, const LayerWeights& w, const StateOfRows& of, Backend& on,
                     Rows& mixed, Activations& a)
{
    const StateSpace& s = h.state_space;
    switch (mixer) {
    case Mixer::DeltaNet:
        return on.delta_net(mixed,
                            {s, h.architecture->heads_in_runs, h.architecture->sigmoid_output_gate, h.rms_epsilon,
                             w.conv_taps, w.dt_bias, w.decay, w.mix_norm, of.state, of.rows},
                            a.attended);
    case Mixer::Mamba2:  // arXiv 2405.21060
    case Mixer::AttentionAndMamba2:
        return on.mamba2(
            mixed,
            {s, h.rms_epsilon, w.conv_taps, w.conv_bias, w.dt_bias, w.decay, w.skip, w.mix_norm, of.state, of.rows},
            a.attended);
    case Mixer::ShortConvolution:  // of LFM2, gated
        return on.short_convolution(mixed, {s.conv_width, s.inner(), w.conv_taps, of.state, of.rows}, a.attended);
    case Mixer::Attention:
    case Mixer::Matrix:
    case Mixer::None:
        return;
    }
}

void mix_recurrent(const Hyperparameters& h, int l, const LayerWeights& w, Rows& x, const Step& step, Backend& on,
                   Activations& a)
{
    const Mixer mixer = h.layers[std::size_t(l)].mixer;
    const Product in{&w.mix_in, nullptr, 0};
    if (mixer == Mixer::DeltaNet)
        project_delta_net(h.state_space, w, x, on, a.qkv);
    else
        on.products(x, std::span(&in, 1), a.qkv);
    for (const RowGroup& group : step.groups) {
        a.drafted.keep(group, a.qkv, a.drafted.mixed(l), on);
        mix_rows(h, mixer, w, {step.cache.states().layer(group.sequence->state, l), {group.row, group.count()}}, on,
                 a.qkv, a);
    }
}

void mix_again(const Hyperparameters& h, int l, const LayerWeights& w, const RowGroup& group, float* state, Backend& on,
               Activations& a)
{
    Rows& kept = a.drafted.mixed(l);
    kept.set_shape(group.drafted_row + group.count(), kept.cols());
    mix_rows(h, h.layers[std::size_t(l)].mixer, w, {state, {group.drafted_row, group.count()}}, on, kept, a);
}

}  // namespace engine
