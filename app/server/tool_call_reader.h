// ToolCallReader finds the calls of tools in an answer, while its text comes in pieces.
#pragma once

#include "app/server/call_shapes.h"
#include "app/server/fields.h"

#include <functional>
#include <string>
#include <string_view>

namespace server {

/// Each family of models writes calls in its own way, as call_shapes.h lists them. The result does not depend on how
/// the text is cut into pieces. Text that only looks like a call stays text; from the beginning of its arguments on it
/// counts as a call.
class ToolCallReader
{
public:
    struct Sink {
        std::function<void(std::string_view text)> text;
        std::function<void(const std::string& name)> call;      // that has begun
        std::function<void(std::string_view piece)> arguments;  // of that call: a JSON object, in pieces
        std::function<void()> end;                              // of that call; missing where it is cut off
    };

    /// `tools`: as in OpenAI's requests, an array of {"type": "function", "function": {"name", "parameters"}}.
    ToolCallReader(Json tools, Sink sink);

    void feed(std::string_view piece);
    /// Call it at the end of the text; passes on what was held back.
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
    const CallShape* shape_ = nullptr;  // of the call that is being read; null: it has no mark
    std::string held_;
    std::size_t begun_ = 0, ended_calls_ = 0;  // calls of the present text that were passed on
    std::size_t given_ = 0;                    // bytes of the newest call's arguments that were passed on
    bool called_ = false;
    bool ended_ = false;  // no more text comes
};

}  // namespace server
