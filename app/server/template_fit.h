// Fits the messages of a request to the chat template of the model that is to answer.
#pragma once

#include "app/server/model_text.h"
#include "engine/engine.h"

#include <cstddef>
#include <stop_token>
#include <vector>

namespace server {

/// Says whether fit_to_template() could change anything.
bool depends_on_template(const engine::Request& turn);

/// Describes tools in words where the template does not print them, and shortens the ids of calls for templates that
/// take nine letters only. Where the template refuses the prompt, it is changed as little as necessary: the system's
/// words after the first message become the user's, the user's words behind a tool's result become part of it, and
/// another effort is asked for, or none. A prompt that is refused nevertheless is not changed in this way. `stop`: the
/// prompt is not needed any more, and may be left half changed.
void fit_to_template(engine::Request& turn, const ModelText& text, const std::stop_token& stop);

/// Makes the system's messages from `first` on the user's: part of the user's message before or behind them, or of the
/// tool's result before them, else messages of their own.
void give_to_user(std::vector<engine::Message>& messages, std::size_t first);

}  // namespace server
