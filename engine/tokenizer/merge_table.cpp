// The merges of a byte-pair vocabulary, by number instead of by text.
#include "engine/tokenizer/merge_table.h"

namespace engine {

static std::uint64_t key_of(int left, int right)
{
    return std::uint64_t(std::uint32_t(left)) << 32 | std::uint32_t(right);
}

MergeTable::MergeTable(const Vocabulary& vocabulary, const TokenIndex& index)
    : index_(index)
    , token_count_(int(vocabulary.tokens.size()))
{
    merges_.reserve(vocabulary.merges.size());
    for (std::size_t rank = 0; rank < vocabulary.merges.size(); ++rank) {
        const std::string_view line = vocabulary.merges[rank];
        // From 1: the left text may begin with a space, the right one may hold some.
        const std::size_t space = line.find(' ', 1);
        if (space == std::string_view::npos || space + 1 == line.size() || line.size() > kLongestTokenBytes) {
            ++malformed_;
            continue;
        }
        const std::string_view left = line.substr(0, space);
        const std::string_view right = line.substr(space + 1);
        const int left_symbol = add_symbol(left);
        const int right_symbol = add_symbol(right);
        const int result = add_symbol(std::string(left).append(right));
        merges_.try_emplace(key_of(left_symbol, right_symbol), Merge{int(rank), result});
    }
}

const MergeTable::Merge* MergeTable::find(int left, int right) const
{
    const auto found = merges_.find(key_of(left, right));
    return found == merges_.end() ? nullptr : &found->second;
}

int MergeTable::symbol(std::string_view text) const
{
    if (const int id = index_.find(text); id != kNoToken)
        return id;
    const auto found = extra_.find(text);
    return found == extra_.end() ? kNoSymbol : found->second;
}

int MergeTable::add_symbol(std::string_view text)
{
    if (const int id = index_.find(text); id != kNoToken)
        return id;
    return extra_.try_emplace(std::string(text), token_count_ + int(extra_.size())).first->second;
}

}  // namespace engine
