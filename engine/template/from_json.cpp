// The conversation and the arguments come as JSON.
#include "engine/template/from_json.h"

namespace engine::jinja {

static Value number(const nlohmann::ordered_json& json)
{
    if (json.is_number_float())
        return Value::real(json.get<double>());
    if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t(INT64_MAX))
        throw TemplateError("an integer in the template's variables does not fit 64 bits");
    return Value::integer(json.get<std::int64_t>());
}

Value from_json(Heap& heap, const nlohmann::ordered_json& json, TextOrigin origin)
{
    Level level(heap.budget);
    heap.budget.step();
    switch (json.type()) {
    case nlohmann::json::value_t::boolean:
        return Value::boolean(json.get<bool>());
    case nlohmann::json::value_t::string:
        return heap.string(TracedText(json.get_ref<const std::string&>(), origin));
    case nlohmann::json::value_t::array: {
        Value list = heap.list();
        for (const auto& item : json)
            list.as<List>().push(from_json(heap, item, origin));
        return list;
    }
    case nlohmann::json::value_t::object: {
        Value dict = heap.dict();
        for (const auto& [key, value] : json.items())
            dict.as<Dict>().set(heap.string(key), from_json(heap, value, origin));
        return dict;
    }
    case nlohmann::json::value_t::number_integer:
    case nlohmann::json::value_t::number_unsigned:
    case nlohmann::json::value_t::number_float:
        return number(json);
    default:
        return Value::none();
    }
}

}  // namespace engine::jinja
