// fitted_line() makes a line of progress that a narrow terminal does not break: a broken one cannot be written anew.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cli {

/// Returns the columns that a text in UTF-8 takes: one for each character, as nearly all names have it.
std::size_t columns_of(std::string_view text);

/// Returns bar, name and facts one after another, as far as `columns` hold them: without the bar where they do not,
/// then with the end of the name alone, then the beginning of the facts. `bar` and `facts` in ASCII.
std::string fitted_line(const std::string& bar, const std::string& name, const std::string& facts, std::size_t columns);

}  // namespace cli
