// The tests of `is`.
#include "engine/template/value_tests.h"
#include "engine/template/attributes.h"
#include "engine/template/filters.h"
#include "engine/template/interpreter.h"
#include "engine/template/operators.h"
#include "engine/template/parameters.h"
#include "engine/template/text_of.h"

namespace engine::jinja {

using TestBody = bool (*)(Interpreter&, const Value&, Arguments&);

template <bool (*is)(const Value&)>
static bool plain(Interpreter&, const Value& value, Arguments& arguments)
{
    const Parameters p("test", arguments, {});
    return is(value);
}

template <Operator op>
static bool compared(Interpreter& in, const Value& value, Arguments& arguments)
{
    const Parameters p("test", arguments, {"other"}, 1);
    return compare(in.heap, op, value, p[0]);
}

static bool is_defined(const Value& value)
{
    return !value.is_undefined();
}
static bool is_undefined(const Value& value)
{
    return value.is_undefined();
}
static bool is_none(const Value& value)
{
    return value.is_none();
}
static bool is_boolean(const Value& value)
{
    return value.is(Type::Bool);
}
static bool is_true(const Value& value)
{
    return value.is(Type::Bool) && value.as_bool();
}
static bool is_false(const Value& value)
{
    return value.is(Type::Bool) && !value.as_bool();
}
static bool is_integer(const Value& value)
{
    return value.is(Type::Int);
}
static bool is_float(const Value& value)
{
    return value.is(Type::Float);
}
static bool is_number(const Value& value)
{
    return value.is_number();
}
static bool is_string(const Value& value)
{
    return value.is_string();
}
static bool is_mapping(const Value& value)
{
    return value.is(Type::Dict);
}
static bool is_escaped(const Value&)
{
    return false;
}

// Says whether a value has a length and can be indexed; in Jinja an undefined value counts, too.
static bool is_sequence(const Value& value)
{
    return value.is_sequence() || value.is_string() || value.is(Type::Dict) || value.is(Type::Range) ||
           value.is_undefined();
}

static bool is_callable(const Value& value)
{
    return value.is(Type::Function) || value.is(Type::Macro) || value.is(Type::Loop) || value.is(Type::Joiner) ||
           value.is_undefined();
}

static bool has_remainder(Interpreter& in, const Value& value, std::int64_t divisor, std::int64_t rest)
{
    const Value remainder = arithmetic(in.heap, Operator::Modulo, value, Value::integer(divisor));
    return equal(in.heap, remainder, Value::integer(rest));
}

static bool is_odd(Interpreter& in, const Value& value, Arguments&)
{
    return has_remainder(in, value, 2, 1);
}
static bool is_even(Interpreter& in, const Value& value, Arguments&)
{
    return has_remainder(in, value, 2, 0);
}

static bool is_divisible(Interpreter& in, const Value& value, Arguments& arguments)
{
    const Parameters p("divisibleby", arguments, {"num"}, 1);
    return equal(in.heap, arithmetic(in.heap, Operator::Modulo, value, p[0]), Value::integer(0));
}

static bool is_same(Interpreter&, const Value& value, Arguments& arguments)
{
    const Parameters p("sameas", arguments, {"other"}, 1);
    return value.same_as(p[0]);
}

static bool has_method_true(Interpreter& in, const Value& value, std::string_view method)
{
    Arguments none;
    const Value text = str(in.heap, value);
    return truth(find_method(text, method)->body(in, text, none));
}

static bool is_lower(Interpreter& in, const Value& value, Arguments&)
{
    return has_method_true(in, value, "islower");
}
static bool is_upper(Interpreter& in, const Value& value, Arguments&)
{
    return has_method_true(in, value, "isupper");
}

static TestBody find_test(std::string_view name);

static bool is_filter(Interpreter&, const Value& value, Arguments&)
{
    return value.is_string() && find_filter(value.text()) != nullptr;
}
static bool is_test(Interpreter&, const Value& value, Arguments&)
{
    return value.is_string() && find_test(value.text()) != nullptr;
}

static TestBody find_test(std::string_view name)
{
    static constexpr std::pair<std::string_view, TestBody> kTests[] = {
        {"defined", plain<is_defined>},
        {"undefined", plain<is_undefined>},
        {"none", plain<is_none>},
        {"string", plain<is_string>},
        {"mapping", plain<is_mapping>},
        {"iterable", plain<is_iterable>},
        {"sequence", plain<is_sequence>},
        {"boolean", plain<is_boolean>},
        {"true", plain<is_true>},
        {"false", plain<is_false>},
        {"number", plain<is_number>},
        {"integer", plain<is_integer>},
        {"float", plain<is_float>},
        {"callable", plain<is_callable>},
        {"escaped", plain<is_escaped>},
        {"odd", is_odd},
        {"even", is_even},
        {"divisibleby", is_divisible},
        {"sameas", is_same},
        {"lower", is_lower},
        {"upper", is_upper},
        {"filter", is_filter},
        {"test", is_test},
        {"in", compared<Operator::In>},
        {"eq", compared<Operator::Equal>},
        {"==", compared<Operator::Equal>},
        {"equalto", compared<Operator::Equal>},
        {"ne", compared<Operator::NotEqual>},
        {"!=", compared<Operator::NotEqual>},
        {"lt", compared<Operator::Less>},
        {"<", compared<Operator::Less>},
        {"lessthan", compared<Operator::Less>},
        {"le", compared<Operator::LessEqual>},
        {"<=", compared<Operator::LessEqual>},
        {"gt", compared<Operator::Greater>},
        {">", compared<Operator::Greater>},
        {"greaterthan", compared<Operator::Greater>},
        {"ge", compared<Operator::GreaterEqual>},
        {">=", compared<Operator::GreaterEqual>},
    };
    for (const auto& [known, body] : kTests)
        if (known == name)
            return body;
    return nullptr;
}

bool passes_test(Interpreter& in, const std::string& name, const Value& input, Arguments& arguments)
{
    const TestBody body = find_test(name);
    if (!body)
        throw TemplateError("No test named " + quote(name) + ".");
    return body(in, input, arguments);
}

}  // namespace engine::jinja
