// ByteReader reads little-endian values from bytes that may be wrong anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace engine {

/// Holds a position in a span of bytes, and never leaves the span: a value that does not fit is an empty optional.
/// It does not own the bytes. One thread.
class ByteReader
{
public:
    explicit ByteReader(std::span<const std::byte> bytes, std::size_t position = 0)
        : bytes_(bytes)
        , position_(position)
    {
    }

    std::size_t position() const { return position_; }
    std::size_t left() const { return bytes_.size() - position_; }

    /// Reads one number. It may lie at any address, so its bytes are copied.
    template <class T>
    std::optional<T> number()
    {
        if (left() < sizeof(T))
            return {};
        T value;
        std::memcpy(&value, bytes_.data() + position_, sizeof(T));
        position_ += sizeof(T);
        return value;
    }

    std::optional<std::span<const std::byte>> take(std::uint64_t length)
    {
        if (length > left())
            return {};
        const auto taken = bytes_.subspan(position_, static_cast<std::size_t>(length));
        position_ += taken.size();
        return taken;
    }

    /// Reads a 64-bit length, and gives that many bytes.
    std::optional<std::string_view> string()
    {
        const auto length = number<std::uint64_t>();
        if (!length)
            return {};
        const auto text = take(*length);
        if (!text)
            return {};
        return std::string_view(reinterpret_cast<const char*>(text->data()), text->size());
    }

private:
    std::span<const std::byte> bytes_;
    std::size_t position_;  // <= bytes_.size()
};

}  // namespace engine
