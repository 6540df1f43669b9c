// Containers of the template language.
#include "engine/template/value.h"

#include "engine/template/heap.h"
#include "engine/template/operators.h"
#include "engine/template/unicode.h"

namespace engine::jinja {

Value Value::real(double f)
{
    Value value(Type::Float, 0);
    value.data_.real = f;
    return value;
}

void Value::let_go(Object* object)
{
    if (--object->references == 0)
        object->heap.bury(object);
}

const std::string& Value::text() const
{
    return as<String>().text;
}

const TracedText& Value::traced() const
{
    return as<String>().traced;
}

String::String(Heap& home, TracedText content)
    : Object(home, Type::String)
    , traced(std::move(content))
{
    const std::size_t bytes = text.capacity() + traced.bytes_of_runs();
    heap.budget.take(bytes);
    counted_bytes = bytes;
}

std::int64_t String::length() const
{
    if (length_ < 0) {
        heap.budget.spend_on_text(text.size());
        length_ = unicode::length(text);
    }
    return length_;
}

List::List(Heap& home, Type kind, std::vector<Value> content)
    : Object(home, kind)
    , items(std::move(content))
{
    heap.budget.take(items.capacity() * sizeof(Value));
    counted_bytes = items.capacity() * sizeof(Value);
}

void List::push(Value value)
{
    items.push_back(std::move(value));
    recount();
}

void List::recount()
{
    heap.recount(*this, sizeof(List), items.capacity() * sizeof(Value));
}

Range::Range(Heap& home, std::int64_t from, std::int64_t to, std::int64_t by)
    : Object(home, Type::Range)
    , start(from)
    , stop(to)
    , step(by)
    , length(0)
{
    // unsigned, since the distance of two int64 may not fit one
    if (step > 0 && start < stop)
        length = std::int64_t((std::uint64_t(stop) - std::uint64_t(start) - 1) / std::uint64_t(step) + 1);
    if (step < 0 && start > stop)
        length = std::int64_t((std::uint64_t(start) - std::uint64_t(stop) - 1) / (0 - std::uint64_t(step)) + 1);
}

bool Generator::pull(Value& item)
{
    if (!next_item)
        return false;
    if (is_running)  // a loop's condition reads from the loop's own generator
        throw TemplateError("generator already executing");
    Level level(heap.budget);  // generators over generators recurse
    heap.budget.step();
    const Value keep(this);  // the body of a loop may drop the last reference
    is_running = true;       // it stays set where an error ends the rendering
    const bool has_item = next_item(item);
    is_running = false;
    if (!has_item)
        next_item = nullptr;
    return has_item;
}

Namespace::Namespace(Heap& home)
    : Object(home, Type::Namespace)
    , attributes(home.dict())
{
}

Value* Scope::find(int name)
{
    heap.budget.spend(std::int64_t(names.size() / 32));
    for (auto& [known, value] : names)
        if (known == name)
            return &value;
    return nullptr;
}

void Scope::set(int name, Value value)
{
    if (Value* known = find(name)) {
        *known = std::move(value);
        return;
    }
    names.emplace_back(name, std::move(value));
    heap.recount(*this, sizeof(Scope), names.capacity() * sizeof(names[0]));
}

// ---- dictionary ----

constexpr std::size_t kSmallDict = 8;  // up to here a linear search is faster than an index

template <class Same>
std::int64_t Dict::position(std::size_t hash, Same same)
{
    if (slots_.empty()) {
        for (std::size_t i = 0; i < entries_.size(); ++i)
            if (entries_[i].hash == hash && same(entries_[i].key))
                return std::int64_t(i);
        return -1;
    }
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = hash & mask; slots_[slot] >= 0; slot = (slot + 1) & mask) {
        heap.budget.step();  // keys can be chosen to collide
        const Entry& entry = entries_[std::size_t(slots_[slot])];
        if (entry.hash == hash && same(entry.key))
            return slots_[slot];
    }
    return -1;
}

std::int64_t Dict::position_of(const Value& key, std::size_t hash)
{
    return position(hash, [&](const Value& known) { return known.same_as(key) || equal(heap, known, key); });
}

Value* Dict::find(const Value& key)
{
    const std::int64_t at = position_of(key, hash_of(heap, key));
    return at < 0 ? nullptr : &entries_[std::size_t(at)].value;
}

Value* Dict::find(std::string_view key)
{
    const std::int64_t at =
        position(hash_of(key), [&](const Value& known) { return known.is_string() && known.text() == key; });
    return at < 0 ? nullptr : &entries_[std::size_t(at)].value;
}

void Dict::set(const Value& key, Value value)
{
    heap.budget.step();
    const std::size_t hash = hash_of(heap, key);
    const std::int64_t at = position_of(key, hash);
    if (at >= 0) {
        entries_[std::size_t(at)].value = std::move(value);
        return;
    }
    entries_.push_back({key, std::move(value), hash});
    if (entries_.size() > kSmallDict && entries_.size() * 2 > slots_.size()) {
        reindex();
    } else if (!slots_.empty()) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t slot = hash & mask;
        while (slots_[slot] >= 0)
            slot = (slot + 1) & mask;
        slots_[slot] = std::int32_t(entries_.size() - 1);
    }
    recount();
}

Value Dict::take(const Value& key)
{
    const std::int64_t at = position_of(key, hash_of(heap, key));
    if (at < 0)
        return Value();
    Value value = std::move(entries_[std::size_t(at)].value);
    entries_.erase(entries_.begin() + at);
    heap.budget.spend(std::int64_t(entries_.size()));
    if (!slots_.empty())
        reindex();
    return value;
}

void Dict::clear()
{
    slots_.clear();
    entries_.clear();
}

void Dict::reindex()
{
    std::size_t size = 16;
    while (size < entries_.size() * 4)
        size *= 2;
    slots_.assign(size, -1);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        std::size_t slot = entries_[i].hash & (size - 1);
        for (; slots_[slot] >= 0; slot = (slot + 1) & (size - 1))
            heap.budget.step();  // keys can be chosen to collide
        slots_[slot] = std::int32_t(i);
    }
}

void Dict::recount()
{
    heap.recount(*this, sizeof(Dict), entries_.capacity() * sizeof(Entry) + slots_.capacity() * sizeof(slots_[0]));
}

}  // namespace engine::jinja
