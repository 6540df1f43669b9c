// DraftedStep keeps an answer's rows of a step: its newest token, what was drafted after it, and how many of those
// tokens were accepted.
#pragma once

#include "engine/run/draft_length.h"
#include "engine/run/drafter.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace engine {

/// Records what drafts have brought, by kind of drafter; see DraftedBy.
using DraftRecords = std::array<DraftRecord, kDrafters>;

/// Says whether other turns have rows in a step.
enum class Company { None, OtherTurns };

/// Owned by a turn, on its thread. It reads no clock.
class DraftedStep
{
public:
    explicit DraftedStep(int most_drafted, DraftDepth depth = DraftDepth::Adaptive)
        : most_drafted_(most_drafted)
        , depth_(depth)
    {
    }
    /// Allows a drafter from now on. In each step drafts come from the one that promises most and has a guess; of those
    /// that have not been tried, from the one that was allowed first. `before`: what drafters of its kind have brought
    /// in earlier answers. Throws std::bad_alloc; so does ready().
    void allow(std::unique_ptr<Drafter> drafter, const DraftRecord& before = {});
    /// Takes the memory for all later steps.
    void ready() { tokens_.reserve(kMostRowsTogether); }

    /// Returns how many tokens would be drafted for the next step.
    int next_drafts(Company company) const;
    /// Begins a step with the newest token of the history, and `most` drafted ones at most. A drafter that computes its
    /// guesses does so for one turn at a time, and its cost is known only where no other turn has rows: it is left out
    /// in company.
    std::span<const int> begin(std::span<const int> history, int most, Company company);
    /// Begins the step again without drafts.
    std::span<const int> leave_out_drafts();
    bool has_drafts() const { return tokens_.size() > 1; }
    /// Says whether the step's time is that of one row: nothing is drafted, and no drafter has worked.
    bool is_plain() const { return !has_drafts() && aside_us_ == 0; }
    /// Drops the step, which will not be computed.
    void forget() { tokens_.clear(); }
    /// Call it when the step was computed: from then on its drafts can be judged.
    void computed() { row_ = 0; }

    /// Returns the row of the step whose logits come next. For a prompt's rows, set_row() says which it is.
    int row() const { return row_; }
    void set_row(int row) { row_ = row; }
    /// Says whether the token's row has been computed with those before it; then accept() goes on to it.
    bool has_row_of(int id) const { return unjudged() > 0 && tokens_[std::size_t(row_) + 1] == id; }
    void accept();
    /// Counts the drafted tokens at the end of the KV cache of which it is not known whether they are accepted.
    int unjudged() const { return tokens_.empty() ? 0 : int(tokens_.size()) - 1 - row_; }
    /// Ends the step: no further draft is accepted. The duration until now is the cost of drafts; none: other turns had
    /// rows in the step.
    void end(std::optional<std::int64_t> duration_us);
    bool over() const { return tokens_.empty(); }

    struct Counts {
        int drafted = 0, accepted = 0;
    };
    /// Writes down what each drafter has brought, under its kind.
    void keep_records(DraftRecords& records) const;
    /// Counts the drafts of the turn as far as they are judged, so that never more were accepted than drafted: all, or
    /// those of one kind of drafter.
    Counts counts() const;
    Counts counts(DraftedBy kind) const;

private:
    struct Source {
        std::unique_ptr<Drafter> drafter;
        DraftLength length;
        Counts counts = {};
        bool asked = false;  // in this step
    };
    static bool may(const Source& source, Company company);
    Source* next_source(Company company);

    int most_drafted_;
    DraftDepth depth_;
    std::vector<int> tokens_;  // empty: it is over
    int row_ = 0;
    std::vector<Source> sources_;
    Source* drafted_by_ = nullptr;  // in this step; null: nothing is drafted
    std::int64_t aside_us_ = 0;     // time that drafters spent in this step on reading tokens that they had missed
};

}  // namespace engine
