// Dialect translates one API: its requests into an Ask, and the events of a turn into its answers.
#pragma once

#include "app/server/ask.h"
#include "app/server/engine_desk.h"
#include "app/server/fields.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace server {

struct Call {
    std::string id, name;
    std::string arguments;  // a JSON object, as the model wrote it
};

/// A turn that is over.
struct Answer {
    std::string text, thought;
    std::vector<Call> calls;
    std::vector<engine::TokenLogprobs> tokens;  // where they were asked for
    Ended ended;
};

/// Says one answer in the words of its API. For one request, on its thread.
class Wording
{
public:
    virtual ~Wording() = default;

    /// What comes next belongs to this one of several answers.
    virtual void turn_to(int /*choice*/) {}
    /// Returns what a stream is sent when this happens; empty: nothing. Failed and Ended are the last.
    virtual std::string piece(const TurnEvent& event) = 0;
    /// Keeps a silent stream alive.
    virtual std::string ping() const { return ": still at it\n\n"; }
    virtual const char* stream_type() const { return "text/event-stream"; }
    /// The whole answer, where no stream was asked for.
    virtual std::string whole(const Answer& answer) = 0;
    /// Does the same for as many answers as were asked for.
    virtual std::string whole_of_all(const std::vector<Answer>& answers) { return whole(answers.front()); }
};

struct Asked {
    Ask ask;
    std::unique_ptr<Wording> wording;
};

class Dialect
{
public:
    virtual ~Dialect() = default;
    virtual tl::expected<Asked, Refusal> read(const Json& body, const Served& served) const = 0;
    /// The body of an answer that is an error.
    virtual std::string error(const Refusal& refusal) const = 0;
};

/// The request that an empty body stands for, before its fields are read.
Ask unsaid_ask(const Served& served);

/// Leaves out the call in whose arguments the answer was cut off: for APIs that give them as an object, which would be
/// another call. Other APIs answer as in their streams, where the reason of the end says so.
std::vector<Call> without_cut_off(std::vector<Call> calls, const Ended& ended);

/// A name nobody else has: `beginning` and random digits.
std::string new_id(std::string_view beginning);
std::int64_t unix_time();

/// One event of a stream: "data: ...", with its name before it where it has one.
std::string event_of(const Json& data, std::string_view name = {});

}  // namespace server
