// Object lifetime: counting, destruction without recursion, and the end of cycles.
#include "engine/template/heap.h"

namespace engine::jinja {

Heap::~Heap()
{
    for (Object* object = first_; object; object = object->next)
        ++object->references;  // no object is destroyed while the references between them are dropped
    for (Object* object = first_; object; object = object->next)
        object->drop_references();
    for (Object* object = std::exchange(first_, nullptr); object;)
        delete std::exchange(object, object->next);
}

void Heap::link(Object* object)
{
    object->next = first_;
    if (first_)
        first_->previous = object;
    first_ = object;
}

void Heap::unlink(Object* object)
{
    if (object->previous)
        object->previous->next = object->next;
    else
        first_ = object->next;
    if (object->next)
        object->next->previous = object->previous;
    object->previous = object->next = nullptr;
}

void Heap::bury(Object* object)
{
    unlink(object);
    object->next = graves_;
    graves_ = object;
    if (burying_)
        return;  // a destructor is running below; the loop there gets to this object
    burying_ = true;
    while (graves_) {
        Object* dead = graves_;
        graves_ = dead->next;
        budget.give_back(dead->counted_bytes);
        delete dead;
    }
    burying_ = false;
}

void Heap::recount(Object& object, std::size_t object_size, std::size_t bytes)
{
    const std::size_t total = object_size + bytes;
    if (total > object.counted_bytes)
        budget.take(total - object.counted_bytes);
    else
        budget.give_back(object.counted_bytes - total);
    object.counted_bytes = total;
}

Value Heap::string(TracedText text)
{
    budget.check_string(text.bytes().size());
    budget.spend(std::int64_t(text.bytes().size() / 32));
    return make<String>(std::move(text));
}

}  // namespace engine::jinja
