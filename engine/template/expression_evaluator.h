// ExpressionEvaluator computes the values of expressions.
#pragma once

#include "engine/template/names.h"
#include "engine/template/syntax.h"

#include <vector>

namespace engine::jinja {

class Interpreter;

/// Evaluates the expressions of one rendering. Belongs to an Interpreter, which carries out the calls.
class ExpressionEvaluator
{
public:
    ExpressionEvaluator(Interpreter& interpreter, Names& names, int constants);

    /// Throws TemplateError.
    Value evaluate(const Expression& expression);
    void evaluate_arguments(const CallArguments& written, Arguments& arguments);

    /// Returns the line of an error, when there is one.
    int line() const { return line_; }
    void at_line(int line) { line_ = line; }

private:
    Value evaluate_optional(const ExpressionPtr& expression);  // none where it is left out
    Value evaluate_kind(const Expression& expression);
    Value constant(const Expression& expression);
    Value list_of(const Expression& expression);
    Value dict_of(const Expression& expression);
    Value evaluate_call(const Expression& expression);
    Value evaluate_filter(const Expression& expression);
    bool evaluate_test(const Expression& expression);
    bool evaluate_compare(const Expression& expression);
    Value concatenate(const Expression& expression);
    Value conditional(const Expression& expression);

    Interpreter& interpreter_;
    Heap& heap_;
    Names& names_;
    std::vector<Value> constants_;  // made when first needed
    int line_ = 0;
};

}  // namespace engine::jinja
