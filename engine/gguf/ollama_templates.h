// Gives the chat templates of families whose files come from Ollama's own converter without one: Ollama keeps its
// templates beside the file, in a language of its own, or in its program.
#pragma once

#include <string_view>

namespace engine {

/// Returns a template that writes messages as the family's makers describe them, without tools. Empty: none is known
/// for this architecture. `inputs_per_layer`: the model has them, which the small models of Gemma 4 are recognised by.
std::string_view template_of_family(std::string_view architecture, bool inputs_per_layer);

}  // namespace engine
