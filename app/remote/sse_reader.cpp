#include "app/remote/sse_reader.h"

#include <algorithm>
#include <utility>

namespace remote {

SseReader::State SseReader::add(std::string_view bytes)
{
    while (!bytes.empty()) {
        if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
            bytes.remove_prefix(1);
            continue;
        }
        const std::size_t end = std::min(bytes.find_first_of("\r\n"), bytes.size());
        if (line_.size() + end > kLongestEvent)
            return State::TooLong;
        line_.append(bytes.substr(0, end));
        if (end == bytes.size())
            return State::More;
        after_cr_ = bytes[end] == '\r';
        bytes.remove_prefix(end + 1);
        if (const State state = take_line(); state != State::More)
            return state;
    }
    return State::More;
}

SseReader::State SseReader::end()
{
    if (!line_.empty())
        if (const State state = take_line(); state != State::More)
            return state;
    return dispatch();
}

SseReader::State SseReader::take_line()
{
    std::string whole = std::exchange(line_, {});
    std::string_view line = whole;
    if (std::exchange(first_, false) && line.starts_with("\xef\xbb\xbf"))
        line.remove_prefix(3);
    if (line.empty())
        return dispatch();
    const std::size_t colon = std::min(line.find(':'), line.size());
    if (line.substr(0, colon) != "data")
        return State::More;
    line.remove_prefix(std::min(colon + 1, line.size()));
    if (line.starts_with(' '))
        line.remove_prefix(1);
    if (data_.size() + line.size() >= kLongestEvent)
        return State::TooLong;
    if (std::exchange(has_data_, true))
        data_ += '\n';
    data_ += line;
    return State::More;
}

SseReader::State SseReader::dispatch()
{
    if (!std::exchange(has_data_, false) || data_.empty())
        return State::More;
    return on_data_(std::exchange(data_, {})) ? State::More : State::Enough;
}

}  // namespace remote
