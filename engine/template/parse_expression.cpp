// Expressions of the grammar.
#include "engine/template/parser.h"
#include "engine/template/text_of.h"

#include <algorithm>

namespace engine::jinja {

constexpr int kHighestTree = 400;  // a chain of 400 additions; evaluation recurses this deep

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
        tokens_.fail("an expression is too long", expression->line);
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
    int line = tokens_.current().line;
    ExpressionPtr value = parse_or();
    while (with_condition && tokens_.skip_name("if")) {
        auto conditional = node(Kind::Conditional, line);
        conditional->parts.push_back(parse_or());
        conditional->parts.push_back(std::move(value));
        conditional->parts.push_back(tokens_.skip_name("else") ? expression() : nullptr);
        value = measured(std::move(conditional));
        line = tokens_.current().line;
    }
    return value;
}

ExpressionPtr Parser::parse_or()
{
    const int line = tokens_.current().line;
    ExpressionPtr left = parse_and();
    while (tokens_.skip_name("or"))
        left = with_parts(Kind::Or, line, std::move(left), parse_and());
    return left;
}

ExpressionPtr Parser::parse_and()
{
    const int line = tokens_.current().line;
    ExpressionPtr left = parse_not();
    while (tokens_.skip_name("and"))
        left = with_parts(Kind::And, line, std::move(left), parse_not());
    return left;
}

ExpressionPtr Parser::parse_not()
{
    const int line = tokens_.current().line;
    if (!tokens_.skip_name("not"))
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
    const int line = tokens_.current().line;
    auto compare = node(Kind::Compare, line);
    compare->parts.push_back(parse_sum());
    for (;;) {
        Operator op;
        if (comparison_of(tokens_.current(), op)) {
            tokens_.take();
        } else if (tokens_.current().is_name("not") && tokens_.ahead().is_name("in")) {
            op = Operator::NotIn;
            tokens_.take();
            tokens_.take();
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
    const int line = tokens_.current().line;
    ExpressionPtr left = parse_concatenation();
    while (tokens_.current().is_operator("+") || tokens_.current().is_operator("-")) {
        const Operator op = tokens_.take().text == "+" ? Operator::Add : Operator::Subtract;
        left = with_parts(Kind::Arithmetic, line, std::move(left), parse_concatenation());
        left->operators = {op};
    }
    return left;
}

ExpressionPtr Parser::parse_concatenation()
{
    auto pieces = node(Kind::Concatenate, tokens_.current().line);
    pieces->parts.push_back(parse_product());
    while (tokens_.skip_operator("~"))
        pieces->parts.push_back(parse_product());
    if (pieces->parts.size() == 1)
        return std::move(pieces->parts.front());
    return measured(std::move(pieces));
}

ExpressionPtr Parser::parse_product()
{
    static constexpr std::pair<std::string_view, Operator> kKnown[] = {
        {"*", Operator::Multiply}, {"/", Operator::Divide}, {"//", Operator::FloorDivide}, {"%", Operator::Modulo}};
    const int line = tokens_.current().line;
    ExpressionPtr left = parse_power();
    for (;;) {
        const auto known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                        [&](const auto& entry) { return tokens_.current().is_operator(entry.first); });
        if (known == std::end(kKnown))
            return left;
        tokens_.take();
        left = with_parts(Kind::Arithmetic, line, std::move(left), parse_power());
        left->operators = {known->second};
    }
}

ExpressionPtr Parser::parse_power()
{
    const int line = tokens_.current().line;
    ExpressionPtr left = parse_unary();
    while (tokens_.skip_operator("**")) {
        left = with_parts(Kind::Arithmetic, line, std::move(left), parse_unary());
        left->operators = {Operator::Power};
    }
    return left;
}

ExpressionPtr Parser::parse_unary(bool with_filters)
{
    Nested nested(*this);
    const int line = tokens_.current().line;
    ExpressionPtr value;
    if (tokens_.skip_operator("-"))
        value = with_parts(Kind::Negate, line, parse_unary(false));
    else if (tokens_.skip_operator("+"))
        value = with_parts(Kind::Plus, line, parse_unary(false));
    else
        value = parse_primary();
    value = parse_postfix(std::move(value));
    return with_filters ? parse_filters(std::move(value)) : std::move(value);
}

}  // namespace engine::jinja
