// JsonBrackets counts how deep the brackets of a JSON text are nested while it is read byte by byte.
#pragma once

namespace server {

/// Brackets in strings do not count. Checks nothing else.
class JsonBrackets
{
public:
    /// Returns how deep the text is nested behind this byte.
    int feed(char c)
    {
        if (in_string_) {
            in_string_ = escaped_ || c != '"';
            escaped_ = !escaped_ && c == '\\';
        } else if (c == '"') {
            in_string_ = true;
        } else if (c == '{' || c == '[') {
            ++depth_;
        } else if (c == '}' || c == ']') {
            --depth_;
        }
        return depth_;
    }
    int depth() const { return depth_; }
    bool in_string() const { return in_string_; }

private:
    int depth_ = 0;
    bool in_string_ = false, escaped_ = false;
};

}  // namespace server
