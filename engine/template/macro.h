// Macro makes a value of a macro, or of the body of a call block.
#pragma once

#include "engine/template/syntax.h"
#include "engine/template/value.h"

namespace engine::jinja {

/// Calling it is Interpreter::call_macro. Sees the names of the scope it was defined in.
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
