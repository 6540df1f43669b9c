// Values of the grammar: literals, names, and what follows a value.
#include "engine/template/parser.h"

#include "engine/template/text_of.h"

namespace engine::jinja {

// ---- primaries ----

ExpressionPtr Parser::parse_primary(bool with_attribute)
{
    const Token& token = tokens_.current();
    switch (token.kind) {
    case Token::Kind::Name:
        return parse_name(with_attribute);
    case Token::Kind::String:
        return parse_string();
    case Token::Kind::Integer:
        tokens_.take();
        return constant(token.integer, token.line);
    case Token::Kind::Float:
        tokens_.take();
        return constant(token.real, token.line);
    default:
        break;
    }
    if (tokens_.skip_operator("(")) {
        ExpressionPtr inner = tuple_or_expression(true, true);
        tokens_.expect_operator(")");
        return inner;
    }
    if (token.is_operator("["))
        return parse_list();
    if (token.is_operator("{"))
        return parse_dict();
    tokens_.fail("unexpected " + quote(describe(token)));
}

ExpressionPtr Parser::parse_name(bool with_attribute)
{
    const Token& token = tokens_.take();
    if (token.text == "true" || token.text == "True")
        return constant(true, token.line);
    if (token.text == "false" || token.text == "False")
        return constant(false, token.line);
    if (token.text == "none" || token.text == "None")
        return constant(std::monostate(), token.line);
    ExpressionPtr name = name_node(token.text, token.line);
    if (with_attribute && tokens_.skip_operator(".")) {
        name->kind = Kind::Attribution;
        name->text = tokens_.expect_name();
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
    const int line = tokens_.current().line;
    std::string text;
    while (tokens_.current().kind == Token::Kind::String)
        text += tokens_.take().text;
    return constant(std::move(text), line);
}

ExpressionPtr Parser::parse_list()
{
    auto list = node(Kind::List, tokens_.take().line);
    while (!tokens_.current().is_operator("]")) {
        if (!list->parts.empty())
            tokens_.expect_operator(",");
        if (tokens_.current().is_operator("]"))
            break;
        list->parts.push_back(expression());
    }
    tokens_.expect_operator("]");
    return measured(std::move(list));
}

ExpressionPtr Parser::parse_dict()
{
    auto dict = node(Kind::Dict, tokens_.take().line);
    while (!tokens_.current().is_operator("}")) {
        if (!dict->parts.empty())
            tokens_.expect_operator(",");
        if (tokens_.current().is_operator("}"))
            break;
        dict->parts.push_back(expression());
        tokens_.expect_operator(":");
        dict->parts.push_back(expression());
    }
    tokens_.expect_operator("}");
    return measured(std::move(dict));
}

bool Parser::at_tuple_end(std::string_view end_name) const
{
    const Token& token = tokens_.current();
    return token.kind == Token::Kind::VariableEnd || token.kind == Token::Kind::BlockEnd || token.is_operator(")") ||
           (!end_name.empty() && token.is_name(end_name));
}

ExpressionPtr Parser::tuple_or_expression(bool with_condition, bool in_parentheses, std::string_view end_name)
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
    auto tuple = node(Kind::Tuple, line);
    tuple->parts = std::move(parts);
    return measured(std::move(tuple));
}

// ---- what follows a value ----

ExpressionPtr Parser::parse_postfix(ExpressionPtr of)
{
    for (;;) {
        if (tokens_.current().is_operator(".") || tokens_.current().is_operator("[")) {
            of = parse_subscript(std::move(of));
        } else if (tokens_.current().is_operator("(")) {
            auto call = node(Kind::Call, tokens_.current().line);
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
    const int line = tokens_.current().line;
    if (tokens_.skip_operator(".")) {
        const Token& token = tokens_.take();
        if (token.kind == Token::Kind::Integer)
            return with_parts(Kind::Item, line, std::move(of), constant(token.integer, token.line));
        if (token.kind != Token::Kind::Name)
            tokens_.fail("expected name or number", token.line);
        of = with_parts(Kind::Attribute, line, std::move(of));
        of->text = token.text;
        return of;
    }
    tokens_.expect_operator("[");
    ExpressionPtr first;
    if (!tokens_.current().is_operator(":")) {
        first = tuple_or_expression(true, false, {});
        if (tokens_.skip_operator("]"))
            return with_parts(Kind::Item, line, std::move(of), std::move(first));
    }
    auto slice = node(Kind::Slice, line);
    slice->parts.push_back(std::move(of));
    slice->parts.push_back(std::move(first));
    for (int i = 0; i < 2; ++i) {
        const bool given =
            tokens_.skip_operator(":") && !tokens_.current().is_operator(":") && !tokens_.current().is_operator("]");
        slice->parts.push_back(given ? expression() : nullptr);
    }
    tokens_.expect_operator("]");
    return measured(std::move(slice));
}

void Parser::parse_arguments(CallArguments& arguments)
{
    const int line = tokens_.current().line;
    const auto ensure = [&](bool valid) {
        if (!valid)
            tokens_.fail("invalid syntax for function call expression", line);
    };
    tokens_.expect_operator("(");
    for (bool first = true; !tokens_.current().is_operator(")"); first = false) {
        if (!first) {
            tokens_.expect_operator(",");
            if (tokens_.current().is_operator(")"))
                break;
        }
        if (tokens_.skip_operator("*")) {
            ensure(!arguments.list && !arguments.dict);
            arguments.list = expression();
        } else if (tokens_.skip_operator("**")) {
            ensure(!arguments.dict);
            arguments.dict = expression();
        } else if (tokens_.current().kind == Token::Kind::Name && tokens_.ahead().is_operator("=")) {
            ensure(!arguments.dict);
            std::string key = tokens_.take().text;
            tokens_.take();
            arguments.named.emplace_back(std::move(key), expression());
        } else {
            ensure(!arguments.list && !arguments.dict && arguments.named.empty());
            arguments.positional.push_back(expression());
        }
    }
    tokens_.expect_operator(")");
}

ExpressionPtr Parser::parse_filters(ExpressionPtr of)
{
    for (;;) {
        if (tokens_.current().is_operator("|"))
            of = parse_filter_chain(std::move(of), false);
        else if (tokens_.current().is_name("is"))
            of = parse_test(std::move(of));
        else if (tokens_.current().is_operator("("))
            of = parse_postfix(std::move(of));
        else
            return of;
    }
}

ExpressionPtr Parser::parse_filter_chain(ExpressionPtr of, bool first_without_pipe)
{
    while (first_without_pipe || tokens_.skip_operator("|")) {
        first_without_pipe = false;
        auto filter = node(Kind::Filter, tokens_.current().line);
        filter->text = tokens_.expect_name();
        while (tokens_.skip_operator("."))
            filter->text += "." + tokens_.expect_name();
        filter->parts.push_back(std::move(of));
        if (tokens_.current().is_operator("("))
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
    const int line = tokens_.take().line;
    const bool negated = tokens_.skip_name("not");
    auto test = node(Kind::Test, line);
    test->text = tokens_.expect_name();
    while (tokens_.skip_operator("."))
        test->text += "." + tokens_.expect_name();
    test->parts.push_back(std::move(of));
    if (tokens_.current().is_operator("(")) {
        parse_arguments(test->arguments);
    } else if (starts_test_argument(tokens_.current())) {
        if (tokens_.current().is_name("is"))
            tokens_.fail("You cannot chain multiple tests with is");
        Nested nested(*this);
        test->arguments.positional.push_back(parse_postfix(parse_primary()));
    }
    test = measured(std::move(test));
    return negated ? with_parts(Kind::Not, line, std::move(test)) : std::move(test);
}

}  // namespace engine::jinja
