// ExpressionParser makes syntax trees of expressions: operators in the order in which they bind, and tuples.
#pragma once

#include "engine/template/operand_parser.h"
#include "engine/template/syntax_nodes.h"
#include "engine/template/token_stream.h"

namespace engine::jinja {

/// Recursive descent, one function for each level of binding. Throws TemplateError.
class ExpressionParser
{
public:
    ExpressionParser(TokenStream& tokens, SyntaxNodes& nodes)
        : tokens_(tokens)
        , nodes_(nodes)
        , operands_(tokens, nodes, *this)
    {
    }

    OperandParser& operands() { return operands_; }

    /// Parses an expression. `with_condition`: an `if` that follows belongs to it.
    ExpressionPtr expression(bool with_condition = true);
    /// Parses an expression, or several with commas between them. `end_name` ends them, besides what ends a tag.
    ExpressionPtr tuple_or_expression(bool with_condition, bool in_parentheses, std::string_view end_name = {});
    bool at_tuple_end(std::string_view end_name) const;

private:
    using Kind = Expression::Kind;

    // loosest binding first
    ExpressionPtr parse_or();
    ExpressionPtr parse_and();
    ExpressionPtr parse_not();
    ExpressionPtr parse_compare();
    ExpressionPtr parse_sum();
    ExpressionPtr parse_concatenation();
    ExpressionPtr parse_product();
    ExpressionPtr parse_power();
    ExpressionPtr parse_unary(bool with_filters = true);

    TokenStream& tokens_;
    SyntaxNodes& nodes_;
    OperandParser operands_;
};

}  // namespace engine::jinja
