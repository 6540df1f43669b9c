#include "engine/template/interpreter.h"

#include "engine/template/filters.h"
#include "engine/template/operators.h"
#include "engine/template/text_of.h"

#include <algorithm>

namespace engine::jinja {

Interpreter::Interpreter(const Syntax& syntax, const nlohmann::ordered_json& variables, const RenderOptions& options)
    : heap(Budget({.steps = options.max_steps,
                   .bytes = options.max_bytes,
                   .string_bytes = options.max_text_bytes,
                   .depth = options.max_depth,
                   .time = options.max_time},
                  options.stop))
    , syntax_(syntax)
    , options_(options)
    , names_(heap, syntax, variables)
    , evaluator_(*this, names_, syntax.constants)
{
}

TracedText Interpreter::run()
{
    Output output(heap);
    output_ = &output;
    run_body(syntax_.body);
    return output.take();
}

Interpreter::Flow Interpreter::run_body(const Body& body)
{
    for (const auto& statement : body)
        if (const Flow flow = run_statement(*statement); flow != Flow::Next)
            return flow;
    return Flow::Next;
}

Interpreter::Flow Interpreter::run_statement(const Statement& statement)
{
    Level level(heap.budget);
    heap.budget.step();
    evaluator_.at_line(statement.line);
    switch (statement.kind) {
    case Statement::Kind::Text:
        output_->add(statement.text, kTemplateText);
        return Flow::Next;
    case Statement::Kind::Print: {
        const Value value = evaluator_.evaluate(*statement.value);
        if (value.is_string())
            output_->add(value.traced());
        else
            output_->add(traced_text(heap, value));
        return Flow::Next;
    }
    case Statement::Kind::If:
        return run_if(statement);
    case Statement::Kind::For:
        return run_for(statement, evaluator_.evaluate(*statement.value), 0);
    case Statement::Kind::Set:
        assign(*statement.target, evaluator_.evaluate(*statement.value));
        return Flow::Next;
    case Statement::Kind::SetBlock:
        return run_set_block(statement);
    case Statement::Kind::Macro:
        names_.set(statement.name, heap.make<Macro>(statement, names_.scope()));
        return Flow::Next;
    case Statement::Kind::CallBlock:
        run_call_block(statement);
        return Flow::Next;
    case Statement::Kind::Filter:
        return run_filter_block(statement);
    case Statement::Kind::With:
        return run_with(statement);
    case Statement::Kind::Scoped:
        return run_in_new_scope(statement.body);
    case Statement::Kind::Break:
        return Flow::Break;
    case Statement::Kind::Continue:
        return Flow::Continue;
    }
    return Flow::Next;
}

Interpreter::Flow Interpreter::run_if(const Statement& statement)
{
    for (const Statement::Branch& branch : statement.branches)
        if (truth(evaluator_.evaluate(*branch.condition)))
            return run_body(branch.body);
    return run_body(statement.otherwise);
}

Interpreter::Flow Interpreter::run_in_new_scope(const Body& body)
{
    const Names::InScope inside(names_, names_.new_scope());
    return run_body(body);
}

// ---- loops ----

Interpreter::Flow Interpreter::run_for(const Statement& statement, Value sequence, int depth0)
{
    if (statement.condition)
        sequence = filtered(statement, sequence);
    const Value holder = heap.make<Loop>(std::move(sequence), depth0);
    Loop& loop = holder.as<Loop>();
    loop.recursive = statement.recursive ? &statement : nullptr;
    loop.scope = names_.scope();
    bool finished_a_turn = false;  // as in Jinja, a turn that `break` ended does not count
    for (Value item; loop.advance(item);) {
        const Names::InScope inside(names_, names_.new_scope());  // what a turn sets is gone in the next
        names_.set(syntax_.loop_name, holder);
        assign(*statement.target, item);
        const Flow flow = run_body(statement.body);
        if (flow == Flow::Break)
            break;
        finished_a_turn = finished_a_turn || flow == Flow::Next;
    }
    if (!finished_a_turn && !statement.otherwise.empty())
        return run_in_new_scope(statement.otherwise);
    return Flow::Next;
}

// Returns the items for which the block's condition holds; they are found while the loop walks.
Value Interpreter::filtered(const Statement& statement, const Value& sequence)
{
    auto iterator = std::make_shared<Iterator>(heap, sequence);
    return heap.make<Generator>("filtered", [this, &statement, iterator, scope = names_.scope()](Value& item) {
        while (iterator->next(item)) {
            const Names::InScope inside(names_, names_.new_scope(scope));
            assign(*statement.target, item);
            if (truth(evaluator_.evaluate(*statement.condition)))
                return true;
        }
        return false;
    });
}

// ---- blocks that collect ----

Value Interpreter::through_filters(const Expression* filters, Value value)
{
    if (!filters)
        return value;
    value = through_filters(filters->parts[0].get(), std::move(value));
    Arguments arguments;
    evaluator_.evaluate_arguments(filters->arguments, arguments);
    evaluator_.at_line(filters->line);
    return apply_filter(*this, filters->text, value, arguments);
}

Interpreter::Flow Interpreter::run_set_block(const Statement& statement)
{
    Value text;
    {
        Capture capture(*this);
        if (const Flow flow = run_in_new_scope(statement.body); flow != Flow::Next)
            return flow;
        text = capture.take();
    }
    assign(*statement.target, through_filters(statement.value.get(), std::move(text)));
    return Flow::Next;
}

Interpreter::Flow Interpreter::run_filter_block(const Statement& statement)
{
    Value text;
    {
        Capture capture(*this);
        if (const Flow flow = run_in_new_scope(statement.body); flow != Flow::Next)
            return flow;
        text = capture.take();
    }
    output_->add(traced_text(heap, through_filters(statement.value.get(), std::move(text))));
    return Flow::Next;
}

Interpreter::Flow Interpreter::run_with(const Statement& statement)
{
    const Value inner = names_.new_scope();
    std::vector<Value> values;  // evaluated first: all of them see the outer names
    for (const auto& [target, value] : statement.assignments)
        values.push_back(evaluator_.evaluate(*value));
    const Names::InScope inside(names_, inner);
    for (std::size_t i = 0; i < values.size(); ++i)
        assign(*statement.assignments[i].first, values[i]);
    return run_body(statement.body);
}

void Interpreter::run_call_block(const Statement& statement)
{
    const Expression& written = *statement.value;
    const Value callee = evaluator_.evaluate(*written.parts[0]);
    Arguments arguments;
    evaluator_.evaluate_arguments(written.arguments, arguments);
    arguments.named.emplace_back("caller", heap.make<Macro>(statement, names_.scope()));
    evaluator_.at_line(statement.line);
    output_->add(traced_text(heap, call(callee, arguments)));
}

// ---- assignment ----

void Interpreter::assign(const Expression& target, const Value& value)
{
    if (target.kind == Expression::Kind::Name) {
        names_.set(target.name, value);
    } else if (target.kind == Expression::Kind::Tuple) {
        unpack(target, value);
    } else {
        const Value object = names_.look_up(target.name);
        if (!object.is(Type::Namespace))
            throw TemplateError("cannot assign attribute on non-namespace object");
        object.as<Namespace>().attributes.as<Dict>().set(heap.string(target.text), value);
    }
}

void Interpreter::unpack(const Expression& target, const Value& value)
{
    const std::size_t wanted = target.parts.size();
    if (!is_iterable(value))
        fail_type("cannot unpack non-iterable " + std::string(type_name(value)) + " object");
    std::vector<Value> items;
    Iterator iterator(heap, value);
    for (Value item; items.size() <= wanted && iterator.next(item);)
        items.push_back(item);
    if (items.size() > wanted)
        throw TemplateError("too many values to unpack (expected " + std::to_string(wanted) + ")");
    if (items.size() < wanted)
        throw TemplateError("not enough values to unpack (expected " + std::to_string(wanted) + ", got " +
                            std::to_string(items.size()) + ")");
    for (std::size_t i = 0; i < wanted; ++i)
        assign(*target.parts[i], items[i]);
}

// ---- calls ----

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
    const Names::InScope inside(names_, names_.new_scope(macro.scope));
    bind(macro, arguments);
    Capture capture(*this);
    run_body(macro.definition.body);
    return capture.take();
}

// Sets parameters from arguments by position, then by name, then from defaults, which see the parameters before them.
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
            values[i] = evaluator_.evaluate(*signature.defaults[i - first_default]);
        if (values[i].is_missing())
            values[i] = heap.undefined("parameter " + quote(signature.parameter_texts[i]) + " was not provided");
        names_.set(signature.parameters[i], values[i]);
    }
}

void Interpreter::bind_caller(const Macro& macro, Arguments& arguments)
{
    const Signature& signature = *macro.definition.signature;
    if (!signature.reads_caller || signature.caller_is_parameter)
        return;
    Value caller = take_named(heap, arguments, "caller");
    names_.set(syntax_.caller_name, caller.is_missing() ? heap.undefined("No caller defined") : std::move(caller));
}

void Interpreter::bind_rest(const Macro& macro, Arguments& arguments)
{
    const Signature& signature = *macro.definition.signature;
    const std::size_t count = signature.parameters.size();
    if (signature.reads_kwargs) {
        const Value kwargs = heap.dict();
        for (const auto& [key, value] : arguments.named)
            kwargs.as<Dict>().set(heap.string(key), value);
        names_.set(syntax_.kwargs_name, kwargs);
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
        names_.set(syntax_.varargs_name, heap.tuple(std::move(rest)));
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
    const Names::InScope inside(names_, loop.scope);
    Capture capture(*this);
    run_for(*loop.recursive, arguments.positional[0], loop.depth0 + 1);
    return capture.take();
}

}  // namespace engine::jinja
