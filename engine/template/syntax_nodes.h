// SyntaxNodes makes the nodes of one template's syntax tree, and numbers its names and constants.
#pragma once

#include "engine/template/syntax.h"

#include <memory>
#include <string>
#include <unordered_map>

namespace engine::jinja {

/// Owned by one Parser. Trees are limited in height, so that their evaluation cannot overflow the stack.
class SyntaxNodes
{
public:
    using Kind = Expression::Kind;

    SyntaxNodes();

    ExpressionPtr node(Kind kind, int line) const;
    ExpressionPtr name(const std::string& name, int line);
    ExpressionPtr constant(Literal literal, int line);
    ExpressionPtr with_parts(Kind kind, int line, ExpressionPtr a, ExpressionPtr b = nullptr) const;
    /// Returns the node with its height, once its parts are there. Throws TemplateError where it is too high.
    ExpressionPtr measured(ExpressionPtr expression) const;

    /// Returns the tree of all nodes that were made here.
    std::shared_ptr<const Syntax> finish(Body body);

private:
    int name_index(const std::string& name);

    std::shared_ptr<Syntax> syntax_;
    std::unordered_map<std::string, int> name_indices_;
};

}  // namespace engine::jinja
