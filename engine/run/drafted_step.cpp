#include "engine/run/drafted_step.h"

#include <algorithm>
#include <utility>

namespace engine {

void DraftedStep::allow(std::unique_ptr<Drafter> drafter, const DraftRecord& before)
{
    sources_.push_back({std::move(drafter), DraftLength(most_drafted_, depth_, before)});
}

void DraftedStep::keep_records(DraftRecords& records) const
{
    for (const Source& source : sources_)
        records[std::size_t(source.drafter->kind())] = source.length.record();
}

bool DraftedStep::may(const Source& source, Company company)
{
    return (company == Company::None || source.drafter->kind() == DraftedBy::Repetition) && source.length.next() > 0;
}

int DraftedStep::next_drafts(Company company) const
{
    int most = 0;
    for (const Source& source : sources_)
        if (may(source, company))
            most = std::max(most, source.length.next());
    return most;
}

/// Returns the best drafter of those that were not asked in this step; null: there is none.
DraftedStep::Source* DraftedStep::next_source(Company company)
{
    Source* best = nullptr;
    for (Source& source : sources_)
        if (!source.asked && may(source, company) && (!best || source.length.promised() > best->length.promised()))
            best = &source;
    return best;
}

std::span<const int> DraftedStep::begin(std::span<const int> history, int most, Company company)
{
    tokens_.assign(1, history.back());
    drafted_by_ = nullptr;
    aside_us_ = 0;
    for (Source& source : sources_)
        source.asked = false;
    while (Source* const source = drafted_by_ ? nullptr : next_source(company)) {
        source->asked = true;
        const std::span<const int> guessed = source->drafter->next(history, std::min(source->length.next(), most));
        aside_us_ += source->drafter->aside_us();
        if (guessed.empty())
            continue;
        drafted_by_ = source;
        tokens_.insert(tokens_.end(), guessed.begin(), guessed.end());
    }
    row_ = int(tokens_.size()) - 1;  // the drafts cannot be judged before they are computed
    return tokens_;
}

std::span<const int> DraftedStep::leave_out_drafts()
{
    tokens_.resize(1);
    drafted_by_ = nullptr;
    row_ = 0;
    return tokens_;
}

void DraftedStep::accept()
{
    ++row_;
    ++drafted_by_->counts.drafted;
    ++drafted_by_->counts.accepted;
}

void DraftedStep::end(std::optional<std::int64_t> duration_us)
{
    if (duration_us)
        *duration_us = std::max<std::int64_t>(0, *duration_us - aside_us_);
    const int drafted = int(tokens_.size()) - 1;
    if (drafted_by_)
        drafted_by_->counts.drafted += unjudged();
    for (Source& source : sources_) {
        if (&source == drafted_by_)
            source.length.note(drafted, row_, duration_us);
        else  // a pause goes on also where the token came from elsewhere
            source.length.note(0, row_, drafted == 0 ? duration_us : std::nullopt);
    }
    tokens_.clear();
}

DraftedStep::Counts DraftedStep::counts() const
{
    Counts sum;
    for (const Source& source : sources_) {
        sum.drafted += source.counts.drafted;
        sum.accepted += source.counts.accepted;
    }
    return sum;
}

DraftedStep::Counts DraftedStep::counts(DraftedBy kind) const
{
    const auto source = std::ranges::find_if(sources_, [&](const Source& s) { return s.drafter->kind() == kind; });
    return source == sources_.end() ? Counts() : source->counts;
}

}  // namespace engine
