// NgramIndex finds what followed in a conversation where its last tokens stood before: a draft of what comes next, for
// text that repeats itself (prompt look-up decoding; Saxena 2023).
#pragma once

#include "engine/run/drafter.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace engine {

/// Keeps places of tokens only: the tokens are given again with each call, and only their end grows. Memory is taken in
/// the constructor. Owned by a turn, on its thread.
class NgramIndex final : public Drafter
{
public:
    static constexpr int kNgram = 3;  // tokens that must be the same before anything is drafted
    /// The most equal tokens that count: a longer match is no better.
    static constexpr int kLongestMatch = 16;
    /// How many earlier places are compared for one draft, the newest first.
    static constexpr int kMostPlaces = 32;

    /// At most the first `most_tokens` tokens are indexed.
    explicit NgramIndex(int most_tokens);

    /// Returns what followed the longest repetition of the end of `tokens`, `most` tokens at most: a part of `tokens`.
    /// Among equals the place that more follows, then the newer one. Empty: the end is new.
    std::span<const int> next(std::span<const int> tokens, int most) override;
    DraftedBy kind() const override { return DraftedBy::Repetition; }

private:
    void add_new(std::span<const int> tokens);
    std::size_t slot_of(const int* ngram) const;

    std::vector<std::int32_t> newest_;   // (slots,) by hash of an n-gram: the place behind it; -1: none
    std::vector<std::int32_t> earlier_;  // (tokens,) the place before with the same hash
    int known_ = 0;                      // places [0, known_) have been added
};

}  // namespace engine
