// Makes GGUF files for tests: any keys, any tensors, split or whole, and damaged on request.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace support {

/// Collects keys and tensors, then gives the file's bytes. Nothing is checked: tests want to write nonsense too.
///
///     GgufWriter w;
///     w.string("general.architecture", "llama").u32("llama.block_count", 2);
///     w.tensor("output.weight", 0 /* F32 */, {4, 2}, bytes_of(std::vector<float>(8)));
///     w.save(path);
class GgufWriter
{
public:
    using Bytes = std::vector<std::byte>;

    // ---- what the header says ----
    std::array<char, 4> mark = {'G', 'G', 'U', 'F'};
    std::uint32_t version = 3;
    std::size_t alignment = 32;             // of the data; write the key general.alignment yourself
    std::int64_t claimed_tensors_more = 0;  // added to the true counts
    std::int64_t claimed_keys_more = 0;

    // ---- keys ----
    GgufWriter& u8(std::string_view key, std::uint8_t v) { return scalar(key, 0, v); }
    GgufWriter& i8(std::string_view key, std::int8_t v) { return scalar(key, 1, v); }
    GgufWriter& u16(std::string_view key, std::uint16_t v) { return scalar(key, 2, v); }
    GgufWriter& i16(std::string_view key, std::int16_t v) { return scalar(key, 3, v); }
    GgufWriter& u32(std::string_view key, std::uint32_t v) { return scalar(key, 4, v); }
    GgufWriter& i32(std::string_view key, std::int32_t v) { return scalar(key, 5, v); }
    GgufWriter& f32(std::string_view key, float v) { return scalar(key, 6, v); }
    GgufWriter& boolean(std::string_view key, bool v) { return scalar(key, 7, std::uint8_t(v)); }
    GgufWriter& u64(std::string_view key, std::uint64_t v) { return scalar(key, 10, v); }
    GgufWriter& i64(std::string_view key, std::int64_t v) { return scalar(key, 11, v); }
    GgufWriter& f64(std::string_view key, double v) { return scalar(key, 12, v); }
    GgufWriter& string(std::string_view key, std::string_view v)
    {
        begin_key(key, 8);
        put_string(keys_, v);
        return *this;
    }
    GgufWriter& strings(std::string_view key, std::span<const std::string> values)
    {
        begin_array(key, 8, values.size());
        for (const std::string& v : values)
            put_string(keys_, v);
        return *this;
    }
    GgufWriter& strings(std::string_view key, std::initializer_list<std::string> values)
    {
        return strings(key, std::span(values.begin(), values.size()));
    }
    GgufWriter& floats(std::string_view key, std::span<const float> v) { return array(key, 6, v); }
    GgufWriter& i32s(std::string_view key, std::span<const std::int32_t> v) { return array(key, 5, v); }
    GgufWriter& booleans(std::string_view key, const std::vector<bool>& v)
    {
        return array(key, 7, std::span<const std::uint8_t>(std::vector<std::uint8_t>(v.begin(), v.end())));
    }
    GgufWriter& u32s(std::string_view key, std::span<const std::uint32_t> v) { return array(key, 4, v); }

    /// Any elements under any type id.
    template <class T>
    GgufWriter& array(std::string_view key, std::uint32_t element_type, std::span<const T> values)
    {
        begin_array(key, element_type, values.size());
        for (const T& v : values)
            put(keys_, v);
        return *this;
    }
    /// A value of any type id from raw bytes.
    GgufWriter& raw(std::string_view key, std::uint32_t type, std::span<const std::byte> value)
    {
        begin_key(key, type);
        keys_.insert(keys_.end(), value.begin(), value.end());
        return *this;
    }

    // ---- tensors; the type id and dims (length of a row first) are written as they are ----
    GgufWriter& tensor(std::string_view name, std::uint32_t type, std::vector<std::uint64_t> dims, Bytes data)
    {
        const std::uint64_t offset = data_.size();
        data_.insert(data_.end(), data.begin(), data.end());
        data_.resize((data_.size() + alignment - 1) / alignment * alignment);
        return tensor_at(name, type, std::move(dims), offset);
    }
    /// Describes a tensor without adding data.
    GgufWriter& tensor_at(std::string_view name, std::uint32_t type, const std::vector<std::uint64_t>& dims,
                          std::uint64_t offset)
    {
        put_string(tensors_, name);
        put(tensors_, std::uint32_t(dims.size()));
        for (const std::uint64_t d : dims)
            put(tensors_, d);
        put(tensors_, type);
        put(tensors_, offset);
        ++tensor_count_;
        return *this;
    }

    Bytes bytes() const
    {
        Bytes file;
        put(file, mark);
        put(file, version);
        put(file, std::int64_t(tensor_count_) + claimed_tensors_more);
        put(file, std::int64_t(key_count_) + claimed_keys_more);
        file.insert(file.end(), keys_.begin(), keys_.end());
        file.insert(file.end(), tensors_.begin(), tensors_.end());
        file.resize((file.size() + alignment - 1) / alignment * alignment);
        file.insert(file.end(), data_.begin(), data_.end());
        return file;
    }

    void save(const std::filesystem::path& path) const { save_bytes(path, bytes()); }

    static void save_bytes(const std::filesystem::path& path, std::span<const std::byte> bytes)
    {
        std::ofstream file(path, std::ios::binary | std::ios::trunc);
        file.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    }

    template <class T>
    static Bytes bytes_of(const std::vector<T>& values)
    {
        Bytes bytes(values.size() * sizeof(T));
        if (!values.empty())
            std::memcpy(bytes.data(), values.data(), bytes.size());
        return bytes;
    }

private:
    template <class T>
    static void put(Bytes& to, const T& value)
    {
        const auto* first = reinterpret_cast<const std::byte*>(&value);
        to.insert(to.end(), first, first + sizeof(T));
    }
    static void put_string(Bytes& to, std::string_view text)
    {
        put(to, std::uint64_t(text.size()));
        const auto* first = reinterpret_cast<const std::byte*>(text.data());
        to.insert(to.end(), first, first + text.size());
    }
    void begin_key(std::string_view key, std::uint32_t type)
    {
        put_string(keys_, key);
        put(keys_, type);
        ++key_count_;
    }
    void begin_array(std::string_view key, std::uint32_t element_type, std::uint64_t count)
    {
        begin_key(key, 9);
        put(keys_, element_type);
        put(keys_, count);
    }
    template <class T>
    GgufWriter& scalar(std::string_view key, std::uint32_t type, T value)
    {
        begin_key(key, type);
        put(keys_, value);
        return *this;
    }

    Bytes keys_;
    Bytes tensors_;
    Bytes data_;
    std::uint64_t key_count_ = 0;
    std::uint64_t tensor_count_ = 0;
};

}  // namespace support
