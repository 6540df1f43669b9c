// Fills the parameters of a built-in function from the arguments of a call.
#pragma once

#include "engine/template/value.h"

#include <initializer_list>
#include <string_view>
#include <vector>

namespace engine::jinja {

/// Matches arguments with parameters by position and name, as Python does, and refuses what does not fit. Lives during
/// one call.
class Parameters
{
public:
    Parameters(std::string_view function, Arguments& arguments, std::initializer_list<std::string_view> names,
               std::size_t required = 0);

    /// Returns Missing where the argument was not given.
    const Value& operator[](std::size_t i) const { return values_[i]; }
    bool given(std::size_t i) const { return !values_[i].is_missing(); }

    std::int64_t integer(std::size_t i, std::int64_t otherwise) const;
    const std::string& text(std::size_t i) const;   // required
    const TracedText& traced(std::size_t i) const;  // the same
    bool flag(std::size_t i, bool otherwise = false) const;
    bool is_none(std::size_t i) const { return values_[i].is_none() || values_[i].is_missing(); }

private:
    std::string_view function_;
    std::vector<Value> values_;
};

}  // namespace engine::jinja
