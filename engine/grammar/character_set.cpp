#include "engine/grammar/character_set.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

namespace engine {

void append_utf8(char32_t character, std::string& text)
{
    const auto tail = [&](int shift) { text += char(0x80 | (character >> shift & 0x3F)); };
    if (character < 0x80) {
        text += char(character);
    } else if (character < 0x800) {
        text += char(0xC0 | character >> 6);
        tail(0);
    } else if (character < 0x10000) {
        text += char(0xE0 | character >> 12);
        tail(6);
        tail(0);
    } else {
        text += char(0xF0 | character >> 18);
        tail(12);
        tail(6);
        tail(0);
    }
}

/// Returns the ranges in order, merged so that no two of them touch.
std::vector<CharacterSet::Range> CharacterSet::merged() const
{
    std::vector<Range> sorted = ranges_;
    std::ranges::sort(sorted, {}, &Range::first);
    std::vector<Range> merged;
    for (const Range& range : sorted) {
        if (!merged.empty() && range.first <= merged.back().last + 1)
            merged.back().last = std::max(merged.back().last, range.last);
        else
            merged.push_back(range);
    }
    return merged;
}

void CharacterSet::negate()
{
    std::vector<Range> others;
    char32_t next = 0;
    for (const Range& range : merged()) {
        if (range.first > next)
            others.push_back({next, range.first - 1});
        next = range.last + 1;
    }
    if (next <= kLast)
        others.push_back({next, kLast});
    ranges_ = std::move(others);
}

namespace {

/// The lowest and highest byte at each place.
struct ByteRanges {
    std::string first, last;
};

/// Cuts a range of characters of one length into pieces in which each byte runs from a lowest to a highest value
/// independently of the others.
void cut(char32_t first, char32_t last, std::vector<ByteRanges>& pieces)
{
    for (const int shift : {6, 12, 18}) {
        const char32_t low = (char32_t(1) << shift) - 1;  // the bits of the trailing bytes
        if ((first & ~low) == (last & ~low) || last <= low)
            continue;
        if ((first & low) != 0) {
            cut(first, first | low, pieces);
            cut((first | low) + 1, last, pieces);
            return;
        }
        if ((last & low) != low) {
            cut(first, (last & ~low) - 1, pieces);
            cut(last & ~low, last, pieces);
            return;
        }
    }
    ByteRanges piece;
    append_utf8(first, piece.first);
    append_utf8(last, piece.last);
    pieces.push_back(std::move(piece));
}

ByteSet bytes_between(char first, char last)
{
    ByteSet set;
    for (unsigned byte = std::uint8_t(first); byte <= std::uint8_t(last); ++byte)
        set.set(byte);
    return set;
}

}  // namespace

std::vector<CharacterSet::Spelling> CharacterSet::spellings() const
{
    static constexpr std::array<Range, 5> kLengths = {// of one length in UTF-8 each, without the surrogates
                                                      Range{0, 0x7F}, Range{0x80, 0x7FF}, Range{0x800, 0xD7FF},
                                                      Range{0xE000, 0xFFFF}, Range{0x10000, kLast}};
    std::vector<ByteRanges> pieces;
    for (const Range& range : merged())
        for (const Range& length : kLengths)
            if (range.first <= length.last && range.last >= length.first)
                cut(std::max(range.first, length.first), std::min(range.last, length.last), pieces);

    std::vector<Spelling> spellings;
    std::map<std::string, std::size_t> of_tail;  // the bytes behind the first, of both ends: the spelling with them
    for (const ByteRanges& piece : pieces) {
        // Spellings that differ in their first bytes alone become one, so that there are fewer ways to follow.
        const auto [known, is_new] =
            of_tail.try_emplace(piece.first.substr(1) + piece.last.substr(1), spellings.size());
        if (!is_new) {
            spellings[known->second].front() |= bytes_between(piece.first[0], piece.last[0]);
            continue;
        }
        Spelling& spelling = spellings.emplace_back();
        for (std::size_t i = 0; i < piece.first.size(); ++i)
            spelling.push_back(bytes_between(piece.first[i], piece.last[i]));
    }
    return spellings;
}

}  // namespace engine
