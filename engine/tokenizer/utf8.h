// Tells where a UTF-8 character ends, and whether it is one. RFC 3629: no overlong forms, no surrogates, nothing above
// U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace engine {

/// Says what stands at one place of a text.
struct Utf8Look {
    enum class Kind {
        Character,  // a whole character of `bytes` bytes
        Invalid,    // `bytes` bytes that can never be part of a character, whatever follows
        CutOff,     // the text ends inside what may still become a character
    };
    Kind kind = Kind::CutOff;
    std::size_t bytes = 0;
};

/// Looks at byte `at`, which is within the text.
Utf8Look look_at_utf8(std::string_view text, std::size_t at);

/// Returns the length of the character at `at`; a byte that belongs to none counts as one by itself.
inline std::size_t utf8_step(std::string_view text, std::size_t at)
{
    const Utf8Look look = look_at_utf8(text, at);
    return look.kind == Utf8Look::Kind::Character ? look.bytes : 1;
}

}  // namespace engine
