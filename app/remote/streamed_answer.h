// StreamedAnswer takes the bytes of one answer as they come and tells a listener what is in them.
#pragma once

#include "app/net/http_client.h"
#include "app/remote/answer_numbers.h"
#include "app/remote/answer_reader.h"
#include "app/remote/sse_reader.h"
#include "engine/engine.h"

#include <optional>
#include <string>

namespace remote {

/// One thread; made for one turn.
class StreamedAnswer
{
public:
    StreamedAnswer(const std::string& host, const engine::Request& request, const engine::Listener& listener,
                   AnswerNumbers numbers, int context_tokens);

    /// Returns the reader to which HttpClient is to give the answer. This object has to outlive the request.
    net::HttpReader reader();
    /// Call it when the request has ended. A failure: the answer was not complete.
    net::Status end();
    /// Says whether some of the answer has come.
    bool begun() const { return !text_.empty(); }
    /// Says whether the server has marked the end of the answer; how the connection ends does not matter then.
    bool done() const { return done_; }

    /// Returns the turn with the text and numbers so far; `stopped`: the user stopped it.
    engine::Turn turn(bool stopped) const;

private:
    net::Status take_head(const net::HttpHead& head);
    net::Status take_bytes(std::string_view bytes);
    bool take_data(const std::string& data);
    void tell_prompt();
    void tell_telemetry(engine::Phase phase);
    void tell_progress();

    std::string host_;
    const engine::Request& request_;
    const engine::Listener& listener_;
    AnswerNumbers numbers_;
    int context_tokens_;
    AnswerReader answer_;
    SseReader events_;
    std::optional<net::Failure> failure_;
    bool is_stream_ = true;
    bool done_ = false;  // "[DONE]"
    bool prompt_told_ = false;
    std::optional<AnswerNumbers::Clock::time_point> progress_told_;
    std::string whole_;  // the body of an answer in one piece
    std::string text_;
};

}  // namespace remote
