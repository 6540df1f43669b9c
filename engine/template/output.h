// Text that grows while a template prints.
#pragma once

#include "engine/template/heap.h"

#include <string>
#include <string_view>

namespace engine::jinja {

/// A string whose growth is counted. Text that is on its way out counts like any other.
class Output
{
public:
    explicit Output(Heap& heap)
        : heap_(heap)
    {
    }
    ~Output() { heap_.budget.give_back(counted_); }
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    void add(std::string_view text)
    {
        heap_.budget.check_string(text_.size() + text.size());
        heap_.budget.spend_on_text(text.size());
        heap_.budget.take(text.size());
        counted_ += text.size();
        text_ += text;
    }

    std::string take() { return std::move(text_); }
    const std::string& text() const { return text_; }

private:
    Heap& heap_;
    std::string text_;
    std::size_t counted_ = 0;
};

}  // namespace engine::jinja
