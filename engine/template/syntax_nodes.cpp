#include "engine/template/syntax_nodes.h"

#include "engine/template/budget.h"

#include <algorithm>
#include <utility>

namespace engine::jinja {

constexpr int kHighestTree = 400;  // a chain of 400 additions; evaluation recurses this deep

SyntaxNodes::SyntaxNodes()
    : syntax_(std::make_shared<Syntax>())
{
    syntax_->loop_name = name_index("loop");
    syntax_->caller_name = name_index("caller");
    syntax_->varargs_name = name_index("varargs");
    syntax_->kwargs_name = name_index("kwargs");
}

std::shared_ptr<const Syntax> SyntaxNodes::finish(Body body)
{
    syntax_->body = std::move(body);
    return std::exchange(syntax_, nullptr);
}

ExpressionPtr SyntaxNodes::node(Kind kind, int line) const
{
    auto expression = std::make_unique<Expression>();
    expression->kind = kind;
    expression->line = line;
    return expression;
}

int SyntaxNodes::name_index(const std::string& name)
{
    const auto [found, is_new] = name_indices_.try_emplace(name, int(syntax_->names.size()));
    if (is_new)
        syntax_->names.push_back(name);
    return found->second;
}

ExpressionPtr SyntaxNodes::name(const std::string& name, int line)
{
    auto expression = node(Kind::Name, line);
    expression->name = name_index(name);
    expression->text = name;
    return expression;
}

ExpressionPtr SyntaxNodes::constant(Literal literal, int line)
{
    auto expression = node(Kind::Constant, line);
    expression->literal = std::move(literal);
    expression->constant = syntax_->constants++;
    return expression;
}

ExpressionPtr SyntaxNodes::measured(ExpressionPtr expression) const
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
        throw TemplateError("an expression is too long", expression->line);
    return expression;
}

ExpressionPtr SyntaxNodes::with_parts(Kind kind, int line, ExpressionPtr a, ExpressionPtr b) const
{
    auto expression = node(kind, line);
    expression->parts.push_back(std::move(a));
    if (b)
        expression->parts.push_back(std::move(b));
    return measured(std::move(expression));
}

}  // namespace engine::jinja
