// Parser makes a syntax tree of tokens, by Jinja's grammar.
#pragma once

#include "engine/template/syntax.h"
#include "engine/template/token_stream.h"

#include <unordered_map>

namespace engine::jinja {

/// Recursive descent over one template. Throws TemplateError; nesting is limited, so that neither this nor the
/// evaluation of the tree can overflow the stack.
class Parser
{
public:
    explicit Parser(std::vector<Token> tokens);

    std::shared_ptr<const Syntax> run();

private:
    using Kind = Expression::Kind;

    // parser.cpp: statements
    Body statements(std::initializer_list<std::string_view> ends);
    Body block_body(std::initializer_list<std::string_view> ends);
    void add_statement(Body& body);
    void parse_if(Statement& statement);
    void parse_for(Statement& statement);
    void parse_set(Statement& statement);
    void parse_macro(Statement& statement);
    void parse_call_block(Statement& statement);
    void parse_filter_block(Statement& statement);
    void parse_with(Statement& statement);
    void parse_scoped(Statement& statement, std::string_view end);
    void parse_print(Statement& statement, Body& body);
    void parse_loop_control(Statement& statement);
    void parse_signature(Signature& signature);
    ExpressionPtr assignment_target(bool with_attribute, bool name_only, std::string_view end_name = {});
    void check_target(const Expression& target) const;
    [[noreturn]] void fail_unknown_tag(const Token& token) const;

    // parse_expression.cpp: expressions, loosest binding first
    ExpressionPtr expression(bool with_condition = true);
    ExpressionPtr parse_or();
    ExpressionPtr parse_and();
    ExpressionPtr parse_not();
    ExpressionPtr parse_compare();
    ExpressionPtr parse_sum();
    ExpressionPtr parse_concatenation();
    ExpressionPtr parse_product();
    ExpressionPtr parse_power();
    ExpressionPtr parse_unary(bool with_filters = true);

    // parse_value.cpp: values
    ExpressionPtr parse_primary(bool with_attribute = false);
    ExpressionPtr parse_name(bool with_attribute);
    ExpressionPtr parse_string();
    ExpressionPtr parse_list();
    ExpressionPtr parse_dict();
    ExpressionPtr parse_postfix(ExpressionPtr of);
    ExpressionPtr parse_subscript(ExpressionPtr of);
    ExpressionPtr parse_filters(ExpressionPtr of);  // |filter, is test, and calls of their results
    ExpressionPtr parse_filter_chain(ExpressionPtr of, bool first_without_pipe);
    ExpressionPtr parse_test(ExpressionPtr of);
    ExpressionPtr tuple_or_expression(bool with_condition, bool in_parentheses, std::string_view end_name = {});
    void parse_arguments(CallArguments& arguments);

    bool at_tuple_end(std::string_view end_name) const;

    // nodes
    ExpressionPtr node(Kind kind, int line) const;
    ExpressionPtr name_node(const std::string& name, int line);
    ExpressionPtr constant(Literal literal, int line);
    ExpressionPtr with_parts(Kind kind, int line, ExpressionPtr a, ExpressionPtr b = nullptr);
    ExpressionPtr measured(ExpressionPtr expression) const;  // computes and checks the height
    int name_index(const std::string& name);

    TokenStream tokens_;
    int nesting_ = 0;
    int loops_ = 0;  // for blocks around the current statement, in the same macro
    std::vector<Signature*> signatures_;
    std::vector<std::string> open_tags_;
    std::shared_ptr<Syntax> syntax_;
    std::unordered_map<std::string, int> name_indices_;

    /// One level of nesting in the source.
    struct Nested {
        explicit Nested(Parser& parser);
        ~Nested() { --parser_.nesting_; }
        Parser& parser_;
    };
};

}  // namespace engine::jinja
