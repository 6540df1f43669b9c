// Penalises a token that would lengthen a repetition (DRY, "don't repeat yourself"), the more the longer the repetition
// is already. Sequence breakers (a newline, a quote) end a repetition, so that lists and dialogue stay possible.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Holds the sequence breakers of one model in token ids. A token that contains a breaker breaks by itself; one that
/// ends with the beginning of a breaker does so when the tokens of the rest follow. Immutable once found; any thread.
class DryBreakers
{
public:
    using PieceOf = std::function<std::string(int id)>;
    /// Returns the ids of a text that goes on after other text: no BOS, no added space, special tokens not looked for.
    using Tokenize = std::function<std::vector<int>(std::string_view text)>;

    static constexpr std::size_t kMaxBytes = 40;  // of a breaker; what is longer is cut off
    static constexpr std::size_t kMaxTail = 20;   // tokens of a breaker after its first one

    /// Makes no breakers.
    DryBreakers() = default;
    /// Looks through the whole vocabulary once. Empty strings are ignored.
    static DryBreakers find(std::span<const std::string> breakers, int num_vocab, const PieceOf& piece_of,
                            const Tokenize& tokenize);

    /// Says whether the token breaks by itself.
    bool breaks(int id) const;
    /// Returns how many tokens follow the last breaker in the history: no repetition reaches further back than that.
    int tokens_after_last(std::span<const int> history) const;

private:
    struct Sequence {
        int head = 0;
        std::vector<int> tail;
        bool operator<(const Sequence& other) const;
        bool operator==(const Sequence& other) const = default;
    };
    bool starts(int id) const { return id >= 0 && static_cast<std::size_t>(id) < is_head_.size() && is_head_[id] != 0; }

    std::vector<std::uint8_t> is_head_;  // (vocabulary,)
    std::vector<Sequence> sequences_;    // sorted by head
};

/// Finds the penalised tokens of one history. Linear in the tokens looked back on; its memory grows with the history
/// and is kept. One thread, owned by its Sampler.
class DryPenalty
{
public:
    struct Options {
        float multiplier = 0.0f;
        float base = 1.75f;
        int allowed_length = 2;
        int last_n = -1;  // -1: all
    };

    DryPenalty(const Options& options, DryBreakers breakers);

    /// Subtracts from the logits of the tokens that would go on with a repetition.
    void apply(std::span<const int> history, std::span<float> logits);

private:
    void measure_repeats(std::span<const int> history);

    Options options_;
    DryBreakers breakers_;
    std::vector<int> repeats_;    // (looked back on,) how many tokens before position i from the end equal the end
    std::vector<int> longest_;    // (vocabulary,) the longest repetition it would lengthen; zero between calls
    std::vector<int> continued_;  // the tokens that have an entry in longest_
};

}  // namespace engine
