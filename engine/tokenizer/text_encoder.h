// TextEncoder turns plain text into tokens: the interface of both families of encoders.
#pragma once

#include "engine/tokenizer/token.h"

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Encodes text that holds no special tokens. Immutable: any thread may call it.
class TextEncoder
{
public:
    virtual ~TextEncoder() = default;

    /// Appends the tokens of `text`, which begins at byte `base` of the whole text. space_due: the text starts a
    /// sentence of its own; a family whose words begin with a space puts one before it. Ends early, with some of the
    /// tokens, when a stop is asked for.
    virtual void encode(std::string_view text, std::size_t base, bool space_due, std::vector<Token>& out,
                        const std::stop_token& stop) const = 0;
};

constexpr std::string_view kEscapedSpace = "\xe2\x96\x81";  // U+2581

/// A text as SentencePiece sees it: each space is written as "▁" (U+2581), each character stands by itself.
struct EscapedText {
    struct Character {
        std::uint32_t begin = 0;  // in bytes
        std::uint32_t end = 0;
        std::uint32_t origin = 0;  // byte offset in the whole text
    };
    std::string bytes;
    std::vector<Character> characters;

    void clear();
    void append(std::string_view text, std::size_t base);
    void append_character(std::string_view character, std::size_t origin);
};

/// Returns the text of a token, with a space for each "▁".
std::string unescape_spaces(std::string_view token_text);

}  // namespace engine
