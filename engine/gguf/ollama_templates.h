// Gives the chat templates of families whose files come from Ollama's own converter without one: Ollama keeps what it
// makes of a conversation beside the file, in a language of its own, or in its program.
#pragma once

#include <string_view>

namespace engine {

/// Writes messages as the family's makers describe them; tools are not spoken of. Empty: no template for this
/// architecture is known. `inputs_per_layer`: the model has such, by which the small ones of Gemma 4 are known.
std::string_view template_of_family(std::string_view architecture, bool inputs_per_layer);

}  // namespace engine
