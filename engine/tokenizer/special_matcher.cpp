// Finds special tokens by narrowing a sorted list byte by byte: no table of states to build for 1,000 tokens that
// nearly all start with '<'.
#include "engine/tokenizer/special_matcher.h"

#include <algorithm>

namespace engine {

// A special token is a few words at most. The bound keeps a hostile file from making every byte of a text expensive.
static constexpr std::size_t kLongestSpecialBytes = 256;

SpecialMatcher::SpecialMatcher(const Vocabulary& vocabulary, const std::vector<TokenRole>& roles)
{
    for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
        const std::string_view text = vocabulary.tokens[id];
        if (text.empty() || text.size() > kLongestSpecialBytes)
            continue;
        const Entry entry{text, int(id), roles[id].swallows_space};
        if (roles[id].always_parsed)
            always_.add(entry);
        if (roles[id].always_parsed || roles[id].special)
            special_.add(entry);
    }
    always_.sort();
    special_.sort();
}

void SpecialMatcher::Set::add(Entry entry)
{
    starts[static_cast<unsigned char>(entry.text.front())] = true;
    entries.push_back(entry);
}

void SpecialMatcher::Set::sort()
{
    // Of two tokens with one text the lower id counts, so the order must be stable.
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.text < b.text; });
}

const SpecialMatcher::Entry* SpecialMatcher::Set::longest_at(std::string_view text, std::size_t at) const
{
    // [low, high): the entries that agree with the text in the first `depth` bytes.
    auto low = entries.begin();
    auto high = entries.end();
    const Entry* longest = nullptr;
    for (std::size_t depth = 0; at + depth < text.size(); ++depth) {
        const auto wanted = static_cast<unsigned char>(text[at + depth]);
        const auto byte = [depth](const Entry& e) {  // -1: the entry ends here
            return depth < e.text.size() ? int(static_cast<unsigned char>(e.text[depth])) : -1;
        };
        low = std::partition_point(low, high, [&](const Entry& e) { return byte(e) < wanted; });
        high = std::partition_point(low, high, [&](const Entry& e) { return byte(e) == wanted; });
        if (low == high)
            break;
        if (low->text.size() == depth + 1)
            longest = &*low;
    }
    return longest;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// Returns the longest token at a place. A control token ends at `special_end` at the latest.
const SpecialMatcher::Entry* SpecialMatcher::longest_at(std::string_view text, std::size_t at,
                                                        std::size_t special_end) const
{
    const auto start = static_cast<unsigned char>(text[at]);
    if (!special_.starts[start])
        return nullptr;
    const Entry* always = always_.starts[start] ? always_.longest_at(text, at) : nullptr;
    const Entry* special = at < special_end ? special_.longest_at(text.substr(0, special_end), at) : nullptr;
    return special && (!always || special->text.size() >= always->text.size()) ? special : always;
}

std::vector<TextSpan> SpecialMatcher::split(std::string_view text, std::span<const ByteRange> specials) const
{
    std::vector<TextSpan> spans;
    std::size_t plain = 0;  // where the text begins that is in no span yet
    for (std::size_t at = 0; at < text.size();) {
        while (!specials.empty() && specials.front().end <= at)
            specials = specials.subspan(1);
        const bool inside = !specials.empty() && specials.front().begin <= at;
        const Entry* found = longest_at(text, at, inside ? specials.front().end : 0);
        if (!found) {
            ++at;
            continue;
        }
        if (at > plain)
            spans.push_back({plain, at});
        std::size_t end = at + found->text.size();
        while (found->swallows_space && end < text.size() && is_space(text[end]))
            ++end;
        spans.push_back({at, end, found->id});
        at = plain = end;
    }
    if (plain < text.size())
        spans.push_back({plain, text.size()});
    return spans;
}

}  // namespace engine
