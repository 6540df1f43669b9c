// Sampler chooses the next token from the logits of the last one.
#pragma once

#include "engine/engine.h"
#include "engine/exec/logits.h"
#include "engine/grammar/token_masks.h"
#include "engine/result.h"
#include "engine/sampling/candidates.h"
#include "engine/sampling/dry.h"
#include "engine/sampling/random.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace engine {

inline constexpr std::size_t kMostBiases = 4096;  // each is added for each token

/// Checks whether a Sampler can be made of these options; an error names the first one that is out of range.
Status check(const SamplingOptions& options);

/// Draws the tokens of one answer. In order: bias, penalties (repeat, frequency, presence), DRY, top-k, typical, top-p,
/// min-p, XTC, temperature, draw - llama.cpp's default chain. Temperature 0 takes the largest logit after the
/// penalties, the lowest id among equals, and uses no random number. The same options, seed, logits and history give
/// the same ids on every machine whose exp() rounds alike.
/// Memory is taken in the constructor; only DRY's grows, with the history. One thread, owned by a turn.
class Sampler
{
public:
    /// The options must be such as check() accepts, and their biases name tokens of the vocabulary; num_vocab is at
    /// least 1.
    Sampler(const SamplingOptions& options, int num_vocab, std::uint64_t seed, DryBreakers breakers = {});

    /// Returns the next id, always one of the vocabulary whatever the logits hold. logits: (num_vocab,); history: the
    /// whole sequence, prompt and answer; allowed: the only ids it may be, if given.
    int sample(std::span<const float> logits, std::span<const int> history, const TokenMask* allowed = nullptr);
    /// Returns the same id from as many of the largest logits as enough() says, or from all.
    int sample(const RowLogits& logits, std::span<const int> history);

    /// Makes the next draw use the random numbers that the other's next one will.
    void draw_as(const Sampler& other) { random_ = other.random_; }

    /// Returns how many of the largest logits are all that a draw looks at. Empty: it needs every one, or history
    /// changes them.
    std::optional<int> enough() const;

    /// Returns what the last sample() drew from, with the probabilities it drew by; empty at temperature 0.
    std::span<const Candidate> candidates() const { return candidates_.view(); }

private:
    void add_bias();
    bool penalises() const;
    void penalise(std::span<const int> history);
    void forbid_others(const TokenMask& allowed);
    int greedy() const;
    int draw_candidate();

    SamplingOptions options_;
    Random random_;
    DryPenalty dry_;
    Candidates candidates_;
    std::vector<float> logits_;       // (num_vocab,) the copy that penalties change
    std::vector<std::int32_t> seen_;  // (num_vocab,) occurrences in the window; zero between calls
    std::vector<int> window_;         // the distinct tokens of that window
};

}  // namespace engine
