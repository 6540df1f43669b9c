// Metadata holds the keys and values of one GGUF file.
#pragma once

#include "engine/gguf/byte_reader.h"
#include "engine/gguf/header_limits.h"
#include "engine/result.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {

/// Types of metadata values; ids are those of the format (ggml's docs/gguf.md).
enum class ValueType : std::uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, String, Array, U64, I64, F64 };

/// The metadata section, checked once when it is read. Nothing is copied: keys, strings and arrays are looked up in
/// the file's bytes, which must outlive this. Any thread may ask. A value that is not there, or not of the kind asked
/// for, is an empty optional.
class Metadata
{
public:
    /// Reads `count` keys from where the reader stands, and takes what that costs from `limits`. Cancelled.
    static Result<Metadata> read(ByteReader& reader, std::uint64_t count, HeaderLimits& limits);

    std::optional<std::string_view> string(std::string_view key) const;
    std::optional<std::int64_t> integer(std::string_view key) const;  // any integer type or bool that fits
    std::optional<double> number(std::string_view key) const;         // integers too
    std::optional<bool> boolean(std::string_view key) const;
    std::optional<std::vector<std::string_view>> strings(std::string_view key) const;
    std::optional<std::vector<float>> floats(std::string_view key) const;  // an array of any numbers
    /// Reads flags; empty also where there are more than `most`.
    std::optional<std::vector<bool>> booleans(std::string_view key, std::uint64_t most) const;
    std::optional<std::vector<std::int64_t>> integers(std::string_view key,
                                                      std::uint64_t most = kMaxArrayElements) const;
    std::optional<std::uint64_t> array_length(std::string_view key) const;

    /// Sets the key's value from now on, whatever the file has. printed() still shows that of the file.
    void say(std::string key, double number) { said_numbers_[std::move(key)] = number; }
    void say(std::string key, std::string text) { said_texts_[std::move(key)] = std::move(text); }
    /// Ends the array after `count` elements from now on, if it has more.
    void shorten(std::string key, std::uint64_t count) { said_lengths_[std::move(key)] = count; }
    /// Looks up a key that begins with `usual`, from now on, as the file's key that begins with `theirs`.
    void rename_prefix(std::string theirs, std::string usual)
    {
        their_prefix_ = std::move(theirs);
        usual_prefix_ = std::move(usual);
    }

    struct Printed {
        std::string key;
        std::string type;   // "u32", "array of string"
        std::string value;  // shortened: a string's beginning, an array's first elements
    };
    /// Lists all keys in the file's order, for people.
    std::vector<Printed> printed() const;

private:
    struct Entry {
        std::string_view key;
        ValueType type = ValueType::U8;
        ValueType element = ValueType::U8;   // of an array
        std::uint64_t count = 0;             // elements of an array
        std::span<const std::byte> payload;  // the value; of an array, its elements
    };
    static Result<Entry> read_entry(ByteReader& reader, const HeaderLimits& limits);
    static std::string printed_value(const Entry& entry);
    const Entry* find(std::string_view key) const;
    const Entry* find_in_file(std::string_view key) const;
    std::optional<Entry> find_array(std::string_view key) const;  // with the length that shorten() has set

    std::vector<Entry> entries_;         // in the file's order
    std::vector<std::uint32_t> by_key_;  // indices into entries_, sorted: a hostile file cannot make keys collide
    std::map<std::string, double, std::less<>> said_numbers_;
    std::map<std::string, std::string, std::less<>> said_texts_;
    std::map<std::string, std::uint64_t, std::less<>> said_lengths_;
    std::string their_prefix_, usual_prefix_;
};

}  // namespace engine
