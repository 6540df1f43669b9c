// Interpreter runs a syntax tree: its statements, and what they call.
#pragma once

#include "engine/template/chat_template.h"
#include "engine/template/expression_evaluator.h"
#include "engine/template/heap.h"
#include "engine/template/iterate.h"
#include "engine/template/loop.h"
#include "engine/template/macro.h"
#include "engine/template/names.h"
#include "engine/template/output.h"
#include "engine/template/syntax.h"

namespace engine::jinja {

/// Runs one template once. Throws TemplateError; ChatTemplate::render catches it. Lives on one thread.
class Interpreter
{
public:
    Interpreter(const Syntax& syntax, const nlohmann::ordered_json& variables, const RenderOptions& options);

    TracedText run();
    /// Returns the line of what ran last: where an error is.
    int line() const { return evaluator_.line(); }

    /// Calls a macro, a loop or a function; filters and methods do so, too.
    Value call(const Value& callee, Arguments& arguments);
    const RenderOptions& options() const { return options_; }

    Heap heap;  // first, since the values below must be destroyed before it

private:
    enum class Flow { Next, Break, Continue };

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

    Value call_macro(const Macro& macro, Arguments& arguments);
    void bind(const Macro& macro, Arguments& arguments);
    void bind_caller(const Macro& macro, Arguments& arguments);
    void bind_rest(const Macro& macro, Arguments& arguments);
    Value call_loop(const Loop& loop, Arguments& arguments);

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

    const Syntax& syntax_;
    const RenderOptions& options_;
    Names names_;
    ExpressionEvaluator evaluator_;
    Output* output_ = nullptr;
};

}  // namespace engine::jinja
