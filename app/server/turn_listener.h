// TurnListener turns the engine's reports of one turn into events.
#pragma once

#include "app/server/ask.h"
#include "app/server/clock.h"
#include "app/server/code_bound.h"
#include "app/server/control_escapes.h"
#include "app/server/metrics.h"
#include "app/server/thought_splitter.h"
#include "app/server/tool_call_reader.h"
#include "app/server/turn_events.h"
#include "engine/engine.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace server {

/// Lives for one turn, on the engine's thread.
class TurnListener
{
public:
    TurnListener(const Ask& ask, TurnEvents& events, Metrics& metrics, Clock::time_point asked);

    /// Returns the listener for this turn's prompt and text.
    engine::Listener listener();
    void on_frame(const engine::Telemetry& frame);
    /// Puts the last event. `context_tokens`: for the refusal of a prompt that does not fit.
    void end(const engine::Result<engine::Turn>& turn, int context_tokens);

private:
    void on_text(std::string_view text);
    void put_within_bounds(std::string_view text);
    void on_piece(ThoughtSplitter::Kind kind, std::string_view text);
    void put(TurnEvent piece);
    void tell_tokens();
    void on_call(const std::string& name);
    void on_arguments(std::string_view piece);
    void on_call_end();

    const Ask& ask_;
    TurnEvents& events_;
    Metrics& metrics_;
    const Clock::time_point asked_, begun_;
    Clock::time_point first_text_{}, last_text_{};
    ThoughtSplitter splitter_;
    CodeBound bound_;
    std::optional<ToolCallReader> call_reader_;  // empty: no tools were offered
    std::vector<engine::TokenLogprobs> tokens_;  // not sent yet with a piece of text
    int prompt_tokens_ = 0;                      // once the prompt has been made
    int thought_tokens_ = 0;                     // pieces of text within thoughts, which have one token each
    int calls_ = 0;                              // calls that have begun
    ControlEscapes escapes_;                     // of the newest call's arguments
    bool has_enough_calls_ = false;
};

}  // namespace server
