// LooseValues reads the values that models write in calls of tools: JSON's, Python's and Gemma's.
#pragma once

#include "app/server/fields.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace server {

/// Goes through a text from its front, over space between what is read. The text outlives it.
class LooseValues
{
public:
    explicit LooseValues(std::string_view text)
        : text_(text)
    {
    }

    /// False: something else stands there.
    bool take(std::string_view mark);
    /// Letters, digits and what stands in names of functions.
    std::optional<std::string> name();
    /// A text, number, list or object, or a word such as True.
    std::optional<Json> value() { return value_at(0); }

    /// What could not be read may be the beginning of something that can.
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
};

}  // namespace server
