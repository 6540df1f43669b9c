// MergeTable holds the merges of a byte-pair vocabulary, by number instead of by text.
#pragma once

#include "engine/tokenizer/keyed_hash.h"
#include "engine/tokenizer/token_index.h"
#include "engine/tokenizer/vocabulary.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace engine {

constexpr int kNoSymbol = -1;

/// Says which two symbols may be joined, in which order, and what they become. A symbol is a token, or, numbered after
/// the tokens, a text that appears in the merges only.
class MergeTable
{
public:
    struct Merge {
        int rank = 0;  // 0: joined first
        int result = kNoSymbol;
    };

    MergeTable(const Vocabulary& vocabulary, const TokenIndex& index);

    /// Returns null where these two are never joined.
    const Merge* find(int left, int right) const;

    int symbol(std::string_view text) const;  // or kNoSymbol
    bool is_token(int symbol) const { return symbol >= 0 && symbol < token_count_; }

    /// Counts the lines that are not two texts with a space between, or too long.
    int malformed() const { return malformed_; }

private:
    int add_symbol(std::string_view text);

    const TokenIndex& index_;
    const int token_count_;
    int malformed_ = 0;
    std::unordered_map<std::string, int, KeyedHash, std::equal_to<>> extra_;
    std::unordered_map<std::uint64_t, Merge, KeyedHash> merges_;  // key: left << 32 | right
};

}  // namespace engine
