// Expressions.
#include "engine/template/interpreter.h"

#include "engine/template/attributes.h"
#include "engine/template/from_json.h"
#include "engine/template/globals.h"
#include "engine/template/operators.h"
#include "engine/template/text_of.h"

#include <algorithm>
#include <iterator>

namespace engine::jinja {

Value Interpreter::evaluate(const Expression& expression)
{
    Level level(heap.budget);
    heap.budget.step();
    line_ = expression.line;
    return evaluate_kind(expression);
}

Value Interpreter::evaluate_optional(const ExpressionPtr& expression)
{
    return expression ? evaluate(*expression) : Value::none();
}

Value Interpreter::evaluate_kind(const Expression& expression)
{
    using Kind = Expression::Kind;
    const auto part = [&](std::size_t i) { return evaluate(*expression.parts[i]); };
    switch (expression.kind) {
    case Kind::Constant:
        return constant(expression);
    case Kind::Name:
    case Kind::Attribution:
        return name(expression);
    case Kind::Attribute:
        return get_attribute(part(0), expression.text);
    case Kind::Item: {
        const Value object = part(0);
        return get_item(object, part(1));
    }
    case Kind::Slice: {
        const Value object = part(0), start = evaluate_optional(expression.parts[1]);
        const Value stop = evaluate_optional(expression.parts[2]);
        return slice(heap, object, start, stop, evaluate_optional(expression.parts[3]));
    }
    case Kind::List:
    case Kind::Tuple:
        return list_of(expression);
    case Kind::Dict:
        return dict_of(expression);
    case Kind::Call:
        return evaluate_call(expression);
    case Kind::Filter:
        return evaluate_filter(expression);
    case Kind::Test:
        return Value::boolean(evaluate_test(expression));
    case Kind::Negate:
        return negate(heap, part(0));
    case Kind::Plus:
        return negate(heap, negate(heap, part(0)));
    case Kind::Arithmetic: {
        const Value left = part(0);
        return arithmetic(heap, expression.operators[0], left, part(1));
    }
    case Kind::Compare:
        return Value::boolean(evaluate_compare(expression));
    case Kind::Concatenate:
        return concatenate(expression);
    case Kind::And: {
        Value left = part(0);
        return truth(left) ? part(1) : left;
    }
    case Kind::Or: {
        Value left = part(0);
        return truth(left) ? left : part(1);
    }
    case Kind::Not:
        return Value::boolean(!truth(part(0)));
    case Kind::Conditional:
        return conditional(expression);
    }
    return Value::none();
}

Value Interpreter::constant(const Expression& expression)
{
    Value& known = constants_[std::size_t(expression.constant)];
    if (known.is_missing()) {
        if (const auto* text = std::get_if<std::string>(&expression.literal))
            known = heap.string(TracedText(*text, kTemplateText));
        else if (const auto* integer = std::get_if<std::int64_t>(&expression.literal))
            known = Value::integer(*integer);
        else if (const auto* real = std::get_if<double>(&expression.literal))
            known = Value::real(*real);
        else if (const auto* flag = std::get_if<bool>(&expression.literal))
            known = Value::boolean(*flag);
        else
            known = Value::none();
    }
    return known;
}

// ---- names ----

Value Interpreter::name(const Expression& expression)
{
    for (const Value* scope = &scope_; !scope->is_missing(); scope = &scope->as<Scope>().parent) {
        heap.budget.step();
        if (const Value* found = scope->as<Scope>().find(expression.name))
            return *found;
    }
    return outside_name(expression.name);
}

// What the engine gives to every template: the model's own tokens are as good as the template's words, and so are the
// names of the roles, of which templates make tokens; the content of a message is known by its number.
Value Interpreter::given(const std::string& name, const nlohmann::ordered_json& variable)
{
    if (name == "bos_token" || name == "eos_token")
        return from_json(heap, variable, kTemplateText);
    if (name != "messages" || !variable.is_array())
        return from_json(heap, variable);
    Value messages = heap.list();
    for (std::size_t i = 0; i < variable.size(); ++i)
        messages.as<List>().push(given_message(variable[i], TextOrigin(i)));
    return messages;
}

Value Interpreter::given_message(const nlohmann::ordered_json& message, TextOrigin number)
{
    static constexpr std::string_view kRoles[] = {"system", "user", "assistant", "tool", "developer"};
    if (!message.is_object())
        return from_json(heap, message);
    const auto is_role = [](const nlohmann::ordered_json& role) {
        return role.is_string() &&
               std::find(std::begin(kRoles), std::end(kRoles), role.get_ref<const std::string&>()) != std::end(kRoles);
    };
    Value made = heap.dict();
    for (const auto& [key, value] : message.items()) {
        const TextOrigin origin = key == "content"                  ? number
                                  : key == "role" && is_role(value) ? kTemplateText
                                                                    : kOtherText;
        made.as<Dict>().set(heap.string(key), from_json(heap, value, origin));
    }
    return made;
}

Value Interpreter::outside_name(int index)
{
    Value& known = outside_[std::size_t(index)];
    if (known.is_missing()) {
        const std::string& spelled = syntax_.names[std::size_t(index)];
        const auto variable = variables_.find(spelled);
        if (variable != variables_.end())
            known = given(spelled, *variable);
        else if (const Function::Body body = find_global(spelled))
            known = heap.make<Function>(spelled, body, Value());
        else
            known = heap.undefined(repr_text(spelled) + " is undefined");
    }
    return known;
}

// ---- containers ----

Value Interpreter::list_of(const Expression& expression)
{
    Value holder = expression.kind == Expression::Kind::List ? heap.list() : heap.tuple();
    auto& list = holder.as<List>();
    for (const ExpressionPtr& part : expression.parts)
        list.push(evaluate(*part));
    return holder;
}

Value Interpreter::dict_of(const Expression& expression)
{
    Value holder = heap.dict();
    for (std::size_t i = 0; i + 1 < expression.parts.size(); i += 2) {
        const Value key = evaluate(*expression.parts[i]);
        holder.as<Dict>().set(key, evaluate(*expression.parts[i + 1]));
    }
    return holder;
}

Value Interpreter::concatenate(const Expression& expression)
{
    Output text(heap);
    for (const ExpressionPtr& part : expression.parts) {
        const Value value = evaluate(*part);
        if (value.is_string())
            text.add(value.traced());
        else
            text.add(traced_text(heap, value));
    }
    return heap.string(text.take());
}

// ---- decisions ----

bool Interpreter::evaluate_compare(const Expression& expression)
{
    Value left = evaluate(*expression.parts[0]);
    for (std::size_t i = 0; i < expression.operators.size(); ++i) {
        Value right = evaluate(*expression.parts[i + 1]);
        line_ = expression.line;
        if (!compare(heap, expression.operators[i], left, right))
            return false;
        left = std::move(right);
    }
    return true;
}

Value Interpreter::conditional(const Expression& expression)
{
    if (truth(evaluate(*expression.parts[0])))
        return evaluate(*expression.parts[1]);
    if (expression.parts[2])
        return evaluate(*expression.parts[2]);
    return heap.undefined("the inline if-expression on line " + std::to_string(expression.line) +
                          " evaluated to false and no else section was defined.");
}

bool Interpreter::evaluate_test(const Expression& expression)
{
    const Value input = evaluate(*expression.parts[0]);
    Arguments arguments;
    evaluate_arguments(expression.arguments, arguments);
    line_ = expression.line;
    return test(expression.text, input, arguments);
}

// ---- calls ----

void Interpreter::evaluate_arguments(const CallArguments& written, Arguments& arguments)
{
    arguments.positional.reserve(written.positional.size());
    for (const ExpressionPtr& value : written.positional)
        arguments.positional.push_back(evaluate(*value));
    for (const auto& [key, value] : written.named)
        arguments.named.emplace_back(key, evaluate(*value));
    if (written.list) {
        for (Value& item : collect(heap, evaluate(*written.list)))
            arguments.positional.push_back(std::move(item));
    }
    if (written.dict) {
        const Value dict = evaluate(*written.dict);
        if (!dict.is(Type::Dict))
            fail_type("argument after ** must be a mapping, not " + std::string(type_name(dict)));
        for (const Dict::Entry& entry : dict.as<Dict>().entries()) {
            if (!entry.key.is_string())
                fail_type("keywords must be strings");
            heap.budget.check_string(arguments.named.size() * sizeof(arguments.named.front()));
            heap.budget.spend_on_text(entry.key.text().size());
            arguments.named.emplace_back(entry.key.text(), entry.value);
        }
    }
}

Value Interpreter::evaluate_filter(const Expression& expression)
{
    const Value input = evaluate(*expression.parts[0]);
    Arguments arguments;
    evaluate_arguments(expression.arguments, arguments);
    line_ = expression.line;
    return filter(expression.text, input, arguments);
}

Value Interpreter::evaluate_call(const Expression& expression)
{
    const Expression& callee = *expression.parts[0];
    Arguments arguments;
    if (callee.kind == Expression::Kind::Attribute) {
        // A method is called directly, without making a value of it first.
        const Value object = evaluate(*callee.parts[0]);
        line_ = callee.line;
        if (const Method* method = find_method(object, callee.text)) {
            evaluate_arguments(expression.arguments, arguments);
            line_ = expression.line;
            return method->body(*this, object, arguments);
        }
        const Value function = get_attribute(object, callee.text);
        evaluate_arguments(expression.arguments, arguments);
        line_ = expression.line;
        return call(function, arguments);
    }
    const Value function = evaluate(callee);
    evaluate_arguments(expression.arguments, arguments);
    line_ = expression.line;
    return call(function, arguments);
}

}  // namespace engine::jinja
