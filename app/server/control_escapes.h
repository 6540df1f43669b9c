// ControlEscapes writes the line breaks that models leave in the texts of JSON as JSON has them.
#pragma once

#include "app/server/fields.h"

#include <string>
#include <string_view>

namespace server {

/// Reads a JSON text that comes in pieces, such as the arguments of a call. Valid JSON stays as it is.
class ControlEscapes
{
public:
    /// Returns the next piece, with escapes in place of line breaks and other control characters between quotes: these
    /// have one meaning only. Other faults have several, as a wrong backslash does, and stay for the client to see.
    std::string escaped(std::string_view piece)
    {
        std::string text;
        for (const char c : piece) {
            if (in_text_ && !escapes_next_ && static_cast<unsigned char>(c) < 0x20) {
                const std::string quoted = Json(std::string(1, c)).dump();
                text.append(quoted, 1, quoted.size() - 2);
                continue;
            }
            text += c;
            in_text_ = in_text_ != (c == '"' && !escapes_next_);
            escapes_next_ = in_text_ && c == '\\' && !escapes_next_;
        }
        return text;
    }

private:
    bool in_text_ = false, escapes_next_ = false;
};

}  // namespace server
