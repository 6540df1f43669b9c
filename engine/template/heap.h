// Makes and keeps the objects of one rendering.
#pragma once

#include "engine/template/value.h"

namespace engine::jinja {

/// Keeps a list of all live objects, so that cycles (a list appended to itself) go away with the rendering. Destroys
/// without recursion, so that a list nested a million deep does not overflow the stack. Owned by one Interpreter.
class Heap
{
public:
    explicit Heap(Budget limits)
        : budget(std::move(limits))
    {
    }
    ~Heap();
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;

    template <class T, class... A>
    Value make(A&&... arguments)
    {
        budget.step();
        budget.take(sizeof(T));
        T* object = nullptr;
        try {
            object = new T(*this, std::forward<A>(arguments)...);
        } catch (...) {
            budget.give_back(sizeof(T));
            throw;
        }
        object->counted_bytes += sizeof(T);
        link(object);
        return Value(object);
    }

    Value string(TracedText text);
    Value string(std::string text) { return string(TracedText(std::move(text))); }
    Value string(std::string_view text) { return string(std::string(text)); }
    Value string(const char* text) { return string(std::string(text)); }
    /// Makes a part of a string, with the string's origins. `part` is a view into its text.
    Value part(const Value& of, std::string_view part) { return string(of.traced().part(part)); }
    Value list(std::vector<Value> items = {}) { return make<List>(Type::List, std::move(items)); }
    Value tuple(std::vector<Value> items = {}) { return make<List>(Type::Tuple, std::move(items)); }
    Value dict() { return make<Dict>(); }
    Value undefined(std::string reason) { return make<Undefined>(std::move(reason)); }

    /// Counts the `bytes` that an object now holds beside itself.
    void recount(Object& object, std::size_t object_size, std::size_t bytes);

    void bury(Object* object);

    Budget budget;

private:
    void link(Object* object);
    void unlink(Object* object);

    Object* first_ = nullptr;  // all live objects
    Object* graves_ = nullptr;
    bool burying_ = false;
};

}  // namespace engine::jinja
