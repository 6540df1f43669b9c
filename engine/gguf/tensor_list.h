// Reads the list of tensors in one GGUF file: names, shapes, types, places.
#pragma once

#include "engine/gguf/byte_reader.h"
#include "engine/gguf/gguf_file.h"

namespace engine {

/// Reads `count` tensor descriptions from where the reader stands and finds their bytes in `file`, which begins with
/// them. `part` is what GgufTensor::file becomes. Takes what that costs from `limits`. Cancelled.
Result<std::vector<GgufTensor>> read_tensor_list(ByteReader& reader, std::span<const std::byte> file,
                                                 std::uint64_t count, std::uint64_t alignment, int part,
                                                 HeaderLimits& limits);

}  // namespace engine
