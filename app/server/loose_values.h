// LooseValues reads the values that models write in calls of tools: JSON's, Python's and Gemma's.
#pragma once

#include "app/server/fields.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace server {

/// Reads a text from its beginning, and skips space between the parts. The text outlives this object.
class LooseValues
{
public:
    explicit LooseValues(std::string_view text)
        : text_(text)
    {
    }

    /// Takes a mark, if the text goes on with it. False: it does not.
    bool take(std::string_view mark);
    /// Takes a name of letters, digits and other characters of names of functions.
    std::optional<std::string> name();
    /// Takes a text, number, list or object, or a word such as True.
    std::optional<Json> value() { return value_at(0); }

    /// Says whether reading failed because the text ended: more text may make it succeed.
    bool ran_out() const { return ran_out_; }
    std::size_t bytes_read() const { return at_; }

private:
    std::string_view rest() const { return text_.substr(at_); }
    void skip_space();
    std::optional<Json> value_at(int depth);
    std::optional<Json> marked_text();
    std::optional<Json> quoted_text(char quote);
    std::optional<Json> list(int depth);
    std::optional<Json> object(int depth);
    std::optional<Json> number_or_word();
    std::optional<std::string> key();

    const std::string_view text_;
    std::size_t at_ = 0;
    bool ran_out_ = false;
    std::int64_t compares_left_ = kMostNameCompares;  // of names
};

}  // namespace server
