// DraftedStep keeps what an answer has of a step: its newest token, what was drafted after it, and how much of that
// stands.
#pragma once

#include "engine/run/draft_length.h"
#include "engine/run/ngram_index.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace engine {

/// Owned by a turn, on its thread. It reads no clock.
class DraftedStep
{
public:
    explicit DraftedStep(int most_drafted)
        : length_(most_drafted)
    {
    }
    /// Drafts come from what the conversation repeats from now on. Throws std::bad_alloc; so does ready().
    void allow(int context_tokens) { repeated_.emplace(context_tokens); }
    /// Takes the memory of all later steps.
    void ready() { tokens_.reserve(kMostRowsTogether); }

    /// Tokens that it would draft for the next step.
    int next_drafts() const { return repeated_ ? length_.next() : 0; }
    /// A step begins: the newest token of the history, and `most` drafted ones at most.
    std::span<const int> begin(std::span<const int> history, int most);
    /// The same without drafts.
    std::span<const int> leave_out_drafts();
    bool has_drafts() const { return tokens_.size() > 1; }
    /// It is not computed.
    void forget() { tokens_.clear(); }
    /// It was computed.
    void computed();

    /// The row of the step whose logits come next; of a prompt's, whoever computed it says which.
    int row() const { return row_; }
    void set_row(int row) { row_ = row; }
    /// Whether the token's row has been computed with those before it; then accept() goes on to it.
    bool has_row_of(int id) const { return unjudged() > 0 && tokens_[std::size_t(row_) + 1] == id; }
    void accept();
    /// Drafted tokens at the end of the KV cache of which it is not known whether they stand.
    int unjudged() const { return tokens_.empty() ? 0 : int(tokens_.size()) - 1 - row_; }
    /// Nothing more of it stands. The duration until now is what drafts cost; none: others had rows in it, too.
    void end(std::optional<std::int64_t> duration_us);
    bool over() const { return tokens_.empty(); }

    int drafted() const { return drafted_; }
    int accepted() const { return accepted_; }

private:
    std::vector<int> tokens_;  // empty: it is over
    int row_ = 0;
    std::optional<NgramIndex> repeated_;  // empty: nothing is drafted
    DraftLength length_;
    int drafted_ = 0, accepted_ = 0;  // of the turn
};

}  // namespace engine
