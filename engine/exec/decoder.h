// Decoder computes a model: tokens go in, logits come out. It is a list of operations; the Placement says which backend
// carries them out for a layer. It belongs to one loaded model and is called by the engine's thread; after construction
// it allocates nothing.
#pragma once

#include "engine/exec/host_inputs.h"
#include "engine/exec/output_head.h"
#include "engine/exec/placement.h"
#include "engine/exec/residual_streams.h"
#include "engine/kv/kv_cache.h"
#include "engine/model/weights.h"

#include <optional>
#include <span>
#include <vector>

namespace engine {

class Decoder
{
public:
    /// `context_tokens`: the context in use (it decides between long-rope's factors). `max_rows`: tokens of a step.
    Decoder(const Hyperparameters& h, const Weights& weights, int context_tokens, int max_rows);

    int max_rows() const { return max_rows_; }
    int vocabulary() const { return h_.vocabulary; }
    std::size_t scratch_bytes() const
    {
        return host_.bytes() + inputs_.bytes() + head_.bytes() + given_.bytes() + joined_.bytes();
    }

    /// Computes the step's tokens, for which pages have been reserved, and appends them to their sequences. Weights are
    /// read once for all rows; each row gets the same bits as if it were alone. 1 <= step.rows() <= max_rows().
    void append(const Placement& placement, const Step& step);

    /// Undoes the recurrent states of the drafted rows of one sequence in the last step, except for the rows in
    /// step.one(): the states become those after these. Keys and values are not touched.
    void take_states_back(const Placement& placement, const Step& step);

    /// Gives the final hidden states of rows [first, first + count) of the last append(), behind the last norm. out:
    /// (count, dim). Precondition: the model has one residual stream.
    void made_of(const Placement& placement, RowRange rows, std::span<float> out);
    /// Returns the rows for the model's hidden state of the token before each one that append() computes next, (rows,
    /// dim). They are to be filled before that call. For a block of multi-token prediction only.
    Rows& given() { return given_; }

    /// Returns the logits, (vocabulary,), after one row of the last append(); see OutputHead.
    std::span<const float> logits(const Placement& placement, StepClock& clock, int row);
    RowLogits logits(const Placement& placement, StepClock& clock, int row, std::optional<int> enough);

private:
    /// Says where a layer computes, and the step it belongs to.
    struct LayerSite {
        Backend& on;
        Activations& a;
        const Step& step;
    };
    Activations& activations(Backend& on) { return on.activations(host_); }
    StepClock::Part head_part(const Placement& placement) const;
    Backend& bring_rows_to_head(const Placement& placement, StepClock& clock);
    void bring_rows(Backend& to, const Step& step);
    void join_given(CpuBackend& host);
    void bring_shared_kv_home(const Step& step);
    void keep_states(int l, const LayerSite& at);
    void layer(int l, const LayerWeights& w, const LayerWeights* next, const LayerSite& at);
    void mix(int l, const LayerWeights& w, const LayerWeights* next, Rows& x, const LayerSite& at);
    Rows& part_input(Vector norm, const StreamConnection& streams, const Matrix& reader, const LayerSite& at);
    void attention(int l, const LayerWeights& w, Rows& x, const LayerSite& at);
    void attend(int l, const LayerWeights& w, const HeadLayout& heads, Rows& out, const LayerSite& at);
    void attend_latent(int l, const LayerWeights& w, Rows& x, const LayerSite& at);
    ExpertParameters expert_parameters(int l, const Step& step, Rows* routed_by) const;
    void experts(int l, const LayerWeights& w, Rows& x, const LayerSite& at);
    void feed_forward(const LayerWeights& w, Rows& x, const Matrix& reader, const LayerSite& at);
    void feed_forward_beside_experts(int l, const LayerWeights& w, Rows& x, const LayerSite& at);
    void side_branch(int l, const LayerWeights& w, Rows& x, const LayerSite& at);
    FollowingNorm norm_behind_layer(int l, const LayerWeights& w, const LayerWeights* next) const;
    FollowingNorm norm_behind_mixers(int l, const LayerWeights& w, const LayerWeights* next) const;
    FollowingNorm following(Vector norm, const StreamConnection& streams, const Matrix& reader,
                            const Matrix& next) const;
    void add_branch(Rows& y, const Product& product, Vector post_norm, const FollowingNorm& norm, const LayerSite& at);
    void add_normed(Vector post_norm, const LayerSite& at);

    const Hyperparameters& h_;
    const Weights& weights_;
    int max_rows_;
    HostInputs inputs_;
    ResidualStreams streams_;
    Activations host_;
    OutputHead head_;
    Rows given_, joined_;         // joined: (rows, 2 dim)
    Backend* rows_at_ = nullptr;  // where the residual stream of the last step lies
    bool copied_home_ = false;    // it is on the host as well
    Vector normed_ = nullptr;     // x holds the residual stream, normed by these weights; null: it holds something else
};

}  // namespace engine
