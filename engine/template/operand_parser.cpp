#include "engine/template/operand_parser.h"

#include "engine/template/expression_parser.h"
#include "engine/template/text_of.h"

namespace engine::jinja {

// ---- primaries ----

ExpressionPtr OperandParser::parse_primary(bool with_attribute)
{
    const Token& token = tokens_.current();
    switch (token.kind) {
    case Token::Kind::Name:
        return parse_name(with_attribute);
    case Token::Kind::String:
        return parse_string();
    case Token::Kind::Integer:
        tokens_.take();
        return nodes_.constant(token.integer, token.line);
    case Token::Kind::Float:
        tokens_.take();
        return nodes_.constant(token.real, token.line);
    default:
        break;
    }
    if (tokens_.skip_operator("(")) {
        ExpressionPtr inner = expressions_.tuple_or_expression(true, true);
        tokens_.expect_operator(")");
        return inner;
    }
    if (token.is_operator("["))
        return parse_list();
    if (token.is_operator("{"))
        return parse_dict();
    tokens_.fail("unexpected " + quote(describe(token)));
}

ExpressionPtr OperandParser::parse_name(bool with_attribute)
{
    const Token& token = tokens_.take();
    if (token.text == "true" || token.text == "True")
        return nodes_.constant(true, token.line);
    if (token.text == "false" || token.text == "False")
        return nodes_.constant(false, token.line);
    if (token.text == "none" || token.text == "None")
        return nodes_.constant(std::monostate(), token.line);
    ExpressionPtr name = nodes_.name(token.text, token.line);
    if (with_attribute && tokens_.skip_operator(".")) {
        name->kind = Kind::Attribution;
        name->text = tokens_.expect_name();
        return name;
    }
    for (Signature* signature : open_signatures_) {
        signature->reads_caller |= token.text == "caller";
        signature->reads_varargs |= token.text == "varargs";
        signature->reads_kwargs |= token.text == "kwargs";
    }
    return name;
}

ExpressionPtr OperandParser::parse_string()
{
    const int line = tokens_.current().line;
    std::string text;
    while (tokens_.current().kind == Token::Kind::String)
        text += tokens_.take().text;
    return nodes_.constant(std::move(text), line);
}

ExpressionPtr OperandParser::parse_list()
{
    auto list = nodes_.node(Kind::List, tokens_.take().line);
    while (!tokens_.current().is_operator("]")) {
        if (!list->parts.empty())
            tokens_.expect_operator(",");
        if (tokens_.current().is_operator("]"))
            break;
        list->parts.push_back(expressions_.expression());
    }
    tokens_.expect_operator("]");
    return nodes_.measured(std::move(list));
}

ExpressionPtr OperandParser::parse_dict()
{
    auto dict = nodes_.node(Kind::Dict, tokens_.take().line);
    while (!tokens_.current().is_operator("}")) {
        if (!dict->parts.empty())
            tokens_.expect_operator(",");
        if (tokens_.current().is_operator("}"))
            break;
        dict->parts.push_back(expressions_.expression());
        tokens_.expect_operator(":");
        dict->parts.push_back(expressions_.expression());
    }
    tokens_.expect_operator("}");
    return nodes_.measured(std::move(dict));
}

// ---- what follows a value ----

ExpressionPtr OperandParser::parse_postfix(ExpressionPtr of)
{
    for (;;) {
        if (tokens_.current().is_operator(".") || tokens_.current().is_operator("[")) {
            of = parse_subscript(std::move(of));
        } else if (tokens_.current().is_operator("(")) {
            auto call = nodes_.node(Kind::Call, tokens_.current().line);
            call->parts.push_back(std::move(of));
            parse_arguments(call->arguments);
            of = nodes_.measured(std::move(call));
        } else {
            return of;
        }
    }
}

ExpressionPtr OperandParser::parse_subscript(ExpressionPtr of)
{
    const int line = tokens_.current().line;
    if (tokens_.skip_operator(".")) {
        const Token& token = tokens_.take();
        if (token.kind == Token::Kind::Integer)
            return nodes_.with_parts(Kind::Item, line, std::move(of), nodes_.constant(token.integer, token.line));
        if (token.kind != Token::Kind::Name)
            tokens_.fail("expected name or number", token.line);
        of = nodes_.with_parts(Kind::Attribute, line, std::move(of));
        of->text = token.text;
        return of;
    }
    tokens_.expect_operator("[");
    ExpressionPtr first;
    if (!tokens_.current().is_operator(":")) {
        first = expressions_.tuple_or_expression(true, false, {});
        if (tokens_.skip_operator("]"))
            return nodes_.with_parts(Kind::Item, line, std::move(of), std::move(first));
    }
    auto slice = nodes_.node(Kind::Slice, line);
    slice->parts.push_back(std::move(of));
    slice->parts.push_back(std::move(first));
    for (int i = 0; i < 2; ++i) {
        const bool given =
            tokens_.skip_operator(":") && !tokens_.current().is_operator(":") && !tokens_.current().is_operator("]");
        slice->parts.push_back(given ? expressions_.expression() : nullptr);
    }
    tokens_.expect_operator("]");
    return nodes_.measured(std::move(slice));
}

void OperandParser::parse_arguments(CallArguments& arguments)
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
            arguments.list = expressions_.expression();
        } else if (tokens_.skip_operator("**")) {
            ensure(!arguments.dict);
            arguments.dict = expressions_.expression();
        } else if (tokens_.current().kind == Token::Kind::Name && tokens_.ahead().is_operator("=")) {
            ensure(!arguments.dict);
            std::string key = tokens_.take().text;
            tokens_.take();
            arguments.named.emplace_back(std::move(key), expressions_.expression());
        } else {
            ensure(!arguments.list && !arguments.dict && arguments.named.empty());
            arguments.positional.push_back(expressions_.expression());
        }
    }
    tokens_.expect_operator(")");
}

ExpressionPtr OperandParser::parse_filters(ExpressionPtr of)
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

ExpressionPtr OperandParser::parse_filter_chain(ExpressionPtr of, bool first_without_pipe)
{
    while (first_without_pipe || tokens_.skip_operator("|")) {
        first_without_pipe = false;
        auto filter = nodes_.node(Kind::Filter, tokens_.current().line);
        filter->text = tokens_.expect_name();
        while (tokens_.skip_operator("."))
            filter->text += "." + tokens_.expect_name();
        filter->parts.push_back(std::move(of));
        if (tokens_.current().is_operator("("))
            parse_arguments(filter->arguments);
        of = nodes_.measured(std::move(filter));
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

ExpressionPtr OperandParser::parse_test(ExpressionPtr of)
{
    const int line = tokens_.take().line;
    const bool negated = tokens_.skip_name("not");
    auto test = nodes_.node(Kind::Test, line);
    test->text = tokens_.expect_name();
    while (tokens_.skip_operator("."))
        test->text += "." + tokens_.expect_name();
    test->parts.push_back(std::move(of));
    if (tokens_.current().is_operator("(")) {
        parse_arguments(test->arguments);
    } else if (starts_test_argument(tokens_.current())) {
        if (tokens_.current().is_name("is"))
            tokens_.fail("You cannot chain multiple tests with is");
        const TokenStream::Nested nested(tokens_);
        test->arguments.positional.push_back(parse_postfix(parse_primary(false)));
    }
    test = nodes_.measured(std::move(test));
    return negated ? nodes_.with_parts(Kind::Not, line, std::move(test)) : std::move(test);
}

}  // namespace engine::jinja
