// Dialect translates one API: its requests into an Ask, and the events of a turn into its answers.
#pragma once

#include "app/server/ask.h"
#include "app/server/engine_desk.h"
#include "app/server/fields.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace server {

struct Call {
    std::string id, name;
    std::string arguments;  // a JSON object, as the model wrote it
};

/// Holds the whole answer of a turn that is over.
struct Answer {
    std::string text, thought;
    std::vector<Call> calls;
    std::vector<engine::TokenLogprobs> tokens;  // where they were asked for
    Ended ended;
};

/// Writes one answer in the form of its API. Made for one request, used on its thread.
class Wording
{
public:
    virtual ~Wording() = default;

    /// Sets the answer, of several, that the next events belong to.
    virtual void turn_to(int /*choice*/) {}
    /// Returns the text that a stream gets for this event; empty: none. Failed or Ended comes last.
    virtual std::string piece(const TurnEvent& event) = 0;
    /// Returns the text that keeps a silent stream alive.
    virtual std::string ping() const { return ": still at it\n\n"; }
    virtual const char* stream_type() const { return "text/event-stream"; }
    /// Returns the body of the whole answer, where no stream was asked for.
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
    /// Returns the body of an answer that is an error.
    virtual std::string error(const Refusal& refusal) const = 0;
};

/// Returns the request with the defaults for an empty body, before fields are read.
Ask unsaid_ask(const Served& served);

/// Returns a call's arguments, for APIs that send an object; others send the text as it is, since a stream has sent it
/// before its faults show. Models that no grammar guards write backslashes into JSON's texts as they are, or Python's
/// values: these are read as they are meant. Empty: the text is no object.
std::optional<Json> arguments_as_object(std::string_view arguments);
/// Returns the calls without the one whose arguments were cut off at the end, for such APIs. The reason of the end
/// tells the client.
std::vector<Call> without_cut_off(std::vector<Call> calls, const Ended& ended);
/// Returns an answer as such APIs can send it, without the call that was cut off: the arguments of each call are valid
/// JSON. A call whose arguments cannot be read becomes text, since a client would execute it without them.
Answer with_readable_calls(Answer answer);

/// Returns a unique name: `beginning` and random digits.
std::string new_id(std::string_view beginning);
std::int64_t unix_time();

/// Returns one event of a stream: "data: ...", after a line with its name where it has one.
std::string event_of(const Json& data, std::string_view name = {});

}  // namespace server
