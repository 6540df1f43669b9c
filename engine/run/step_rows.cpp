#include "engine/run/step_rows.h"

#include <algorithm>

namespace engine {

namespace {

class Division
{
public:
    Division(std::span<const RowsWanted> turns, int most)
        : turns_(turns)
        , rows_(turns.size())
        , left_(most)
    {
    }
    std::vector<int> take() { return std::move(rows_); }
    int left() const { return left_; }

    void one_each()
    {
        for (int& rows : rows_)
            left_ -= rows = left_ > 0 ? 1 : 0;
    }
    /// Gives up to `amount` more rows to the turns of one kind that are in the step.
    void share(bool answers, int amount)
    {
        amount = std::min(amount, left_);
        for (;;) {
            int open = 0;
            for (std::size_t i = 0; i < turns_.size(); ++i)
                open += can_have(i, answers);
            if (amount <= 0 || open == 0)
                return;
            const int each = std::max(1, amount / open);
            for (std::size_t i = 0; i < turns_.size() && amount > 0; ++i) {
                if (!can_have(i, answers))
                    continue;
                const int more = std::min({each, amount, turns_[i].most - rows_[i]});
                rows_[i] += more;
                amount -= more;
                left_ -= more;
            }
        }
    }

private:
    bool can_have(std::size_t i, bool answers) const
    {
        return turns_[i].answers == answers && rows_[i] > 0 && rows_[i] < turns_[i].most;
    }

    std::span<const RowsWanted> turns_;
    std::vector<int> rows_;
    int left_;
};

}  // namespace

std::vector<int> divide_rows(std::span<const RowsWanted> turns, int most)
{
    const auto answers = int(std::ranges::count(turns, true, &RowsWanted::answers));
    Division division(turns, answers > 0 ? std::min(most, kRowsBesideAnswers) : most);
    division.one_each();
    division.share(true, kMostRowsTogether - answers);
    division.share(false, division.left());
    return division.take();
}

}  // namespace engine
