// ExpertCounts counts how often the tokens of one conversation choose each routed expert.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace engine {

class ExpertCounts
{
public:
    /// Throws std::bad_alloc.
    ExpertCounts(int layers, int experts)
        : experts_(std::size_t(experts))
        , in_answer_(std::size_t(layers) * experts_)
        , in_conversation_(in_answer_)
    {
    }

    void begin_answer() { std::ranges::fill(in_answer_, 0U); }
    /// Counts experts that tokens have chosen in the layer.
    void note(int layer, std::span<const int> experts)
    {
        for (const int expert : experts) {
            const std::size_t at = std::size_t(layer) * experts_ + std::size_t(expert);
            ++in_answer_[at];
            ++in_conversation_[at];
        }
    }

    /// (layers, experts)
    const std::vector<std::uint32_t>& in_answer() const { return in_answer_; }
    const std::vector<std::uint32_t>& in_conversation() const { return in_conversation_; }

private:
    std::size_t experts_;
    std::vector<std::uint32_t> in_answer_, in_conversation_;
};

}  // namespace engine
