#include "app/cli/fitted_line.h"

#include <algorithm>

namespace cli {

namespace {

constexpr std::size_t kLeastOfAName = 8;  // less of it tells nobody which file it is

bool begins_character(char c)
{
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

std::string last_characters(const std::string& text, std::size_t count)
{
    std::size_t at = text.size();
    while (at > 0 && count > 0)
        count -= begins_character(text[--at]) ? 1 : 0;
    return text.substr(at);
}

}  // namespace

std::size_t columns_of(std::string_view text)
{
    return std::size_t(std::count_if(text.begin(), text.end(), begins_character));
}

std::string fitted_line(const std::string& bar, const std::string& name, const std::string& facts, std::size_t columns)
{
    const std::size_t most = std::max<std::size_t>(columns, 1) - 1;  // some terminals break a line that fills them
    const std::size_t of_name = columns_of(name);
    if (bar.size() + of_name + facts.size() <= most)
        return bar + name + facts;
    if (of_name + facts.size() <= most)
        return name + facts;
    if (facts.size() + 1 + kLeastOfAName <= most)
        return "…" + last_characters(name, most - facts.size() - 1) + facts;
    return facts.substr(0, most);
}

}  // namespace cli
