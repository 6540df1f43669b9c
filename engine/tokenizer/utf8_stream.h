// Utf8Stream gives streamed text out in whole characters: a token may end in the middle of one.
#pragma once

#include <string>
#include <string_view>

namespace engine {

/// Takes the bytes of one token after the other and returns only whole UTF-8 characters. Bytes that cannot become a
/// character any more turn into U+FFFD, one for each longest part of a character that was begun. One thread at a time.
class Utf8Stream
{
public:
    /// Takes bytes, and returns the characters that are complete now.
    std::string feed(std::string_view bytes);

    /// Ends the stream: a character that was begun and not finished is one U+FFFD.
    std::string flush();

    /// Returns how many bytes are held back, 0 to 3.
    int held_bytes() const { return int(held_.size()); }

private:
    std::string held_;  // the beginning of one character
};

}  // namespace engine
