#include "engine/exec/expert_ring.h"

#include <algorithm>

namespace engine {

static constexpr std::size_t kKinds = 3;  // gates, ups, downs

ExpertRing::ExpertRing(Vram& vram, int layers, int experts)
    : stream_(vram, kKinds * std::size_t(experts))
    , costs_(std::size_t(layers))
{
    chosen_.reserve(std::size_t(experts));
    taken_.reserve(std::size_t(experts));
}

void ExpertRing::choose(int l, const LayerWeights& from, std::span<const int> rows)
{
    stream_.clear();  // the layer before may have ended before it took all of its matrices
    chosen_.clear();
    used_ = 0;
    for (int e = 0; e < int(rows.size()); ++e)
        if (rows[std::size_t(e)] > 0)
            chosen_.push_back(e);
    costs_[std::size_t(l)]->choose(rows, chosen_);
    if (chosen_.empty())
        return;
    int kind = 0;
    for_each_expert_stack(from, [&](const Matrix& stack) {
        for (const int e : chosen_)
            stream_.add({kind, e, stack.expert(e).data, stack.bytes()});
        ++kind;
    });
}

void ExpertRing::start()
{
    if (!chosen_.empty())
        stream_.start();
}

std::span<const std::byte* const> ExpertRing::take()
{
    taken_.clear();
    // The other half of the places is being filled meanwhile.
    const std::size_t most = (std::size_t(places()) + 1) / 2;
    const std::size_t left = chosen_.size() - used_ % chosen_.size();
    while (taken_.size() < std::min(left, most) && stream_.may_take())
        taken_.push_back(stream_.take());
    used_ += taken_.size();
    stream_.wait_for_taken();
    return taken_;
}

void ExpertRing::end()
{
    if (chosen_.empty())
        return;
    if (!stream_.status() && status_)
        status_ = stream_.status();
    brought_bytes_ += std::int64_t(stream_.streamed_bytes());
    stream_.clear();
}

}  // namespace engine
