// ToolCallReader finds the calls of tools in an answer, while its text comes in pieces.
#pragma once

#include "app/server/fields.h"

#include <functional>
#include <string>
#include <string_view>

namespace server {

/// Each family of models writes calls in its own way; which marks and shapes they have is a table in the .cpp file.
/// However the text is cut into pieces, what comes out is the same. What looks like a call and is none stays text.
class ToolCallReader
{
public:
    struct Sink {
        std::function<void(std::string_view text)> text;
        std::function<void(const std::string& name, const std::string& arguments)> call;  // arguments: a JSON object
    };

    /// `tools`: as in OpenAI's requests, an array of {"type": "function", "function": {"name", "parameters"}}.
    ToolCallReader(Json tools, Sink sink);

    void feed(std::string_view piece);
    /// No more text comes.
    void finish();

private:
    struct Shape;
    enum class State { Beginning, Text, Call };
    enum class Found { Call, NoCall, NotYet };
    static const Shape kShapes[];

    bool step();
    bool begin();
    bool read_text();
    bool read_call();
    Found read_object(std::string_view body, std::size_t& used);
    Found read_objects(std::string_view body, std::size_t& used);
    Found read_named(std::string_view body, std::size_t& used);
    Found read_tagged(std::string_view body, std::string_view close, std::size_t& used);
    bool give_call(const Json& call);
    const Json* tool(const std::string& name) const;
    void give_text(std::size_t bytes);
    void give_up();

    const Json tools_;
    Sink sink_;
    State state_ = State::Beginning;
    const Shape* shape_ = nullptr;  // of the call that is being read; null: a bare object
    std::string held_;
    bool called_ = false;
    bool ended_ = false;  // no more text comes
};

}  // namespace server
