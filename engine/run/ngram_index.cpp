#include "engine/run/ngram_index.h"

#include <algorithm>
#include <bit>

namespace engine {

namespace {

/// Counts the tokens before the two places that are the same, kLongestMatch at most.
int match_length(std::span<const int> tokens, int place, int end)
{
    const int most = std::min(place, NgramIndex::kLongestMatch);
    int length = 0;
    while (length < most && tokens[std::size_t(place - 1 - length)] == tokens[std::size_t(end - 1 - length)])
        ++length;
    return length;
}

}  // namespace

NgramIndex::NgramIndex(int most_tokens)
    : newest_(std::bit_ceil(std::size_t(std::max(most_tokens, 1))), -1)
    , earlier_(std::size_t(std::max(most_tokens, 1)), -1)
{
}

/// Returns the slot of an n-gram by multiplicative hashing (Knuth, vol. 3, 6.4): the upper bits depend on all ids.
std::size_t NgramIndex::slot_of(const int* ngram) const
{
    std::uint64_t hash = 0;
    for (int i = 0; i < kNgram; ++i)
        hash = ((hash >> 32) + hash + std::uint32_t(ngram[i])) * 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio
    return std::size_t(hash >> 32) & (newest_.size() - 1);
}

/// Adds all new places but the end itself, which nothing follows yet.
void NgramIndex::add_new(std::span<const int> tokens)
{
    const int last = int(std::min(tokens.size(), earlier_.size()));
    for (int place = std::max(known_, kNgram); place < last; ++place) {
        std::int32_t& newest = newest_[slot_of(&tokens[std::size_t(place - kNgram)])];
        earlier_[std::size_t(place)] = newest;
        newest = place;
    }
    known_ = std::max(known_, last);
}

std::span<const int> NgramIndex::next(std::span<const int> tokens, int most)
{
    add_new(tokens);
    const int end = int(tokens.size());
    if (end < kNgram || most <= 0)
        return {};
    int best_length = kNgram - 1, best_follow = 0, best = end;
    int place = newest_[slot_of(&tokens[std::size_t(end - kNgram)])];
    for (int looked = 0; place >= 0 && looked < kMostPlaces; ++looked, place = earlier_[std::size_t(place)]) {
        const int length = match_length(tokens, place, end), follow = std::min(most, end - place);
        if (length < kNgram)
            continue;  // another n-gram of the same hash
        if (length > best_length || (length == best_length && follow > best_follow)) {
            best_length = length;
            best_follow = follow;
            best = place;
        }
    }
    return tokens.subspan(std::size_t(best), std::size_t(best_follow));
}

}  // namespace engine
