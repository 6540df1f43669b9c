// Python's str.format.
#include "engine/template/format.h"

#include "engine/template/attributes.h"
#include "engine/template/interpreter.h"
#include "engine/template/operators.h"
#include "engine/template/text_of.h"

#include <algorithm>
#include <charconv>

namespace engine::jinja {

namespace {

/// Formats one string, and numbers the fields that have no name.
class FieldFormatter
{
public:
    FieldFormatter(Interpreter& in, const TracedText& format, const Arguments& arguments)
        : in_(in)
        , format_(format)
        , arguments_(arguments)
    {
    }

    TracedText run() { return run(format_.bytes(), 0); }

private:
    // Formats `format`, a view into the whole one. depth: a format spec may hold fields, whose specs may not.
    TracedText run(std::string_view format, int depth)
    {
        Output out(in_.heap);
        for (std::size_t at = 0; at < format.size();) {
            const std::size_t brace = std::min(format.find_first_of("{}", at), format.size());
            out.add(format_, format.substr(at, brace - at));
            at = brace;
            if (at >= format.size())
                break;
            if (format.substr(at, 2) == "{{" || format.substr(at, 2) == "}}") {
                out.add(format_, format.substr(at, 1));
                at += 2;
            } else if (format[at] == '}') {
                throw TemplateError("Single '}' encountered in format string");
            } else {
                const std::size_t close = closing_brace(format, at);
                out.add(field(format.substr(at + 1, close - at - 1), depth));
                at = close + 1;
            }
        }
        return out.take();
    }

    static std::size_t closing_brace(std::string_view format, std::size_t open)
    {
        int depth = 0;
        for (std::size_t at = open; at < format.size(); ++at) {
            depth += format[at] == '{' ? 1 : format[at] == '}' ? -1 : 0;
            if (depth == 0)
                return at;
        }
        throw TemplateError(open + 1 == format.size() ? "Single '{' encountered in format string"
                                                      : "expected '}' before end of string");
    }

    TracedText field(std::string_view text, int depth)
    {
        if (depth > 1)
            throw TemplateError("Max string recursion exceeded");
        const std::size_t colon = std::min(text.find(':'), text.size());
        std::string_view path = text.substr(0, colon);
        char conversion = '\0';
        if (const std::size_t mark = path.find('!'); mark != std::string_view::npos) {
            conversion = mark + 1 < path.size() ? path[mark + 1] : '\0';
            path = path.substr(0, mark);
        }
        Value value = resolve(path);
        if (conversion == 'r' || conversion == 'a')
            value = in_.heap.string(traced_repr(in_.heap, value));
        if (conversion == 's')
            value = str(in_.heap, value);
        const TracedText spec = colon < text.size() ? run(text.substr(colon + 1), depth + 1) : TracedText();
        return format_value(in_.heap, value, parse_format_spec(spec.bytes()));
    }

    Value argument(std::string_view name)
    {
        std::size_t index = 0;
        const auto read = std::from_chars(name.data(), name.data() + name.size(), index);
        const bool is_index = name.empty() || (read.ec == std::errc() && read.ptr == name.data() + name.size());
        if (is_index) {
            if (name.empty())
                index = automatic_++;
            if (index >= arguments_.positional.size())
                throw TemplateError("Replacement index " + std::to_string(index) +
                                    " out of range for positional args tuple");
            return arguments_.positional[index];
        }
        in_.heap.budget.spend(std::int64_t(arguments_.named.size()));
        in_.heap.budget.spend_on_text(name.size());
        for (const auto& [key, value] : arguments_.named)
            if (key == name)
                return value;
        throw TemplateError(quote(name));
    }

    // Returns the value of a path: name.attribute[item] ...
    Value resolve(std::string_view path)
    {
        const std::size_t end = std::min(path.find_first_of(".["), path.size());
        Value value = argument(path.substr(0, end));
        for (std::size_t at = end; at < path.size();) {
            in_.heap.budget.step();
            if (path[at] == '.') {
                const std::size_t stop = std::min(path.find_first_of(".[", at + 1), path.size());
                value = get_attribute(in_.heap, value, std::string(path.substr(at + 1, stop - at - 1)));
                at = stop;
            } else {
                const std::size_t stop = path.find(']', at);
                if (stop == std::string_view::npos)
                    throw TemplateError("Missing ']' in format string");
                value = item(value, path.substr(at + 1, stop - at - 1));
                at = stop + 1;
            }
        }
        return value;
    }

    Value item(const Value& value, std::string_view key)
    {
        std::int64_t index = 0;
        const auto read = std::from_chars(key.data(), key.data() + key.size(), index);
        const bool is_index = read.ec == std::errc() && read.ptr == key.data() + key.size() && index >= 0;
        return get_item(in_.heap, value, is_index ? Value::integer(index) : in_.heap.string(key));
    }

    Interpreter& in_;
    const TracedText& format_;
    const Arguments& arguments_;
    std::size_t automatic_ = 0;
};

}  // namespace

TracedText str_format(Interpreter& in, const TracedText& format, const Arguments& arguments)
{
    return FieldFormatter(in, format, arguments).run();
}

}  // namespace engine::jinja
