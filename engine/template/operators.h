// Computes Python's operators on template values.
#pragma once

#include "engine/template/heap.h"

#include <optional>
#include <string_view>

namespace engine::jinja {

enum class Operator : std::uint8_t {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Power,
    Negate,
    Plus,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    NotIn,
};

/// Returns Python's name of the value's type, for error sentences.
std::string_view type_name(const Value& value);

bool truth(const Value& value);
std::optional<std::int64_t> length_of(const Value& value);  // what len() gives; nothing where len() fails
std::int64_t require_length(const Value& value);

bool equal(Heap& heap, const Value& a, const Value& b);
bool less(Heap& heap, const Value& a, const Value& b, std::string_view symbol = "<");
bool contains(Heap& heap, const Value& container, const Value& item);
bool compare(Heap& heap, Operator op, const Value& a, const Value& b);
std::size_t hash_of(Heap& heap, const Value& value);
std::size_t hash_of(std::string_view text);

Value arithmetic(Heap& heap, Operator op, const Value& a, const Value& b);
Value negate(Heap& heap, const Value& value);

/// Returns value[start:stop:step]; None stands for a part that is left out.
Value slice(Heap& heap, const Value& value, const Value& start, const Value& stop, const Value& step);

[[noreturn]] void fail_type(std::string sentence);
/// Throws the error that Jinja raises when an undefined value is used for anything but printing, testing and looping.
[[noreturn]] void fail_undefined(const Value& value);

}  // namespace engine::jinja
