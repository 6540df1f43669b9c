// HttpReader puts one request together from bytes as they come, and refuses what is malformed or too large.
//
// It is strict, since its clients are programs: lines end with CR LF, a header is on one line, and nothing that two
// readers could take for two different requests is guessed at.
#pragma once

#include "app/server/http_message.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace server {

struct HttpLimits {
    std::size_t head_bytes = 64 << 10;  // the request line and all headers; trailers, too
    int header_lines = 100;
    std::size_t body_bytes = 32 << 20;
};

/// Says why a request is refused. The connection cannot be used any more.
struct HttpRefusal {
    int status = 0;
    std::string sentence;
};

class HttpReader
{
public:
    enum class State {
        Head,     // is still being read
        Body,     // the head is whole
        Whole,    // all of it is there
        Refused,  // refusal() says why
    };

    explicit HttpReader(const HttpLimits& limits);

    /// Takes bytes up to the end of the head, in further calls up to the end of the request. Returns how many it took;
    /// the rest is for the next call, or the next request.
    std::size_t feed(std::string_view bytes);

    State state() const { return state_; }
    /// Says whether nothing has come yet.
    bool empty() const { return state_ == State::Head && held_.empty(); }
    const HttpRequest& request() const { return request_; }
    HttpRequest& request() { return request_; }
    const HttpRefusal& refusal() const { return refusal_; }

private:
    enum class Part { ChunkSize, ChunkData, ChunkEnd, Trailers };

    std::size_t feed_head(std::string_view bytes);
    std::size_t feed_counted(std::string_view bytes);
    std::size_t feed_chunked(std::string_view bytes);
    std::size_t feed_chunk_data(std::string_view bytes);
    void end_of_chunk_line();
    void read_head();
    bool read_request_line(std::string_view line);
    bool read_header(std::string_view line);
    bool read_framing();
    bool read_length(const std::string& text);
    bool refuse(int status, const char* sentence);

    HttpLimits limits_;
    State state_ = State::Head;
    Part part_ = Part::ChunkSize;
    bool chunked_ = false;
    std::string held_;         // a head, or a line of a chunked body, that is not whole yet
    std::size_t missing_ = 0;  // bytes of the body, or of its present chunk
    std::size_t trailer_bytes_ = 0;
    HttpRequest request_;
    HttpRefusal refusal_;
};

}  // namespace server
