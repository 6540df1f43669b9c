#include "engine/template/names.h"

#include "engine/template/globals.h"
#include "engine/template/json.h"
#include "engine/template/text_of.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace engine::jinja {

Names::Names(Heap& heap, const Syntax& syntax, const nlohmann::ordered_json& variables)
    : heap_(heap)
    , syntax_(syntax)
    , variables_(variables)
    , outside_(syntax.names.size())
    , scope_(heap.make<Scope>(Value()))
{
}

Value Names::look_up(int name)
{
    for (const Value* scope = &scope_; !scope->is_missing(); scope = &scope->as<Scope>().parent) {
        heap_.budget.step();
        if (const Value* found = scope->as<Scope>().find(name))
            return *found;
    }
    return outside_name(name);
}

// Makes a value of a variable that the engine gives. The model's own tokens count as the template's words, and so do
// the names of roles, of which templates make tokens; the content of a message is known by its number.
Value Names::given(const std::string& name, const nlohmann::ordered_json& variable)
{
    if (name == "bos_token" || name == "eos_token")
        return from_json(heap_, variable, kTemplateText);
    if (name != "messages" || !variable.is_array())
        return from_json(heap_, variable);
    Value messages = heap_.list();
    for (std::size_t i = 0; i < variable.size(); ++i)
        messages.as<List>().push(given_message(variable[i], TextOrigin(i)));
    return messages;
}

Value Names::given_message(const nlohmann::ordered_json& message, TextOrigin number)
{
    static constexpr std::string_view kRoles[] = {"system", "user", "assistant", "tool", "developer"};
    if (!message.is_object())
        return from_json(heap_, message);
    const auto is_role = [](const nlohmann::ordered_json& role) {
        return role.is_string() &&
               std::find(std::begin(kRoles), std::end(kRoles), role.get_ref<const std::string&>()) != std::end(kRoles);
    };
    Value made = heap_.dict();
    for (const auto& [key, value] : message.items()) {
        const TextOrigin origin = key == "content"                  ? number
                                  : key == "role" && is_role(value) ? kTemplateText
                                                                    : kOtherText;
        made.as<Dict>().set(heap_.string(key), from_json(heap_, value, origin));
    }
    return made;
}

Value Names::outside_name(int index)
{
    Value& known = outside_[std::size_t(index)];
    if (known.is_missing()) {
        const std::string& spelled = syntax_.names[std::size_t(index)];
        const auto variable = variables_.find(spelled);
        if (variable != variables_.end())
            known = given(spelled, *variable);
        else if (const Function::Body body = find_global(spelled))
            known = heap_.make<Function>(spelled, body, Value());
        else
            known = heap_.undefined(repr_text(spelled) + " is undefined");
    }
    return known;
}

}  // namespace engine::jinja
