#include "app/server/fields.h"

#include "app/server/json_brackets.h"

#include <array>
#include <cmath>

namespace server {

namespace {

constexpr int kDeepest = 64;

/// Returns why a text must not be parsed: it is nested too deeply for the stack, or would take more than the compares
/// that are left. Empty: it may be.
std::string excess_of(std::string_view text, std::int64_t& compares)
{
    JsonBrackets brackets;
    std::array<std::int64_t, kDeepest + 1> members{};  // so far, of each object that is open
    std::int64_t left = compares;
    int depth = 0;
    for (const char c : text) {
        const bool opens = brackets.feed(c) > depth;
        depth = brackets.depth();
        if (depth > kDeepest)
            return "is nested too deeply";
        if (depth > 0 && opens)
            members[std::size_t(depth)] = 0;
        else if (depth > 0 && c == ':' && !brackets.in_string())
            left -= members[std::size_t(depth)]++;
        if (left < 0)
            return "has an object with too many members";
    }
    compares = left;
    return {};
}

}  // namespace

tl::expected<Json, Refusal> parse_body(std::string_view text)
{
    const auto refuse = [](const std::string& sentence) {
        return tl::unexpected(Refusal{Refusal::Kind::BadRequest, sentence});
    };
    std::int64_t compares = kMostNameCompares;
    if (const std::string excess = excess_of(text, compares); !excess.empty())
        return refuse("the JSON of the request " + excess);
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded())
        return refuse("the body of the request is not valid JSON");
    if (!json.is_object())
        return refuse("the body of the request is not a JSON object");
    return json;
}

Json parse_inner(std::string_view text, std::int64_t& compares)
{
    return excess_of(text, compares).empty() ? Json::parse(text, nullptr, false) : Json(Json::value_t::discarded);
}

Json parse_inner(std::string_view text)
{
    std::int64_t compares = kMostNameCompares;
    return parse_inner(text, compares);
}

std::string text_of(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_empty_text(const Json& json)
{
    return json.is_string() && json.get_ref<const std::string&>().empty();
}

const Json* Fields::find(const char* name) const
{
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> Fields::text(const char* name)
{
    const Json* value = find(name);
    if (!value)
        return std::nullopt;
    if (value->is_string())
        return value->get<std::string>();
    refuse(name, "must be a string");
    return std::nullopt;
}

std::optional<bool> Fields::flag(const char* name)
{
    const Json* value = find(name);
    if (!value)
        return std::nullopt;
    if (value->is_boolean())
        return value->get<bool>();
    refuse(name, "must be true or false");
    return std::nullopt;
}

std::optional<double> Fields::number(const char* name, double least, double most)
{
    const Json* value = find(name);
    if (!value)
        return std::nullopt;
    const double number = value->is_number() ? value->get<double>() : std::nan("");
    if (number >= least && number <= most)
        return number;
    refuse(name, "must be a number from " + Json(least).dump() + " to " + Json(most).dump());
    return std::nullopt;
}

std::optional<std::int64_t> Fields::integer(const char* name, std::int64_t least, std::int64_t most)
{
    const Json* value = find(name);
    if (!value)
        return std::nullopt;
    // Some clients write whole numbers with a point.
    const double number = value->is_number() ? value->get<double>() : std::nan("");
    if (number >= double(least) && number <= double(most) && number == std::floor(number)) {
        if (value->is_number_unsigned() || value->is_number_integer())
            return value->get<std::int64_t>();
        if (std::abs(number) < 9e15)
            return std::int64_t(number);
    }
    refuse(name, "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return std::nullopt;
}

const Json* Fields::array(const char* name)
{
    const Json* value = find(name);
    if (value && !value->is_array()) {
        refuse(name, "must be an array");
        return nullptr;
    }
    return value;
}

const Json* Fields::object(const char* name)
{
    const Json* value = find(name);
    if (value && !value->is_object()) {
        refuse(name, "must be an object");
        return nullptr;
    }
    return value;
}

std::vector<std::string> Fields::texts(const char* name)
{
    const Json* value = find(name);
    if (!value)
        return {};
    if (value->is_string())
        return {value->get<std::string>()};
    std::vector<std::string> all;
    if (value->is_array())
        for (const Json& one : *value)
            if (one.is_string())
                all.push_back(one.get<std::string>());
    if (!value->is_array() || all.size() != value->size())
        refuse(name, "must be a string or an array of strings");
    return all;
}

void Fields::not_supported(const char* name, const Json& idle)
{
    const Json* value = find(name);
    if (value && *value != idle && !(value->is_structured() && value->empty()))
        refuse(name, "is not supported here", Refusal::Kind::NotSupported);
}

void Fields::refuse(const char* name, const std::string& sentence, Refusal::Kind kind)
{
    if (!refusal_)
        refusal_ = Refusal{kind, "'" + std::string(name) + "' " + sentence, name};
}

}  // namespace server
