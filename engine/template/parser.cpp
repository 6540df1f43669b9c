#include "engine/template/parser.h"

#include "engine/template/text_of.h"

#include <algorithm>

namespace engine::jinja {

Parser::Parser(std::vector<Token> tokens)
    : tokens_(std::move(tokens))
    , expressions_(tokens_, nodes_)
{
}

std::shared_ptr<const Syntax> Parser::run()
{
    return nodes_.finish(statements({}));
}

static bool is_one_of(const Token& token, std::initializer_list<std::string_view> names)
{
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return token.is_name(name); });
}

// Parses up to a block that starts with one of `ends`, whose name is then the current token; with no ends, up to the
// end.
Body Parser::statements(std::initializer_list<std::string_view> ends)
{
    const TokenStream::Nested nested(tokens_);
    Body body;
    while (tokens_.current().kind != Token::Kind::End) {
        const Token& token = tokens_.take();
        auto statement = std::make_unique<Statement>();
        statement->line = token.line;
        if (token.kind == Token::Kind::Text) {
            statement->kind = Statement::Kind::Text;
            statement->text = token.text;
            body.push_back(std::move(statement));
        } else if (token.kind == Token::Kind::VariableBegin) {
            statement->kind = Statement::Kind::Print;
            statement->value = expressions_.tuple_or_expression(true, false);
            tokens_.expect(Token::Kind::VariableEnd, "end of print statement");
            body.push_back(std::move(statement));
        } else {
            if (is_one_of(tokens_.current(), ends))
                return body;
            add_statement(body);
            tokens_.expect(Token::Kind::BlockEnd, "end of statement block");
        }
    }
    if (ends.size() > 0)
        tokens_.fail("unexpected end of template: looking for '" + std::string(*(ends.end() - 1)) + "' of '" +
                     open_tags_.back() + "'");
    return body;
}

// Parses the rest of the opening tag, then the body.
Body Parser::block_body(std::initializer_list<std::string_view> ends)
{
    tokens_.skip_operator(":");
    tokens_.expect(Token::Kind::BlockEnd, "end of statement block");
    return statements(ends);
}

void Parser::fail_unknown_tag(const Token& token) const
{
    static constexpr std::string_view kUnsupported[] = {"include", "import", "from", "extends"};
    if (std::find(std::begin(kUnsupported), std::end(kUnsupported), token.text) != std::end(kUnsupported))
        tokens_.fail("'" + token.text + "' needs other templates, and a chat template has none", token.line);
    std::string sentence = "encountered unknown tag " + quote(token.text);
    if (!open_tags_.empty())
        sentence += ", and '" + open_tags_.back() + "' is still open";
    tokens_.fail(std::move(sentence), token.line);
}

void Parser::add_statement(Body& body)
{
    if (tokens_.current().kind != Token::Kind::Name)
        tokens_.fail("tag name expected");
    const Token& tag = tokens_.take();
    auto statement = std::make_unique<Statement>();
    statement->line = tag.line;
    open_tags_.push_back(tag.text);
    if (tag.text == "if")
        parse_if(*statement);
    else if (tag.text == "for")
        parse_for(*statement);
    else if (tag.text == "set")
        parse_set(*statement);
    else if (tag.text == "macro")
        parse_macro(*statement);
    else if (tag.text == "call")
        parse_call_block(*statement);
    else if (tag.text == "filter")
        parse_filter_block(*statement);
    else if (tag.text == "with")
        parse_with(*statement);
    else if (tag.text == "generation")
        parse_scoped(*statement, "endgeneration");
    else if (tag.text == "block")
        parse_scoped(*statement, "endblock");
    else if (tag.text == "break" || tag.text == "continue")
        parse_loop_control(*statement);
    else if (tag.text == "print")
        parse_print(*statement, body);
    else {
        open_tags_.pop_back();
        fail_unknown_tag(tag);
    }
    open_tags_.pop_back();
    body.push_back(std::move(statement));
}

void Parser::parse_if(Statement& statement)
{
    statement.kind = Statement::Kind::If;
    for (bool more = true; more;) {
        Statement::Branch branch;
        branch.condition = expressions_.tuple_or_expression(false, false);
        branch.body = block_body({"elif", "else", "endif"});
        statement.branches.push_back(std::move(branch));
        const Token& end = tokens_.take();
        more = end.text == "elif";
        if (end.text == "else") {
            statement.otherwise = block_body({"endif"});
            tokens_.take();
        }
    }
}

void Parser::parse_for(Statement& statement)
{
    statement.kind = Statement::Kind::For;
    statement.target = assignment_target(false, false, "in");
    if (!tokens_.skip_name("in"))
        tokens_.fail("expected token 'in', got " + quote(describe(tokens_.current())));
    statement.value = expressions_.tuple_or_expression(false, false, "recursive");
    if (tokens_.skip_name("if"))
        statement.condition = expressions_.expression();
    statement.recursive = tokens_.skip_name("recursive");
    ++loops_;
    statement.body = block_body({"else", "endfor"});
    --loops_;
    if (tokens_.take().text == "else") {
        statement.otherwise = block_body({"endfor"});
        tokens_.take();
    }
}

void Parser::parse_set(Statement& statement)
{
    statement.target = assignment_target(true, false);
    if (tokens_.skip_operator("=")) {
        statement.kind = Statement::Kind::Set;
        statement.value = expressions_.tuple_or_expression(true, false);
        return;
    }
    statement.kind = Statement::Kind::SetBlock;
    statement.value = expressions_.operands().parse_filter_chain(nullptr, false);
    statement.body = block_body({"endset"});
    tokens_.take();
}

void Parser::parse_signature(Signature& signature)
{
    tokens_.expect_operator("(");
    while (!tokens_.current().is_operator(")")) {
        if (!signature.parameters.empty())
            tokens_.expect_operator(",");
        const ExpressionPtr parameter = assignment_target(false, true);
        if (tokens_.skip_operator("="))
            signature.defaults.push_back(expressions_.expression());
        else if (!signature.defaults.empty())
            tokens_.fail("non-default argument follows default argument");
        signature.parameters.push_back(parameter->name);
        signature.parameter_texts.push_back(parameter->text);
        signature.caller_is_parameter |= parameter->text == "caller";
    }
    tokens_.expect_operator(")");
}

void Parser::parse_macro(Statement& statement)
{
    statement.kind = Statement::Kind::Macro;
    statement.signature = std::make_unique<Signature>();
    const ExpressionPtr name = assignment_target(false, true);
    statement.name = name->name;
    statement.signature->name = name->text;
    const int loops = std::exchange(loops_, 0);
    expressions_.operands().open_signature(*statement.signature);
    parse_signature(*statement.signature);
    statement.body = block_body({"endmacro"});
    expressions_.operands().close_signature();
    loops_ = loops;
    tokens_.take();
}

void Parser::parse_call_block(Statement& statement)
{
    statement.kind = Statement::Kind::CallBlock;
    statement.signature = std::make_unique<Signature>();
    statement.signature->name = "caller";
    const int loops = std::exchange(loops_, 0);
    expressions_.operands().open_signature(*statement.signature);
    if (tokens_.current().is_operator("("))
        parse_signature(*statement.signature);
    expressions_.operands().close_signature();
    statement.value = expressions_.expression();
    if (statement.value->kind != Kind::Call)
        tokens_.fail("expected call", statement.line);
    expressions_.operands().open_signature(*statement.signature);
    statement.body = block_body({"endcall"});
    expressions_.operands().close_signature();
    loops_ = loops;
    tokens_.take();
}

void Parser::parse_filter_block(Statement& statement)
{
    statement.kind = Statement::Kind::Filter;
    statement.value = expressions_.operands().parse_filter_chain(nullptr, true);
    statement.body = block_body({"endfilter"});
    tokens_.take();
}

void Parser::parse_with(Statement& statement)
{
    statement.kind = Statement::Kind::With;
    while (tokens_.current().kind != Token::Kind::BlockEnd) {
        if (!statement.assignments.empty())
            tokens_.expect_operator(",");
        ExpressionPtr target = assignment_target(false, false);
        tokens_.expect_operator("=");
        statement.assignments.emplace_back(std::move(target), expressions_.expression());
    }
    statement.body = block_body({"endwith"});
    tokens_.take();
}

void Parser::parse_scoped(Statement& statement, std::string_view end)
{
    statement.kind = Statement::Kind::Scoped;
    if (end == "endblock") {
        const std::string name = tokens_.expect_name();
        while (tokens_.skip_name("scoped") || tokens_.skip_name("required")) {
        }
        statement.body = block_body({end});
        tokens_.take();
        tokens_.skip_name(name);
        return;
    }
    statement.body = block_body({end});
    tokens_.take();
}

void Parser::parse_print(Statement& statement, Body& body)
{
    statement.kind = Statement::Kind::Print;
    statement.value = expressions_.expression();
    while (tokens_.skip_operator(",")) {
        auto earlier = std::make_unique<Statement>();
        earlier->kind = Statement::Kind::Print;
        earlier->line = statement.line;
        earlier->value = std::exchange(statement.value, expressions_.expression());
        body.push_back(std::move(earlier));
    }
}

void Parser::parse_loop_control(Statement& statement)
{
    const bool is_break = open_tags_.back() == "break";
    statement.kind = is_break ? Statement::Kind::Break : Statement::Kind::Continue;
    if (loops_ == 0)
        tokens_.fail(std::string("'") + (is_break ? "break" : "continue") + "' outside of a loop", statement.line);
}

// ---- what can be assigned to ----

void Parser::check_target(const Expression& target) const
{
    if (target.kind == Kind::Tuple) {
        for (const ExpressionPtr& part : target.parts)
            check_target(*part);
        return;
    }
    if (target.kind != Kind::Name && target.kind != Kind::Attribution)
        tokens_.fail("can't assign to this expression", target.line);
}

ExpressionPtr Parser::assignment_target(bool with_attribute, bool name_only, std::string_view end_name)
{
    const TokenStream::Nested nested(tokens_);
    const int line = tokens_.current().line;
    if (name_only)
        return nodes_.name(tokens_.expect_name(), line);
    std::vector<ExpressionPtr> parts;
    bool is_tuple = false;
    while (parts.empty() || is_tuple) {
        if (expressions_.at_tuple_end(end_name))
            break;
        parts.push_back(expressions_.operands().parse_primary(with_attribute));
        if (!tokens_.current().is_operator(","))
            break;
        is_tuple = true;
        tokens_.take();
    }
    if (parts.empty())
        tokens_.fail("expected an expression, got " + quote(describe(tokens_.current())));
    ExpressionPtr target = std::move(parts.front());
    if (is_tuple) {
        auto tuple = nodes_.node(Kind::Tuple, line);
        tuple->parts = std::move(parts);
        tuple->parts.front() = std::move(target);
        target = nodes_.measured(std::move(tuple));
    }
    check_target(*target);
    return target;
}

}  // namespace engine::jinja
