// Writes the header of a GGUF file, piece by piece (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
#pragma once

#include "engine/shape/shapes.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

class GgufHeader
{
public:
    static constexpr std::int64_t kAlignment = 32;  // of tensor data

    void text(std::string_view key, std::string_view value);
    void number(std::string_view key, std::uint32_t value);
    void real(std::string_view key, float value);
    void flag(std::string_view key, bool value);
    void texts(std::string_view key, std::span<const std::string> values);
    void reals(std::string_view key, std::span<const float> values);
    void numbers(std::string_view key, std::span<const std::int32_t> values);
    void flags(std::string_view key, const std::vector<bool>& values);
    /// Adds a tensor. The data of tensors follow each other in the order of these calls, each aligned.
    void tensor(const ShapeTensor& tensor);

    /// Returns all of the header, padded to where the first tensor begins.
    std::string bytes() const;
    /// Returns the bytes of the tensors' data.
    std::int64_t data_bytes() const { return data_bytes_; }

private:
    template <class T>
    static void put(std::string& to, T value);
    static void put_text(std::string& to, std::string_view value);
    void begin(std::string_view key, std::uint32_t type);

    std::string keys_, tensors_;
    std::uint64_t key_count_ = 0, tensor_count_ = 0;
    std::int64_t data_bytes_ = 0;
};

constexpr std::int64_t gguf_aligned(std::int64_t bytes)
{
    return (bytes + GgufHeader::kAlignment - 1) / GgufHeader::kAlignment * GgufHeader::kAlignment;
}

}  // namespace engine
