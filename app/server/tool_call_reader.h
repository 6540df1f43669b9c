// ToolCallReader finds the calls of tools in an answer, while its text comes in pieces.
#pragma once

#include "app/server/call_shapes.h"
#include "app/server/fields.h"

#include <functional>
#include <string>
#include <string_view>

namespace server {

/// Each family of models writes calls in its own way, as call_shapes.h lists them.
/// However the text is cut into pieces, what comes out is the same. What looks like a call and is none stays text;
/// where its name and the beginning of its arguments have come, it is one.
class ToolCallReader
{
public:
    struct Sink {
        std::function<void(std::string_view text)> text;
        std::function<void(const std::string& name)> call;      // that has begun
        std::function<void(std::string_view piece)> arguments;  // of it: a JSON object, in pieces
        std::function<void()> end;                              // of it; a call that is cut off has none
    };

    /// `tools`: as in OpenAI's requests, an array of {"type": "function", "function": {"name", "parameters"}}.
    ToolCallReader(Json tools, Sink sink);

    void feed(std::string_view piece);
    /// Gives what is left: no more text comes.
    void finish();

private:
    enum class State { Beginning, Text, Call };

    static const CallShape* mark_at(std::string_view text);
    static bool text_is_marks_beginning(std::string_view text);
    bool step();
    bool begin();
    bool read_text();
    bool read_call();
    void give(const std::vector<WrittenCall>& calls);
    void give_text(std::size_t bytes);
    void give_up();

    const Json tools_;
    Sink sink_;
    State state_ = State::Beginning;
    const CallShape* shape_ = nullptr;  // of the call that is being read; null: without a mark
    std::string held_;
    std::size_t begun_ = 0, ended_calls_ = 0;  // of the calls that are being read: those that were told of
    std::size_t given_ = 0;                    // bytes of the newest one's arguments
    bool called_ = false;
    bool ended_ = false;  // no more text comes
};

}  // namespace server
