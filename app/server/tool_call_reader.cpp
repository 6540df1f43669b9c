#include "app/server/tool_call_reader.h"

#include <algorithm>
#include <utility>

namespace server {

namespace {

constexpr std::string_view kCallSpace = " \t\r\n";

std::size_t space_before(std::string_view text)
{
    return std::min(text.find_first_not_of(kCallSpace), text.size());
}

}  // namespace

ToolCallReader::ToolCallReader(Json tools, Sink sink)
    : tools_(std::move(tools))
    , sink_(std::move(sink))
{
}

void ToolCallReader::feed(std::string_view piece)
{
    held_ += piece;
    while (!held_.empty() && step()) {
    }
}

/// Reads on. False: more text is needed.
bool ToolCallReader::step()
{
    switch (state_) {
    case State::Beginning:
        return begin();
    case State::Text:
        return read_text();
    case State::Call:
        return read_call();
    }
    return false;
}

/// Looks how the answer begins. Llama calls a tool without a mark: its answer is nothing but an object, or a list.
bool ToolCallReader::begin()
{
    const std::size_t first = held_.find_first_not_of(kCallSpace);
    if (first == std::string::npos)
        return false;
    if (held_[first] == '[' && text_is_marks_beginning(std::string_view(held_).substr(first)))
        return false;
    shape_ = nullptr;
    const bool marked = held_[first] == '[' && mark_at(std::string_view(held_).substr(first)) != nullptr;
    state_ = !marked && (held_[first] == '{' || held_[first] == '[') ? State::Call : State::Text;
    return true;
}

const CallShape* ToolCallReader::mark_at(std::string_view text)
{
    const auto found =
        std::ranges::find_if(call_shapes(), [&](const CallShape& shape) { return text.starts_with(shape.open); });
    return found == call_shapes().end() ? nullptr : &*found;
}

bool ToolCallReader::text_is_marks_beginning(std::string_view text)
{
    return std::ranges::any_of(call_shapes(), [&](const CallShape& shape) {
        return shape.open.size() > text.size() && shape.open.starts_with(text);
    });
}

bool ToolCallReader::read_text()
{
    const std::string_view held = held_;
    std::size_t mark = 0;
    for (; mark < held.size() && state_ == State::Text; ++mark) {
        const std::string_view rest = held.substr(mark);
        if ((shape_ = mark_at(rest)) != nullptr)
            state_ = State::Call;
        if (shape_ || text_is_marks_beginning(rest))
            break;
    }
    // Space is held back, since a call may follow, before which space is left out.
    const std::size_t last = held.substr(0, mark).find_last_not_of(kCallSpace);
    const std::size_t text = last == std::string_view::npos ? 0 : last + 1;
    const bool called = state_ == State::Call;
    give_text(text);
    return called;
}

bool ToolCallReader::read_call()
{
    const std::string_view open = shape_ ? shape_->open : std::string_view();
    const std::string_view close = shape_ ? shape_->close : std::string_view();
    const std::string_view held = held_;
    const std::size_t mark_end = space_before(held) + open.size();
    const std::size_t first = mark_end + space_before(held.substr(mark_end));
    const CallBody body{held.substr(first), close, ended_, tools_};
    if (body.text.empty())
        return false;
    const ReadCalls read = shape_ ? shape_->read(body) : read_bare_calls(body);
    give(read.calls);
    if (read.found == ReadCalls::Found::NotYet)
        return false;
    if (read.found == ReadCalls::Found::None) {
        give_up();
        return true;
    }
    // The mark at the end is a part of the call. Some models leave it out at the very end of an answer.
    const std::string_view rest = body.text.substr(read.bytes);
    const std::string_view next = rest.substr(space_before(rest));
    if (!ended_ && next.size() < close.size() && close.starts_with(next))
        return false;
    begun_ = ended_calls_ = 0;
    const std::size_t closed = next.starts_with(close) ? rest.size() - next.size() + close.size() : 0;
    held_.erase(0, first + read.bytes + (close.empty() ? 0 : closed));
    state_ = State::Text;
    return true;
}

/// Passes the new parts of the calls to the sink.
void ToolCallReader::give(const std::vector<WrittenCall>& calls)
{
    for (std::size_t i = ended_calls_; i < calls.size(); ++i) {
        const WrittenCall& call = calls[i];
        if (i == begun_) {
            ++begun_;
            given_ = 0;
            called_ = true;
            sink_.call(call.name);
        }
        if (call.arguments.size() > given_)
            sink_.arguments(std::string_view(call.arguments).substr(given_));
        given_ = call.arguments.size();
        if (!call.whole)
            return;
        ++ended_calls_;
        sink_.end();
    }
}

/// Passes on the mark of what was no call as text; a call may follow in the text behind it.
void ToolCallReader::give_up()
{
    state_ = State::Text;
    give_text(space_before(held_) + (shape_ ? shape_->open.size() : 1));
}

void ToolCallReader::give_text(std::size_t bytes)
{
    if (bytes == 0)
        return;
    sink_.text(std::string_view(held_).substr(0, bytes));
    held_.erase(0, bytes);
}

void ToolCallReader::finish()
{
    ended_ = true;
    while (!held_.empty() && step()) {
    }
    // A call that breaks off is passed on as text, so that nothing is lost, unless a part of it was passed on as a
    // call.
    if (begun_ > 0 || (called_ && space_before(held_) == held_.size()))
        held_.clear();
    give_text(held_.size());
}

}  // namespace server
