// A text as SentencePiece sees it, there and back.
#include "engine/tokenizer/text_encoder.h"

#include "engine/tokenizer/utf8.h"

namespace engine {

void EscapedText::clear()
{
    bytes.clear();
    characters.clear();
}

void EscapedText::append(std::string_view text, std::size_t base)
{
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t step = utf8_step(text, at);
        append_character(text.substr(at, step), base + at);
        at += step;
    }
}

void EscapedText::append_character(std::string_view character, std::size_t origin)
{
    const auto begin = std::uint32_t(bytes.size());
    bytes.append(character == " " ? kEscapedSpace : character);
    characters.push_back({begin, std::uint32_t(bytes.size()), std::uint32_t(origin)});
}

std::string unescape_spaces(std::string_view token_text)
{
    std::string text;
    text.reserve(token_text.size());
    while (!token_text.empty()) {
        const bool space = token_text.starts_with(kEscapedSpace);
        text.push_back(space ? ' ' : token_text.front());
        token_text.remove_prefix(space ? kEscapedSpace.size() : 1);
    }
    return text;
}

}  // namespace engine
