// ThoughtSplitter parts what a model thinks from what it says, while the text comes in pieces.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace server {

/// The marks are those of engine/reasoning_marks.h and gpt-oss's channels. A thought stands before the answer: marks
/// within it are text. However the text is cut into pieces, what comes out is the same.
class ThoughtSplitter
{
public:
    enum class Kind { Thought, Answer };
    using Sink = std::function<void(Kind kind, std::string_view text)>;

    /// `drops`: marks, and space that is nobody's, are in neither part; else they are a part of the thought, so that
    /// both parts together are the text.
    explicit ThoughtSplitter(Sink sink, bool drops = true);

    void feed(std::string_view piece);
    /// Gives what is left: no more text comes.
    void finish();
    /// The last of the text is a thought's, or the end of one.
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
    bool said_ = false;        // of the thought
    std::string held_;         // what may be the beginning of a mark, or space that may be nobody's
    Sink sink_;
    const bool drops_;
};

}  // namespace server
