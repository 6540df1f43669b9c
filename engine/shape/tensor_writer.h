// TensorWriter fills tensors with random values and writes them to a file, one after another.
#pragma once

#include "engine/result.h"
#include "engine/shape/random_weights.h"
#include "engine/shape/shapes.h"
#include "engine/shape/unnamed_file.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace engine {

/// Returns `bytes` rounded up to a multiple of `alignment`, a power of two.
constexpr std::int64_t aligned_to(std::int64_t alignment, std::int64_t bytes)
{
    return (bytes + alignment - 1) & ~(alignment - 1);
}

/// Writes the data of one model, in the order of its list of tensors. One thread; the file outlives it.
class TensorWriter
{
public:
    struct Form {
        std::int64_t alignment = 32;           // of each tensor
        std::vector<float> rope_factors = {};  // of Fill::RopeFactors; empty: ones
    };

    /// `on_progress` gets the share of `all_bytes` that is written and returns false to give up.
    TensorWriter(UnnamedFile& file, Form form, std::int64_t all_bytes, const std::function<bool(double)>& on_progress)
        : file_(file)
        , form_(std::move(form))
        , all_bytes_(all_bytes)
        , on_progress_(on_progress)
    {
    }

    /// Writes the tensor's data. Cancelled; CannotWrite.
    Status write(const ShapeTensor& tensor);

private:
    std::vector<float> vector_values(const ShapeTensor& tensor);
    float random_value(const ShapeTensor& tensor);
    Status write_matrix(const ShapeTensor& tensor);
    Status pad(std::int64_t written);

    UnnamedFile& file_;
    const Form form_;
    std::int64_t all_bytes_, done_ = 0;
    const std::function<bool(double)>& on_progress_;
    SplitMix random_{20261121};
    std::vector<std::byte> buffer_;
};

}  // namespace engine
