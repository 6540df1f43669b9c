// Walks a syntax tree once, in the order of execution, and notes names that are read before they are set.
#include "engine/template/free_names.h"

#include "engine/template/globals.h"

#include <algorithm>
#include <set>

namespace engine::jinja {

namespace {

using Names = std::set<int>;

/// The walk. `known_` are the names that are certainly set at this point.
class Walk
{
public:
    explicit Walk(const Syntax& syntax)
        : syntax_(syntax)
    {
        for (const auto& statement : syntax.body)
            if (statement->kind == Statement::Kind::Macro)
                macros_.insert(statement->name);
    }

    std::vector<std::string> run()
    {
        body(syntax_.body);
        std::vector<std::string> names;
        for (const int name : free_) {
            const std::string& text = syntax_.names[std::size_t(name)];
            if (!find_global(text))
                names.push_back(text);
        }
        return names;
    }

private:
    void read(int name)
    {
        if (!known_.count(name) && std::find(free_.begin(), free_.end(), name) == free_.end())
            free_.push_back(name);
    }

    void body(const Body& statements)
    {
        for (const auto& statement : statements)
            walk(*statement);
    }

    void scoped(const Body& statements)
    {
        const Names outer = known_;
        body(statements);
        known_ = outer;
    }

    void target(const Expression& expression)
    {
        if (expression.kind == Expression::Kind::Name)
            known_.insert(expression.name);
        else if (expression.kind == Expression::Kind::Attribution)
            read(expression.name);
        for (const ExpressionPtr& part : expression.parts)
            target(*part);
    }

    void optional(const ExpressionPtr& expression)
    {
        if (expression)
            walk(*expression);
    }

    void arguments(const CallArguments& written)
    {
        for (const ExpressionPtr& value : written.positional)
            walk(*value);
        for (const auto& [key, value] : written.named)
            walk(*value);
        optional(written.list);
        optional(written.dict);
    }

    void walk(const Expression& expression)
    {
        if (expression.kind == Expression::Kind::Name)
            read(expression.name);
        for (const ExpressionPtr& part : expression.parts)
            optional(part);
        arguments(expression.arguments);
    }

    void walk(const Statement& statement)
    {
        switch (statement.kind) {
        case Statement::Kind::If:
            return walk_if(statement);
        case Statement::Kind::For:
            return walk_for(statement);
        case Statement::Kind::Set:
            walk(*statement.value);
            return target(*statement.target);
        case Statement::Kind::SetBlock:
            scoped(statement.body);
            optional(statement.value);
            return target(*statement.target);
        case Statement::Kind::Macro:
            known_.insert(statement.name);
            return walk_macro(statement);
        case Statement::Kind::CallBlock:
            walk(*statement.value);
            return walk_macro(statement);
        case Statement::Kind::With: {
            const Names outer = known_;
            for (const auto& [name, value] : statement.assignments)
                walk(*value);
            for (const auto& [name, value] : statement.assignments)
                target(*name);
            body(statement.body);
            known_ = outer;
            return;
        }
        default:
            optional(statement.value);
            return scoped(statement.body);
        }
    }

    // Set for certain is only what every way through sets.
    void walk_if(const Statement& statement)
    {
        const Names before = known_;
        Names in_all;
        bool is_first = true;
        const auto way = [&](const Body& statements) {
            known_ = before;
            body(statements);
            Names both;
            std::set_intersection(known_.begin(), known_.end(), in_all.begin(), in_all.end(),
                                  std::inserter(both, both.begin()));
            in_all = std::exchange(is_first, false) ? known_ : both;
        };
        for (const Statement::Branch& branch : statement.branches) {
            known_ = before;
            walk(*branch.condition);
            way(branch.body);
        }
        way(statement.otherwise);
        known_ = in_all;
    }

    void walk_for(const Statement& statement)
    {
        walk(*statement.value);
        const Names outer = known_;
        target(*statement.target);
        optional(statement.condition);
        known_.insert(syntax_.loop_name);
        body(statement.body);
        known_ = outer;
        scoped(statement.otherwise);
    }

    void walk_macro(const Statement& statement)
    {
        const Names outer = known_;
        for (const ExpressionPtr& value : statement.signature->defaults)
            walk(*value);
        for (const int parameter : statement.signature->parameters)
            known_.insert(parameter);
        for (const int name : {syntax_.caller_name, syntax_.varargs_name, syntax_.kwargs_name})
            known_.insert(name);
        // Macros may call each other in any order.
        known_.insert(macros_.begin(), macros_.end());
        body(statement.body);
        known_ = outer;
    }

    const Syntax& syntax_;
    Names known_;
    Names macros_;  // of the outermost block
    std::vector<int> free_;
};

}  // namespace

std::vector<std::string> free_names(const Syntax& syntax)
{
    return Walk(syntax).run();
}

}  // namespace engine::jinja
