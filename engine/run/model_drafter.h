// ModelDrafter guesses what an answer says next by asking the draft model, whose KV it keeps in step with the answer.
#pragma once

#include "engine/run/draft_model.h"
#include "engine/run/sampled_drafter.h"

#include <stop_token>

namespace engine {

/// Reads the tokens of the conversation that it has missed in small steps, one with each step of the answer; until it
/// has them it has no guess.
class ModelDrafter final : public SampledDrafter
{
public:
    /// Holds what the drafter works with; all of it outlives the drafter.
    struct Of {
        DraftModel& draft;
        DraftSequence& sequence;
        const LoadedModel& model;
        const Sampler& sampler;  // of the answer
    };
    ModelDrafter(const Of& of, const SamplingOptions& sampling, std::stop_token stop);

    DraftedBy kind() const override { return DraftedBy::Model; }

private:
    bool given_up() const override { return of_.draft.given_up(); }
    Result<int> catch_up(std::span<const int> tokens, int most) override;
    Result<std::span<const float>> logits() override;
    std::span<const int> read_tokens() const override { return of_.sequence.kv.ids; }
    Status read_guess(int id) override { return append(std::span(&id, 1)); }
    void forget_guesses(int tokens) override;
    void take_failure(const Error& error) override;

    void go_back(std::span<const int> tokens);
    Status read(std::span<const int> tokens);
    Status append(std::span<const int> tokens);
    bool knows(std::span<const int> tokens);

    Of of_;
    std::stop_token stop_;
    std::size_t agreed_ = 0;   // tokens at the beginning of its KV that are known to be the conversation's
    std::size_t checked_ = 0;  // tokens at the beginning of the conversation that its vocabulary is known to have
    int rows_ = 0;             // of its last step
};

}  // namespace engine
