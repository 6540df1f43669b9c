// Converts text from left to right, for instance to upper case or with escapes.
#pragma once

#include "engine/template/heap.h"

#include <algorithm>
#include <limits>
#include <span>

namespace engine::jinja {

/// Follows one conversion: it tells where places of the text lie in the result, and checks the clock and the length
/// from time to time.
class Conversion
{
public:
    Conversion() = default;  // of a text so short that nothing has to be checked
    Conversion(Budget& budget, std::span<std::size_t> places)
        : budget_(&budget)
        , places_(places)
    {
        set_next(0);
    }

    /// Notes that all before byte `at` of the text has become `made` bytes. Call it for each character.
    void reached(std::size_t at, std::size_t made)
    {
        if (at >= next_)
            note(at, made);
    }

private:
    static constexpr std::size_t kBytesBetweenLooks = 16384;

    void note(std::size_t at, std::size_t made)
    {
        for (; !places_.empty() && places_.front() <= at; places_ = places_.subspan(1))
            places_.front() = made;
        if (at >= next_look_) {
            budget_->look();
            budget_->check_string(made);
        }
        set_next(at);
    }
    void set_next(std::size_t at)
    {
        if (at >= next_look_)
            next_look_ = at + kBytesBetweenLooks;
        next_ = places_.empty() ? next_look_ : std::min(next_look_, places_.front());
    }

    Budget* budget_ = nullptr;
    std::span<std::size_t> places_;  // those that are still ahead
    std::size_t next_look_ = 0;
    std::size_t next_ = std::numeric_limits<std::size_t>::max();
};

/// Returns what `convert(bytes, conversion)` makes of a text; each run of the result has the origin of the text's run.
template <class Convert>
TracedText converted(Heap& heap, const TracedText& text, Convert convert)
{
    heap.budget.spend_on_text(text.bytes().size() * 4);
    std::vector<std::size_t> places;
    for (const TracedText::Run& run : text.runs())
        places.push_back(run.end);
    Conversion conversion(heap.budget, places);
    std::string made = convert(text.bytes(), conversion);
    if (places.empty())
        return TracedText(std::move(made));
    places.back() = made.size();
    if (places.size() == 1)
        return TracedText(std::move(made), text.runs().front().origin);
    TracedText result;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < places.size(); begin = places[i++])
        result.append(std::string_view(made).substr(begin, places[i] - begin), text.runs()[i].origin);
    return result;
}

}  // namespace engine::jinja
