#include "engine/template/expression_evaluator.h"

#include "engine/template/attributes.h"
#include "engine/template/filters.h"
#include "engine/template/interpreter.h"
#include "engine/template/operators.h"
#include "engine/template/text_of.h"
#include "engine/template/value_tests.h"

namespace engine::jinja {

ExpressionEvaluator::ExpressionEvaluator(Interpreter& interpreter, Names& names, int constants)
    : interpreter_(interpreter)
    , heap_(interpreter.heap)
    , names_(names)
    , constants_(std::size_t(constants))
{
}

Value ExpressionEvaluator::evaluate(const Expression& expression)
{
    Level level(heap_.budget);
    heap_.budget.step();
    line_ = expression.line;
    return evaluate_kind(expression);
}

Value ExpressionEvaluator::evaluate_optional(const ExpressionPtr& expression)
{
    return expression ? evaluate(*expression) : Value::none();
}

Value ExpressionEvaluator::evaluate_kind(const Expression& expression)
{
    using Kind = Expression::Kind;
    const auto part = [&](std::size_t i) { return evaluate(*expression.parts[i]); };
    switch (expression.kind) {
    case Kind::Constant:
        return constant(expression);
    case Kind::Name:
    case Kind::Attribution:
        return names_.look_up(expression.name);
    case Kind::Attribute:
        return get_attribute(heap_, part(0), expression.text);
    case Kind::Item: {
        const Value object = part(0);
        return get_item(heap_, object, part(1));
    }
    case Kind::Slice: {
        const Value object = part(0), start = evaluate_optional(expression.parts[1]);
        const Value stop = evaluate_optional(expression.parts[2]);
        return slice(heap_, object, start, stop, evaluate_optional(expression.parts[3]));
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
        return negate(heap_, part(0));
    case Kind::Plus:
        return negate(heap_, negate(heap_, part(0)));
    case Kind::Arithmetic: {
        const Value left = part(0);
        return arithmetic(heap_, expression.operators[0], left, part(1));
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

Value ExpressionEvaluator::constant(const Expression& expression)
{
    Value& known = constants_[std::size_t(expression.constant)];
    if (known.is_missing()) {
        if (const auto* text = std::get_if<std::string>(&expression.literal))
            known = heap_.string(TracedText(*text, kTemplateText));
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

// ---- containers ----

Value ExpressionEvaluator::list_of(const Expression& expression)
{
    Value holder = expression.kind == Expression::Kind::List ? heap_.list() : heap_.tuple();
    auto& list = holder.as<List>();
    for (const ExpressionPtr& part : expression.parts)
        list.push(evaluate(*part));
    return holder;
}

Value ExpressionEvaluator::dict_of(const Expression& expression)
{
    Value holder = heap_.dict();
    for (std::size_t i = 0; i + 1 < expression.parts.size(); i += 2) {
        const Value key = evaluate(*expression.parts[i]);
        holder.as<Dict>().set(key, evaluate(*expression.parts[i + 1]));
    }
    return holder;
}

Value ExpressionEvaluator::concatenate(const Expression& expression)
{
    Output text(heap_);
    for (const ExpressionPtr& part : expression.parts) {
        const Value value = evaluate(*part);
        if (value.is_string())
            text.add(value.traced());
        else
            text.add(traced_text(heap_, value));
    }
    return heap_.string(text.take());
}

// ---- decisions ----

bool ExpressionEvaluator::evaluate_compare(const Expression& expression)
{
    Value left = evaluate(*expression.parts[0]);
    for (std::size_t i = 0; i < expression.operators.size(); ++i) {
        Value right = evaluate(*expression.parts[i + 1]);
        line_ = expression.line;
        if (!compare(heap_, expression.operators[i], left, right))
            return false;
        left = std::move(right);
    }
    return true;
}

Value ExpressionEvaluator::conditional(const Expression& expression)
{
    if (truth(evaluate(*expression.parts[0])))
        return evaluate(*expression.parts[1]);
    if (expression.parts[2])
        return evaluate(*expression.parts[2]);
    return heap_.undefined("the inline if-expression on line " + std::to_string(expression.line) +
                           " evaluated to false and no else section was defined.");
}

bool ExpressionEvaluator::evaluate_test(const Expression& expression)
{
    const Value input = evaluate(*expression.parts[0]);
    Arguments arguments;
    evaluate_arguments(expression.arguments, arguments);
    line_ = expression.line;
    return passes_test(interpreter_, expression.text, input, arguments);
}

// ---- calls ----

void ExpressionEvaluator::evaluate_arguments(const CallArguments& written, Arguments& arguments)
{
    arguments.positional.reserve(written.positional.size());
    for (const ExpressionPtr& value : written.positional)
        arguments.positional.push_back(evaluate(*value));
    for (const auto& [key, value] : written.named)
        arguments.named.emplace_back(key, evaluate(*value));
    if (written.list) {
        for (Value& item : collect(heap_, evaluate(*written.list)))
            arguments.positional.push_back(std::move(item));
    }
    if (written.dict) {
        const Value dict = evaluate(*written.dict);
        if (!dict.is(Type::Dict))
            fail_type("argument after ** must be a mapping, not " + std::string(type_name(dict)));
        for (const Dict::Entry& entry : dict.as<Dict>().entries()) {
            if (!entry.key.is_string())
                fail_type("keywords must be strings");
            heap_.budget.check_string(arguments.named.size() * sizeof(arguments.named.front()));
            heap_.budget.spend_on_text(entry.key.text().size());
            arguments.named.emplace_back(entry.key.text(), entry.value);
        }
    }
}

Value ExpressionEvaluator::evaluate_filter(const Expression& expression)
{
    const Value input = evaluate(*expression.parts[0]);
    Arguments arguments;
    evaluate_arguments(expression.arguments, arguments);
    line_ = expression.line;
    return apply_filter(interpreter_, expression.text, input, arguments);
}

Value ExpressionEvaluator::evaluate_call(const Expression& expression)
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
            return method->body(interpreter_, object, arguments);
        }
        const Value function = get_attribute(heap_, object, callee.text);
        evaluate_arguments(expression.arguments, arguments);
        line_ = expression.line;
        return interpreter_.call(function, arguments);
    }
    const Value function = evaluate(callee);
    evaluate_arguments(expression.arguments, arguments);
    line_ = expression.line;
    return interpreter_.call(function, arguments);
}

}  // namespace engine::jinja
