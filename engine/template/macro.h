// Macro holds a macro, or the body of a call block, as a value.
#pragma once

#include "engine/template/syntax.h"
#include "engine/template/value.h"

namespace engine::jinja {

/// Interpreter::call_macro calls it. It sees the names of the scope in which it was defined.
struct Macro final : Object {
    Macro(Heap& home, const Statement& code, Value where)
        : Object(home, Type::Macro)
        , definition(code)
        , scope(std::move(where))
    {
    }
    void drop_references() override { scope = Value(); }
    std::string_view name() const { return definition.signature->name; }

    const Statement& definition;
    Value scope;
};

}  // namespace engine::jinja
