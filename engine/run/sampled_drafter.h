// SampledDrafter draws guesses from the logits of a smaller model, as the answer draws from its own.
#pragma once

#include "engine/run/drafter.h"
#include "engine/run/loaded_model.h"
#include "engine/sampling/sampler.h"

#include <vector>

namespace engine {

/// Takes the random numbers that the answer's sampler will use, so that a model with the same probabilities guesses
/// right at every temperature. Memory is taken in the constructor, but for KV. Whatever goes wrong costs guesses and
/// nothing else.
class SampledDrafter : public Drafter
{
public:
    std::span<const int> next(std::span<const int> tokens, int most) final;
    std::int64_t aside_us() const final { return aside_us_; }

protected:
    /// Holds what the drafter guesses for; model and sampler outlive it.
    struct Answer {
        const LoadedModel& model;
        const Sampler& sampler;
        const SamplingOptions& sampling;  // of that sampler
    };
    /// `vocabulary`: of the model that guesses. `what_for`: ends the sentence "there is not enough memory ".
    SampledDrafter(const Answer& answer, int vocabulary, const char* what_for);

    virtual bool given_up() const = 0;
    /// Makes logits() those behind the last of these tokens; returns how many may be guessed, `most` or fewer. 0: none
    /// now.
    virtual Result<int> catch_up(std::span<const int> tokens, int most) = 0;
    virtual Result<std::span<const float>> logits() = 0;  // (vocabulary,) behind what was read last
    virtual std::span<const int> read_tokens() const = 0;
    virtual Status read_guess(int id) = 0;
    /// Forgets what it has read behind this many tokens of the answer, since these were guesses.
    virtual void forget_guesses(int tokens) = 0;
    virtual void take_failure(const Error& error) = 0;

    void set_aside(std::int64_t us) { aside_us_ = us; }
    void rest() { rests_ = true; }  // for this turn

private:
    Status guess(std::span<const int> tokens, int most);
    void fail_with(const Error& error);

    const LoadedModel& model_;
    const Sampler& answers_;
    Sampler sampler_;
    const char* const what_for_;
    std::int64_t aside_us_ = 0;
    std::vector<int> guessed_;
    bool rests_ = false;
};

}  // namespace engine
