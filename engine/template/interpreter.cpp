// Statements.
#include "engine/template/interpreter.h"

#include "engine/template/operators.h"
#include "engine/template/text_of.h"

namespace engine::jinja {

Interpreter::Interpreter(const Syntax& syntax, const nlohmann::ordered_json& variables, const RenderOptions& options)
    : heap(Budget({.steps = options.max_steps,
                   .bytes = options.max_bytes,
                   .string_bytes = options.max_text_bytes,
                   .depth = options.max_depth,
                   .time = options.max_time},
                  options.stop))
    , syntax_(syntax)
    , variables_(variables)
    , options_(options)
    , constants_(std::size_t(syntax.constants))
    , outside_(syntax.names.size())
{
    scope_ = heap.make<Scope>(Value());
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
    line_ = statement.line;
    switch (statement.kind) {
    case Statement::Kind::Text:
        output_->add(statement.text, kTemplateText);
        return Flow::Next;
    case Statement::Kind::Print: {
        const Value value = evaluate(*statement.value);
        if (value.is_string())
            output_->add(value.traced());
        else
            output_->add(traced_text(heap, value));
        return Flow::Next;
    }
    case Statement::Kind::If:
        return run_if(statement);
    case Statement::Kind::For:
        return run_for(statement, evaluate(*statement.value), 0);
    case Statement::Kind::Set:
        assign(*statement.target, evaluate(*statement.value));
        return Flow::Next;
    case Statement::Kind::SetBlock:
        return run_set_block(statement);
    case Statement::Kind::Macro:
        scope().set(statement.name, heap.make<Macro>(statement, scope_));
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
        if (truth(evaluate(*branch.condition)))
            return run_body(branch.body);
    return run_body(statement.otherwise);
}

Interpreter::Flow Interpreter::run_in_new_scope(const Body& body)
{
    InScope inside(*this, new_scope());
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
    loop.scope = scope_;
    bool finished_a_turn = false;  // as in Jinja, a turn that was broken off does not count
    for (Value item; loop.advance(item);) {
        InScope inside(*this, new_scope());  // what a turn sets is gone in the next
        scope().set(syntax_.loop_name, holder);
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

// The items for which the block's condition holds, found while the loop walks.
Value Interpreter::filtered(const Statement& statement, const Value& sequence)
{
    auto iterator = std::make_shared<Iterator>(heap, sequence);
    return heap.make<Generator>("filtered", [this, &statement, iterator, scope = scope_](Value& item) {
        while (iterator->next(item)) {
            InScope inside(*this, heap.make<Scope>(scope));
            assign(*statement.target, item);
            if (truth(evaluate(*statement.condition)))
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
    evaluate_arguments(filters->arguments, arguments);
    line_ = filters->line;
    return filter(filters->text, value, arguments);
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
    const Value inner = new_scope();
    std::vector<Value> values;  // all of them see the outer names
    for (const auto& [target, value] : statement.assignments)
        values.push_back(evaluate(*value));
    InScope inside(*this, inner);
    for (std::size_t i = 0; i < values.size(); ++i)
        assign(*statement.assignments[i].first, values[i]);
    return run_body(statement.body);
}

void Interpreter::run_call_block(const Statement& statement)
{
    const Expression& written = *statement.value;
    const Value callee = evaluate(*written.parts[0]);
    Arguments arguments;
    evaluate_arguments(written.arguments, arguments);
    arguments.named.emplace_back("caller", heap.make<Macro>(statement, scope_));
    line_ = statement.line;
    output_->add(traced_text(heap, call(callee, arguments)));
}

// ---- assignment ----

void Interpreter::assign(const Expression& target, const Value& value)
{
    if (target.kind == Expression::Kind::Name) {
        scope().set(target.name, value);
    } else if (target.kind == Expression::Kind::Tuple) {
        unpack(target, value);
    } else {
        const Value object = name(target);
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

}  // namespace engine::jinja
