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
    there_ = nullptr;
    for (const RowGroup& group : groups)
        for (int row = group.count() - group.wanted; row < group.count(); ++row)
            wanted_.push_back(group.row + row);
}

/// Returns where several rows' logits lie that were computed together.
Rows& OutputHead::rows_together(Backend& on)
{
    return on.memory_space() == MemorySpace::Device ? on.activations(host_).logits : together_;
}

OutputHead::Computed OutputHead::compute(const HeadWeights& head, Backend& on, int row)
{
    const auto found = std::ranges::lower_bound(wanted_, row);
    const bool wanted = found != wanted_.end() && *found == row;
    if (!wanted || wanted_.size() < 2 || streams_.several() || !head.norm) {
        compute_alone(head, on, row);
        return {on.activations(host_).logits};
    }
    const Rows& rows = rows_together(on);
    const auto at = std::size_t(found - wanted_.begin()), in_run = at % std::size_t(rows.capacity_rows());
    if (there_ != &on || first_together_ != at - in_run)
        compute_together(head, on, at - in_run);
    return {rows, int(in_run)};
}

void OutputHead::compute_together(const HeadWeights& head, Backend& on, std::size_t first)
{
    Activations& a = on.activations(host_);
    const bool on_host = on.memory_space() == MemorySpace::Host;
    Rows &x = on_host ? a.x : a.last, &normed = on_host ? a.x : a.last_x, &logits = rows_together(on);
    const std::size_t count = std::min(wanted_.size() - first, std::size_t(logits.capacity_rows()));
    const auto dim = std::size_t(a.hidden.cols());
    x.set_shape(int(count), a.hidden.cols());
    for (std::size_t i = 0; i < count; ++i)
        on.copy(a.hidden.row(wanted_[first + i]), x.row(int(i)), dim);
    multiply(head, on, x, normed, logits);
    first_together_ = first;
    there_ = &on;
}

/// Computes the logits of one row, which stay where the head lies.
void OutputHead::compute_alone(const HeadWeights& head, Backend& on, int row)
{
    Activations& a = on.activations(host_);
    if (streams_.several())
        streams_.join(head, row, on, a);
    else
        on.copy_row(a.hidden, row, a.last);
    multiply(head, on, a.last, a.last_x, a.logits);
    there_ = nullptr;
}

void OutputHead::multiply(const HeadWeights& head, Backend& on, Rows& x, Rows& normed, Rows& logits)
{
    if (head.norm)
        streams_.norm_rows(x, head.norm, head.output, on, normed);
    const Product output{&head.output, nullptr, 0};
    on.products(normed, std::span(&output, 1), logits);
    if (h_.final_softcap != 0.0f)
        on.soft_cap(h_.final_softcap, logits);
}

std::span<const float> OutputHead::fetch(Backend& on, const Computed& computed)
{
    const auto vocabulary = std::size_t(h_.vocabulary);
    if (on.memory_space() == MemorySpace::Host)
        return {computed.logits.row(computed.row), vocabulary};
    on.fetch(computed.logits, {computed.row, 1}, host_.logits);
    return {host_.logits.row(0), vocabulary};
}

std::span<const float> OutputHead::logits(const HeadWeights& head, Backend& on, int row)
{
    return fetch(on, compute(head, on, row));
}

RowLogits OutputHead::logits(const HeadWeights& head, Backend& on, int row, std::optional<int> enough)
{
    const Computed computed = compute(head, on, row);
    if (enough)
        if (const RowLogits largest = on.fetch_largest(computed.logits, computed.row, *enough);
            !largest.largest.empty())
            return largest;
    return {.all = fetch(on, computed), .largest = {}};
}

}  // namespace engine
