// ThoughtSplitter separates a model's thoughts from its answer, while the text comes in pieces.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace server {

/// The marks are those of engine/reasoning_marks.h and gpt-oss's channels. A thought stands before the answer; marks
/// within the answer are text. The result does not depend on how the text is cut into pieces.
class ThoughtSplitter
{
public:
    enum class Kind { Thought, Answer };
    using Sink = std::function<void(Kind kind, std::string_view text)>;

    /// `drops`: marks, and the space around them, are left out; else they are a part of the thought, so that both parts
    /// together are the whole text.
    explicit ThoughtSplitter(Sink sink, bool drops = true);

    void feed(std::string_view piece);
    /// Call it at the end of the text; passes on what was held back.
    void finish();
    /// Says whether the text so far ends in a thought, or with the end of one.
    bool thinks() const { return state_ == State::Thought || state_ == State::Behind; }

private:
    enum class State { Beginning, Thought, Behind, Answer };

    bool step();
    bool begin();
    bool think();
    bool skip_space();
    void give(Kind kind, std::size_t bytes);
    void drop(std::size_t bytes);

    State state_ = State::Beginning;
    std::string_view opened_;  // the mark of the present thought
    bool said_ = false;        // some of the thought has been passed on
    std::string held_;         // text held back: perhaps the beginning of a mark, or space before one
    Sink sink_;
    const bool drops_;
};

}  // namespace server
