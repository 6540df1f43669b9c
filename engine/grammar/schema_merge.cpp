#include "engine/grammar/schema_merge.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

namespace engine {

namespace {

constexpr std::array<std::string_view, 16> kNotes = {
    "title",    "description", "default", "example",          "examples",      "deprecated", "readOnly",    "writeOnly",
    "$comment", "$schema",     "$id",     "contentMediaType", "discriminator", "$defs",      "definitions", "$anchor"};

std::set<Schema> set_of(const Schema& list)
{
    return {list.begin(), list.end()};
}

Schema list_of(const Schema& value)
{
    return value.is_array() ? value : Schema::array({value});
}

Schema in_both(const Schema& a, const Schema& b)
{
    Schema both = Schema::array();
    const Schema values = list_of(a);
    const std::set<Schema> others = set_of(list_of(b));
    for (const Schema& value : values)
        if (others.contains(value))
            both.push_back(value);
    return both;
}

/// Merges one word, which both have with different values.
Result<Schema> merge_word(const std::string& word, const Schema& a, const Schema& b)
{
    if (word == "required" && a.is_array() && b.is_array()) {
        Schema all = a;
        std::set<Schema> there = set_of(a);
        for (const Schema& name : b)
            if (there.insert(name).second)
                all.push_back(name);
        return all;
    }
    if (word == "properties" && a.is_object() && b.is_object()) {
        Schema all = a;
        for (const auto& [name, schema] : b.items())
            all[name] = all.contains(name) && all[name] != schema ? Schema{{"allOf", {all[name], schema}}} : schema;
        return all;
    }
    const bool numbers = a.is_number() && b.is_number();
    if (numbers && (word.starts_with("min") || word == "exclusiveMinimum"))
        return std::max(a, b);
    if (numbers && (word.starts_with("max") || word == "exclusiveMaximum"))
        return std::min(a, b);
    if (word == "type" || word == "enum")
        if (Schema both = in_both(a, b); !both.empty())
            return both.size() == 1 && word == "type" ? both.front() : both;
    if (word == "items" && a.is_object() && b.is_object())
        return Schema{{"allOf", {a, b}}};
    return fail(Error::Code::BadRequest, "the schema asks for two different things with '" + word + "' at once");
}

}  // namespace

Schema without_notes(const Schema& schema)
{
    if (!schema.is_object())
        return schema;
    Schema rest = Schema::object();
    for (const auto& [word, value] : schema.items())
        if (std::ranges::find(kNotes, word) == kNotes.end())
            rest[word] = value;
    return rest;
}

Result<Schema> merge_schemas(const Schema& a, const Schema& b)
{
    if (a == false || b == false)
        return Schema(false);
    if (!a.is_object())
        return b;
    if (!b.is_object())
        return a;
    Schema merged = a;
    for (const auto& [word, value] : b.items()) {
        if (!merged.contains(word)) {
            merged[word] = value;
        } else if (merged[word] != value) {
            auto both = merge_word(word, merged[word], value);
            if (!both)
                return both;
            merged[word] = std::move(*both);
        }
    }
    return merged;
}

}  // namespace engine
