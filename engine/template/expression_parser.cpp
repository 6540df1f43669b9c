#include "engine/template/expression_parser.h"

#include "engine/template/text_of.h"

#include <algorithm>
#include <utility>

namespace engine::jinja {

ExpressionPtr ExpressionParser::expression(bool with_condition)
{
    const TokenStream::Nested nested(tokens_);
    int line = tokens_.current().line;
    ExpressionPtr value = parse_or();
    while (with_condition && tokens_.skip_name("if")) {
        auto conditional = nodes_.node(Kind::Conditional, line);
        conditional->parts.push_back(parse_or());
        conditional->parts.push_back(std::move(value));
        conditional->parts.push_back(tokens_.skip_name("else") ? expression() : nullptr);
        value = nodes_.measured(std::move(conditional));
        line = tokens_.current().line;
    }
    return value;
}

ExpressionPtr ExpressionParser::parse_or()
{
    const int line = tokens_.current().line;
    ExpressionPtr left = parse_and();
    while (tokens_.skip_name("or"))
        left = nodes_.with_parts(Kind::Or, line, std::move(left), parse_and());
    return left;
}

ExpressionPtr ExpressionParser::parse_and()
{
    const int line = tokens_.current().line;
    ExpressionPtr left = parse_not();
    while (tokens_.skip_name("and"))
        left = nodes_.with_parts(Kind::And, line, std::move(left), parse_not());
    return left;
}

ExpressionPtr ExpressionParser::parse_not()
{
    const int line = tokens_.current().line;
    if (!tokens_.skip_name("not"))
        return parse_compare();
    const TokenStream::Nested nested(tokens_);
    return nodes_.with_parts(Kind::Not, line, parse_not());
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

ExpressionPtr ExpressionParser::parse_compare()
{
    const int line = tokens_.current().line;
    auto compare = nodes_.node(Kind::Compare, line);
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
    return nodes_.measured(std::move(compare));
}

ExpressionPtr ExpressionParser::parse_sum()
{
    const int line = tokens_.current().line;
    ExpressionPtr left = parse_concatenation();
    while (tokens_.current().is_operator("+") || tokens_.current().is_operator("-")) {
        const Operator op = tokens_.take().text == "+" ? Operator::Add : Operator::Subtract;
        left = nodes_.with_parts(Kind::Arithmetic, line, std::move(left), parse_concatenation());
        left->operators = {op};
    }
    return left;
}

ExpressionPtr ExpressionParser::parse_concatenation()
{
    auto pieces = nodes_.node(Kind::Concatenate, tokens_.current().line);
    pieces->parts.push_back(parse_product());
    while (tokens_.skip_operator("~"))
        pieces->parts.push_back(parse_product());
    if (pieces->parts.size() == 1)
        return std::move(pieces->parts.front());
    return nodes_.measured(std::move(pieces));
}

ExpressionPtr ExpressionParser::parse_product()
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
        left = nodes_.with_parts(Kind::Arithmetic, line, std::move(left), parse_power());
        left->operators = {known->second};
    }
}

ExpressionPtr ExpressionParser::parse_power()
{
    const int line = tokens_.current().line;
    ExpressionPtr left = parse_unary();
    while (tokens_.skip_operator("**")) {
        left = nodes_.with_parts(Kind::Arithmetic, line, std::move(left), parse_unary());
        left->operators = {Operator::Power};
    }
    return left;
}

ExpressionPtr ExpressionParser::parse_unary(bool with_filters)
{
    const TokenStream::Nested nested(tokens_);
    const int line = tokens_.current().line;
    ExpressionPtr value;
    if (tokens_.skip_operator("-"))
        value = nodes_.with_parts(Kind::Negate, line, parse_unary(false));
    else if (tokens_.skip_operator("+"))
        value = nodes_.with_parts(Kind::Plus, line, parse_unary(false));
    else
        value = operands_.parse_primary(false);
    value = operands_.parse_postfix(std::move(value));
    return with_filters ? operands_.parse_filters(std::move(value)) : std::move(value);
}

bool ExpressionParser::at_tuple_end(std::string_view end_name) const
{
    const Token& token = tokens_.current();
    return token.kind == Token::Kind::VariableEnd || token.kind == Token::Kind::BlockEnd || token.is_operator(")") ||
           (!end_name.empty() && token.is_name(end_name));
}

ExpressionPtr ExpressionParser::tuple_or_expression(bool with_condition, bool in_parentheses, std::string_view end_name)
{
    const int line = tokens_.current().line;
    std::vector<ExpressionPtr> parts;
    bool is_tuple = false;
    while (!at_tuple_end(end_name)) {
        parts.push_back(expression(with_condition));
        if (!tokens_.skip_operator(","))
            break;
        is_tuple = true;
    }
    if (!is_tuple && !parts.empty())
        return std::move(parts.front());
    if (!is_tuple && !in_parentheses)
        tokens_.fail("expected an expression, got " + quote(describe(tokens_.current())));
    auto tuple = nodes_.node(Kind::Tuple, line);
    tuple->parts = std::move(parts);
    return nodes_.measured(std::move(tuple));
}

}  // namespace engine::jinja
