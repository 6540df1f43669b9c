// Filters that make text.
#include "engine/template/attributes.h"
#include "engine/template/conversion.h"
#include "engine/template/filters.h"
#include "engine/template/format.h"
#include "engine/template/interpreter.h"
#include "engine/template/json.h"
#include "engine/template/operators.h"
#include "engine/template/parameters.h"
#include "engine/template/text_of.h"
#include "engine/template/text_pieces.h"
#include "engine/template/unicode.h"

namespace engine::jinja {

static Value method_of(Interpreter& in, const Value& input, std::string_view method, Arguments& arguments)
{
    const Value text = str(in.heap, input);
    return find_method(text, method)->body(in, text, arguments);
}

static Value upper(Interpreter& in, const Value& input, Arguments& arguments)
{
    return method_of(in, input, "upper", arguments);
}
static Value lower(Interpreter& in, const Value& input, Arguments& arguments)
{
    return method_of(in, input, "lower", arguments);
}
static Value capitalize(Interpreter& in, const Value& input, Arguments& arguments)
{
    return method_of(in, input, "capitalize", arguments);
}
static Value trim(Interpreter& in, const Value& input, Arguments& arguments)
{
    return method_of(in, input, "strip", arguments);
}

static Value center(Interpreter& in, const Value& input, Arguments& arguments)
{
    if (arguments.positional.empty() && arguments.named.empty())
        arguments.positional.push_back(Value::integer(80));
    return method_of(in, input, "center", arguments);
}

static Value string(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("string", arguments, {});
    return str(in.heap, input);
}

// Words start after space, dashes and opening brackets; str.title() has other rules.
static Value title(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("title", arguments, {});
    const auto separates = [](char32_t c) {
        return unicode::is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<';
    };
    return in.heap.string(
        converted(in.heap, traced_text(in.heap, input), [&](std::string_view text, Conversion& conversion) {
            return unicode::title_of_words(text, separates, conversion);
        }));
}

static Value replace(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("replace", arguments, {"old", "new", "count"}, 2);
    const std::string old = str_text(in.heap, p[0]);
    const TracedText text = traced_text(in.heap, input), by = traced_text(in.heap, p[1]);
    return in.heap.string(replaced(in.heap, text, old, by, p.is_none(2) ? -1 : p.integer(2, -1)));
}

static Value indent(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("indent", arguments, {"width", "first", "blank"});
    if (input.is_undefined())
        fail_undefined(input);
    if (!input.is_string())
        fail_type("unsupported operand type(s) for +=: '" + std::string(type_name(input)) + "' and 'str'");
    TracedText indention;
    if (p.given(0) && p[0].is_string()) {
        in.heap.budget.spend_on_text(p[0].text().size());
        indention = p[0].traced();
    } else {
        const std::int64_t width = std::max<std::int64_t>(p.integer(0, 4), 0);
        in.heap.budget.check_string(std::uint64_t(width));
        in.heap.budget.spend_on_text(std::size_t(width));
        indention = TracedText(std::string(std::size_t(width), ' '));
    }
    in.heap.budget.spend_on_text(input.text().size());
    TracedText text = input.traced();
    text.append("\n", kOtherText);
    Output out(in.heap);
    bool is_first = true;
    for (const std::string_view line : split_lines(in.heap, text.bytes())) {
        out.add(is_first ? "" : "\n");
        if (is_first ? p.flag(1) : p.flag(2) || !line.empty())
            out.add(indention);
        out.add(text, line);
        is_first = false;
    }
    return in.heap.string(out.take());
}

static Value truncate(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("truncate", arguments, {"length", "killwords", "end", "leeway"});
    const std::int64_t length = p.integer(0, 255), leeway = p.is_none(3) ? 5 : p.integer(3, 5);
    const TracedText end = p.given(2) ? p.traced(2) : TracedText("...");
    in.heap.budget.spend_on_text(end.bytes().size());
    const std::int64_t end_length = unicode::length(end.bytes());
    if (length < end_length)
        throw TemplateError("expected length >= " + std::to_string(end_length) + ", got " + std::to_string(length));
    if (leeway < 0)
        throw TemplateError("expected leeway >= 0, got " + std::to_string(leeway));
    if (require_length(input) <= length + std::min<std::int64_t>(leeway, INT64_MAX - length))
        return input;
    if (!input.is_string())
        fail_type("truncate needs a string");
    const std::string_view text = input.text();
    std::string_view kept = text.substr(0, unicode::byte_of(text, length - end_length));
    if (!p.flag(1))
        kept = kept.substr(0, kept.rfind(' '));  // where there is no space, all of it stays
    TracedText out = input.traced().part(kept);
    out.append(end);
    return in.heap.string(std::move(out));
}

static Value wordcount(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("wordcount", arguments, {});
    const std::string text = str_text(in.heap, input);
    in.heap.budget.spend_on_text(text.size() * 4);
    std::int64_t words = 0;
    bool inside = false;
    for (std::size_t at = 0; at < text.size();) {
        const char32_t c = unicode::next(text, at);
        const bool is_word = c == '_' || unicode::is_alpha(c) || unicode::is_numeric(c);
        words += is_word && !inside ? 1 : 0;
        inside = is_word;
    }
    return Value::integer(words);
}

static Value escape(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("escape", arguments, {});
    const auto escaped = [](std::string_view text, Conversion& conversion) {
        static constexpr std::string_view kSpecial = "&<>\"'";
        static constexpr std::string_view kEscaped[] = {"&amp;", "&lt;", "&gt;", "&#34;", "&#39;"};
        std::string out;
        for (std::size_t at = 0; at < text.size(); ++at) {
            conversion.reached(at, out.size());
            const std::size_t known = kSpecial.find(text[at]);
            out += known == std::string_view::npos ? text.substr(at, 1) : kEscaped[known];
        }
        return out;
    };
    return in.heap.string(converted(in.heap, traced_text(in.heap, input), escaped));
}

static Value format(Interpreter& in, const Value& input, Arguments& arguments)
{
    if (!arguments.positional.empty() && !arguments.named.empty())
        throw TemplateError("can't handle positional and keyword arguments at the same time");
    Value values = in.heap.tuple(arguments.positional);
    if (!arguments.named.empty()) {
        values = in.heap.dict();
        for (const auto& [key, value] : arguments.named)
            values.as<Dict>().set(in.heap.string(key), value);
    }
    return percent_format(in.heap, str(in.heap, input), values);
}

static std::string url_quoted(std::string_view text, bool for_query, Conversion& conversion)
{
    static constexpr char kHex[] = "0123456789ABCDEF";
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        conversion.reached(at, out.size());
        const char c = text[at];
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                              c == '.' || c == '-' || c == '~' || (c == '/' && !for_query);
        const auto byte = static_cast<unsigned char>(c);
        if (is_plain)
            out += c;
        else if (c == ' ' && for_query)
            out += '+';
        else
            out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
    return out;
}

static TracedText url_quoted(Heap& heap, const Value& value, bool for_query)
{
    return converted(heap, traced_text(heap, value), [&](std::string_view text, Conversion& conversion) {
        return url_quoted(text, for_query, conversion);
    });
}

static Value urlencode(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("urlencode", arguments, {});
    if (input.is_string() || !is_iterable(input))
        return in.heap.string(url_quoted(in.heap, input, false));
    const Value pairs = input.is(Type::Dict) ? in.heap.make<DictView>(input, DictView::Part::Items) : input;
    Output out(in.heap);
    Iterator iterator(in.heap, pairs);
    for (Value pair; iterator.next(pair);) {
        const std::vector<Value> halves = collect(in.heap, pair);
        if (halves.size() != 2)
            throw TemplateError("urlencode needs pairs");
        out.add(out.is_empty() ? "" : "&");
        out.add(url_quoted(in.heap, halves[0], true));
        out.add("=");
        out.add(url_quoted(in.heap, halves[1], true));
    }
    return in.heap.string(out.take());
}

static Value tojson(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"});
    JsonStyle style;
    style.ascii = p.flag(0);
    style.sort_keys = p.flag(3);
    style.is_indented = !p.is_none(1);
    if (style.is_indented) {
        const std::int64_t width = p[1].is_string() ? 0 : std::max<std::int64_t>(p.integer(1, 0), 0);
        in.heap.budget.check_string(std::uint64_t(width));
        in.heap.budget.spend_on_text(p[1].is_string() ? p[1].text().size() : std::size_t(width));
        style.indent = p[1].is_string() ? p[1].text() : std::string(std::size_t(width), ' ');
        style.item_separator = ",";
    }
    if (!p.is_none(2)) {
        const std::vector<Value> separators = collect(in.heap, p[2]);
        if (separators.size() != 2 || !separators[0].is_string() || !separators[1].is_string())
            fail_type("separators must be two strings");
        in.heap.budget.spend_on_text(separators[0].text().size() + separators[1].text().size());
        style.item_separator = separators[0].text();
        style.key_separator = separators[1].text();
    }
    return in.heap.string(to_json(in.heap, input, style));
}

FilterBody find_text_filter(std::string_view name)
{
    static constexpr std::pair<std::string_view, FilterBody> kFilters[] = {
        {"tojson", tojson},       {"trim", trim},     {"string", string},         {"safe", string},
        {"upper", upper},         {"lower", lower},   {"capitalize", capitalize}, {"title", title},
        {"replace", replace},     {"indent", indent}, {"truncate", truncate},     {"wordcount", wordcount},
        {"escape", escape},       {"e", escape},      {"forceescape", escape},    {"format", format},
        {"urlencode", urlencode}, {"center", center},
    };
    for (const auto& [known, body] : kFilters)
        if (known == name)
            return body;
    return nullptr;
}

FilterBody find_filter(std::string_view name)
{
    for (const auto find : {find_text_filter, find_list_filter, find_select_filter, find_number_filter})
        if (const FilterBody body = find(name))
            return body;
    return nullptr;
}

Value apply_filter(Interpreter& in, const std::string& name, const Value& input, Arguments& arguments)
{
    const FilterBody body = find_filter(name);
    if (!body)
        throw TemplateError("No filter named " + quote(name) + ".");
    Level level(in.heap.budget);
    return body(in, input, arguments);
}

}  // namespace engine::jinja
