// Finds where a UTF-8 character ends: table 3-7 of the Unicode standard as code.
#include "engine/tokenizer/utf8.h"

namespace engine {

namespace {

struct Lead {
    std::size_t bytes;                      // of the whole character; 0: no character starts with this byte
    unsigned char low = 0x80, high = 0xbf;  // what the second byte may be
};

Lead lead_of(unsigned char byte)
{
    if (byte < 0x80)
        return {.bytes = 1};
    if (byte >= 0xc2 && byte <= 0xdf)
        return {.bytes = 2};
    if (byte == 0xe0)
        return {.bytes = 3, .low = 0xa0};  // else overlong
    if (byte == 0xed)
        return {.bytes = 3, .high = 0x9f};  // else a surrogate
    if (byte >= 0xe1 && byte <= 0xef)
        return {.bytes = 3};
    if (byte == 0xf0)
        return {.bytes = 4, .low = 0x90};  // else overlong
    if (byte == 0xf4)
        return {.bytes = 4, .high = 0x8f};  // else above U+10FFFF
    if (byte >= 0xf1 && byte <= 0xf3)
        return {.bytes = 4};
    return {.bytes = 0};
}

}  // namespace

Utf8Look look_at_utf8(std::string_view text, std::size_t at)
{
    const Lead lead = lead_of(static_cast<unsigned char>(text[at]));
    if (lead.bytes == 0)
        return {Utf8Look::Kind::Invalid, 1};
    for (std::size_t i = 1; i < lead.bytes; ++i) {
        if (at + i >= text.size())
            return {Utf8Look::Kind::CutOff, i};
        const auto byte = static_cast<unsigned char>(text[at + i]);
        const bool fits = i == 1 ? byte >= lead.low && byte <= lead.high : (byte & 0xc0) == 0x80;
        if (!fits)
            return {Utf8Look::Kind::Invalid, i};
    }
    return {Utf8Look::Kind::Character, lead.bytes};
}

}  // namespace engine
