// The keys and values of one GGUF file: reading and looking up.
#include "engine/gguf/metadata.h"

#include "engine/gguf/printable.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <numeric>
#include <utility>

namespace engine {
namespace {

constexpr std::uint64_t kMaxKeys = 65536;  // real files have under a hundred
constexpr std::size_t kMaxKeyBytes = 65535;
constexpr int kMaxArrayDepth = 4;

struct TypeFacts {
    const char* name;
    std::size_t bytes;  // the least that one value takes
};

/// Returns null for a number that is no type of the format.
const TypeFacts* facts(ValueType type)
{
    static constexpr TypeFacts kFacts[] = {{"u8", 1},  {"i8", 1},  {"u16", 2},  {"i16", 2},    {"u32", 4},
                                           {"i32", 4}, {"f32", 4}, {"bool", 1}, {"string", 8}, {"array", 12},
                                           {"u64", 8}, {"i64", 8}, {"f64", 8}};
    const auto id = static_cast<std::uint32_t>(type);
    return id < std::size(kFacts) ? &kFacts[id] : nullptr;
}

bool is_fixed_size(ValueType type)
{
    return type != ValueType::String && type != ValueType::Array;
}

const Error kCutOff = {Error::Code::BadFile, "the file ends inside the metadata"};

/// Moves over the elements of one array, or over one value, and checks that they are there.
class Skipper
{
public:
    Skipper(ByteReader& reader, const HeaderLimits& limits)
        : reader_(reader)
        , limits_(limits)
        , last_(reader.position() + limits.bytes)
    {
    }

    Status skip(ValueType type, std::uint64_t count, int depth)
    {
        const TypeFacts* type_facts = facts(type);
        if (!type_facts)
            return fail(Error::Code::BadFile,
                        "array elements have the unknown type " + std::to_string(static_cast<std::uint32_t>(type)));
        if (count > reader_.left() / type_facts->bytes)
            return tl::unexpected(kCutOff);
        if (count > elements_left_)
            return fail(Error::Code::BadFile, "an array has more than " + std::to_string(kMaxArrayElements) +
                                                  " elements, far more than any model needs");
        elements_left_ -= count;
        if (is_fixed_size(type)) {
            reader_.take(count * type_facts->bytes);
            return {};
        }
        if (type == ValueType::Array && depth >= kMaxArrayDepth)
            return fail(Error::Code::BadFile, "arrays are nested too deeply");
        for (std::uint64_t i = 0; i < count; ++i) {
            if (Status ok = type == ValueType::String ? skip_string() : skip_array(depth + 1); !ok)
                return ok;
            if (i % 4096 == 0)
                if (Status ok = limits_.go_on(); !ok)
                    return ok;
        }
        return {};
    }

private:
    Status skip_string()
    {
        if (reader_.position() > last_)  // before the next page of the file is touched
            return fail(Error::Code::BadFile, "an array takes more bytes than any model needs");
        return reader_.string() ? Status() : tl::unexpected(kCutOff);
    }

    Status skip_array(int depth)
    {
        const auto element = reader_.number<std::uint32_t>();
        const auto inner = reader_.number<std::uint64_t>();
        if (!element || !inner)
            return tl::unexpected(kCutOff);
        return skip(ValueType{*element}, *inner, depth);
    }

    ByteReader& reader_;
    const HeaderLimits& limits_;
    std::uint64_t last_;  // the position that it may come to
    std::uint64_t elements_left_ = kMaxArrayElements;
};

/// Reads any integer or bool as int64; nothing for other types and for a u64 that is too large.
std::optional<std::int64_t> read_integer(ByteReader& reader, ValueType type)
{
    const auto as = [&]<class T>(T) -> std::optional<std::int64_t> {
        const auto value = reader.number<T>();
        if (!value || !std::in_range<std::int64_t>(*value))
            return {};
        return static_cast<std::int64_t>(*value);
    };
    switch (type) {
    case ValueType::U8:
        return as(std::uint8_t{});
    case ValueType::I8:
        return as(std::int8_t{});
    case ValueType::U16:
        return as(std::uint16_t{});
    case ValueType::I16:
        return as(std::int16_t{});
    case ValueType::U32:
        return as(std::uint32_t{});
    case ValueType::I32:
        return as(std::int32_t{});
    case ValueType::U64:
        return as(std::uint64_t{});
    case ValueType::I64:
        return as(std::int64_t{});
    case ValueType::Bool:
        if (const auto byte = reader.number<std::uint8_t>())
            return *byte != 0;
        return {};
    case ValueType::F32:
    case ValueType::F64:
    case ValueType::String:
    case ValueType::Array:
        break;
    }
    return {};
}

std::optional<double> read_number(ByteReader& reader, ValueType type)
{
    if (type == ValueType::F32)
        return reader.number<float>();
    if (type == ValueType::F64)
        return reader.number<double>();
    if (type == ValueType::U64) {
        const auto value = reader.number<std::uint64_t>();  // may be too large for an int64
        return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
    }
    const auto value = read_integer(reader, type);
    return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

std::string printed_scalar(ByteReader& reader, ValueType type, std::size_t limit)
{
    if (type == ValueType::String)
        return printable(reader.string().value_or("?"), limit);
    if (type == ValueType::Bool)
        return reader.number<std::uint8_t>().value_or(0) ? "true" : "false";
    if (type == ValueType::U64)
        return std::to_string(reader.number<std::uint64_t>().value_or(0));
    if (const auto integer = read_integer(reader, type))
        return std::to_string(*integer);
    char text[32] = "?";
    if (const auto number = read_number(reader, type))
        std::snprintf(text, sizeof text, "%.8g", *number);
    return text;
}

}  // namespace

Result<Metadata::Entry> Metadata::read_entry(ByteReader& reader, const HeaderLimits& limits)
{
    const auto key = reader.string();
    if (!key)
        return tl::unexpected(kCutOff);
    if (key->empty() || key->size() > kMaxKeyBytes)
        return fail(Error::Code::BadFile, "a metadata key is " + std::to_string(key->size()) + " bytes long");
    const auto wrong = [&key](const Error& error) {
        return fail(error.code, "metadata key '" + printable(*key) + "': " + error.what);
    };

    const auto type = reader.number<std::uint32_t>();
    if (!type)
        return tl::unexpected(kCutOff);
    Entry entry{.key = *key, .type = ValueType{*type}, .payload = {}};
    if (!facts(entry.type))
        return wrong({Error::Code::BadFile, "unknown type " + std::to_string(*type)});
    entry.count = 1;
    entry.element = entry.type;
    if (entry.type == ValueType::Array) {
        const auto element = reader.number<std::uint32_t>();
        const auto count = reader.number<std::uint64_t>();
        if (!element || !count)
            return tl::unexpected(kCutOff);
        entry.element = ValueType{*element};
        entry.count = *count;
    }
    ByteReader start = reader;
    if (const Status skipped = Skipper(reader, limits).skip(entry.element, entry.count, 1); !skipped)
        return wrong(skipped.error());
    entry.payload = *start.take(reader.position() - start.position());
    if (entry.type == ValueType::Bool && std::to_integer<unsigned>(entry.payload[0]) > 1)
        return wrong({Error::Code::BadFile, "a truth value is neither 0 nor 1"});
    return entry;
}

Result<Metadata> Metadata::read(ByteReader& reader, std::uint64_t count, HeaderLimits& limits)
{
    if (count > kMaxKeys)
        return fail(Error::Code::BadFile, "the header claims " + std::to_string(count) + " metadata keys");
    Metadata metadata;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (const Status ok = limits.go_on(); !ok)
            return tl::unexpected(ok.error());
        const std::size_t start = reader.position();
        auto entry = read_entry(reader, limits);
        if (!entry)
            return tl::unexpected(entry.error());
        if (Status ok = limits.take_bytes(reader.position() - start); !ok)
            return tl::unexpected(ok.error());
        metadata.entries_.push_back(*entry);
    }

    auto& order = metadata.by_key_;
    const auto& entries = metadata.entries_;
    order.resize(entries.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return entries[a].key < entries[b].key; });
    const auto twice = std::adjacent_find(order.begin(), order.end(),
                                          [&](auto a, auto b) { return entries[a].key == entries[b].key; });
    if (twice != order.end())
        return fail(Error::Code::BadFile, "metadata key '" + printable(entries[*twice].key) + "' appears twice");
    return metadata;
}

const Metadata::Entry* Metadata::find(std::string_view key) const
{
    if (usual_prefix_.empty() || !key.starts_with(usual_prefix_))
        return find_in_file(key);
    return find_in_file(their_prefix_ + std::string(key.substr(usual_prefix_.size())));
}

const Metadata::Entry* Metadata::find_in_file(std::string_view key) const
{
    const auto at = std::lower_bound(by_key_.begin(), by_key_.end(), key,
                                     [&](auto index, std::string_view wanted) { return entries_[index].key < wanted; });
    return at != by_key_.end() && entries_[*at].key == key ? &entries_[*at] : nullptr;
}

std::optional<Metadata::Entry> Metadata::find_array(std::string_view key) const
{
    const Entry* found = find(key);
    if (!found || found->type != ValueType::Array)
        return {};
    Entry entry = *found;
    if (const auto said = said_lengths_.find(key); said != said_lengths_.end())
        entry.count = std::min(entry.count, said->second);
    return entry;
}

std::optional<std::string_view> Metadata::string(std::string_view key) const
{
    if (const auto said = said_texts_.find(key); said != said_texts_.end())
        return said->second;
    const Entry* entry = find(key);
    if (!entry || entry->type != ValueType::String)
        return {};
    return ByteReader(entry->payload).string();
}

std::optional<std::int64_t> Metadata::integer(std::string_view key) const
{
    if (const auto said = said_numbers_.find(key); said != said_numbers_.end())
        return std::int64_t(said->second);
    const Entry* entry = find(key);
    if (!entry)
        return {};
    ByteReader reader(entry->payload);
    return read_integer(reader, entry->type);
}

std::optional<double> Metadata::number(std::string_view key) const
{
    if (const auto said = said_numbers_.find(key); said != said_numbers_.end())
        return said->second;
    const Entry* entry = find(key);
    if (!entry)
        return {};
    ByteReader reader(entry->payload);
    return read_number(reader, entry->type);
}

std::optional<bool> Metadata::boolean(std::string_view key) const
{
    const Entry* entry = find(key);
    if (!entry || entry->type != ValueType::Bool)
        return {};
    return std::to_integer<int>(entry->payload[0]) != 0;
}

std::optional<std::vector<std::string_view>> Metadata::strings(std::string_view key) const
{
    const auto entry = find_array(key);
    if (!entry || entry->element != ValueType::String)
        return {};
    std::vector<std::string_view> strings;
    strings.reserve(entry->count);
    ByteReader reader(entry->payload);
    for (std::uint64_t i = 0; i < entry->count; ++i) {
        const auto text = reader.string();  // checked again, since another program may have written to the file
        if (!text)
            return {};
        strings.push_back(*text);
    }
    return strings;
}

std::optional<std::vector<float>> Metadata::floats(std::string_view key) const
{
    const auto entry = find_array(key);
    if (!entry)
        return {};
    std::vector<float> numbers;
    ByteReader reader(entry->payload);
    for (std::uint64_t i = 0; i < entry->count; ++i) {
        const auto number = read_number(reader, entry->element);
        if (!number)
            return {};
        numbers.push_back(static_cast<float>(*number));
    }
    return numbers;
}

std::optional<std::vector<std::int64_t>> Metadata::integers(std::string_view key, std::uint64_t most) const
{
    const auto entry = find_array(key);
    if (!entry || entry->count > most)
        return {};
    std::vector<std::int64_t> integers;
    ByteReader reader(entry->payload);
    for (std::uint64_t i = 0; i < entry->count; ++i) {
        const auto integer = read_integer(reader, entry->element);
        if (!integer)
            return {};
        integers.push_back(*integer);
    }
    return integers;
}

std::optional<std::vector<bool>> Metadata::booleans(std::string_view key, std::uint64_t most) const
{
    const auto entry = find_array(key);
    if (!entry || entry->element != ValueType::Bool || entry->count > most)
        return {};
    std::vector<bool> booleans;
    for (const std::byte b : entry->payload)
        booleans.push_back(b != std::byte(0));
    return booleans;
}

std::optional<std::uint64_t> Metadata::array_length(std::string_view key) const
{
    const auto entry = find_array(key);
    return entry ? std::optional(entry->count) : std::nullopt;
}

std::string Metadata::printed_value(const Entry& entry)
{
    constexpr std::size_t kStringBytes = 120;
    constexpr std::size_t kElementBytes = 24;
    constexpr std::uint64_t kElements = 6;

    ByteReader reader(entry.payload);
    if (entry.type != ValueType::Array)
        return printed_scalar(reader, entry.type, kStringBytes);
    if (entry.element == ValueType::Array)
        return std::to_string(entry.count) + " arrays";
    std::string text = "[";
    for (std::uint64_t i = 0; i < std::min(entry.count, kElements); ++i) {
        text += i == 0 ? "" : ", ";
        text += printed_scalar(reader, entry.element, kElementBytes);
    }
    return text + (entry.count > kElements ? ", ...] (" + std::to_string(entry.count) + ")" : "]");
}

std::vector<Metadata::Printed> Metadata::printed() const
{
    std::vector<Printed> all;
    all.reserve(entries_.size());
    for (const Entry& entry : entries_) {
        const std::string type = facts(entry.element)->name;
        all.push_back(
            {printable(entry.key), entry.type == ValueType::Array ? "array of " + type : type, printed_value(entry)});
    }
    return all;
}

}  // namespace engine
