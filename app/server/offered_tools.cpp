#include "app/server/offered_tools.h"

#include <algorithm>
#include <array>

namespace server {

namespace {

/// Returns a member of an object; null: it is missing.
const Json* member(const Json& object, const std::string& name)
{
    if (!object.is_object())
        return nullptr;
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
}

/// Collects the types that a schema allows, in whatever form it says so.
class TypesOfSchema
{
public:
    /// `root`: where references lead.
    explicit TypesOfSchema(const Json& root)
        : root_(root)
    {
    }

    /// Returns a word, or an array of several; null: a value may be of any type.
    Json of(const Json& schema)
    {
        if (!add_all_of(schema) || types_.empty())
            return {};
        return types_.size() == 1 ? types_.front() : types_;
    }

private:
    static constexpr std::array kTypes = {"string", "number", "integer", "boolean", "null", "object", "array"};
    static constexpr int kMostSchemas = 64;  // each reference may lead to many others, and to itself

    /// Adds the types of a schema. False: it allows values of any type.
    bool add_all_of(const Json& schema)
    {
        if (++schemas_ > kMostSchemas)
            return false;
        if (const Json* type = member(schema, "type"))
            return add_words(*type);
        if (const Json* value = member(schema, "const"))
            return add_word(type_of(*value));
        if (const Json* values = member(schema, "enum"))
            return std::ranges::all_of(*values, [&](const Json& value) { return add_word(type_of(value)); });
        if (const Json* reference = member(schema, "$ref"))
            return add_referred(*reference);
        const auto add_one = [&](const Json& one) { return add_all_of(one); };
        for (const char* choice : {"anyOf", "oneOf"})
            if (const Json* schemas = member(schema, choice))
                return std::ranges::all_of(*schemas, add_one);
        const Json* schemas = member(schema, "allOf");
        return schemas && std::ranges::any_of(*schemas, add_one);
    }

    bool add_referred(const Json& reference)
    {
        for (const char* group : {"$defs", "definitions"}) {
            const std::string path = std::string("#/") + group + "/";
            const Json* schemas = member(root_, group);
            if (!schemas || !reference.is_string() || !reference.get<std::string>().starts_with(path))
                continue;
            const Json* schema = member(*schemas, reference.get<std::string>().substr(path.size()));
            return schema && add_all_of(*schema);
        }
        return false;
    }

    bool add_words(const Json& type)
    {
        return std::ranges::all_of(type, [&](const Json& word) { return add_word(word); });
    }

    bool add_word(const Json& word)
    {
        const bool is_type = std::ranges::find(kTypes, word) != kTypes.end();
        if (is_type && std::ranges::find(types_, word) == types_.end())
            types_.push_back(word);
        return is_type;
    }

    static const char* type_of(const Json& value) { return value.type_name(); }  // JSON Schema uses the same words

    const Json& root_;
    Json types_ = Json::array();
    int schemas_ = 0;
};

}  // namespace

const Json* offered_tool(const Json& tools, const std::string& name)
{
    const Json::json_pointer at("/function/name");
    for (const Json& one : tools)
        if (one.is_object() && one.contains(at) && one.at(at) == name)
            return &one;
    return nullptr;
}

bool begins_offered_tool(const Json& tools, const std::string& name)
{
    const Json::json_pointer at("/function/name");
    return std::ranges::any_of(tools, [&](const Json& one) {
        return one.is_object() && one.contains(at) && one.at(at).is_string() &&
               one.at(at).get<std::string>().starts_with(name);
    });
}

Json type_of_argument(const Json& tools, const std::string& name, const std::string& key)
{
    const Json* known = offered_tool(tools, name);
    const Json* parameters = known ? member(known->at("function"), "parameters") : nullptr;
    const Json* properties = parameters ? member(*parameters, "properties") : nullptr;
    const Json* schema = properties ? member(*properties, key) : nullptr;
    const Json types = schema ? TypesOfSchema(*parameters).of(*schema) : Json();
    const bool is_said = schema && schema->is_object() && schema->value("type", Json()) == "string";
    return types == "string" && !is_said ? Json::array({types}) : types;
}

}  // namespace server
