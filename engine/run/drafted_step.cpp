#include "engine/run/drafted_step.h"

#include <algorithm>

namespace engine {

std::span<const int> DraftedStep::begin(std::span<const int> history, int most)
{
    tokens_.assign(1, history.back());
    if (repeated_) {
        const std::span<const int> guessed = repeated_->next(history, std::min(length_.next(), most));
        tokens_.insert(tokens_.end(), guessed.begin(), guessed.end());
    }
    row_ = int(tokens_.size()) - 1;  // none is unjudged until they are computed
    return tokens_;
}

std::span<const int> DraftedStep::leave_out_drafts()
{
    tokens_.resize(1);
    row_ = 0;
    return tokens_;
}

void DraftedStep::computed()
{
    row_ = 0;
    drafted_ += int(tokens_.size()) - 1;
}

void DraftedStep::accept()
{
    ++row_;
    ++accepted_;
}

void DraftedStep::end(std::optional<std::int64_t> duration_us)
{
    if (repeated_)
        length_.note(int(tokens_.size()) - 1, row_, duration_us);
    tokens_.clear();
}

}  // namespace engine
