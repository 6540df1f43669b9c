// Parser makes a syntax tree of tokens, by Jinja's grammar.
#pragma once

#include "engine/template/expression_parser.h"
#include "engine/template/syntax_nodes.h"
#include "engine/template/token_stream.h"

namespace engine::jinja {

/// Recursive descent over the statements of one template. Throws TemplateError.
class Parser
{
public:
    explicit Parser(std::vector<Token> tokens);

    std::shared_ptr<const Syntax> run();

private:
    using Kind = Expression::Kind;

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

    TokenStream tokens_;
    SyntaxNodes nodes_;
    ExpressionParser expressions_;
    int loops_ = 0;  // for blocks around the current statement, in the same macro
    std::vector<std::string> open_tags_;
};

}  // namespace engine::jinja
