// Matching arguments with parameters.
#include "engine/template/parameters.h"

#include "engine/template/operators.h"
#include "engine/template/text_of.h"

#include <algorithm>

namespace engine::jinja {

Parameters::Parameters(std::string_view function, Arguments& arguments, std::initializer_list<std::string_view> names,
                       std::size_t required)
    : function_(function)
    , values_(names.size())
{
    const std::string called = std::string(function) + "()";
    if (arguments.positional.size() > names.size())
        fail_type(called + " takes at most " + std::to_string(names.size()) + " arguments (" +
                  std::to_string(arguments.positional.size()) + " given)");
    std::copy(arguments.positional.begin(), arguments.positional.end(), values_.begin());
    for (const auto& [name, value] : arguments.named) {
        const auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end())
            fail_type(called + " got an unexpected keyword argument " + quote(name));
        Value& slot = values_[std::size_t(found - names.begin())];
        if (!slot.is_missing())
            fail_type(called + " got multiple values for argument " + quote(name));
        slot = value;
    }
    for (std::size_t i = 0; i < required; ++i)
        if (values_[i].is_missing())
            fail_type(called + " missing required argument '" + std::string(names.begin()[i]) + "'");
}

std::int64_t Parameters::integer(std::size_t i, std::int64_t otherwise) const
{
    const Value& value = values_[i];
    if (value.is_missing())
        return otherwise;
    if (value.is_undefined())
        fail_undefined(value);
    if (!value.is_integer())
        fail_type(std::string(function_) + "(): '" + std::string(type_name(value)) +
                  "' object cannot be interpreted as an integer");
    return value.as_integer();
}

const std::string& Parameters::text(std::size_t i) const
{
    const Value& value = values_[i];
    if (value.is_undefined())
        fail_undefined(value);
    if (!value.is_string())
        fail_type(std::string(function_) + "() argument " + std::to_string(i + 1) + " must be str, not " +
                  std::string(type_name(value)));
    return value.text();
}

const TracedText& Parameters::traced(std::size_t i) const
{
    text(i);
    return values_[i].traced();
}

bool Parameters::flag(std::size_t i, bool otherwise) const
{
    return values_[i].is_missing() ? otherwise : truth(values_[i]);
}

}  // namespace engine::jinja
