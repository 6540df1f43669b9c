// Names finds what the names of a template mean: in its scopes, among the engine's variables, and among global
// functions.
#pragma once

#include "engine/template/heap.h"
#include "engine/template/syntax.h"

#include <nlohmann/json_fwd.hpp>

#include <utility>
#include <vector>

namespace engine::jinja {

/// Holds the variables of one rendering. Belongs to an Interpreter.
class Names
{
public:
    /// All three outlive it.
    Names(Heap& heap, const Syntax& syntax, const nlohmann::ordered_json& variables);

    /// Returns the value of a name: names are numbers, indices in Syntax::names. Undefined where it has none.
    Value look_up(int name);
    /// Sets a name in the present scope.
    void set(int name, const Value& value) { scope_.as<Scope>().set(name, value); }

    const Value& scope() const { return scope_; }
    /// Makes a scope within `outer`, or within the present one.
    Value new_scope(const Value& outer) { return heap_.make<Scope>(outer); }
    Value new_scope() { return new_scope(scope_); }

    /// Sets a new scope for as long as it lives, and puts the old one back.
    class InScope
    {
    public:
        InScope(Names& names, Value scope)
            : names_(names)
            , outer_(std::exchange(names.scope_, std::move(scope)))
        {
        }
        ~InScope() { names_.scope_ = std::move(outer_); }
        InScope(const InScope&) = delete;
        InScope& operator=(const InScope&) = delete;

    private:
        Names& names_;
        Value outer_;
    };

private:
    Value outside_name(int name);
    Value given(const std::string& name, const nlohmann::ordered_json& variable);
    Value given_message(const nlohmann::ordered_json& message, TextOrigin number);

    Heap& heap_;
    const Syntax& syntax_;
    const nlohmann::ordered_json& variables_;
    std::vector<Value> outside_;  // by name: variables and global functions, made when first needed
    Value scope_;
};

}  // namespace engine::jinja
