// Calling macros, loops and functions.
#include "engine/template/interpreter.h"

#include "engine/template/operators.h"
#include "engine/template/text_of.h"

#include <algorithm>

namespace engine::jinja {

Value Interpreter::call(const Value& callee, Arguments& arguments)
{
    Level level(heap.budget);
    switch (callee.type()) {
    case Type::Macro:
        return call_macro(callee.as<Macro>(), arguments);
    case Type::Function:
        return callee.as<Function>().body(*this, callee.as<Function>().self, arguments);
    case Type::Loop:
        return call_loop(callee.as<Loop>(), arguments);
    case Type::Joiner: {
        auto& joiner = callee.as<Joiner>();
        return std::exchange(joiner.used, true) ? joiner.separator : heap.string("");
    }
    case Type::Undefined:
        fail_undefined(callee);
    default:
        fail_type("'" + std::string(type_name(callee)) + "' object is not callable");
    }
}

// ---- macros ----

static Value take_named(Heap& heap, Arguments& arguments, std::string_view name)
{
    heap.budget.spend(std::int64_t(arguments.named.size()));
    const auto found = std::find_if(arguments.named.begin(), arguments.named.end(),
                                    [&](const auto& argument) { return argument.first == name; });
    if (found == arguments.named.end())
        return Value();
    Value value = std::move(found->second);
    arguments.named.erase(found);
    return value;
}

Value Interpreter::call_macro(const Macro& macro, Arguments& arguments)
{
    const Value keep_scope = macro.scope;
    InScope inside(*this, heap.make<Scope>(macro.scope));
    bind(macro, arguments);
    Capture capture(*this);
    run_body(macro.definition.body);
    return capture.take();
}

// Parameters from arguments by position, then by name, then from defaults, which see the parameters before them.
void Interpreter::bind(const Macro& macro, Arguments& arguments)
{
    const Signature& signature = *macro.definition.signature;
    const std::size_t count = signature.parameters.size();
    const std::size_t first_default = count - signature.defaults.size();
    heap.budget.spend(std::int64_t(count));
    std::vector<Value> values;
    for (std::size_t i = 0; i < count; ++i)
        values.push_back(i < arguments.positional.size() ? arguments.positional[i]
                                                         : take_named(heap, arguments, signature.parameter_texts[i]));
    bind_caller(macro, arguments);
    bind_rest(macro, arguments);
    for (std::size_t i = 0; i < count; ++i) {
        if (values[i].is_missing() && i >= first_default)
            values[i] = evaluate(*signature.defaults[i - first_default]);
        if (values[i].is_missing())
            values[i] = heap.undefined("parameter " + repr_text(signature.parameter_texts[i]) + " was not provided");
        scope().set(signature.parameters[i], values[i]);
    }
}

void Interpreter::bind_caller(const Macro& macro, Arguments& arguments)
{
    const Signature& signature = *macro.definition.signature;
    if (!signature.reads_caller || signature.caller_is_parameter)
        return;
    Value caller = take_named(heap, arguments, "caller");
    scope().set(syntax_.caller_name, caller.is_missing() ? heap.undefined("No caller defined") : std::move(caller));
}

void Interpreter::bind_rest(const Macro& macro, Arguments& arguments)
{
    const Signature& signature = *macro.definition.signature;
    const std::size_t count = signature.parameters.size();
    if (signature.reads_kwargs) {
        const Value kwargs = heap.dict();
        for (const auto& [key, value] : arguments.named)
            kwargs.as<Dict>().set(heap.string(key), value);
        scope().set(syntax_.kwargs_name, kwargs);
    } else if (!arguments.named.empty()) {
        for (const auto& [key, value] : arguments.named)
            if (key == "caller")
                fail_type("macro " + repr_text(signature.name) +
                          " was invoked with two values for the special caller argument." +
                          " This is most likely a bug.");
        fail_type("macro " + repr_text(signature.name) + " takes no keyword argument " +
                  quote(arguments.named.front().first));
    }
    if (signature.reads_varargs) {
        std::vector<Value> rest;
        for (std::size_t i = count; i < arguments.positional.size(); ++i)
            rest.push_back(arguments.positional[i]);
        scope().set(syntax_.varargs_name, heap.tuple(std::move(rest)));
    } else if (arguments.positional.size() > count) {
        fail_type("macro " + repr_text(signature.name) + " takes not more than " + std::to_string(count) +
                  " argument(s)");
    }
}

// ---- recursive loops ----

Value Interpreter::call_loop(const Loop& loop, Arguments& arguments)
{
    if (!loop.recursive)
        fail_type("The loop must have the 'recursive' marker to be called recursively.");
    if (arguments.positional.size() != 1 || !arguments.named.empty())
        fail_type("loop() takes one argument");
    InScope inside(*this, loop.scope);
    Capture capture(*this);
    run_for(*loop.recursive, arguments.positional[0], loop.depth0 + 1);
    return capture.take();
}

}  // namespace engine::jinja
