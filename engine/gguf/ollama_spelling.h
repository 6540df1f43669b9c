// Reads the names that Ollama's own converter gives to some tensors and keys. They differ from llama.cpp's, by which
// all readers here go; and it leaves out some keys that have one value in all models of a family. Ollama's sources list
// the differences, since it mends them itself before it gives such files to llama.cpp (llama-ollama-compat.cpp,
// convert/convert_*.go).
#pragma once

#include "engine/gguf/gguf_file.h"

#include <vector>

namespace engine {

/// Gives tensors their usual names, and says in `metadata` what is missing there by its usual name. What a file has by
/// that name already stays as it is. Metadata::printed() still shows the keys as the file has them.
void read_ollama_spelling(Metadata& metadata, std::vector<GgufTensor>& tensors);

}  // namespace engine
