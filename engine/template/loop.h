// Provides the `loop` variable of a for block.
#pragma once

#include "engine/template/iterate.h"

#include <memory>

namespace engine::jinja {

struct Statement;

/// Walks the sequence of one for block and gives the values of loop.*. Looks one item ahead only when asked to, and
/// counts a lazy sequence only when asked to, as Jinja does.
struct Loop final : Object {
    Loop(Heap& home, Value sequence, int outer_loops);
    bool advance(Value& item);
    std::int64_t length();
    bool is_last() { return !peek(); }
    Value previous_item();
    Value next_item();
    bool changed(const std::vector<Value>& values);
    void drop_references() override;

    std::int64_t index0 = -1;
    int depth0;
    const Statement* recursive = nullptr;  // the for block, when it may be called again with loop(...)
    Value scope;                           // the scope in which the block stands

private:
    bool peek();

    Value sequence_;
    std::unique_ptr<Iterator> iterator_;
    std::int64_t length_ = -1;
    Value before_, current_, after_;
    std::vector<Value> last_values_;
    bool asked_for_change_ = false;
};

}  // namespace engine::jinja
