// Value holds the values a template computes with: Python's, as far as templates can see them.
#pragma once

#include "engine/template/budget.h"
#include "engine/template/traced_text.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine::jinja {

class Heap;
class Interpreter;
class Value;
struct Arguments;

enum class Type : std::uint8_t {
    Missing,  // no value at all: a name not set in this scope, an argument not given; never seen by a template
    None,
    Bool,
    Int,
    Float,
    // From here on the value is an object.
    Undefined,
    String,
    List,
    Tuple,
    Dict,
    DictView,
    Range,
    Generator,
    Namespace,
    Function,
    Macro,
    Loop,
    Cycler,
    Joiner,
    Scope,  // never seen by a template
};

/// Base of everything counted by references. An object belongs to one Heap and is destroyed when its last Value goes,
/// or with the Heap when it is part of a cycle.
struct Object {
    Object(Heap& home, Type kind)
        : heap(home)
        , type(kind)
    {
    }
    virtual ~Object() = default;
    virtual void drop_references() {}  // breaks cycles before the heap goes
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;

    Heap& heap;
    Object* previous = nullptr;
    Object* next = nullptr;
    std::size_t counted_bytes = 0;  // what it has taken from the budget
    std::uint32_t references = 0;
    Type type;
};

/// One value: sixteen bytes, cheap to copy, text and containers shared.
class Value
{
public:
    Value() = default;
    explicit Value(Object* object)
        : type_(object->type)
    {
        data_.object = object;
        ++object->references;
    }
    Value(const Value& other)
        : type_(other.type_)
        , data_(other.data_)
    {
        if (is_object())
            ++data_.object->references;
    }
    Value(Value&& other) noexcept
        : type_(std::exchange(other.type_, Type::Missing))
        , data_(other.data_)
    {
    }
    Value& operator=(Value other) noexcept
    {
        std::swap(type_, other.type_);
        std::swap(data_, other.data_);
        return *this;
    }
    ~Value()
    {
        if (is_object())
            let_go(data_.object);
    }

    static Value none() { return Value(Type::None, 0); }
    static Value boolean(bool b) { return Value(Type::Bool, b ? 1 : 0); }
    static Value integer(std::int64_t i) { return Value(Type::Int, i); }
    static Value real(double f);

    Type type() const { return type_; }
    bool is(Type type) const { return type_ == type; }
    bool is_missing() const { return type_ == Type::Missing; }
    bool is_none() const { return type_ == Type::None; }
    bool is_undefined() const { return type_ == Type::Undefined; }
    bool is_string() const { return type_ == Type::String; }
    bool is_integer() const { return type_ == Type::Int || type_ == Type::Bool; }  // Python's bool is an int
    bool is_number() const { return is_integer() || type_ == Type::Float; }
    bool is_sequence() const { return type_ == Type::List || type_ == Type::Tuple; }
    bool is_object() const { return type_ >= Type::Undefined; }

    bool as_bool() const { return data_.integer != 0; }
    std::int64_t as_integer() const { return data_.integer; }  // Bool and Int
    double as_real() const { return type_ == Type::Float ? data_.real : double(data_.integer); }
    Object* object() const { return data_.object; }

    /// Returns the object as the type that it has; the caller has looked at type().
    template <class T>
    T& as() const
    {
        return static_cast<T&>(*data_.object);
    }
    const std::string& text() const;   // String only
    const TracedText& traced() const;  // the same, with its origins

    /// Does Python's `is`.
    bool same_as(const Value& other) const
    {
        if (type_ != other.type_)
            return false;
        if (type_ == Type::Float)
            return data_.real == other.data_.real;
        return is_object() ? data_.object == other.data_.object
                           : type_ == Type::None || data_.integer == other.data_.integer;
    }

private:
    Value(Type type, std::int64_t i)
        : type_(type)
    {
        data_.integer = i;
    }
    static void let_go(Object* object);

    Type type_ = Type::Missing;
    union {
        std::int64_t integer;
        double real;
        Object* object;
    } data_ = {0};
};

/// Text in UTF-8. Never changes once made.
struct String final : Object {
    String(Heap& home, TracedText content);

    const TracedText traced;
    const std::string& text = traced.bytes();

    std::int64_t length() const;  // in code points, counted once
    bool is_ascii() const { return length() == std::int64_t(text.size()); }

private:
    mutable std::int64_t length_ = -1;
};

/// Holds what Jinja gives for a name, key or attribute that is not there: it remembers why, for the error that may
/// follow.
struct Undefined final : Object {
    Undefined(Heap& home, std::string why)
        : Object(home, Type::Undefined)
        , reason(std::move(why))
    {
    }
    std::string reason;
};

/// A list or a tuple.
struct List final : Object {
    List(Heap& home, Type kind, std::vector<Value> content);

    void push(Value value);
    void recount();  // after `items` was changed directly
    void drop_references() override { items.clear(); }

    std::vector<Value> items;
    bool is_group = false;  // the pair made by `groupby`, whose halves also have names
};

/// A dictionary in order of insertion.
struct Dict final : Object {
    explicit Dict(Heap& home)
        : Object(home, Type::Dict)
    {
    }

    struct Entry {
        Value key;
        Value value;
        std::size_t hash;
    };

    Value* find(const Value& key);
    Value* find(std::string_view key);
    void set(const Value& key, Value value);
    Value take(const Value& key);  // removes; Missing when it was not there
    void clear();
    void drop_references() override { clear(); }

    const std::vector<Entry>& entries() const { return entries_; }
    std::size_t size() const { return entries_.size(); }

private:
    template <class Same>
    std::int64_t position(std::size_t hash, Same same);
    std::int64_t position_of(const Value& key, std::size_t hash);
    void reindex();
    void recount();

    std::vector<Entry> entries_;
    std::vector<std::int32_t> slots_;  // open addressing into entries_; -1 = free; empty while the dictionary is small
};

struct DictView final : Object {
    enum class Part : std::uint8_t { Keys, Values, Items };
    DictView(Heap& home, Value of, Part which)
        : Object(home, Type::DictView)
        , dict(std::move(of))
        , part(which)
    {
    }
    void drop_references() override { dict = Value(); }

    Value dict;
    Part part;
};

struct Range final : Object {
    Range(Heap& home, std::int64_t from, std::int64_t to, std::int64_t by);
    std::int64_t at(std::int64_t index) const { return start + index * step; }

    std::int64_t start, stop, step;
    std::int64_t length;
};

/// A lazy sequence that can be walked once: what `map`, `select` and their like return.
struct Generator final : Object {
    using Next = std::function<bool(Value&)>;  // false: exhausted

    Generator(Heap& home, std::string_view called, Next producer)
        : Object(home, Type::Generator)
        , name(called)
        , next_item(std::move(producer))
    {
    }
    bool pull(Value& item);
    void drop_references() override { next_item = nullptr; }

    std::string_view name;  // a literal: what Python's repr would show
    Next next_item;
    bool is_running = false;
};

struct Namespace final : Object {
    explicit Namespace(Heap& home);
    void drop_references() override { attributes = Value(); }

    Value attributes;  // a Dict
};

/// A function of the interpreter, perhaps bound to the value whose method it is.
struct Function final : Object {
    using Body = Value (*)(Interpreter&, const Value& self, Arguments&);

    Function(Heap& home, std::string_view called, Body code, Value bound)
        : Object(home, Type::Function)
        , name(called)
        , body(code)
        , self(std::move(bound))
    {
    }
    void drop_references() override { self = Value(); }

    std::string_view name;  // a literal
    Body body;
    Value self;
};

struct Cycler final : Object {
    Cycler(Heap& home, std::vector<Value> content)
        : Object(home, Type::Cycler)
        , items(std::move(content))
    {
    }
    void drop_references() override { items.clear(); }

    std::vector<Value> items;
    std::size_t position = 0;
};

struct Joiner final : Object {
    Joiner(Heap& home, Value between)
        : Object(home, Type::Joiner)
        , separator(std::move(between))
    {
    }
    void drop_references() override { separator = Value(); }

    Value separator;
    bool used = false;
};

/// Names set in one block. Inner scopes see outer ones.
struct Scope final : Object {
    Scope(Heap& home, Value outer)
        : Object(home, Type::Scope)
        , parent(std::move(outer))
    {
    }
    Value* find(int name);
    void set(int name, Value value);
    void drop_references() override
    {
        names.clear();
        parent = Value();
    }

    Value parent;  // a Scope, or Missing for the outermost
    std::vector<std::pair<int, Value>> names;
};

/// The arguments of one call.
struct Arguments {
    std::vector<Value> positional;
    std::vector<std::pair<std::string, Value>> named;
};

}  // namespace engine::jinja
