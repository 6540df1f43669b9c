// Reads fields of JSON that somebody else wrote: what is not there, or of another kind, is empty.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace remote {

using Json = nlohmann::json;

/// Returns a field of an object. Null: there is no such field, or it is null.
inline const Json* field_of(const Json& object, const char* name)
{
    if (!object.is_object())
        return nullptr;
    const auto found = object.find(name);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

inline std::string text_of(const Json& object, const char* name)
{
    const Json* const text = field_of(object, name);
    return text && text->is_string() ? text->get<std::string>() : std::string();
}

/// Returns a count from 0 on, and so small that a few of them can be added without overflow: a server may send any
/// number.
inline std::optional<int> count_of(const Json& object, const char* name)
{
    const Json* const count = field_of(object, name);
    if (!count || !count->is_number())
        return {};
    constexpr double kMost = 1 << 28;
    const double value = count->get<double>();
    return value >= 0 && value <= kMost ? std::optional(int(value)) : std::nullopt;
}

}  // namespace remote
