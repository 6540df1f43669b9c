// fitted_line() makes a line of progress that a narrow terminal does not break: a broken one cannot be written anew.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cli {

/// Returns the columns that a text in UTF-8 takes: one for each character, which is right for nearly all names.
std::size_t columns_of(std::string_view text);

/// Returns bar, name and facts one after another, as far as `columns` have room. Where they have not, the bar is left
/// out first, then the name's beginning; at last only the beginning of the facts is left. `bar` and `facts` in ASCII.
std::string fitted_line(const std::string& bar, const std::string& name, const std::string& facts, std::size_t columns);

}  // namespace cli
