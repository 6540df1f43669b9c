#include "engine/shape/gguf_header.h"

namespace engine {

namespace {

// Type ids of the format.
constexpr std::uint32_t kUint32 = 4, kInt32 = 5, kFloat32 = 6, kBool = 7, kString = 8, kArray = 9;

}  // namespace

template <class T>
void GgufHeader::put(std::string& to, T value)
{
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void GgufHeader::put_text(std::string& to, std::string_view value)
{
    put(to, std::uint64_t(value.size()));
    to += value;
}

void GgufHeader::begin(std::string_view key, std::uint32_t type)
{
    put_text(keys_, key);
    put(keys_, type);
    ++key_count_;
}

void GgufHeader::text(std::string_view key, std::string_view value)
{
    begin(key, kString);
    put_text(keys_, value);
}

void GgufHeader::number(std::string_view key, std::uint32_t value)
{
    begin(key, kUint32);
    put(keys_, value);
}

void GgufHeader::real(std::string_view key, float value)
{
    begin(key, kFloat32);
    put(keys_, value);
}

void GgufHeader::flag(std::string_view key, bool value)
{
    begin(key, kBool);
    put(keys_, std::uint8_t(value));
}

void GgufHeader::texts(std::string_view key, std::span<const std::string> values)
{
    begin(key, kArray);
    put(keys_, kString);
    put(keys_, std::uint64_t(values.size()));
    for (const std::string& value : values)
        put_text(keys_, value);
}

void GgufHeader::reals(std::string_view key, std::span<const float> values)
{
    begin(key, kArray);
    put(keys_, kFloat32);
    put(keys_, std::uint64_t(values.size()));
    for (const float value : values)
        put(keys_, value);
}

void GgufHeader::numbers(std::string_view key, std::span<const std::int32_t> values)
{
    begin(key, kArray);
    put(keys_, kInt32);
    put(keys_, std::uint64_t(values.size()));
    for (const std::int32_t value : values)
        put(keys_, value);
}

void GgufHeader::flags(std::string_view key, const std::vector<bool>& values)
{
    begin(key, kArray);
    put(keys_, kBool);
    put(keys_, std::uint64_t(values.size()));
    for (const bool value : values)
        put(keys_, std::uint8_t(value));
}

void GgufHeader::tensor(const ShapeTensor& tensor)
{
    put_text(tensors_, tensor.name);
    put(tensors_, std::uint32_t(tensor.rows > 0 ? 2 : 1));
    put(tensors_, std::uint64_t(tensor.row_length));
    if (tensor.rows > 0)
        put(tensors_, std::uint64_t(tensor.rows));
    put(tensors_, std::uint32_t(tensor.type));
    put(tensors_, std::uint64_t(data_bytes_));
    ++tensor_count_;
    data_bytes_ += gguf_aligned(tensor.bytes());
}

std::string GgufHeader::bytes() const
{
    std::string out = "GGUF";
    put(out, std::uint32_t(3));
    put(out, tensor_count_);
    put(out, key_count_);
    out += keys_;
    out += tensors_;
    out.resize(std::size_t(gguf_aligned(std::int64_t(out.size()))));
    return out;
}

}  // namespace engine
