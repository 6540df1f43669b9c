// CharacterSet collects Unicode characters and says which bytes spell them in UTF-8.
#pragma once

#include "engine/grammar/grammar.h"

#include <string>
#include <vector>

namespace engine {

class CharacterSet
{
public:
    static constexpr char32_t kLast = 0x10FFFF;

    void add(char32_t first, char32_t last) { ranges_.push_back({first, last}); }
    void add(char32_t character) { add(character, character); }
    /// Turns the set into all characters that were not added.
    void negate();

    /// One to four sets: a byte of each, one after another, spells a character.
    using Spelling = std::vector<ByteSet>;
    /// Returns spellings of which every character that was added has one, and nothing else has any. Surrogates have
    /// none.
    std::vector<Spelling> spellings() const;

private:
    struct Range {
        char32_t first = 0;
        char32_t last = 0;
    };
    std::vector<Range> merged() const;

    std::vector<Range> ranges_;
};

/// Appends the character's UTF-8. Precondition: it is a character.
void append_utf8(char32_t character, std::string& text);

}  // namespace engine
