// Expressions of the grammar.
#include "engine/template/parser.h"
#include "engine/template/text_of.h"

#include <algorithm>

namespace engine::jinja
{

constexpr int kHighestTree = 400; // a chain of 400 additions; evaluation recurses this deep

// ---- nodes ----

ExpressionPtr Parser::node(Kind kind, int line) const
{
    auto expression = std::make_unique<Expression>();
    expression->kind = kind;
    expression->line = line;
    return expression;
}

int Parser::name_index(const std::string& name)
{
    const auto [found, is_new] = name_indices_.try_emplace(name, int(syntax_->names.size()));
    if (is_new)
        syntax_->names.push_back(name);
    return found->second;
}

ExpressionPtr Parser::name_node(const std::string& name, int line)
{
    auto expression = node(Kind::Name, line);
    expression->name = name_index(name);
    expression->text = name;
    return expression;
}

ExpressionPtr Parser::constant(Literal literal, int line)
{
    auto expression = node(Kind::Constant, line);
    expression->literal = std::move(literal);
    expression->constant = syntax_->constants++;
    return expression;
}

ExpressionPtr Parser::measured(ExpressionPtr expression) const
{
    int height = 0;
    const auto look = [&](const ExpressionPtr& part) {
        if (part)
            height = std::max(height, part->height);
    };
    std::for_each(expression->parts.begin(), expression->parts.end(), look);
    std::for_each(expression->arguments.positional.begin(), expression->arguments.positional.end(), look);
    for (const auto& [name, value] : expression->arguments.named)
        look(value);
    look(expression->arguments.list);
    look(expression->arguments.dict);
    expression->height = height + 1;
    if (expression->height > kHighestTree)
        fail("an expression is too long", expression->line);
    return expression;
}

ExpressionPtr Parser::with_parts(Kind kind, int line, ExpressionPtr a, ExpressionPtr b)
{
    auto expression = node(kind, line);
    expression->parts.push_back(std::move(a));
    if (b)
        expression->parts.push_back(std::move(b));
    return measured(std::move(expression));
}

// ---- operators ----

ExpressionPtr Parser::expression(bool with_condition)
{
    Nested nested(*this);
    int line = current().line;
    ExpressionPtr value = parse_or();
    while (with_condition && skip_name("if")) {
        auto conditional = node(Kind::Conditional, line);
        conditional->parts.push_back(parse_or());
        conditional->parts.push_back(std::move(value));
        conditional->parts.push_back(skip_name("else") ? expression() : nullptr);
        value = measured(std::move(conditional));
        line = current().line;
    }
    return value;
}

ExpressionPtr Parser::parse_or()
{
    const int line = current().line;
    ExpressionPtr left = parse_and();
    while (skip_name("or"))
        left = with_parts(Kind::Or, line, std::move(left), parse_and());
    return left;
}

ExpressionPtr Parser::parse_and()
{
    const int line = current().line;
    ExpressionPtr left = parse_not();
    while (skip_name("and"))
        left = with_parts(Kind::And, line, std::move(left), parse_not());
    return left;
}

ExpressionPtr Parser::parse_not()
{
    const int line = current().line;
    if (!skip_name("not"))
        return parse_compare();
    Nested nested(*this);
    return with_parts(Kind::Not, line, parse_not());
}

static bool comparison_of(const Token& token, Operator& op)
{
    static constexpr std::pair<std::string_view, Operator> kKnown[] = {
        {"==", Operator::Equal},     {"!=", Operator::NotEqual}, {"<", Operator::Less},
        {"<=", Operator::LessEqual}, {">", Operator::Greater},   {">=", Operator::GreaterEqual}};
    for (const auto& [symbol, known] : kKnown)
        if (token.is_operator(symbol)) {
            op = known;
            return true;
        }
    op = Operator::In;
    return token.is_name("in");
}

ExpressionPtr Parser::parse_compare()
{
    const int line = current().line;
    auto compare = node(Kind::Compare, line);
    compare->parts.push_back(parse_sum());
    for (;;) {
        Operator op;
        if (comparison_of(current(), op)) {
            take();
        } else if (current().is_name("not") && ahead().is_name("in")) {
            op = Operator::NotIn;
            take();
            take();
        } else {
            break;
        }
        compare->operators.push_back(op);
        compare->parts.push_back(parse_sum());
    }
    if (compare->operators.empty())
        return std::move(compare->parts.front());
    return measured(std::move(compare));
}

ExpressionPtr Parser::parse_sum()
{
    const int line = current().line;
    ExpressionPtr left = parse_concatenation();
    while (current().is_operator("+") || current().is_operator("-")) {
        const Operator op = take().text == "+" ? Operator::Add : Operator::Subtract;
        left = with_parts(Kind::Arithmetic, line, std::move(left), parse_concatenation());
        left->operators = {op};
    }
    return left;
}

ExpressionPtr Parser::parse_concatenation()
{
    auto pieces = node(Kind::Concatenate, current().line);
    pieces->parts.push_back(parse_product());
    while (skip_operator("~"))
        pieces->parts.push_back(parse_product());
    if (pieces->parts.size() == 1)
        return std::move(pieces->parts.front());
    return measured(std::move(pieces));
}

ExpressionPtr Parser::parse_product()
{
    static constexpr std::pair<std::string_view, Operator> kKnown[] = {
        {"*", Operator::Multiply}, {"/", Operator::Divide}, {"//", Operator::FloorDivide}, {"%", Operator::Modulo}};
    const int line = current().line;
    ExpressionPtr left = parse_power();
    for (;;) {
        const auto known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                        [&](const auto& entry) { return current().is_operator(entry.first); });
        if (known == std::end(kKnown))
            return left;
        take();
        left = with_parts(Kind::Arithmetic, line, std::move(left), parse_power());
        left->operators = {known->second};
    }
}

ExpressionPtr Parser::parse_power()
{
    const int line = current().line;
    ExpressionPtr left = parse_unary();
    while (skip_operator("**")) {
        left = with_parts(Kind::Arithmetic, line, std::move(left), parse_unary());
        left->operators = {Operator::Power};
    }
    return left;
}

ExpressionPtr Parser::parse_unary(bool with_filters)
{
    Nested nested(*this);
    const int line = current().line;
    ExpressionPtr value;
    if (skip_operator("-"))
        value = with_parts(Kind::Negate, line, parse_unary(false));
    else if (skip_operator("+"))
        value = with_parts(Kind::Plus, line, parse_unary(false));
    else
        value = parse_primary();
    value = parse_postfix(std::move(value));
    return with_filters ? parse_filters(std::move(value)) : std::move(value);
}

// ---- primaries ----

ExpressionPtr Parser::parse_primary(bool with_attribute)
{
    const Token& token = current();
    switch (token.kind) {
    case Token::Kind::Name:
        return parse_name(with_attribute);
    case Token::Kind::String:
        return parse_string();
    case Token::Kind::Integer:
        take();
        return constant(token.integer, token.line);
    case Token::Kind::Float:
        take();
        return constant(token.real, token.line);
    default:
        break;
    }
    if (skip_operator("(")) {
        ExpressionPtr inner = tuple_or_expression(true, true);
        expect_operator(")");
        return inner;
    }
    if (token.is_operator("["))
        return parse_list();
    if (token.is_operator("{"))
        return parse_dict();
    fail("unexpected " + quote(describe(token)));
}

ExpressionPtr Parser::parse_name(bool with_attribute)
{
    const Token& token = take();
    if (token.text == "true" || token.text == "True")
        return constant(true, token.line);
    if (token.text == "false" || token.text == "False")
        return constant(false, token.line);
    if (token.text == "none" || token.text == "None")
        return constant(std::monostate(), token.line);
    ExpressionPtr name = name_node(token.text, token.line);
    if (with_attribute && skip_operator(".")) {
        name->kind = Kind::Attribution;
        name->text = expect_name();
        return name;
    }
    for (Signature* signature : signatures_) {
        signature->reads_caller |= token.text == "caller";
        signature->reads_varargs |= token.text == "varargs";
        signature->reads_kwargs |= token.text == "kwargs";
    }
    return name;
}

ExpressionPtr Parser::parse_string()
{
    const int line = current().line;
    std::string text;
    while (current().kind == Token::Kind::String)
        text += take().text;
    return constant(std::move(text), line);
}

ExpressionPtr Parser::parse_list()
{
    auto list = node(Kind::List, take().line);
    while (!current().is_operator("]")) {
        if (!list->parts.empty())
            expect_operator(",");
        if (current().is_operator("]"))
            break;
        list->parts.push_back(expression());
    }
    expect_operator("]");
    return measured(std::move(list));
}

ExpressionPtr Parser::parse_dict()
{
    auto dict = node(Kind::Dict, take().line);
    while (!current().is_operator("}")) {
        if (!dict->parts.empty())
            expect_operator(",");
        if (current().is_operator("}"))
            break;
        dict->parts.push_back(expression());
        expect_operator(":");
        dict->parts.push_back(expression());
    }
    expect_operator("}");
    return measured(std::move(dict));
}

bool Parser::at_tuple_end(std::string_view end_name) const
{
    const Token& token = current();
    return token.kind == Token::Kind::VariableEnd || token.kind == Token::Kind::BlockEnd || token.is_operator(")") ||
           (!end_name.empty() && token.is_name(end_name));
}

ExpressionPtr Parser::tuple_or_expression(bool with_condition, bool in_parentheses, std::string_view end_name)
{
    const int line = current().line;
    std::vector<ExpressionPtr> parts;
    bool is_tuple = false;
    while (!at_tuple_end(end_name)) {
        parts.push_back(expression(with_condition));
        if (!skip_operator(","))
            break;
        is_tuple = true;
    }
    if (!is_tuple && !parts.empty())
        return std::move(parts.front());
    if (!is_tuple && !in_parentheses)
        fail("expected an expression, got " + quote(describe(current())));
    auto tuple = node(Kind::Tuple, line);
    tuple->parts = std::move(parts);
    return measured(std::move(tuple));
}

// ---- what follows a value ----

ExpressionPtr Parser::parse_postfix(ExpressionPtr of)
{
    for (;;) {
        if (current().is_operator(".") || current().is_operator("[")) {
            of = parse_subscript(std::move(of));
        } else if (current().is_operator("(")) {
            auto call = node(Kind::Call, current().line);
            call->parts.push_back(std::move(of));
            parse_arguments(call->arguments);
            of = measured(std::move(call));
        } else {
            return of;
        }
    }
}

ExpressionPtr Parser::parse_subscript(ExpressionPtr of)
{
    const int line = current().line;
    if (skip_operator(".")) {
        const Token& token = take();
        if (token.kind == Token::Kind::Integer)
            return with_parts(Kind::Item, line, std::move(of), constant(token.integer, token.line));
        if (token.kind != Token::Kind::Name)
            fail("expected name or number", token.line);
        of = with_parts(Kind::Attribute, line, std::move(of));
        of->text = token.text;
        return of;
    }
    expect_operator("[");
    ExpressionPtr first;
    if (!current().is_operator(":")) {
        first = tuple_or_expression(true, false, {});
        if (skip_operator("]"))
            return with_parts(Kind::Item, line, std::move(of), std::move(first));
    }
    auto slice = node(Kind::Slice, line);
    slice->parts.push_back(std::move(of));
    slice->parts.push_back(std::move(first));
    for (int i = 0; i < 2; ++i) {
        const bool given = skip_operator(":") && !current().is_operator(":") && !current().is_operator("]");
        slice->parts.push_back(given ? expression() : nullptr);
    }
    expect_operator("]");
    return measured(std::move(slice));
}

void Parser::parse_arguments(CallArguments& arguments)
{
    const int line = current().line;
    const auto ensure = [&](bool valid) {
        if (!valid)
            fail("invalid syntax for function call expression", line);
    };
    expect_operator("(");
    for (bool first = true; !current().is_operator(")"); first = false) {
        if (!first) {
            expect_operator(",");
            if (current().is_operator(")"))
                break;
        }
        if (skip_operator("*")) {
            ensure(!arguments.list && !arguments.dict);
            arguments.list = expression();
        } else if (skip_operator("**")) {
            ensure(!arguments.dict);
            arguments.dict = expression();
        } else if (current().kind == Token::Kind::Name && ahead().is_operator("=")) {
            ensure(!arguments.dict);
            std::string key = take().text;
            take();
            arguments.named.emplace_back(std::move(key), expression());
        } else {
            ensure(!arguments.list && !arguments.dict && arguments.named.empty());
            arguments.positional.push_back(expression());
        }
    }
    expect_operator(")");
}

ExpressionPtr Parser::parse_filters(ExpressionPtr of)
{
    for (;;) {
        if (current().is_operator("|"))
            of = parse_filter_chain(std::move(of), false);
        else if (current().is_name("is"))
            of = parse_test(std::move(of));
        else if (current().is_operator("("))
            of = parse_postfix(std::move(of));
        else
            return of;
    }
}

ExpressionPtr Parser::parse_filter_chain(ExpressionPtr of, bool first_without_pipe)
{
    while (first_without_pipe || skip_operator("|")) {
        first_without_pipe = false;
        auto filter = node(Kind::Filter, current().line);
        filter->text = expect_name();
        while (skip_operator("."))
            filter->text += "." + expect_name();
        filter->parts.push_back(std::move(of));
        if (current().is_operator("("))
            parse_arguments(filter->arguments);
        of = measured(std::move(filter));
    }
    return of;
}

static bool starts_test_argument(const Token& token)
{
    switch (token.kind) {
    case Token::Kind::Name:
        return token.text != "else" && token.text != "or" && token.text != "and";
    case Token::Kind::String:
    case Token::Kind::Integer:
    case Token::Kind::Float:
        return true;
    default:
        return token.is_operator("[") || token.is_operator("{");
    }
}

ExpressionPtr Parser::parse_test(ExpressionPtr of)
{
    const int line = take().line;
    const bool negated = skip_name("not");
    auto test = node(Kind::Test, line);
    test->text = expect_name();
    while (skip_operator("."))
        test->text += "." + expect_name();
    test->parts.push_back(std::move(of));
    if (current().is_operator("(")) {
        parse_arguments(test->arguments);
    } else if (starts_test_argument(current())) {
        if (current().is_name("is"))
            fail("you cannot chain multiple tests with is");
        Nested nested(*this);
        test->arguments.positional.push_back(parse_postfix(parse_primary()));
    }
    test = measured(std::move(test));
    return negated ? with_parts(Kind::Not, line, std::move(test)) : std::move(test);
}

} // namespace engine::jinja
