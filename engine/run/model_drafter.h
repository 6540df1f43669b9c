// ModelDrafter guesses what an answer says next by asking the draft model, whose KV it keeps in step with the answer.
#pragma once

#include "engine/run/draft_model.h"
#include "engine/run/drafter.h"
#include "engine/sampling/sampler.h"

#include <stop_token>
#include <vector>

namespace engine {

/// It draws from the draft model's logits with the random numbers that the answer's sampler will use, so that a model
/// of the same opinion guesses right at every temperature. Memory is taken in the constructor, but for KV. What it does
/// not know yet of the conversation it reads in small steps, one with each step of the answer.
class ModelDrafter final : public Drafter
{
public:
    /// What it belongs to; all of it outlives it.
    struct Of {
        DraftModel& draft;
        DraftSequence& sequence;
        const LoadedModel& model;
        const Sampler& sampler;  // of the answer
    };
    ModelDrafter(const Of& of, const SamplingOptions& sampling, std::stop_token stop);

    DraftedBy kind() const override { return DraftedBy::Model; }
    /// Empty also where something goes wrong, or while it still reads.
    std::span<const int> next(std::span<const int> tokens, int most) override;
    std::int64_t aside_us() const override { return aside_us_; }

private:
    Status guess(std::span<const int> tokens, int most);
    void go_back(std::span<const int> tokens);
    Status read(std::span<const int> tokens);
    Status append(std::span<const int> tokens);
    bool knows(std::span<const int> tokens);
    void forget_guesses();
    void take_failure(const Error& error);

    Of of_;
    Sampler sampler_;
    std::stop_token stop_;
    std::size_t agreed_ = 0;   // tokens of its KV that are known to be the conversation's
    std::size_t checked_ = 0;  // tokens of the conversation that its vocabulary has
    int rows_ = 0;             // of its last step
    std::int64_t aside_us_ = 0;
    std::vector<int> guessed_;
    bool off_ = false;  // for this turn
};

}  // namespace engine
