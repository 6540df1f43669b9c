// Runs a syntax tree.
#pragma once

#include "engine/template/chat_template.h"
#include "engine/template/heap.h"
#include "engine/template/iterate.h"
#include "engine/template/loop.h"
#include "engine/template/macro.h"
#include "engine/template/output.h"
#include "engine/template/syntax.h"

namespace engine::jinja {

/// One rendering of one template. Throws TemplateError; ChatTemplate::render catches it. Lives on one thread, once.
class Interpreter
{
public:
    Interpreter(const Syntax& syntax, const nlohmann::ordered_json& variables, const RenderOptions& options);

    TracedText run();
    int line() const { return line_; }

    // What filters, tests and methods need.
    Value get_attribute(const Value& object, const std::string& name);  // object.name
    Value get_item(const Value& object, const Value& key);              // object[key]
    Value call(const Value& callee, Arguments& arguments);
    Value filter(const std::string& name, const Value& input, Arguments& arguments);
    bool test(const std::string& name, const Value& input, Arguments& arguments);
    const RenderOptions& options() const { return options_; }

    Heap heap;  // first, since values below must go before it

private:
    enum class Flow { Next, Break, Continue };

    // interpreter.cpp: statements
    Flow run_body(const Body& body);
    Flow run_statement(const Statement& statement);
    Flow run_if(const Statement& statement);
    Flow run_in_new_scope(const Body& body);
    Flow run_for(const Statement& statement, Value sequence, int depth0);
    Value filtered(const Statement& statement, const Value& sequence);
    Flow run_set_block(const Statement& statement);
    Flow run_filter_block(const Statement& statement);
    Flow run_with(const Statement& statement);
    void run_call_block(const Statement& statement);
    void assign(const Expression& target, const Value& value);
    void unpack(const Expression& target, const Value& value);
    Value through_filters(const Expression* filters, Value value);

    // evaluate.cpp: expressions
    Value evaluate(const Expression& expression);
    Value evaluate_optional(const ExpressionPtr& expression);  // none where it is left out
    Value evaluate_kind(const Expression& expression);
    Value constant(const Expression& expression);
    Value name(const Expression& expression);
    Value given(const std::string& name, const nlohmann::ordered_json& variable);
    Value given_message(const nlohmann::ordered_json& message, TextOrigin number);
    Value outside_name(int name);
    Value list_of(const Expression& expression);
    Value dict_of(const Expression& expression);
    Value evaluate_call(const Expression& expression);
    Value evaluate_filter(const Expression& expression);
    bool evaluate_test(const Expression& expression);
    bool evaluate_compare(const Expression& expression);
    Value concatenate(const Expression& expression);
    Value conditional(const Expression& expression);
    void evaluate_arguments(const CallArguments& written, Arguments& arguments);

    // calls.cpp
    Value call_macro(const Macro& macro, Arguments& arguments);
    void bind(const Macro& macro, Arguments& arguments);
    void bind_caller(const Macro& macro, Arguments& arguments);
    void bind_rest(const Macro& macro, Arguments& arguments);
    Value call_loop(const Loop& loop, Arguments& arguments);

    /// Sets a new scope for a block and puts the old one back.
    struct InScope {
        InScope(Interpreter& interpreter, Value scope)
            : interpreter_(interpreter)
            , outer_(std::exchange(interpreter.scope_, std::move(scope)))
        {
        }
        ~InScope() { interpreter_.scope_ = std::move(outer_); }
        Interpreter& interpreter_;
        Value outer_;
    };
    /// Collects what a block prints, instead of the template's own output.
    struct Capture {
        explicit Capture(Interpreter& interpreter)
            : output(interpreter.heap)
            , interpreter_(interpreter)
            , outer_(std::exchange(interpreter.output_, &output))
        {
        }
        ~Capture() { interpreter_.output_ = outer_; }
        Value take() { return interpreter_.heap.string(output.take()); }
        Output output;
        Interpreter& interpreter_;
        Output* outer_;
    };

    Value new_scope() { return heap.make<Scope>(scope_); }
    Scope& scope() { return scope_.as<Scope>(); }

    const Syntax& syntax_;
    const nlohmann::ordered_json& variables_;
    const RenderOptions& options_;
    std::vector<Value> constants_;  // made when first needed
    std::vector<Value> outside_;    // by name: variables and global functions, made when first needed
    Value scope_;
    Output* output_ = nullptr;
    int line_ = 0;
};

}  // namespace engine::jinja
