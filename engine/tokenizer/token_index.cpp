// Tokens by text.
#include "engine/tokenizer/token_index.h"

namespace engine {

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

int byte_named_by(std::string_view token_text)
{
    if (token_text.size() != 6 || !token_text.starts_with("<0x") || token_text.back() != '>')
        return -1;
    const int high = hex_digit(token_text[3]);
    const int low = hex_digit(token_text[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

TokenIndex::TokenIndex(const Vocabulary& vocabulary)
{
    ids_.reserve(vocabulary.tokens.size());
    for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
        const std::string_view text = vocabulary.tokens[id];
        if (text.empty())
            continue;  // no text can be written with it
        if (text.size() > kLongestTokenBytes || !ids_.emplace(text, int(id)).second)
            ++unreachable_;
    }
    static constexpr char kHex[] = "0123456789ABCDEF";
    for (int byte = 0; byte < 256; ++byte) {
        const char name[] = {'<', '0', 'x', kHex[byte / 16], kHex[byte % 16], '>'};
        byte_tokens_[std::size_t(byte)] = find(std::string_view(name, sizeof name));
    }
}

int TokenIndex::find(std::string_view text) const
{
    const auto found = ids_.find(text);
    return found == ids_.end() ? kNoToken : found->second;
}

}  // namespace engine
