// TokenIndex finds tokens by their text.
#pragma once

#include "engine/tokenizer/keyed_hash.h"
#include "engine/tokenizer/vocabulary.h"

#include <array>
#include <string_view>
#include <unordered_map>

namespace engine {

/// Longer texts are never made from input, and no real token comes near: the bound limits what a hostile vocabulary can
/// cost.
constexpr std::size_t kLongestTokenBytes = 1024;

/// Finds a token by its text. Refers to the strings of the vocabulary, which must outlive it and stay as they are.
class TokenIndex
{
public:
    explicit TokenIndex(const Vocabulary& vocabulary);

    /// Returns the id of the token with this text (the first of several), or kNoToken.
    int find(std::string_view text) const;

    /// Returns the token that stands for one byte, "<0x0A>", or kNoToken.
    int byte_token(unsigned char byte) const { return byte_tokens_[byte]; }

    /// Counts the tokens whose text an earlier one has already, or that are too long: they can be read, not written.
    int unreachable() const { return unreachable_; }

private:
    std::unordered_map<std::string_view, int, KeyedHash> ids_;
    std::array<int, 256> byte_tokens_;
    int unreachable_ = 0;
};

/// Returns the byte that a text such as "<0x0A>" names, or -1.
int byte_named_by(std::string_view token_text);

}  // namespace engine
