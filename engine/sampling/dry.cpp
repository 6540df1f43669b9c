#include "engine/sampling/dry.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace engine {

// ---- sequence breakers ----

bool DryBreakers::Sequence::operator<(const Sequence& other) const
{
    return std::tie(head, tail) < std::tie(other.head, other.tail);
}

DryBreakers DryBreakers::find(std::span<const std::string> breakers, int num_vocab, const PieceOf& piece_of,
                              const Tokenize& tokenize)
{
    DryBreakers found;
    found.is_head_.resize(static_cast<std::size_t>(std::max(num_vocab, 0)));
    const auto add = [&found](int id, std::vector<int> tail) {
        found.is_head_[static_cast<std::size_t>(id)] = 1;
        found.sequences_.push_back({id, std::move(tail)});
    };
    for (int id = 0; id < num_vocab; ++id) {
        const std::string piece = piece_of(id);
        for (const std::string& whole : breakers) {
            const std::string_view breaker = std::string_view(whole).substr(0, kMaxBytes);
            if (breaker.empty() || piece.empty())
                continue;
            if (piece.find(breaker) != std::string::npos) {
                add(id, {});
                continue;
            }
            for (std::size_t n = std::min(piece.size(), breaker.size() - 1); n > 0; --n) {
                if (!piece.ends_with(breaker.substr(0, n)))
                    continue;
                std::vector<int> tail = tokenize(breaker.substr(n));
                if (!tail.empty()) {
                    tail.resize(std::min(tail.size(), kMaxTail));
                    add(id, std::move(tail));
                }
            }
        }
    }
    std::sort(found.sequences_.begin(), found.sequences_.end());
    found.sequences_.erase(std::unique(found.sequences_.begin(), found.sequences_.end()), found.sequences_.end());
    return found;
}

bool DryBreakers::breaks(int id) const
{
    return starts(id) && std::binary_search(sequences_.begin(), sequences_.end(), Sequence{id, {}});
}

int DryBreakers::tokens_after_last(std::span<const int> history) const
{
    const auto by_head = [](const Sequence& s, int id) { return s.head < id; };
    for (std::size_t after = 0; after < history.size(); ++after) {  // tokens after the one looked at
        const int id = history[history.size() - 1 - after];
        if (!starts(id))
            continue;
        const auto following = history.last(after);
        std::ptrdiff_t longest = -1;
        for (auto s = std::lower_bound(sequences_.begin(), sequences_.end(), id, by_head);
             s != sequences_.end() && s->head == id; ++s)
            if (s->tail.size() <= after && std::equal(s->tail.begin(), s->tail.end(), following.begin()))
                longest = std::max(longest, static_cast<std::ptrdiff_t>(s->tail.size()));
        if (longest >= 0)
            return static_cast<int>(after) - static_cast<int>(longest);
    }
    return static_cast<int>(history.size());
}

// ---- the penalty ----

DryPenalty::DryPenalty(const Options& options, DryBreakers breakers)
    : options_(options)
    , breakers_(std::move(breakers))
{
}

/// The Z algorithm on the history read backwards: repeats_[i] is the length of the longest stretch that ends i tokens
/// before the end and is the same as the end of the history.
void DryPenalty::measure_repeats(std::span<const int> history)
{
    const int length = static_cast<int>(history.size());
    const auto from_end = [&](int i) { return history[static_cast<std::size_t>(length - 1 - i)]; };
    repeats_.assign(history.size(), 0);
    int left = 0;  // [left, right) is the known match that reaches furthest
    int right = 0;
    for (int i = 1; i < length; ++i) {
        int match = i < right ? std::min(right - i, repeats_[static_cast<std::size_t>(i - left)]) : 0;
        while (i + match < length && from_end(match) == from_end(i + match))
            ++match;
        if (i + match > right) {
            left = i;
            right = i + match;
        }
        repeats_[static_cast<std::size_t>(i)] = match;
    }
}

void DryPenalty::apply(std::span<const int> history, std::span<float> logits)
{
    if (options_.multiplier == 0.0f || options_.base < 1.0f || options_.last_n == 0)
        return;
    if (options_.last_n > 0 && static_cast<std::size_t>(options_.last_n) < history.size())
        history = history.last(static_cast<std::size_t>(options_.last_n));
    const int allowed = std::max(options_.allowed_length, 1);
    if (history.size() <= static_cast<std::size_t>(allowed))
        return;
    const int limit = breakers_.tokens_after_last(history);
    if (limit < allowed)
        return;

    measure_repeats(history);
    longest_.resize(logits.size());
    for (std::size_t i = 1; i < history.size(); ++i) {
        const int length = std::min(repeats_[i], limit);
        const int next = history[history.size() - i];  // the token that followed the earlier occurrence
        if (length < allowed || next < 0 || static_cast<std::size_t>(next) >= logits.size())
            continue;
        int& longest = longest_[static_cast<std::size_t>(next)];
        if (longest == 0)
            continued_.push_back(next);
        longest = std::max(longest, length);
    }

    // The power stays below the largest float, as in llama.cpp.
    const double max_exponent = options_.base > 1.000001f
                                    ? std::log(std::numeric_limits<float>::max()) / std::log(double(options_.base))
                                    : std::numeric_limits<double>::max();
    for (const int id : continued_) {
        const double exponent = std::min<double>(longest_[static_cast<std::size_t>(id)] - allowed, max_exponent);
        longest_[static_cast<std::size_t>(id)] = 0;
        if (breakers_.breaks(id))
            continue;
        float& logit = logits[static_cast<std::size_t>(id)];
        const double penalty = options_.multiplier * std::pow(double(options_.base), exponent);
        logit = static_cast<float>(std::max<double>(logit - penalty, -std::numeric_limits<float>::max()));
    }
    continued_.clear();
}

}  // namespace engine
