// Python's str() and repr() for template values.
#include "engine/template/text_of.h"

#include "engine/template/conversion.h"
#include "engine/template/loop.h"
#include "engine/template/macro.h"
#include "engine/template/output.h"
#include "engine/template/unicode.h"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace engine::jinja {

std::string float_text(double value)
{
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value < 0 ? "-inf" : "inf";
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
    const std::string_view shortest(buffer, std::size_t(end - buffer));
    const std::size_t mark = shortest.find('e');
    int exponent = 0;
    const char* digits_of_exponent = shortest.data() + mark + (shortest[mark + 1] == '+' ? 2 : 1);
    std::from_chars(digits_of_exponent, end, exponent);
    if (exponent < -4 || exponent >= 16)
        return std::string(shortest);
    const auto fixed_end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed).ptr;
    std::string fixed(buffer, fixed_end);
    if (fixed.find('.') == std::string::npos)
        fixed += ".0";
    return fixed;
}

std::string repr_text(std::string_view text)
{
    Conversion conversion;
    return repr_text(text, conversion);
}

std::string repr_text(std::string_view text, Conversion& conversion)
{
    const bool has_single = text.find('\'') != std::string_view::npos;
    const char mark = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
    std::string out(1, mark);
    for (std::size_t at = 0; at < text.size();) {
        conversion.reached(at, out.size());
        const char32_t c = unicode::next(text, at);
        char escape[16];
        if (c == char32_t(mark) || c == '\\') {
            out += '\\';
            out += char(c);
        } else if (c == '\n' || c == '\r' || c == '\t') {
            out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
        } else if (unicode::is_printable(c)) {
            unicode::append(out, c);
        } else {
            std::snprintf(escape, sizeof escape,
                          c < 0x100     ? "\\x%02x"
                          : c < 0x10000 ? "\\u%04x"
                                        : "\\U%08x",
                          unsigned(c));
            out += escape;
        }
    }
    return out + mark;
}

std::string quote(std::string_view text)
{
    constexpr std::size_t kLongest = 120;
    if (text.size() <= kLongest)
        return repr_text(text);
    std::size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end;  // never cuts through a character
    return repr_text(std::string(text.substr(0, end)) + "...");
}

namespace {

/// Writes one repr; refuses depth and length beyond the budget, and shows a cycle as Python does.
class Writer
{
public:
    explicit Writer(Heap& heap)
        : heap_(heap)
        , out_(heap)
    {
    }

    void write(const Value& value)
    {
        heap_.budget.step();
        switch (value.type()) {
        case Type::String:
            return out_.add(converted(heap_, value.traced(), [](std::string_view text, Conversion& conversion) {
                return repr_text(text, conversion);
            }));
        case Type::List:
        case Type::Tuple:
            return write_list(value);
        case Type::Dict:
            return write_dict(value);
        case Type::DictView:
            return write_view(value.as<DictView>());
        case Type::Namespace:
            add("<Namespace ");
            write(value.as<Namespace>().attributes);
            return add(">");
        default:
            return add(scalar(value));
        }
    }

    TracedText take() { return out_.take(); }

private:
    // Says whether the object is being written further out: the caller then writes dots instead.
    bool is_open(const Value& value) const
    {
        for (const Object* object : open_)
            if (object == value.object())
                return true;
        return false;
    }

    void add(std::string_view text) { out_.add(text); }

    void write_list(const Value& value)
    {
        const bool is_list = value.is(Type::List);
        if (is_open(value))
            return add(is_list ? "[...]" : "(...)");
        Level level(heap_.budget);
        open_.push_back(value.object());
        add(is_list ? "[" : "(");
        const auto& items = value.as<List>().items;
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (i > 0)
                add(", ");
            write(items[i]);
        }
        if (!is_list && items.size() == 1)
            add(",");
        add(is_list ? "]" : ")");
        open_.pop_back();
    }

    void write_dict(const Value& value)
    {
        if (is_open(value))
            return add("{...}");
        Level level(heap_.budget);
        open_.push_back(value.object());
        add("{");
        bool first = true;
        for (const Dict::Entry& entry : value.as<Dict>().entries()) {
            if (!first)
                add(", ");
            first = false;
            write(entry.key);
            add(": ");
            write(entry.value);
        }
        add("}");
        open_.pop_back();
    }

    void write_view(const DictView& view)
    {
        const auto part = view.part;
        add(part == DictView::Part::Keys     ? "dict_keys(["
            : part == DictView::Part::Values ? "dict_values(["
                                             : "dict_items([");
        Level level(heap_.budget);
        bool first = true;
        for (const Dict::Entry& entry : view.dict.as<Dict>().entries()) {
            if (!first)
                add(", ");
            first = false;
            if (part == DictView::Part::Items)
                add("(");
            if (part != DictView::Part::Values)
                write(entry.key);
            if (part == DictView::Part::Items)
                add(", ");
            if (part != DictView::Part::Keys)
                write(entry.value);
            if (part == DictView::Part::Items)
                add(")");
        }
        add("])");
    }

    std::string scalar(const Value& value) const
    {
        switch (value.type()) {
        case Type::None:
            return "None";
        case Type::Bool:
            return value.as_bool() ? "True" : "False";
        case Type::Int:
            return std::to_string(value.as_integer());
        case Type::Float:
            return float_text(value.as_real());
        case Type::Undefined:
            return "Undefined";
        case Type::Range: {
            const auto& range = value.as<Range>();
            std::string text = "range(" + std::to_string(range.start) + ", " + std::to_string(range.stop);
            return text + (range.step == 1 ? "" : ", " + std::to_string(range.step)) + ")";
        }
        case Type::Generator:
            return "<generator object " + std::string(value.as<Generator>().name) + ">";
        case Type::Function:
            return "<function " + std::string(value.as<Function>().name) + ">";
        case Type::Macro:
            return "<Macro " + repr_text(value.as<Macro>().name()) + ">";
        case Type::Loop: {
            auto& loop = value.as<Loop>();
            return "<LoopContext " + std::to_string(loop.index0 + 1) + "/" + std::to_string(loop.length()) + ">";
        }
        case Type::Cycler:
            return "<Cycler>";
        default:
            return "<Joiner>";
        }
    }

    Heap& heap_;
    Output out_;
    std::vector<const Object*> open_;
};

}  // namespace

TracedText traced_repr(Heap& heap, const Value& value)
{
    Writer writer(heap);
    writer.write(value);
    return writer.take();
}

std::string repr(Heap& heap, const Value& value)
{
    return traced_repr(heap, value).take_bytes();
}

TracedText traced_text(Heap& heap, const Value& value)
{
    if (value.is_string()) {
        heap.budget.spend_on_text(value.text().size());
        return value.traced();
    }
    return value.is_undefined() ? TracedText() : traced_repr(heap, value);
}

std::string str_text(Heap& heap, const Value& value)
{
    return traced_text(heap, value).take_bytes();
}

Value str(Heap& heap, const Value& value)
{
    return value.is_string() ? value : heap.string(traced_text(heap, value));
}

}  // namespace engine::jinja
