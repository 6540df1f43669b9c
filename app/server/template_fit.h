// Fits the messages of a request to the chat template of the model that is to answer.
#pragma once

#include "app/server/model_text.h"
#include "engine/engine.h"

#include <cstddef>
#include <vector>

namespace server {

/// Whether fit_to_template() could change anything.
bool depends_on_template(const engine::Request& turn);

/// Tells the model of tools in words where its template does not, shortens the ids of calls for templates that take
/// none but of nine letters, and gives what the system says behind the first message to the user, where the template
/// refuses it there.
void fit_to_template(engine::Request& turn, const ModelText& text);

/// What the system says in messages from `first` on becomes the user's: part of the user's message before or behind it,
/// else a message of its own.
void give_to_user(std::vector<engine::Message>& messages, std::size_t first);

}  // namespace server
