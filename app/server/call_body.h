// CallBody is the text behind the mark of a call, ReadCalls the calls that were read from it so far.
#pragma once

#include "app/server/fields.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace server {

struct WrittenCall {
    std::string name;
    std::string arguments;  // a JSON object, as far as it has come
    bool whole = true;
};

/// Holds the text behind a mark, as far as it has come. It does not begin with a space.
struct CallBody {
    std::string_view text;
    std::string_view close;  // the mark that ends calls of its shape
    bool ended = false;      // no more text comes
    const Json& tools;       // as in OpenAI's requests
};

/// Holds the calls that the beginning of a text contains. More text never takes a call back, and arguments only grow,
/// so that clients get calls while they are being written.
struct ReadCalls {
    enum class Found { Calls, None, NotYet };
    Found found = Found::None;
    std::vector<WrittenCall> calls = {};  // NotYet: those that have begun, the last of which may not be whole
    std::size_t bytes = 0;                // of the text that the calls take up
};

ReadCalls no_calls();
ReadCalls calls_not_yet();
/// Returns these calls, all of which are whole; `rest`: the body's text behind them. NotYet as long as neither the mark
/// that closes them nor the end of the text has come.
ReadCalls calls_so_far(const CallBody& body, std::vector<WrittenCall> calls, std::string_view rest);

/// Returns the call of this name with the JSON object that `text` begins with as its arguments, as far as it has come,
/// and as it was written.
WrittenCall call_with(std::string name, std::string_view text);

/// The most bytes that may stand before a call's arguments.
inline constexpr std::size_t kLongestCallHead = 300;

std::string_view without_blanks_around(std::string_view text);
/// Removes the text up to and with the mark, and returns the part before the mark; empty: there is no such mark.
std::optional<std::string_view> cut_off(std::string_view& text, std::string_view mark);

}  // namespace server
