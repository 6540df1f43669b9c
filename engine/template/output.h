// Output holds text that grows while a template prints.
#pragma once

#include "engine/template/heap.h"

#include <string>
#include <string_view>

namespace engine::jinja {

/// Holds a string whose growth is counted, also when the text is only on its way into another one.
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

    void add(std::string_view text, TextOrigin origin = kOtherText)
    {
        before(text.size());
        text_.append(text, origin);
        after(text.size());
    }
    /// `part` is a view into `source`.
    void add(const TracedText& source, std::string_view part)
    {
        before(part.size());
        text_.append(source, part);
        after(part.size());
    }
    void add(const TracedText& text) { add(text, text.bytes()); }

    TracedText take() { return std::move(text_); }
    bool is_empty() const { return text_.bytes().empty(); }

private:
    void before(std::size_t bytes)
    {
        heap_.budget.check_string(text_.bytes().size() + bytes);
        heap_.budget.spend_on_text(bytes);
        runs_ = text_.runs().size();
    }
    void after(std::size_t bytes)
    {
        bytes += (text_.runs().size() - runs_) * sizeof(TracedText::Run);
        heap_.budget.take(bytes);
        counted_ += bytes;
    }

    Heap& heap_;
    TracedText text_;
    std::size_t counted_ = 0;
    std::size_t runs_ = 0;
};

}  // namespace engine::jinja
