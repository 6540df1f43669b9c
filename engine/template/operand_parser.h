// OperandParser makes syntax trees of the operands of operators: literals, names, and what follows them, such as calls,
// subscripts, filters and tests.
#pragma once

#include "engine/template/syntax_nodes.h"
#include "engine/template/token_stream.h"

#include <vector>

namespace engine::jinja {

class ExpressionParser;

/// Throws TemplateError.
class OperandParser
{
public:
    /// `expressions` parses the expressions in brackets.
    OperandParser(TokenStream& tokens, SyntaxNodes& nodes, ExpressionParser& expressions)
        : tokens_(tokens)
        , nodes_(nodes)
        , expressions_(expressions)
    {
    }

    /// Parses a literal, a name or what is in brackets. `with_attribute`: a name with an attribute can be assigned to.
    ExpressionPtr parse_primary(bool with_attribute);
    ExpressionPtr parse_postfix(ExpressionPtr of);  // takes the subscripts and calls behind it
    ExpressionPtr parse_filters(ExpressionPtr of);  // |filter, is test, and calls of their results
    /// Parses filters alone. `of` may be null: what they are applied to is the body of a block.
    ExpressionPtr parse_filter_chain(ExpressionPtr of, bool first_without_pipe);

    /// Notes the names that are read in the signature of the macro that reads them, from here until its
    /// close_signature().
    void open_signature(Signature& signature) { open_signatures_.push_back(&signature); }
    void close_signature() { open_signatures_.pop_back(); }

private:
    using Kind = Expression::Kind;

    ExpressionPtr parse_name(bool with_attribute);
    ExpressionPtr parse_string();
    ExpressionPtr parse_list();
    ExpressionPtr parse_dict();
    ExpressionPtr parse_subscript(ExpressionPtr of);
    ExpressionPtr parse_test(ExpressionPtr of);
    void parse_arguments(CallArguments& arguments);

    TokenStream& tokens_;
    SyntaxNodes& nodes_;
    ExpressionParser& expressions_;
    std::vector<Signature*> open_signatures_;
};

}  // namespace engine::jinja
