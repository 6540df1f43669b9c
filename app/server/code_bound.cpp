#include "app/server/code_bound.h"

#include <cstddef>

namespace server {

std::string_view CodeBound::take(std::string_view piece, Clock::duration so_far)
{
    for (std::size_t i = 0; i < piece.size() && !over_; ++i) {
        const char c = piece[i];
        if (c == '\n') {
            over_ = most_time_.count() > 0 && so_far > most_time_;
            indent_ = 0;
        } else if (indent_ >= 0 && (c == ' ' || c == '\t')) {
            ++indent_;
        } else if (indent_ >= 0 && c != '\r') {
            over_ = indent_ < least_indent_;
            indent_ = -1;
        }
        if (over_)
            return piece.substr(0, i);
    }
    return over_ ? std::string_view() : piece;
}

}  // namespace server
