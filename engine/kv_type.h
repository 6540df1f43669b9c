// KvType says how keys and values are kept.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace engine {

enum class KvType { F32, F16, Q8_0 };

struct NamedKvType {
    KvType type;
    std::string_view name;
};
/// All of them, in the order in which they are offered: the usual one first.
inline constexpr std::array kKvTypes = {NamedKvType{KvType::F16, "f16"}, NamedKvType{KvType::Q8_0, "q8_0"},
                                        NamedKvType{KvType::F32, "f32"}};

constexpr std::string_view name_of(KvType type)
{
    for (const NamedKvType& one : kKvTypes)
        if (one.type == type)
            return one.name;
    return {};
}

constexpr std::optional<KvType> kv_type_named(std::string_view name)
{
    for (const NamedKvType& one : kKvTypes)
        if (one.name == name)
            return one.type;
    return std::nullopt;
}

}  // namespace engine
