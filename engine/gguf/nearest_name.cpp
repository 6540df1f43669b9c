#include "engine/gguf/nearest_name.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace engine {

namespace {

constexpr std::size_t kLongest = 64;  // letters that are looked at: the name comes out of a file

/// Counts the letters to insert, remove or change.
std::size_t edits(std::string_view from, std::string_view to)
{
    std::vector<std::size_t> row(to.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t(0));
    for (std::size_t i = 0; i < from.size(); ++i) {
        std::size_t diagonal = row[0]++;
        for (std::size_t j = 0; j < to.size(); ++j) {
            const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
        }
    }
    return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names)
{
    constexpr std::size_t kAlike = 3;
    name = name.substr(0, kLongest);
    std::string_view nearest;
    std::size_t most = kAlike, fewest = 0;
    for (const std::string_view other : names) {
        const auto common = std::size_t(std::ranges::mismatch(name, other).in1 - name.begin());
        const std::size_t different = edits(name, other);
        if (common > most || (common == most && (nearest.empty() || different < fewest))) {
            nearest = other;
            most = common;
            fewest = different;
        }
    }
    return nearest;
}

}  // namespace engine
