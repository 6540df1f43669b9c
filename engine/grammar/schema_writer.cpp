#include "engine/grammar/schema_writer.h"

#include "engine/grammar/grammar.h"
#include "engine/grammar/schema_scalars.h"
#include "engine/grammar/schema_text.h"

#include <algorithm>
#include <initializer_list>
#include <set>

namespace engine {

namespace {

constexpr int kMostSchemaDepth = 64;
constexpr int kMostSchemas = 20'000;
constexpr std::int64_t kMostWork = 4'000'000;  // a second or a few

tl::unexpected<Error> too_large()
{
    return refuse_schema("the schema is too large");
}

/// Returns what it takes to copy a schema, join it to another one and look for its names, each of which means to look
/// at all of them: in values, which take about as long as 16 names or 64 bytes.
std::int64_t work_of(const Schema& s)
{
    std::int64_t work = 1;
    if (s.is_string())
        work += std::int64_t(s.get_ref<const std::string&>().size() / 64);
    if (s.is_object())
        work += std::int64_t(s.size() * s.size() / 16);
    if (s.is_structured())
        for (const Schema& value : s)
            work += work_of(value);
    return work;
}

std::set<std::string> names_in(const Schema& list)
{
    return {list.begin(), list.end()};
}

/// Says whether any text may be a name: zod writes that of records, though a name is nothing else.
bool asks_for_any_text(const Schema& names)
{
    const Schema words = without_notes(names);
    return words == true || words == Schema::object() || words == Schema{{"type", "string"}};
}

bool has_type(const Schema& s, const char* type)
{
    return s.is_object() && s.value("type", Schema()) == type;
}

/// Says whether a choice may be a number once more, as a text: so pydantic writes what a decimal may be. Its pattern
/// looks ahead, and an answer can as well be the number.
bool may_be_number_as_text(const Schema& choice)
{
    return has_type(choice, "string") && choice.contains("pattern");
}

bool is_choice_of_number(const Schema& choice)
{
    return has_type(choice, "number") || has_type(choice, "integer");
}

bool is_too_large(const std::string& text)
{
    return text.size() > Grammar::kMostText;
}

}  // namespace

Result<std::string> SchemaWriter::write()
{
    Text root = schema(root_, 0);
    if (!root)
        return root;
    add_rule("root", *root);
    return rules_ + std::string(kJsonRules);
}

// ---- which kind of schema it is ----

Result<std::string> SchemaWriter::schema(const Schema& given, int depth)
{
    if (depth > kMostSchemaDepth)
        return refuse_schema("the schema is nested too deeply");
    ++schemas_;
    if (!may_copy(given) || is_used_up())
        return too_large();
    if (given == false)
        return refuse_schema("the schema asks for 'false', which no value is");
    if (!given.is_object() && given != true)
        return refuse_schema("a schema must be an object");
    const Schema s = without_notes(given);
    if (s == true || s.empty())
        return std::string("value");
    if (!s.contains("$ref")) {
        Text text = expanded(s, depth);
        return text && is_too_large(*text) ? too_large() : text;
    }
    if (!s["$ref"].is_string())
        return refuse_schema("the schema has a '$ref' that is no string");
    const std::string pointer = s["$ref"].get<std::string>();
    if (s.size() == 1)
        return reference(pointer, depth);
    Schema rest = s;  // what stands beside it holds as well
    rest.erase("$ref");
    return schema(Schema{{"allOf", {Schema{{"$ref", pointer}}, rest}}}, depth + 1);
}

/// Counts the work; false: that of all schemas together is too much.
bool SchemaWriter::may_copy(const Schema& s)
{
    work_ += work_of(s);
    return work_ <= kMostWork;
}

/// Says whether the schemas so far were too many, or too much: whatever comes then is refused.
bool SchemaWriter::is_used_up() const
{
    return schemas_ > kMostSchemas || work_ > kMostWork || is_too_large(rules_);
}

/// Returns the part of the schema that is referred to, as in "#/$defs/name".
Result<const Schema*> SchemaWriter::referred(const std::string& pointer) const
{
    const auto missing = [&](const char* why) {
        return refuse_schema("the schema's '$ref' to '" + pointer.substr(0, 100) + "' " + why);
    };
    if (!pointer.starts_with("#"))
        return missing("leads out of it, where nothing is read");
    const Schema* at = &root_;
    for (std::size_t from = 1; from < pointer.size();) {
        const std::size_t slash = pointer[from] == '/' ? from + 1 : std::string::npos;
        if (slash == std::string::npos)
            return missing("is no path");
        const std::size_t end = std::min(pointer.find('/', slash), pointer.size());
        std::string name = pointer.substr(slash, end - slash);
        for (const auto& [escape, letter] : {std::pair("~1", "/"), std::pair("~0", "~")})
            for (std::size_t found = 0; (found = name.find(escape, found)) != std::string::npos; ++found)
                name.replace(found, 2, letter);
        const bool is_index = at->is_array() && !name.empty() && name.size() < 6 &&
                              std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
        if (at->is_object() && at->contains(name))
            at = &(*at)[name];
        else if (is_index && std::size_t(std::stoi(name)) < at->size())
            at = &(*at)[std::size_t(std::stoi(name))];
        else
            return missing("leads to nothing");
        from = end;
    }
    return at;
}

/// Makes a rule for what is referred to, so that it may lie within itself.
Result<std::string> SchemaWriter::reference(const std::string& pointer, int depth)
{
    if (const auto known = rule_of_.find(pointer); known != rule_of_.end())
        return known->second;
    const std::string rule = rule_of_[pointer] = name("ref");
    const auto target = referred(pointer);
    if (!target)
        return tl::unexpected(target.error());
    Text text = schema(**target, depth + 1);
    if (text)
        add_rule(rule, *text);
    return text ? Text(rule) : text;
}

Result<std::string> SchemaWriter::expanded(const Schema& s, int depth)
{
    if (const Status ok = check_words(s); !ok)
        return tl::unexpected(ok.error());
    if (s.contains("allOf"))
        return all_of(s, depth);
    for (const char* word : {"anyOf", "oneOf"})
        if (s.contains(word))
            return choices(s, word, depth);
    if (s.contains("const"))
        return gbnf_literal(s["const"].dump());
    if (s.contains("enum")) {
        if (!s["enum"].is_array() || s["enum"].empty())
            return refuse_schema("the schema has an 'enum' that is no list of values");
        std::string all;
        for (const Schema& value : s["enum"])
            all += (all.empty() ? "(" : " | ") + gbnf_literal(value.dump());
        return all + ")";
    }
    const std::string by_words = type_by_words(s);
    if (!s.contains("type") && by_words.empty())
        return std::string("value");
    const Schema type = s.contains("type") ? s["type"] : Schema(by_words);
    if (type.is_string())
        return of_type(s, type.get<std::string>(), depth);
    if (!type.is_array() || type.empty())
        return refuse_schema("the schema has a 'type' that is neither a name nor a list of names");
    std::string all;
    std::set<std::string> named;
    for (const Schema& one : type) {
        if (!one.is_string())
            return refuse_schema("the schema has a 'type' that is neither a name nor a list of names");
        const std::string name = one.get<std::string>();
        if (!named.insert(name).second)
            return refuse_schema("the schema has a 'type' that names '" + name + "' twice");
        Text text = of_type(s, name, depth);
        if (!text)
            return text;
        all += (all.empty() ? "(" : " | ") + *text;
    }
    return all + ")";
}

/// Writes the rule of a choice of schemas; what stands beside the choices holds for each of them.
Result<std::string> SchemaWriter::choices(const Schema& s, const std::string& word, int depth)
{
    if (!s[word].is_array() || s[word].empty())
        return refuse_schema("the schema has an '" + word + "' that is no list of schemas");
    Schema beside = s;
    beside.erase(word);
    const bool has_number = std::ranges::any_of(s[word], is_choice_of_number);
    std::string all;
    for (const Schema& choice : s[word]) {
        Text text = schema(beside.empty() ? choice : Schema{{"allOf", {beside, choice}}}, depth + 1);
        if (!text && has_number && may_be_number_as_text(choice) && !is_used_up())
            continue;
        if (!text)
            return text;
        all += (all.empty() ? "(" : " | ") + *text;
        if (is_too_large(all))
            return too_large();
    }
    return all + ")";
}

Result<std::string> SchemaWriter::all_of(const Schema& s, int depth)
{
    if (!s["allOf"].is_array() || s["allOf"].empty())
        return refuse_schema("the schema has an 'allOf' that is no list of schemas");
    if (s.size() == 1 && s["allOf"].size() == 1)
        return schema(s["allOf"].front(), depth + 1);
    Schema merged = s;
    merged.erase("allOf");
    for (Schema part : s["allOf"]) {
        std::set<std::string> seen;
        while (part.is_object() && part.contains("$ref") && part["$ref"].is_string()) {
            const std::string pointer = part["$ref"].get<std::string>();
            const auto target = referred(pointer);
            if (!target)
                return tl::unexpected(target.error());
            if (!seen.insert(pointer).second)
                return refuse_schema("the schema's '$ref' to '" + pointer.substr(0, 100) + "' leads back to itself");
            part.erase("$ref");
            if (!may_copy(part) || !may_copy(**target))
                return too_large();
            auto both = merge_schemas(without_notes(part), without_notes(**target));
            if (!both)
                return tl::unexpected(both.error());
            part = std::move(*both);
        }
        if (!may_copy(merged) || !may_copy(part))
            return too_large();
        auto both = merge_schemas(merged, without_notes(part));
        if (!both)
            return tl::unexpected(both.error());
        merged = std::move(*both);
    }
    return schema(merged, depth + 1);
}

/// Refuses words that no rule is written for, since strict callers rely on them. Lenient ones only rely on those that
/// say how a value is built; words that compare values are left to whoever reads the answer.
Status SchemaWriter::check_words(const Schema& s)
{
    const auto not_supported = [](const char* word) {
        return refuse_schema(std::string("the schema's '") + word + "' is not supported");
    };
    for (const char* word : {"not", "if", "then", "else", "patternProperties", "dependentSchemas", "dependencies",
                             "unevaluatedItems", "$dynamicRef", "$recursiveRef"})
        if (s.contains(word))
            return not_supported(word);
    if (s.contains("unevaluatedProperties") && s["unevaluatedProperties"] != false)
        return not_supported("unevaluatedProperties");
    if (rigour_ == SchemaRigour::Lenient)
        return {};
    for (const char* word :
         {"minProperties", "maxProperties", "dependentRequired", "contains", "minContains", "maxContains"})
        if (s.contains(word))
            return not_supported(word);
    if (s.contains("uniqueItems") && s["uniqueItems"] != false)
        return not_supported("uniqueItems");
    if (s.contains("propertyNames") && !asks_for_any_text(s["propertyNames"]) && !listed_names(s))
        return not_supported("propertyNames");
    return {};
}

std::string SchemaWriter::type_by_words(const Schema& s)
{
    const auto any = [&](std::initializer_list<const char*> words) {
        return std::ranges::any_of(words, [&](const char* word) { return s.contains(word); });
    };
    if (any({"properties", "required", "additionalProperties", "propertyNames"}))
        return "object";
    if (any({"items", "prefixItems", "minItems", "maxItems"}))
        return "array";
    if (any({"minLength", "maxLength", "pattern", "format"}))
        return "string";
    return any({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}) ? "number" : "";
}

Result<std::string> SchemaWriter::of_type(const Schema& s, const std::string& type, int depth)
{
    if (type == "object")
        return object(s, depth);
    if (type == "array")
        return array(s, depth);
    if (type == "string")
        return gbnf_of_string(s, rigour_);
    if (type == "integer")
        return gbnf_of_integer(s, rigour_);
    if (type == "number")
        return gbnf_of_number(s, rigour_);
    if (type == "boolean" || type == "null")
        return type;
    return refuse_schema("the schema has the type '" + type.substr(0, 100) + "', which there is not");
}

// ---- objects ----

/// Returns the names that 'propertyNames' lists, as it does for pydantic's and zod's maps whose keys are an enum.
/// Nothing: it says in another way which names there may be, or not at all.
std::optional<std::vector<std::string>> SchemaWriter::listed_names(const Schema& s)
{
    const Schema* names = s.contains("propertyNames") ? &s["propertyNames"] : nullptr;
    if (names && names->is_object() && names->contains("$ref") && (*names)["$ref"].is_string()) {
        const auto target = referred((*names)["$ref"].get<std::string>());
        names = target && may_copy(**target) ? *target : nullptr;
    }
    if (!names || !names->is_object())
        return std::nullopt;
    const Schema listed =
        names->contains("const") ? Schema::array({(*names)["const"]}) : names->value("enum", Schema::array());
    if (!listed.is_array() || listed.empty() ||
        !std::ranges::all_of(listed, [](const Schema& name) { return name.is_string(); }))
        return std::nullopt;
    return listed.get<std::vector<std::string>>();
}

/// Writes the members. `listed`: names that there may be besides those in 'properties'.
Result<std::vector<SchemaWriter::Member>> SchemaWriter::members(const Schema& s, const std::vector<std::string>& listed,
                                                                int depth)
{
    const Schema none = Schema::object(), no_names = Schema::array(), any(true);
    const Schema& properties = s.contains("properties") ? s["properties"] : none;
    const Schema& required = s.contains("required") ? s["required"] : no_names;
    const Schema& others = s.contains("additionalProperties") ? s["additionalProperties"] : any;
    if (!properties.is_object())
        return refuse_schema("the schema has 'properties' that are no object");
    if (!required.is_array() || !std::ranges::all_of(required, [](const Schema& name) { return name.is_string(); }))
        return refuse_schema("the schema has a 'required' that is no list of names");
    const std::set<std::string> needed = names_in(required);
    std::set<std::string> added;
    std::vector<Member> members;
    const auto add = [&](const std::string& name, const Schema& value, bool is_needed) -> Status {
        added.insert(name);
        if (value == false && !is_needed)
            return {};
        Text text = schema(value, depth + 1);
        if (!text)
            return tl::unexpected(text.error());
        const std::string rule = this->name("member");
        add_rule(rule, gbnf_literal(Schema(name).dump() + ":") + " ws " + *text);
        members.push_back({rule, is_needed});
        return {};
    };
    for (const auto& [name, value] : properties.items())
        if (const Status ok = add(name, value, needed.contains(name)); !ok)
            return tl::unexpected(ok.error());
    for (const std::string& name : listed)
        if (!added.contains(name))
            if (const Status ok = add(name, others, needed.contains(name)); !ok)
                return tl::unexpected(ok.error());
    for (const Schema& name : required)
        if (!added.contains(name.get<std::string>()))
            if (const Status ok = add(name.get<std::string>(), others == false ? any : others, true); !ok)
                return tl::unexpected(ok.error());
    return members;
}

/// Writes the members that the schema does not name; empty: there are none.
Result<std::string> SchemaWriter::other_members(const Schema& s, const std::vector<std::string>& names, int depth)
{
    if (!s.contains("additionalProperties") || s["additionalProperties"] == false)
        return std::string();
    Text value = schema(s["additionalProperties"], depth + 1);
    if (!value)
        return value;
    const std::string rule = name("other");
    const std::string key = rule + "-key";
    add_other_strings(names, key, rules_, Grammar::kMostText);
    if (is_too_large(rules_))
        return too_large();
    add_rule(rule, "\"\\\"\" " + key + " \"\\\":\" ws " + *value);
    return rule;
}

/// Writes members in order. A comma stands before a member where another one was written: so there are two rules for
/// the rest from each on.
std::string SchemaWriter::in_order(const std::vector<Member>& members, const std::string& others)
{
    const std::string prefix = name("object");
    const auto rest = [&](std::size_t i, bool behind_another) {
        return prefix + (behind_another ? "-more-" : "-from-") + std::to_string(i);
    };
    const std::string more_others = others.empty() ? "\"\"" : "(\",\" ws " + others + ")*";
    add_rule(rest(members.size(), true), more_others);
    add_rule(rest(members.size(), false), others.empty() ? "\"\"" : "(" + others + " " + more_others + ")?");
    for (std::size_t i = members.size(); i-- > 0;) {
        const std::string next = " " + rest(i + 1, true);
        const std::string first = members[i].text + next, later = "\",\" ws " + first;
        add_rule(rest(i, true), later + (members[i].required ? "" : " | " + rest(i + 1, true)));
        add_rule(rest(i, false), first + (members[i].required ? "" : " | " + rest(i + 1, false)));
    }
    return rest(0, false);
}

Result<std::string> SchemaWriter::object(const Schema& s, int depth)
{
    const auto listed = listed_names(s);
    if (!s.contains("properties") && !s.contains("required") && !listed &&
        (!s.contains("additionalProperties") || s["additionalProperties"] == true))
        return std::string("object");
    const auto named = members(s, listed.value_or(std::vector<std::string>()), depth);
    if (!named)
        return tl::unexpected(named.error());
    std::vector<std::string> names;
    if (s.contains("properties"))
        for (const auto& [name, value] : s["properties"].items())
            names.push_back(name);
    if (s.contains("required"))
        for (const Schema& name : s["required"])
            names.push_back(name.get<std::string>());
    Text others = listed ? Text(std::string()) : other_members(s, names, depth);
    if (!others)
        return others;
    return "\"{\" ws " + in_order(*named, *others) + " ws \"}\"";
}

// ---- arrays ----

Result<std::string> SchemaWriter::array(const Schema& s, int depth)
{
    const auto least = schema_count(s, "minItems", 0);
    const auto most = schema_count(s, "maxItems", -1);
    if (!least || !most)
        return tl::unexpected((least ? most : least).error());
    if (*most >= 0 && *most < *least)
        return refuse_schema("the schema's 'maxItems' is less than its 'minItems'");
    // Until draft 2019-09 a list of schemas under 'items' was what 'prefixItems' is now, and 'additionalItems' what is
    // 'items'; beside one schema under 'items' it said nothing.
    const bool is_older = s.contains("items") && s["items"].is_array();
    if (is_older && s.contains("prefixItems"))
        return refuse_schema("the schema has lists under both 'items' and 'prefixItems'");
    const char* const further = is_older ? "additionalItems" : "items";
    const Schema first = is_older ? s["items"] : s.contains("prefixItems") ? s["prefixItems"] : Schema::array();
    if (!first.is_array())
        return refuse_schema("the schema has 'prefixItems' that are no list of schemas");

    std::string all;
    int count = 0;
    for (const Schema& item : first) {
        if (*most >= 0 && count == *most)
            break;
        Text text = schema(item, depth + 1);
        if (!text)
            return text;
        all += (count++ == 0 ? "" : " \",\" ws ") + *text;
        if (is_too_large(all))
            return too_large();
    }
    const bool more = s.contains(further) ? s[further] != false : first.empty() || *least > count;
    if (!more && *least > count)
        return refuse_schema("the schema's 'minItems' is more than the items it has");
    const int least_more = std::max(*least - count, 0);
    const int most_more = *most < 0 ? -1 : *most - count;
    if (more && most_more != 0) {
        Text text = s.contains(further) ? schema(s[further], depth + 1) : Text("value");
        if (!text)
            return text;
        const std::string item = name("item");
        add_rule(item, *text);
        if (count > 0)
            all += " (\",\" ws " + item + ")" + gbnf_of_repeats(least_more, most_more);
        else
            all = "(" + item + " (\",\" ws " + item + ")" +
                  gbnf_of_repeats(std::max(least_more - 1, 0), most_more < 0 ? -1 : most_more - 1) + ")" +
                  (least_more == 0 ? "?" : "");
    }
    return "\"[\" ws " + all + " ws \"]\"";
}

}  // namespace engine
