// Walks a syntax tree once, in the order of execution, and notes names that are read before they are set.
#include "engine/template/free_names.h"

#include "engine/template/globals.h"

#include <algorithm>
#include <cstddef>

namespace engine::jinja {

namespace {

/// Holds the names that are certainly set at one point of the walk. What a scope has set is forgotten at its end in as
/// many steps as it set names: a hostile template may have very many of both.
class KnownNames
{
public:
    explicit KnownNames(std::size_t names)
        : is_known_(names)
    {
    }

    bool contains(int name) const { return is_known_[std::size_t(name)]; }

    void insert(int name)
    {
        if (contains(name))
            return;
        is_known_[std::size_t(name)] = true;
        order_.push_back(name);
    }

    std::size_t size() const { return order_.size(); }

    /// Forgets the names that came after the first `size`, and returns them.
    std::vector<int> shrink(std::size_t size)
    {
        std::vector<int> forgotten(order_.begin() + std::ptrdiff_t(size), order_.end());
        order_.resize(size);
        for (const int name : forgotten)
            is_known_[std::size_t(name)] = false;
        return forgotten;
    }

private:
    std::vector<bool> is_known_;  // (names,)
    std::vector<int> order_;      // the known names
};

/// Walks through a template in the order of execution.
class Walk
{
public:
    explicit Walk(const Syntax& syntax)
        : syntax_(syntax)
        , known_(syntax.names.size())
        , is_macro_(syntax.names.size())
        , is_free_(syntax.names.size())
    {
        for (const auto& statement : syntax.body)
            if (statement->kind == Statement::Kind::Macro)
                is_macro_[std::size_t(statement->name)] = true;
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
        const auto n = std::size_t(name);
        // Macros may call each other in any order.
        if (known_.contains(name) || (in_macros_ > 0 && is_macro_[n]) || is_free_[n])
            return;
        is_free_[n] = true;
        free_.push_back(name);
    }

    void body(const Body& statements)
    {
        for (const auto& statement : statements)
            walk(*statement);
    }

    void scoped(const Body& statements)
    {
        const std::size_t outer = known_.size();
        body(statements);
        known_.shrink(outer);
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
            const std::size_t outer = known_.size();
            for (const auto& [name, value] : statement.assignments)
                walk(*value);
            for (const auto& [name, value] : statement.assignments)
                target(*name);
            body(statement.body);
            known_.shrink(outer);
            return;
        }
        default:
            optional(statement.value);
            return scoped(statement.body);
        }
    }

    // Only names that every branch sets are certainly set.
    void walk_if(const Statement& statement)
    {
        const std::size_t before = known_.size();
        std::vector<int> set;  // names that branches set, once for each branch
        const auto way = [&](const Body& statements) {
            body(statements);
            const std::vector<int> names = known_.shrink(before);
            set.insert(set.end(), names.begin(), names.end());
        };
        for (const Statement::Branch& branch : statement.branches) {
            walk(*branch.condition);
            way(branch.body);
        }
        way(statement.otherwise);

        std::sort(set.begin(), set.end());
        const std::size_t others = statement.branches.size();  // all branches but one
        for (std::size_t i = 0; i + others < set.size(); ++i)
            if (set[i] == set[i + others])
                known_.insert(set[i]);
    }

    void walk_for(const Statement& statement)
    {
        walk(*statement.value);
        const std::size_t outer = known_.size();
        target(*statement.target);
        optional(statement.condition);
        known_.insert(syntax_.loop_name);
        body(statement.body);
        known_.shrink(outer);
        scoped(statement.otherwise);
    }

    void walk_macro(const Statement& statement)
    {
        const std::size_t outer = known_.size();
        for (const ExpressionPtr& value : statement.signature->defaults)
            walk(*value);
        for (const int parameter : statement.signature->parameters)
            known_.insert(parameter);
        for (const int name : {syntax_.caller_name, syntax_.varargs_name, syntax_.kwargs_name})
            known_.insert(name);
        ++in_macros_;
        body(statement.body);
        --in_macros_;
        known_.shrink(outer);
    }

    const Syntax& syntax_;
    KnownNames known_;
    std::vector<bool> is_macro_;  // (names,) of the outermost block
    std::vector<bool> is_free_;   // (names,)
    int in_macros_ = 0;           // how many macros are around this point
    std::vector<int> free_;
};

}  // namespace

std::vector<std::string> free_names(const Syntax& syntax)
{
    return Walk(syntax).run();
}

}  // namespace engine::jinja
