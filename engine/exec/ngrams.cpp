#include "engine/exec/ngrams.h"

#include <algorithm>

namespace engine {

bool Ngrams::ends(int id) const
{
    return std::ranges::find(p_.ends, id) != p_.ends.end();
}

/// Fills ids_ with token t and those before it. What lies at or before an end, or before the first token, counts as the
/// end.
void Ngrams::look_back(std::span<const int> before, std::span<const int> tokens, std::size_t t)
{
    bool ended = false;
    for (std::size_t back = 0; back < ids_.size(); ++back) {
        ended = ended || back > before.size() + t;
        if (!ended)
            ids_[back] = back <= t ? tokens[t - back] : before[before.size() + t - back];
        ended = ended || ends(ids_[back]);
        if (ended)
            ids_[back] = p_.ends.front();
    }
}

std::span<const int> Ngrams::rows_of(std::span<const int> before, std::span<const int> tokens, int first)
{
    const auto begin = rows_.begin() + std::ptrdiff_t(first) * p_.rows_of_token();
    auto row = begin;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
        look_back(before, tokens, t);
        std::uint64_t hash = std::uint64_t(ids_[0]) * p_.multipliers[0];
        for (std::size_t length = 2, head = 0; length <= ids_.size(); ++length) {
            hash ^= std::uint64_t(ids_[length - 1]) * p_.multipliers[length - 1];
            for (int i = 0; i < p_.heads; ++i, ++head)
                *row++ = p_.offsets[head] + int(hash % std::uint64_t(p_.sizes[head]));
        }
    }
    return {begin, row};
}

}  // namespace engine
