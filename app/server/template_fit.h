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

/// Tells the model of tools in words where its template does not, and shortens the ids of calls for templates that take
/// none but of nine letters. Where the template refuses the prompt, as little as helps is said in another way: what the
/// system says behind the first message becomes the user's, what the user says behind a tool's result becomes part of
/// it, and another effort is asked for, or none. A prompt that is refused nevertheless stays as it is. `stop`: nobody
/// needs the prompt any more, whatever has become of it.
void fit_to_template(engine::Request& turn, const ModelText& text, const std::stop_token& stop);

/// What the system says in messages from `first` on becomes the user's: part of the user's message before or behind it,
/// or of the tool's result before it, else a message of its own.
void give_to_user(std::vector<engine::Message>& messages, std::size_t first);

}  // namespace server
