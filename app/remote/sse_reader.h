// SseReader splits a stream of server-sent events, which may come in pieces of any length.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace remote {

/// Lines end in CR, LF or both; comments and all fields but "data" are passed over. One thread; made for one answer.
class SseReader
{
public:
    static constexpr std::size_t kLongestEvent = 1 << 20;

    /// Calls `on_data` with the data of each event; it returns false to end the reading.
    explicit SseReader(std::function<bool(const std::string& data)> on_data)
        : on_data_(std::move(on_data))
    {
    }

    enum class State { More, Enough, TooLong };
    State add(std::string_view bytes);
    /// Call it at the end of the stream: a last event without an empty line behind it counts, too, since some servers
    /// end so.
    State end();

private:
    State take_line();
    State dispatch();

    std::function<bool(const std::string&)> on_data_;
    std::string line_;
    std::string data_;
    bool has_data_ = false;
    bool after_cr_ = false;
    bool first_ = true;
};

}  // namespace remote
