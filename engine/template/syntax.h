// Declares the syntax tree of a template. It is made by the parser, never changed afterwards, read by any number of
// renderings at once.
#pragma once

#include "engine/template/operators.h"

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace engine::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;
using Literal = std::variant<std::monostate, bool, std::int64_t, double, std::string>;  // monostate: none

/// Arguments as written: f(a, key=b, *list, **dict).
struct CallArguments {
    std::vector<ExpressionPtr> positional;
    std::vector<std::pair<std::string, ExpressionPtr>> named;
    ExpressionPtr list;
    ExpressionPtr dict;
};

struct Expression {
    enum class Kind : std::uint8_t {
        Constant,     // literal
        Name,         // name, text
        Attribute,    // parts[0].text
        Item,         // parts[0][parts[1]]
        Slice,        // parts[0][parts[1]:parts[2]:parts[3]], null where left out
        List,         // parts
        Tuple,        // parts
        Dict,         // key, value, key, value ...
        Call,         // parts[0](arguments)
        Filter,       // parts[0] | text(arguments); parts[0] is null in a filter block
        Test,         // parts[0] is text(arguments)
        Negate,       // - parts[0]
        Plus,         // + parts[0]
        Arithmetic,   // parts[0] operators[0] parts[1]
        Compare,      // parts[0] operators[0] parts[1] operators[1] parts[2] ...
        Concatenate,  // parts joined by ~
        And,          // two parts
        Or,           // two parts
        Not,          // parts[0]
        Conditional,  // parts[1] if parts[0] else parts[2]; parts[2] may be null
        Attribution,  // target only: namespace name `name`, attribute `text`
    };

    Kind kind;
    int line = 0;
    int height = 1;     // of the tree below; limited, since evaluation recurses
    int name = -1;      // index into Syntax::names
    int constant = -1;  // index of a constant, so that a rendering makes its value once
    Literal literal;
    std::string text;
    std::vector<ExpressionPtr> parts;
    std::vector<Operator> operators;
    CallArguments arguments;
};

struct Statement;
using Body = std::vector<std::unique_ptr<Statement>>;

/// Holds the parameters of a macro or a call block.
struct Signature {
    std::string name;
    std::vector<int> parameters;               // names
    std::vector<std::string> parameter_texts;  // the same, spelled
    std::vector<ExpressionPtr> defaults;       // of the last parameters
    bool reads_varargs = false;
    bool reads_kwargs = false;
    bool reads_caller = false;
    bool caller_is_parameter = false;
};

struct Statement {
    enum class Kind : std::uint8_t {
        Text,       // text
        Print,      // value
        If,         // branches, otherwise
        For,        // target in value if condition: body, otherwise
        Set,        // target = value
        SetBlock,   // target = body, through the filters in value if there are any
        Macro,      // name, signature, body
        CallBlock,  // value is the call; signature and body make its caller
        Filter,     // body through the filters in value
        With,       // assignments, body
        Scoped,     // body with names of its own
        Break,
        Continue,
    };
    struct Branch {
        ExpressionPtr condition;
        Body body;
    };

    Kind kind;
    int line = 0;
    int name = -1;
    bool recursive = false;  // of For
    std::string text;
    ExpressionPtr value;
    ExpressionPtr condition;
    ExpressionPtr target;
    std::vector<Branch> branches;
    std::vector<std::pair<ExpressionPtr, ExpressionPtr>> assignments;
    Body body;
    Body otherwise;
    std::unique_ptr<Signature> signature;
};

struct Syntax {
    Body body;
    std::vector<std::string> names;  // every name that is read or set
    int constants = 0;
    int loop_name = -1, caller_name = -1, varargs_name = -1, kwargs_name = -1;
};

}  // namespace engine::jinja
