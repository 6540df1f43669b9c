#include "app/server/http_reader.h"

#include <algorithm>
#include <charconv>

namespace server {

namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::size_t kLongestChunkLine = 256;

/// Says whether a text consists of RFC 9110's tchar, as names of methods and headers do.
bool is_token(std::string_view text)
{
    constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::ranges::all_of(text, [&](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               kMarks.find(c) != std::string_view::npos;
    });
}

bool is_printable(std::string_view text)
{
    return std::ranges::all_of(text, [](char c) { return c > ' ' && c != '\x7f'; });
}

std::string_view without_spaces_around(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t");
    return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

/// Says whether a list such as "keep-alive, Upgrade" has this word.
bool lists(std::string_view list, std::string_view word)
{
    for (std::size_t from = 0; from <= list.size();) {
        const std::size_t comma = std::min(list.find(',', from), list.size());
        if (lower_case(without_spaces_around(list.substr(from, comma - from))) == word)
            return true;
        from = comma + 1;
    }
    return false;
}

}  // namespace

HttpReader::HttpReader(const HttpLimits& limits)
    : limits_(limits)
{
}

std::size_t HttpReader::feed(std::string_view bytes)
{
    switch (state_) {
    case State::Head:
        return feed_head(bytes);
    case State::Body:
        return chunked_ ? feed_chunked(bytes) : feed_counted(bytes);
    case State::Whole:
    case State::Refused:
        break;
    }
    return 0;
}

std::size_t HttpReader::feed_head(std::string_view bytes)
{
    constexpr std::string_view kHeadEnd = "\r\n\r\n";
    const std::size_t before = held_.size(), most = limits_.head_bytes + kHeadEnd.size();
    held_ += bytes.substr(0, most - before);
    const std::size_t end = held_.find(kHeadEnd, before < kHeadEnd.size() ? 0 : before - kHeadEnd.size() + 1);
    if (end == std::string::npos) {
        if (held_.size() == most)
            refuse(431, "the head of the request is too large");
        return held_.size() - before;
    }
    held_.resize(end + kLineEnd.size());
    read_head();
    held_.clear();
    return end + kHeadEnd.size() - before;
}

void HttpReader::read_head()
{
    int lines = 0;
    for (std::size_t from = 0; from < held_.size(); ++lines) {
        const std::size_t end = held_.find(kLineEnd, from);
        const std::string_view line = std::string_view(held_).substr(from, end - from);
        if (lines > limits_.header_lines) {
            refuse(431, "the request has too many headers");
            return;
        }
        if (!(lines == 0 ? read_request_line(line) : read_header(line)))
            return;
        from = end + kLineEnd.size();
    }
    if (!read_framing())
        return;
    state_ = chunked_ || missing_ > 0 ? State::Body : State::Whole;
}

bool HttpReader::read_request_line(std::string_view line)
{
    const std::size_t first = line.find(' ');
    const std::size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
    if (second == std::string_view::npos)
        return refuse(400, "the first line of the request is not one of HTTP");
    const std::string_view method = line.substr(0, first), version = line.substr(second + 1);
    const std::string_view target = line.substr(first + 1, second - first - 1);
    if (!is_token(method) || !target.starts_with('/') || !is_printable(target))
        return refuse(400, "the first line of the request is not one of HTTP");
    if (version != "HTTP/1.1" && version != "HTTP/1.0")
        return refuse(505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
    const std::size_t question = std::min(target.find('?'), target.size());
    request_.method = method;
    request_.path = target.substr(0, question);
    request_.query = target.substr(std::min(question + 1, target.size()));
    request_.http_1_0 = version == "HTTP/1.0";
    return true;
}

bool HttpReader::read_header(std::string_view line)
{
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
        return refuse(400, "a header of the request is malformed");
    const std::string_view value = without_spaces_around(line.substr(colon + 1));
    if (std::ranges::any_of(value, [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == '\x7f'; }))
        return refuse(400, "a header of the request has control characters");
    request_.headers.push_back({lower_case(line.substr(0, colon)), std::string(value)});
    return true;
}

/// Reads from the headers how long the body is, and what they say of the connection.
bool HttpReader::read_framing()
{
    int hosts = 0, lengths = 0, encodings = 0;
    for (const HttpHeader& header : request_.headers) {
        hosts += header.name == "host";
        lengths += header.name == "content-length";
        encodings += header.name == "transfer-encoding";
    }
    if (hosts > 1 || (hosts == 0 && !request_.http_1_0))
        return refuse(400, "the request does not have one Host");
    if (lengths > 1 || encodings > 1 || (lengths > 0 && encodings > 0))
        return refuse(400, "the request says in two ways how long it is");
    if (encodings > 0) {
        if (request_.http_1_0 || lower_case(*request_.header("transfer-encoding")) != "chunked")
            return refuse(501, "the only transfer encoding that is known is chunked");
        chunked_ = true;
    }
    if (lengths > 0 && !read_length(*request_.header("content-length")))
        return false;
    const std::string* coding = request_.header("content-encoding");
    if (coding && lower_case(*coding) != "identity")
        return refuse(415, "a compressed body cannot be read");
    if (const std::string* expect = request_.header("expect")) {
        if (lower_case(*expect) != "100-continue")
            return refuse(417, "the only expectation that is known is 100-continue");
        request_.expects_continue = !request_.http_1_0;
    }
    const std::string* connection = request_.header("connection");
    request_.keeps_alive = request_.http_1_0 ? connection && lists(*connection, "keep-alive")
                                             : !connection || !lists(*connection, "close");
    return true;
}

bool HttpReader::read_length(const std::string& text)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), missing_);
    const bool too_large =
        error == std::errc::result_out_of_range || (error == std::errc() && missing_ > limits_.body_bytes);
    if (end != text.data() + text.size() || text.empty() || (error != std::errc() && !too_large))
        return refuse(400, "the request's Content-Length is not a number");
    if (too_large)
        return refuse(413, "the body of the request is too large");
    return true;
}

std::size_t HttpReader::feed_counted(std::string_view bytes)
{
    const std::size_t taken = std::min(bytes.size(), missing_);
    request_.body += bytes.substr(0, taken);
    missing_ -= taken;
    if (missing_ == 0)
        state_ = State::Whole;
    return taken;
}

std::size_t HttpReader::feed_chunked(std::string_view bytes)
{
    std::size_t taken = 0;
    while (state_ == State::Body && taken < bytes.size()) {
        const std::string_view rest = bytes.substr(taken);
        if (part_ == Part::ChunkData) {
            taken += feed_chunk_data(rest);
            continue;
        }
        held_ += rest.front();
        ++taken;
        if (held_.ends_with(kLineEnd)) {
            held_.resize(held_.size() - kLineEnd.size());
            end_of_chunk_line();
            held_.clear();
        } else if (held_.size() > kLongestChunkLine + kLineEnd.size() && part_ != Part::Trailers) {
            refuse(400, "a chunk of the body is malformed");
        } else if (part_ == Part::Trailers && trailer_bytes_ + held_.size() > limits_.head_bytes) {
            refuse(431, "the trailers of the request are too large");
        }
    }
    return taken;
}

std::size_t HttpReader::feed_chunk_data(std::string_view bytes)
{
    const std::size_t taken = std::min(bytes.size(), missing_);
    request_.body += bytes.substr(0, taken);
    missing_ -= taken;
    if (missing_ == 0)
        part_ = Part::ChunkEnd;
    return taken;
}

void HttpReader::end_of_chunk_line()
{
    switch (part_) {
    case Part::ChunkSize: {
        const std::string_view line = held_;
        const std::string_view digits = without_spaces_around(line.substr(0, line.find(';')));
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), missing_, 16);
        if (digits.empty() || end != digits.data() + digits.size() || error == std::errc::invalid_argument)
            refuse(400, "a chunk of the body is malformed");
        else if (error != std::errc() || missing_ > limits_.body_bytes - request_.body.size())
            refuse(413, "the body of the request is too large");
        else
            part_ = missing_ > 0 ? Part::ChunkData : Part::Trailers;
        break;
    }
    case Part::ChunkEnd:
        if (!held_.empty())
            refuse(400, "a chunk of the body is longer than it says");
        part_ = Part::ChunkSize;
        break;
    case Part::Trailers:
        trailer_bytes_ += held_.size();
        if (held_.empty())
            state_ = State::Whole;
        break;
    case Part::ChunkData:
        break;
    }
}

bool HttpReader::refuse(int status, const char* sentence)
{
    state_ = State::Refused;
    refusal_ = {status, sentence};
    return false;
}

}  // namespace server
