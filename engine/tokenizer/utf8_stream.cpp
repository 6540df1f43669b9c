// Streamed text in whole characters.
#include "engine/tokenizer/utf8_stream.h"

#include "engine/tokenizer/utf8.h"

#include <utility>

namespace engine {

static constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

std::string Utf8Stream::feed(std::string_view bytes)
{
    held_.append(bytes);
    std::string whole;
    std::size_t at = 0;
    while (at < held_.size()) {
        const Utf8Look look = look_at_utf8(held_, at);
        if (look.kind == Utf8Look::Kind::CutOff)
            break;
        if (look.kind == Utf8Look::Kind::Character)
            whole.append(held_, at, look.bytes);
        else
            whole.append(kReplacement);
        at += look.bytes;
    }
    held_.erase(0, at);
    return whole;
}

std::string Utf8Stream::flush()
{
    if (held_.empty())
        return {};
    held_.clear();
    return std::string(kReplacement);
}

}  // namespace engine
