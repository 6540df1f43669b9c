// CallBody is what stands behind the mark of a call, and ReadCalls what it says so far.
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

/// What stands behind a mark, as far as it has come. It begins with no space.
struct CallBody {
    std::string_view text;
    std::string_view close;  // of its shape
    bool ended = false;      // no more text comes
    const Json& tools;       // as in OpenAI's requests
};

/// What is said of the beginning of a text holds for the text: calls stay, and their arguments only grow. So clients
/// can be told of them while they are being written.
struct ReadCalls {
    enum class Found { Calls, None, NotYet };
    Found found = Found::None;
    std::vector<WrittenCall> calls = {};  // NotYet: those that have begun, the last of which may not be whole
    std::size_t bytes = 0;                // of the text that they are
};

ReadCalls no_calls();
ReadCalls calls_not_yet();
/// Returns these calls, all of which are whole, for a body that ends with `rest`, or goes on.
ReadCalls calls_so_far(const CallBody& body, std::vector<WrittenCall> calls, std::string_view rest);

/// The call of this name whose arguments are the JSON object that begins here, as far as it has come. They are given as
/// they were written.
WrittenCall call_with(std::string name, std::string_view text);

/// What stands before a call's arguments is no longer.
inline constexpr std::size_t kLongestCallHead = 300;

std::string_view without_blanks_around(std::string_view text);
/// Cuts off the text up to the mark, and leaves what is behind it; nothing: there is no such mark.
std::optional<std::string_view> cut_off(std::string_view& text, std::string_view mark);

}  // namespace server
