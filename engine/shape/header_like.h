// header_like() makes the header of a model with the very tensors of another one, of which no more than the header need
// be there.
#pragma once

#include "engine/result.h"
#include "engine/shape/shapes.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace engine {

struct HeaderLike {
    std::string bytes;                 // padded to where the first tensor begins
    std::vector<ShapeTensor> tensors;  // in the order of their data
    std::int64_t alignment = 32;       // of each
};

/// Makes the header of one file, also of a split model. Unsupported: it has tensors of which no random ones can be
/// made.
Result<HeaderLike> header_like(const std::filesystem::path& model);

}  // namespace engine
