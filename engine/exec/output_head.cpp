#include "engine/exec/output_head.h"

#include <algorithm>

namespace engine {

OutputHead::OutputHead(const Hyperparameters& h, const ResidualStreams& streams, Activations& host, int max_rows)
    : h_(h)
    , streams_(streams)
    , host_(host)
    , together_(std::min(kMostRowsTogether, max_rows), h.vocabulary)
{
    wanted_.reserve(std::size_t(max_rows));
}

void OutputHead::begin_step(std::span<const RowGroup> groups)
{
    wanted_.clear();
    computed_ = false;
    for (const RowGroup& group : groups)
        for (int row = group.count() - group.wanted; row < group.count(); ++row)
            wanted_.push_back(group.row + row);
}

/// Empty: the row is computed by itself.
std::span<const float> OutputHead::together(const HeadWeights& head, Backend& on, int row)
{
    const auto found = std::ranges::lower_bound(wanted_, row);
    const bool wanted = found != wanted_.end() && *found == row;
    if (!wanted || wanted_.size() < 2 || streams_.several() || !head.norm || on.memory_space() == MemorySpace::Device)
        return {};
    const auto at = std::size_t(found - wanted_.begin()), in_run = at % std::size_t(kMostRowsTogether);
    if (!computed_ || first_together_ != at - in_run)
        compute_together(head, on, at - in_run);
    return {together_.row(int(in_run)), std::size_t(h_.vocabulary)};
}

void OutputHead::compute_together(const HeadWeights& head, Backend& on, std::size_t first)
{
    const std::size_t count = std::min(wanted_.size() - first, std::size_t(kMostRowsTogether));
    const auto dim = std::size_t(host_.hidden.cols());
    host_.x.set_shape(int(count), host_.hidden.cols());
    for (std::size_t i = 0; i < count; ++i)
        std::copy_n(host_.hidden.row(wanted_[first + i]), dim, host_.x.row(int(i)));
    streams_.norm_rows(host_.x, head.norm, head.output, on, host_.x);
    const Product output{&head.output, nullptr, 0};
    on.products(host_.x, std::span(&output, 1), together_);
    if (h_.final_softcap != 0.0f)
        on.soft_cap(h_.final_softcap, together_);
    first_together_ = first;
    computed_ = true;
}

/// One row's logits, which stay where the head lies.
void OutputHead::compute(const HeadWeights& head, Backend& on, int row)
{
    Activations& a = on.activations(host_);
    if (streams_.several())
        streams_.join(head, row, on, a);
    else
        on.copy_row(a.hidden, row, a.last);
    if (head.norm)
        streams_.norm_rows(a.last, head.norm, head.output, on, a.last_x);
    const Product output{&head.output, nullptr, 0};
    on.products(a.last_x, std::span(&output, 1), a.logits);
    if (h_.final_softcap != 0.0f)
        on.soft_cap(h_.final_softcap, a.logits);
}

std::span<const float> OutputHead::fetch(Backend& on)
{
    if (on.memory_space() == MemorySpace::Device)
        on.fetch(on.activations(host_).logits, host_.logits);
    return {host_.logits.row(0), std::size_t(h_.vocabulary)};
}

std::span<const float> OutputHead::logits(const HeadWeights& head, Backend& on, int row)
{
    if (const auto rows = together(head, on, row); !rows.empty())
        return rows;
    compute(head, on, row);
    return fetch(on);
}

RowLogits OutputHead::logits(const HeadWeights& head, Backend& on, int row, std::optional<int> enough)
{
    if (const auto rows = together(head, on, row); !rows.empty())
        return {.all = rows, .largest = {}};
    compute(head, on, row);
    if (enough)
        if (const RowLogits largest = on.fetch_largest(on.activations(host_).logits, *enough); !largest.largest.empty())
            return largest;
    return {.all = fetch(on), .largest = {}};
}

}  // namespace engine
