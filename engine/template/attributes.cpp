// Attributes, items, and the undefined values given where there are none.
#include "engine/template/attributes.h"

#include "engine/template/interpreter.h"
#include "engine/template/operators.h"
#include "engine/template/parameters.h"
#include "engine/template/text_of.h"
#include "engine/template/unicode.h"

namespace engine::jinja {

// ---- methods of loops and cyclers ----

static Value loop_cycle(Interpreter&, const Value& self, Arguments& arguments)
{
    const auto& items = arguments.positional;
    if (items.empty())
        fail_type("no items for cycling given");
    return items[std::size_t(self.as<Loop>().index0) % items.size()];
}

static Value loop_changed(Interpreter&, const Value& self, Arguments& arguments)
{
    return Value::boolean(self.as<Loop>().changed(arguments.positional));
}

static Value cycler_next(Interpreter&, const Value& self, Arguments&)
{
    auto& cycler = self.as<Cycler>();
    Value item = cycler.items[cycler.position];
    cycler.position = (cycler.position + 1) % cycler.items.size();
    return item;
}

static Value cycler_reset(Interpreter&, const Value& self, Arguments&)
{
    self.as<Cycler>().position = 0;
    return Value::none();
}

static constexpr Method kLoopMethods[] = {{"cycle", loop_cycle}, {"changed", loop_changed}};
static constexpr Method kCyclerMethods[] = {{"next", cycler_next}, {"reset", cycler_reset}};

const Method* find_method(const Value& object, std::string_view name)
{
    switch (object.type()) {
    case Type::String: {
        const Method* method = find_string_method(name);
        return method ? method : find_string_query(name);
    }
    case Type::List:
        return find_list_method(name);
    case Type::Tuple:
        return find_tuple_method(name);
    case Type::Dict:
        return find_dict_method(name);
    case Type::Loop:
        return find_in(kLoopMethods, name);
    case Type::Cycler:
        return find_in(kCyclerMethods, name);
    default:
        return nullptr;
    }
}

// ---- attributes that are no methods ----

static Value loop_attribute(Loop& loop, std::string_view name)
{
    if (name == "index0")
        return Value::integer(loop.index0);
    if (name == "index")
        return Value::integer(loop.index0 + 1);
    if (name == "first")
        return Value::boolean(loop.index0 == 0);
    if (name == "last")
        return Value::boolean(loop.is_last());
    if (name == "length")
        return Value::integer(loop.length());
    if (name == "revindex")
        return Value::integer(loop.length() - loop.index0);
    if (name == "revindex0")
        return Value::integer(loop.length() - loop.index0 - 1);
    if (name == "previtem")
        return loop.previous_item();
    if (name == "nextitem")
        return loop.next_item();
    if (name == "depth")
        return Value::integer(loop.depth0 + 1);
    if (name == "depth0")
        return Value::integer(loop.depth0);
    return Value();
}

static Value macro_attribute(Heap& heap, const Macro& macro, std::string_view name)
{
    const Signature& signature = *macro.definition.signature;
    if (name == "name")
        return heap.string(signature.name);
    if (name == "catch_kwargs")
        return Value::boolean(signature.reads_kwargs);
    if (name == "catch_varargs")
        return Value::boolean(signature.reads_varargs);
    if (name == "caller")
        return Value::boolean(signature.reads_caller);
    if (name == "arguments") {
        Value names = heap.tuple();
        for (const std::string& parameter : signature.parameter_texts)
            names.as<List>().push(heap.string(parameter));
        return names;
    }
    return Value();
}

// Returns what Python's getattr finds; Missing where it finds nothing.
static Value attribute_of(Heap& heap, const Value& object, const std::string& name)
{
    if (const Method* method = find_method(object, name))
        return heap.make<Function>(method->name, method->body, object);
    switch (object.type()) {
    case Type::Namespace: {
        const Value* found = object.as<Namespace>().attributes.as<Dict>().find(name);
        return found ? *found : Value();
    }
    case Type::Loop:
        return loop_attribute(object.as<Loop>(), name);
    case Type::Macro:
        return macro_attribute(heap, object.as<Macro>(), name);
    case Type::Cycler:
        return name == "current" ? object.as<Cycler>().items[object.as<Cycler>().position] : Value();
    case Type::Tuple:
        if (object.as<List>().is_group && (name == "grouper" || name == "list"))
            return object.as<List>().items[name == "list" ? 1 : 0];
        return Value();
    default:
        return Value();
    }
}

// Returns the name by which Jinja calls a value in the errors of undefined ones.
static std::string owner_text(const Value& object)
{
    if (object.is_none())
        return "None";
    if (object.is(Type::Namespace))
        return "jinja2.utils.Namespace object";
    if (object.is(Type::Loop) || object.is(Type::Macro))
        return "jinja2.runtime." + std::string(type_name(object)) + " object";
    return std::string(type_name(object)) + " object";
}

static Value no_attribute(Heap& heap, const Value& object, const std::string& name)
{
    return heap.undefined("'" + owner_text(object) + "' has no attribute " + quote(name));
}

Value get_attribute(Heap& heap, const Value& object, const std::string& name)
{
    if (object.is_undefined())
        fail_undefined(object);
    Value found = attribute_of(heap, object, name);
    if (!found.is_missing())
        return found;
    if (object.is(Type::Dict))
        if (const Value* item = object.as<Dict>().find(name))
            return *item;
    return no_attribute(heap, object, name);
}

// ---- items ----

static Value character_at(Heap& heap, const Value& object, std::int64_t index)
{
    const std::string_view text = object.text();
    std::size_t at = std::size_t(index);
    if (!object.as<String>().is_ascii()) {
        heap.budget.spend_on_text(text.size());
        at = unicode::byte_of(text, index);
    }
    const std::size_t start = at;
    unicode::next(text, at);
    return heap.part(object, text.substr(start, at - start));
}

// object[key] where it exists; Missing where Python would raise.
static Value item_of(Heap& heap, const Value& object, const Value& key)
{
    if (object.is(Type::Dict)) {
        if (key.is(Type::List) || key.is(Type::Dict))
            return Value();  // no such key can be
        const Value* found = object.as<Dict>().find(key);
        return found ? *found : Value();
    }
    const bool is_indexed = object.is_string() || object.is_sequence() || object.is(Type::Range);
    if (!is_indexed || !key.is_integer())
        return Value();
    const std::int64_t length = require_length(object);
    std::int64_t index = key.as_integer();
    if (index < 0)
        index += length;
    if (index < 0 || index >= length)
        return Value();
    if (object.is_string())
        return character_at(heap, object, index);
    if (object.is(Type::Range))
        return Value::integer(object.as<Range>().at(index));
    return object.as<List>().items[std::size_t(index)];
}

Value get_item(Heap& heap, const Value& object, const Value& key)
{
    if (object.is_undefined())
        fail_undefined(object);
    Value found = item_of(heap, object, key);
    if (!found.is_missing())
        return found;
    if (!key.is_string())
        return heap.undefined(owner_text(object) + " has no element " + repr(heap, key));
    found = attribute_of(heap, object, key.text());
    return found.is_missing() ? no_attribute(heap, object, key.text()) : found;
}

}  // namespace engine::jinja
