// Statements of the grammar.
#include "engine/template/parser.h"

#include "engine/template/text_of.h"

#include <algorithm>

namespace engine::jinja {

constexpr int kDeepestNesting = 160;  // two levels for each pair of brackets

Parser::Parser(std::vector<Token> tokens)
    : tokens_(std::move(tokens))
    , syntax_(std::make_shared<Syntax>())
{
    syntax_->loop_name = name_index("loop");
    syntax_->caller_name = name_index("caller");
    syntax_->varargs_name = name_index("varargs");
    syntax_->kwargs_name = name_index("kwargs");
}

std::shared_ptr<const Syntax> Parser::run()
{
    syntax_->body = statements({});
    return syntax_;
}

Parser::Nested::Nested(Parser& parser)
    : parser_(parser)
{
    if (++parser_.nesting_ > kDeepestNesting) {
        --parser_.nesting_;
        parser_.fail("the template nests too deeply");
    }
}

// ---- tokens ----

void Parser::fail(std::string sentence) const
{
    throw TemplateError(std::move(sentence), current().line);
}

const Token& Parser::take()
{
    const Token& token = tokens_[at_];
    if (at_ + 1 < tokens_.size())
        ++at_;
    return token;
}

bool Parser::skip_operator(std::string_view symbol)
{
    if (!current().is_operator(symbol))
        return false;
    take();
    return true;
}

bool Parser::skip_name(std::string_view name)
{
    if (!current().is_name(name))
        return false;
    take();
    return true;
}

void Parser::expect_operator(std::string_view symbol)
{
    if (!skip_operator(symbol))
        fail("expected token '" + std::string(symbol) + "', got " + quote(describe(current())));
}

void Parser::expect(Token::Kind kind, std::string_view what)
{
    if (current().kind != kind)
        fail("expected token '" + std::string(what) + "', got " + quote(describe(current())));
    take();
}

std::string Parser::expect_name()
{
    if (current().kind != Token::Kind::Name)
        fail("expected token 'name', got " + quote(describe(current())));
    return take().text;
}

// ---- statements ----

static bool is_one_of(const Token& token, std::initializer_list<std::string_view> names)
{
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return token.is_name(name); });
}

// Up to a block that starts with one of `ends`, whose name is then the current token; with no ends, up to the end.
Body Parser::statements(std::initializer_list<std::string_view> ends)
{
    Nested nested(*this);
    Body body;
    while (current().kind != Token::Kind::End) {
        const Token& token = take();
        auto statement = std::make_unique<Statement>();
        statement->line = token.line;
        if (token.kind == Token::Kind::Text) {
            statement->kind = Statement::Kind::Text;
            statement->text = token.text;
            body.push_back(std::move(statement));
        } else if (token.kind == Token::Kind::VariableBegin) {
            statement->kind = Statement::Kind::Print;
            statement->value = tuple_or_expression(true, false);
            expect(Token::Kind::VariableEnd, "end of print statement");
            body.push_back(std::move(statement));
        } else {
            if (is_one_of(current(), ends))
                return body;
            add_statement(body);
            expect(Token::Kind::BlockEnd, "end of statement block");
        }
    }
    if (ends.size() > 0)
        fail("unexpected end of template: looking for '" + std::string(*(ends.end() - 1)) + "' of '" +
             open_tags_.back() + "'");
    return body;
}

// The rest of the opening tag, then the body.
Body Parser::block_body(std::initializer_list<std::string_view> ends)
{
    skip_operator(":");
    expect(Token::Kind::BlockEnd, "end of statement block");
    return statements(ends);
}

void Parser::fail_unknown_tag(const Token& token) const
{
    static constexpr std::string_view kUnsupported[] = {"include", "import", "from", "extends"};
    if (std::find(std::begin(kUnsupported), std::end(kUnsupported), token.text) != std::end(kUnsupported))
        fail("'" + token.text + "' needs other templates, and a chat template has none", token.line);
    std::string sentence = "encountered unknown tag " + quote(token.text);
    if (!open_tags_.empty())
        sentence += ", and '" + open_tags_.back() + "' is still open";
    fail(std::move(sentence), token.line);
}

void Parser::add_statement(Body& body)
{
    if (current().kind != Token::Kind::Name)
        fail("tag name expected");
    const Token& tag = take();
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
        branch.condition = tuple_or_expression(false, false);
        branch.body = block_body({"elif", "else", "endif"});
        statement.branches.push_back(std::move(branch));
        const Token& end = take();
        more = end.text == "elif";
        if (end.text == "else") {
            statement.otherwise = block_body({"endif"});
            take();
        }
    }
}

void Parser::parse_for(Statement& statement)
{
    statement.kind = Statement::Kind::For;
    statement.target = assignment_target(false, false, "in");
    if (!skip_name("in"))
        fail("expected token 'in', got " + quote(describe(current())));
    statement.value = tuple_or_expression(false, false, "recursive");
    if (skip_name("if"))
        statement.condition = expression();
    statement.recursive = skip_name("recursive");
    ++loops_;
    statement.body = block_body({"else", "endfor"});
    --loops_;
    if (take().text == "else") {
        statement.otherwise = block_body({"endfor"});
        take();
    }
}

void Parser::parse_set(Statement& statement)
{
    statement.target = assignment_target(true, false);
    if (skip_operator("=")) {
        statement.kind = Statement::Kind::Set;
        statement.value = tuple_or_expression(true, false);
        return;
    }
    statement.kind = Statement::Kind::SetBlock;
    statement.value = parse_filter_chain(nullptr, false);
    statement.body = block_body({"endset"});
    take();
}

void Parser::parse_signature(Signature& signature)
{
    expect_operator("(");
    while (!current().is_operator(")")) {
        if (!signature.parameters.empty())
            expect_operator(",");
        const ExpressionPtr parameter = assignment_target(false, true);
        if (skip_operator("="))
            signature.defaults.push_back(expression());
        else if (!signature.defaults.empty())
            fail("non-default argument follows default argument");
        signature.parameters.push_back(parameter->name);
        signature.parameter_texts.push_back(parameter->text);
        signature.caller_is_parameter |= parameter->text == "caller";
    }
    expect_operator(")");
}

void Parser::parse_macro(Statement& statement)
{
    statement.kind = Statement::Kind::Macro;
    statement.signature = std::make_unique<Signature>();
    const ExpressionPtr name = assignment_target(false, true);
    statement.name = name->name;
    statement.signature->name = name->text;
    const int loops = std::exchange(loops_, 0);
    signatures_.push_back(statement.signature.get());
    parse_signature(*statement.signature);
    statement.body = block_body({"endmacro"});
    signatures_.pop_back();
    loops_ = loops;
    take();
}

void Parser::parse_call_block(Statement& statement)
{
    statement.kind = Statement::Kind::CallBlock;
    statement.signature = std::make_unique<Signature>();
    statement.signature->name = "caller";
    const int loops = std::exchange(loops_, 0);
    signatures_.push_back(statement.signature.get());
    if (current().is_operator("("))
        parse_signature(*statement.signature);
    signatures_.pop_back();
    statement.value = expression();
    if (statement.value->kind != Kind::Call)
        fail("expected call", statement.line);
    signatures_.push_back(statement.signature.get());
    statement.body = block_body({"endcall"});
    signatures_.pop_back();
    loops_ = loops;
    take();
}

void Parser::parse_filter_block(Statement& statement)
{
    statement.kind = Statement::Kind::Filter;
    statement.value = parse_filter_chain(nullptr, true);
    statement.body = block_body({"endfilter"});
    take();
}

void Parser::parse_with(Statement& statement)
{
    statement.kind = Statement::Kind::With;
    while (current().kind != Token::Kind::BlockEnd) {
        if (!statement.assignments.empty())
            expect_operator(",");
        ExpressionPtr target = assignment_target(false, false);
        expect_operator("=");
        statement.assignments.emplace_back(std::move(target), expression());
    }
    statement.body = block_body({"endwith"});
    take();
}

void Parser::parse_scoped(Statement& statement, std::string_view end)
{
    statement.kind = Statement::Kind::Scoped;
    if (end == "endblock") {
        const std::string name = expect_name();
        while (skip_name("scoped") || skip_name("required")) {
        }
        statement.body = block_body({end});
        take();
        skip_name(name);
        return;
    }
    statement.body = block_body({end});
    take();
}

void Parser::parse_print(Statement& statement, Body& body)
{
    statement.kind = Statement::Kind::Print;
    statement.value = expression();
    while (skip_operator(",")) {
        auto earlier = std::make_unique<Statement>();
        earlier->kind = Statement::Kind::Print;
        earlier->line = statement.line;
        earlier->value = std::exchange(statement.value, expression());
        body.push_back(std::move(earlier));
    }
}

void Parser::parse_loop_control(Statement& statement)
{
    const bool is_break = tokens_[at_ - 1].text == "break";
    statement.kind = is_break ? Statement::Kind::Break : Statement::Kind::Continue;
    if (loops_ == 0)
        fail(std::string("'") + (is_break ? "break" : "continue") + "' outside of a loop", statement.line);
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
        fail("can't assign to this expression", target.line);
}

ExpressionPtr Parser::assignment_target(bool with_attribute, bool name_only, std::string_view end_name)
{
    Nested nested(*this);
    const int line = current().line;
    if (name_only)
        return name_node(expect_name(), line);
    std::vector<ExpressionPtr> parts;
    bool is_tuple = false;
    while (parts.empty() || is_tuple) {
        if (at_tuple_end(end_name))
            break;
        parts.push_back(parse_primary(with_attribute));
        if (!current().is_operator(","))
            break;
        is_tuple = true;
        take();
    }
    if (parts.empty())
        fail("expected an expression, got " + quote(describe(current())));
    ExpressionPtr target = std::move(parts.front());
    if (is_tuple) {
        auto tuple = node(Kind::Tuple, line);
        tuple->parts = std::move(parts);
        tuple->parts.front() = std::move(target);
        target = measured(std::move(tuple));
    }
    check_target(*target);
    return target;
}

}  // namespace engine::jinja
