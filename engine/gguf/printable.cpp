// Text and sizes from a file, made fit for a sentence.
#include "engine/gguf/printable.h"

#include <array>
#include <cstdio>

namespace engine {
namespace {

struct Character {
    std::uint32_t code = 0;
    std::size_t bytes = 0;  // 0: no valid UTF-8 here
};

Character first_character(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint32_t lead = byte(0);
    const std::size_t bytes = lead < 0x80   ? 1
                              : lead < 0xc2 ? 0
                              : lead < 0xe0 ? 2
                              : lead < 0xf0 ? 3
                              : lead < 0xf5 ? 4
                                            : 0;
    if (bytes == 0 || bytes > text.size())
        return {};
    if (bytes == 1)
        return {lead, 1};
    std::uint32_t code = lead & (0x7fu >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0) != 0x80)
            return {};
        code = code << 6 | (byte(i) & 0x3fu);
    }
    const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
    if (overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return {};
    return {code, bytes};
}

bool is_hidden(std::uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

std::string escaped(const char* format, unsigned value)
{
    char text[16];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

}  // namespace

std::string printable(std::string_view text, std::size_t limit)
{
    std::string shown;
    while (!text.empty()) {
        if (shown.size() >= limit)
            return shown + "...";
        const Character c = first_character(text);
        if (c.bytes == 0)
            shown += escaped("\\x%02x", static_cast<std::uint8_t>(text[0]));
        else if (c.code == '\n')
            shown += "\\n";
        else if (c.code == '\t')
            shown += "\\t";
        else if (is_hidden(c.code))
            shown += escaped(c.code < 0x80 ? "\\x%02x" : "\\u%04x", c.code);
        else
            shown += text.substr(0, c.bytes);
        text.remove_prefix(c.bytes == 0 ? 1 : c.bytes);
    }
    return shown;
}

std::string byte_size(std::uint64_t bytes)
{
    if (bytes < 10'000)
        return std::to_string(bytes) + " bytes";
    constexpr std::array kUnits = {" kB", " MB", " GB", " TB", " PB", " EB"};
    std::uint64_t tenths = bytes / 100 + (bytes % 100 >= 50 ? 1 : 0);
    std::size_t unit = 0;
    for (; tenths >= 10'000; ++unit)
        tenths = (tenths + 500) / 1000;
    return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + kUnits[unit];
}

}  // namespace engine
