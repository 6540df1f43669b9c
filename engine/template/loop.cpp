// Gives the values of loop.*.
#include "engine/template/loop.h"

#include "engine/template/operators.h"

namespace engine::jinja {

Loop::Loop(Heap& home, Value sequence, int outer_loops)
    : Object(home, Type::Loop)
    , depth0(outer_loops)
    , sequence_(sequence)
    , iterator_(std::make_unique<Iterator>(home, std::move(sequence)))
{
}

bool Loop::advance(Value& item)
{
    if (!peek())
        return false;
    item = std::move(after_);
    after_ = Value();
    ++index0;
    before_ = std::move(current_);
    current_ = item;
    return true;
}

bool Loop::peek()
{
    Level level(heap.budget);  // loops over loops recurse
    return !after_.is_missing() || iterator_->next(after_);
}

std::int64_t Loop::length()
{
    if (length_ >= 0)
        return length_;
    Level level(heap.budget);
    if (const auto known = length_of(sequence_)) {
        length_ = *known;
    } else {
        Value rest = heap.list();
        for (Value item; iterator_->next(item);)
            rest.as<List>().push(item);
        length_ = require_length(rest) + index0 + 1 + (after_.is_missing() ? 0 : 1);
        iterator_ = std::make_unique<Iterator>(heap, std::move(rest));
    }
    return length_;
}

Value Loop::previous_item()
{
    return before_.is_missing() ? heap.undefined("there is no previous item") : before_;
}

Value Loop::next_item()
{
    return peek() ? after_ : heap.undefined("there is no next item");
}

bool Loop::changed(const std::vector<Value>& values)
{
    bool same = asked_for_change_ && values.size() == last_values_.size();
    for (std::size_t i = 0; same && i < values.size(); ++i)
        same = equal(heap, values[i], last_values_[i]);
    asked_for_change_ = true;
    last_values_ = values;
    return !same;
}

void Loop::drop_references()
{
    iterator_.reset();
    last_values_.clear();
    sequence_ = before_ = current_ = after_ = scope = Value();
}

}  // namespace engine::jinja
