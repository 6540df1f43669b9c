#include "engine/template/json.h"

#include "engine/template/conversion.h"
#include "engine/template/operators.h"
#include "engine/template/output.h"
#include "engine/template/text_of.h"
#include "engine/template/unicode.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace engine::jinja {

// ---- from JSON ----

static Value number(const nlohmann::ordered_json& json)
{
    // Numbers beyond 64 bits are reals already; a number that only fits without a sign, up to the largest u64, becomes
    // one.
    const bool is_too_large = json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t(INT64_MAX);
    if (json.is_number_float() || is_too_large)
        return Value::real(json.get<double>());
    return Value::integer(json.get<std::int64_t>());
}

Value from_json(Heap& heap, const nlohmann::ordered_json& json, TextOrigin origin)
{
    Level level(heap.budget);
    heap.budget.step();
    switch (json.type()) {
    case nlohmann::json::value_t::boolean:
        return Value::boolean(json.get<bool>());
    case nlohmann::json::value_t::string:
        return heap.string(TracedText(json.get_ref<const std::string&>(), origin));
    case nlohmann::json::value_t::array: {
        Value list = heap.list();
        for (const auto& item : json)
            list.as<List>().push(from_json(heap, item, origin));
        return list;
    }
    case nlohmann::json::value_t::object: {
        Value dict = heap.dict();
        for (const auto& [key, value] : json.items())
            dict.as<Dict>().set(heap.string(key), from_json(heap, value, origin));
        return dict;
    }
    case nlohmann::json::value_t::number_integer:
    case nlohmann::json::value_t::number_unsigned:
    case nlohmann::json::value_t::number_float:
        return number(json);
    default:
        return Value::none();
    }
}

// ---- to JSON ----

static void append_unit(std::string& out, unsigned unit)
{
    char escape[12];
    std::snprintf(escape, sizeof escape, "\\u%04x", unit);
    out += escape;
}

static std::string json_string(std::string_view text, bool ascii, Conversion& conversion)
{
    std::string out = "\"";
    for (std::size_t at = 0; at < text.size();) {
        conversion.reached(at, out.size());
        const std::size_t start = at;
        const char32_t c = unicode::next(text, at);
        static constexpr std::string_view kPlain = "\"\\\n\r\t\f\b", kEscaped = "\"\\nrtfb";
        const std::size_t known = c < 0x80 ? kPlain.find(char(c)) : std::string_view::npos;
        if (known != std::string_view::npos) {
            out += '\\';
            out += kEscaped[known];
        } else if (c < 0x20 || (ascii && c >= 0x80 && c < 0x10000)) {
            append_unit(out, unsigned(c));
        } else if (ascii && c >= 0x10000) {
            append_unit(out, unsigned(0xd800 + ((c - 0x10000) >> 10)));
            append_unit(out, unsigned(0xdc00 + ((c - 0x10000) & 0x3ff)));
        } else {
            out += text.substr(start, at - start);
        }
    }
    return out + '"';
}

namespace {

/// Writes one value.
class JsonWriter
{
public:
    JsonWriter(Heap& heap, const JsonStyle& style)
        : heap_(heap)
        , style_(style)
        , out_(heap)
    {
    }

    void write(const Value& value)
    {
        heap_.budget.step();
        switch (value.type()) {
        case Type::String:
            return write_string(value.traced());
        case Type::List:
        case Type::Tuple:
            return write_list(value.as<List>().items);
        case Type::Dict:
            return write_dict(value.as<Dict>());
        default:
            return out_.add(scalar(value));
        }
    }

    TracedText take() { return out_.take(); }

private:
    void write_string(const TracedText& text)
    {
        out_.add(converted(heap_, text, [this](std::string_view bytes, Conversion& conversion) {
            return json_string(bytes, style_.ascii, conversion);
        }));
    }

    static std::string scalar(const Value& value)
    {
        switch (value.type()) {
        case Type::None:
            return "null";
        case Type::Bool:
            return value.as_bool() ? "true" : "false";
        case Type::Int:
            return std::to_string(value.as_integer());
        case Type::Float:
            if (std::isnan(value.as_real()))
                return "NaN";
            if (std::isinf(value.as_real()))
                return value.as_real() < 0 ? "-Infinity" : "Infinity";
            return float_text(value.as_real());
        default:
            fail_type("Object of type " + std::string(type_name(value)) + " is not JSON serializable");
        }
    }

    static TracedText key_text(const Value& key)
    {
        if (key.is_string())
            return key.traced();
        if (!key.is_number() && !key.is_none())
            fail_type("keys must be str, int, float, bool or None, not " + std::string(type_name(key)));
        return TracedText(scalar(key));
    }

    void new_line(int change)
    {
        indentation_ += change;
        if (!style_.is_indented)
            return;
        out_.add("\n");
        for (int i = 0; i < indentation_; ++i)
            out_.add(style_.indent);
    }

    void write_list(const std::vector<Value>& items)
    {
        if (items.empty())
            return out_.add("[]");
        Level level(heap_.budget);
        out_.add("[");
        new_line(1);
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (i > 0) {
                out_.add(style_.item_separator);
                new_line(0);
            }
            write(items[i]);
        }
        new_line(-1);
        out_.add("]");
    }

    std::vector<const Dict::Entry*> ordered(const Dict& dict)
    {
        std::vector<const Dict::Entry*> entries;
        for (const Dict::Entry& entry : dict.entries())
            entries.push_back(&entry);
        if (style_.sort_keys)
            std::stable_sort(entries.begin(), entries.end(),
                             [&](const Dict::Entry* a, const Dict::Entry* b) { return less(heap_, a->key, b->key); });
        return entries;
    }

    void write_dict(const Dict& dict)
    {
        if (dict.size() == 0)
            return out_.add("{}");
        Level level(heap_.budget);
        out_.add("{");
        new_line(1);
        bool first = true;
        for (const Dict::Entry* entry : ordered(dict)) {
            if (!first) {
                out_.add(style_.item_separator);
                new_line(0);
            }
            first = false;
            write_string(key_text(entry->key));
            out_.add(style_.key_separator);
            write(entry->value);
        }
        new_line(-1);
        out_.add("}");
    }

    Heap& heap_;
    const JsonStyle& style_;
    Output out_;
    int indentation_ = 0;
};

}  // namespace

TracedText to_json(Heap& heap, const Value& value, const JsonStyle& style)
{
    JsonWriter writer(heap, style);
    writer.write(value);
    return writer.take();
}

}  // namespace engine::jinja
