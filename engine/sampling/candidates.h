// Candidates holds the tokens that may still be drawn, and the filters that drop some of them.
#pragma once

#include "engine/exec/logits.h"

#include <cstddef>
#include <span>
#include <vector>

namespace engine {

struct Candidate {
    int id = 0;
    float logit = 0.0f;
    double probability = 0.0;  // among the candidates that were there when it was last computed
};

/// The shrinking set of candidates of one draw. Memory is taken once, for the whole vocabulary. One thread, owned by
/// its Sampler. Each filter leaves at least one candidate; equal logits are ordered by id, so that the outcome does
/// not depend on a library's sort.
class Candidates
{
public:
    explicit Candidates(int num_vocab);

    /// Starts over with the top_k largest logits (0 or less: all). Logits are finite.
    void assign(std::span<const float> logits, int top_k);
    /// Starts over with the largest logits that others have found: the best first, equal ones by id. Logits are finite.
    void assign(std::span<const RankedLogit> largest);

    /// Drops those with a logit of minus infinity, unless there are no others.
    void drop_forbidden();
    /// Keeps the tokens whose surprise is closest to the expected one, until they hold more than p.
    void keep_typical(double p);
    /// Keeps the most probable tokens until they hold at least p.
    void keep_top_p(double p);
    /// Keeps the tokens at least p times as probable as the best.
    void keep_min_p(double p);
    /// Drops top choices (XTC): of the tokens with at least the threshold's probability only the least probable stays.
    void exclude_top(double threshold);

    /// Returns the index drawn by u in [0, 1) at this temperature, which is more than zero.
    std::size_t draw(double temperature, double u);

    std::span<const Candidate> view() const { return list_; }

private:
    double compute_probabilities();
    void order(std::size_t count);
    void select_top(std::span<const float> logits, std::size_t count);
    float largest_logit() const;

    std::vector<Candidate> list_;
    std::size_t ordered_ = 0;  // this many at the front are the largest, in descending order
};

}  // namespace engine
