// Ngrams says which rows of a table stand for the n-grams that end at a token: hashes of its last 2, 3, ... ids.
#pragma once

#include "engine/model/stream_parameters.h"

#include <cstddef>
#include <span>
#include <vector>

namespace engine {

/// Owned by HostInputs, on the engine's thread; after construction it allocates nothing.
class Ngrams
{
public:
    /// `parameters` outlive it. Throws std::bad_alloc.
    Ngrams(const NgramParameters& parameters, int max_tokens)
        : p_(parameters)
        , ids_(std::size_t(parameters.longest))
        , rows_(std::size_t(max_tokens) * std::size_t(parameters.rows_of_token()))
    {
    }
    /// Returns the table's rows, (tokens, rows_of_token()). `before`: the tokens in front of these in their sequence;
    /// `first`: how many tokens of other sequences this step has found rows for. Valid until those places are filled
    /// again.
    std::span<const int> rows_of(std::span<const int> before, std::span<const int> tokens, int first = 0);
    /// Returns the rows that were found for the first tokens of the step.
    std::span<const int> found(int tokens) const
    {
        return std::span(rows_).first(std::size_t(tokens) * std::size_t(p_.rows_of_token()));
    }

private:
    bool ends(int id) const;
    void look_back(std::span<const int> before, std::span<const int> tokens, std::size_t t);

    const NgramParameters& p_;
    std::vector<int> ids_;  // (longest,) of a token and those before it
    std::vector<int> rows_;
};

}  // namespace engine
