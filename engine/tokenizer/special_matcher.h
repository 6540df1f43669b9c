// Finds special and user-defined tokens in a text, before the rest is cut into words.
#pragma once

#include "engine/tokenizer/token.h"
#include "engine/tokenizer/token_roles.h"
#include "engine/tokenizer/vocabulary.h"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace engine {

/// A stretch of a text: a token found in it, or plain text between two of them.
struct TextSpan {
    std::size_t begin = 0;
    std::size_t end = 0;
    int token = kNoToken;
};

/// Cuts a text at the tokens that are written out in it: the leftmost first, and of those that start at one place the
/// longest. Refers to the vocabulary's strings.
class SpecialMatcher
{
public:
    SpecialMatcher(const Vocabulary& vocabulary, const std::vector<TokenRole>& roles);

    /// Returns spans that cover the text without gaps. Control tokens are found where they lie in one of the ranges in
    /// `specials`, which are in order; user-defined tokens everywhere.
    std::vector<TextSpan> split(std::string_view text, std::span<const ByteRange> specials) const;

private:
    struct Entry {
        std::string_view text;
        int id = kNoToken;
        bool swallows_space = false;
    };
    struct Set {
        std::vector<Entry> entries;  // sorted by text
        std::array<bool, 256> starts{};

        void add(Entry entry);
        void sort();
        const Entry* longest_at(std::string_view text, std::size_t at) const;
    };
    const Entry* longest_at(std::string_view text, std::size_t at, std::size_t special_end) const;

    Set always_;   // user-defined tokens
    Set special_;  // these and the control tokens
};

}  // namespace engine
