// The steps of a loaded model: what is computed, and what is computed again when a device was lost.
#include "engine/run/loaded_model.h"

#include <algorithm>
#include <cassert>

namespace engine {

Status LoadedModel::append(KvSequence& sequence, std::span<const int> tokens, int wanted)
{
    RowGroup group{&sequence, tokens};
    group.wanted = wanted < 0 ? group.count() : wanted;
    return append(std::span(&group, 1));
}

Status LoadedModel::append(std::span<RowGroup> groups)
{
    for (;;) {
        Status done = step(groups);
        if (done || !placement_->has_device())
            return done;
        if (done.error().code == Error::Code::DeviceLost)
            lose_device(done.error());
        else if (done.error().code != Error::Code::DeviceFull || !placement_->give_up_layer())
            return done;
    }
}

Status LoadedModel::step(std::span<RowGroup> groups)
{
    for (const RowGroup& group : groups)
        if (Status ok = restore_lost(*group.sequence); !ok)
            return ok;
    return compute(groups);
}

/// A lost device took tokens with it, or there was no memory for them in another type.
Status LoadedModel::restore_lost(KvSequence& sequence)
{
    if (const int intact = cache_->intact_tokens(sequence); intact < sequence.length()) {
        std::vector<int> lost(sequence.ids.begin() + intact, sequence.ids.end());
        lost.insert(lost.end(), sequence.lost.begin(), sequence.lost.end());
        cache_->truncate(sequence, intact);
        sequence.lost = std::move(lost);
    }
    while (!sequence.lost.empty()) {
        const std::vector<int> chunk(sequence.lost.begin(),
                                     sequence.lost.begin() +
                                         std::ptrdiff_t(std::min(sequence.lost.size(), std::size_t(max_rows()))));
        RowGroup group{&sequence, chunk};
        if (Status ok = compute(std::span(&group, 1)); !ok)
            return ok;  // what is still lost comes first when it is tried again
        sequence.lost.erase(sequence.lost.begin(), sequence.lost.begin() + std::ptrdiff_t(chunk.size()));
    }
    return {};
}

Status LoadedModel::compute(std::span<RowGroup> groups)
{
    int rows = 0;
    for (RowGroup& group : groups) {
        group.first = group.sequence->length();
        group.row = rows;
        rows += group.count();
        if (Status ok = cache_->reserve(*group.sequence, group.first + group.count()); !ok)
            return ok;
    }
    if (Status done = compute_reserved(groups); !done) {
        for (const RowGroup& group : groups)
            group.sequence->ids.resize(std::size_t(group.first));  // they are computed again
        return done;
    }
    return file_.still_whole();
}

/// A device computes one sequence.
Status LoadedModel::compute_reserved(std::span<const RowGroup> groups)
{
    const RowGroup& first = groups.front();
    assert(groups.size() == 1 || computes_together());
    if (Status ok = placement_->prepare(*first.sequence, first.first, first.count()); !ok)
        return ok;
    {
        const ThreadPool::Step working(cpu_->pool());
        decoder_->append(placement_->placement(), {*cache_, groups, placement_->step_device_layers(), clock_});
    }
    Status done = placement_->finish(*first.sequence, first.first, first.count());
    if (!done)
        for (const RowGroup& group : groups)
            cache_->states().spoil(*group.sequence);
    last_.assign(groups.begin(), groups.end());
    last_step_lost_ = false;
    return done;
}

/// Asks the decoder after the last step. Where the device that holds the answer is lost, the step is computed again
/// and the decoder asked anew.
template <class Ask>
auto LoadedModel::with_lost_step_repeated(KvSequence& sequence, const Ask& ask) -> Result<decltype(ask())>
{
    for (;;) {
        if (last_step_lost_)
            if (const Status ok = repeat_last_step(sequence); !ok)
                return tl::unexpected(ok.error());
        const auto logits = ask();
        const Status done = placement_->take_status();
        if (done)
            return logits;
        lose_device(done.error());
    }
}

Result<std::span<const float>> LoadedModel::logits(KvSequence& sequence, int row)
{
    return with_lost_step_repeated(
        sequence, [&] { return decoder_->logits(placement_->placement(), clock_, row_of(sequence) + row); });
}

Result<RowLogits> LoadedModel::logits(KvSequence& sequence, int row, std::optional<int> enough)
{
    return with_lost_step_repeated(
        sequence, [&] { return decoder_->logits(placement_->placement(), clock_, row_of(sequence) + row, enough); });
}

/// Of the last step, where the sequence's rows begin.
int LoadedModel::row_of(const KvSequence& sequence) const
{
    const auto group = std::ranges::find(last_, &sequence, &RowGroup::sequence);
    return group == last_.end() ? 0 : group->row;
}

/// Only a device can be lost, and it had one sequence's rows.
Status LoadedModel::repeat_last_step(KvSequence& sequence)
{
    const std::vector<int> ids = sequence.ids;
    const int first = last_.empty() ? 0 : last_.front().first;
    const int kept = cache_->truncate(sequence, first);
    sequence.lost.assign(ids.begin() + kept, ids.begin() + first);
    return append(sequence, std::span(ids).subspan(std::size_t(first)));
}

void LoadedModel::lose_device(const Error& error)
{
    last_step_lost_ = true;
    placement_->lose(error);
}

}  // namespace engine
