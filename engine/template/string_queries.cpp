// Methods of strings that tell something about them.
#include "engine/template/attributes.h"
#include "engine/template/interpreter.h"
#include "engine/template/operators.h"
#include "engine/template/parameters.h"
#include "engine/template/text_pieces.h"
#include "engine/template/unicode.h"

#include <algorithm>

namespace engine::jinja {

// ---- starts and ends ----

namespace {

/// A part of a string between two indices, as find() and startswith() take them.
struct Part {
    std::string_view text;
    std::int64_t first = 0;  // code points before it
    bool exists = true;      // false: it starts behind the end, where not even "" is found
};

}  // namespace

static Part part_of(Heap& heap, const Value& self, const Parameters& p, std::size_t start_at)
{
    Part part{self.text()};
    if (p.is_none(start_at) && p.is_none(start_at + 1))
        return part;
    heap.budget.spend_on_text(part.text.size());
    const std::int64_t length = self.as<String>().length();
    const auto index = [&](std::size_t i, std::int64_t otherwise) {
        const std::int64_t value = p.is_none(i) ? otherwise : p.integer(i, 0);
        return value < 0 ? std::max<std::int64_t>(value + length, 0) : value;
    };
    part.first = index(start_at, 0);
    const std::int64_t end = std::min(index(start_at + 1, length), length);
    part.exists = part.first <= length && part.first <= end;
    if (!part.exists)
        return part;
    const std::size_t from = unicode::byte_of(part.text, part.first);
    part.text = part.text.substr(from, unicode::byte_of(part.text.substr(from), end - part.first));
    return part;
}

static bool fits(Heap& heap, std::string_view text, std::string_view end, bool at_start)
{
    heap.budget.step();
    if (end.size() > text.size())
        return false;
    heap.budget.spend_on_text(end.size());
    return (at_start ? text.substr(0, end.size()) : text.substr(text.size() - end.size())) == end;
}

static Value starts_or_ends(Interpreter& in, const Value& self, Arguments& arguments, bool at_start)
{
    const char* name = at_start ? "startswith" : "endswith";
    const Parameters p(name, arguments, {"prefix", "start", "end"}, 1);
    const Part part = part_of(in.heap, self, p, 1);
    if (!p[0].is(Type::Tuple) && !p[0].is_string())
        fail_type(std::string(name) + " first arg must be str or a tuple of str, not " + std::string(type_name(p[0])));
    if (p[0].is_string())
        return Value::boolean(fits(in.heap, part.text, p.text(0), at_start) && part.exists);
    for (const Value& end : p[0].as<List>().items) {
        if (!end.is_string())
            fail_type("tuple for " + std::string(name) + " must only contain str, not " + std::string(type_name(end)));
        if (part.exists && fits(in.heap, part.text, end.text(), at_start))
            return Value::boolean(true);
    }
    return Value::boolean(false);
}

static Value startswith(Interpreter& in, const Value& self, Arguments& arguments)
{
    return starts_or_ends(in, self, arguments, true);
}
static Value endswith(Interpreter& in, const Value& self, Arguments& arguments)
{
    return starts_or_ends(in, self, arguments, false);
}

// ---- find ----

static std::int64_t index_of(Interpreter& in, const Value& self, Arguments& arguments, bool from_right)
{
    const Parameters p("find", arguments, {"sub", "start", "end"}, 1);
    const Part part = part_of(in.heap, self, p, 1);
    const std::size_t at =
        from_right ? rfind_text(in.heap, part.text, p.text(0)) : find_text(in.heap, part.text, p.text(0));
    if (!part.exists || at == std::string_view::npos)
        return -1;
    in.heap.budget.spend_on_text(at);
    return part.first + unicode::length(part.text.substr(0, at));
}

static Value find(Interpreter& in, const Value& self, Arguments& arguments)
{
    return Value::integer(index_of(in, self, arguments, false));
}
static Value rfind(Interpreter& in, const Value& self, Arguments& arguments)
{
    return Value::integer(index_of(in, self, arguments, true));
}

static Value found(std::int64_t at)
{
    if (at < 0)
        throw TemplateError("substring not found");
    return Value::integer(at);
}
static Value index(Interpreter& in, const Value& self, Arguments& arguments)
{
    return found(index_of(in, self, arguments, false));
}
static Value rindex(Interpreter& in, const Value& self, Arguments& arguments)
{
    return found(index_of(in, self, arguments, true));
}

static Value count(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("count", arguments, {"sub", "start", "end"}, 1);
    const Part part = part_of(in.heap, self, p, 1);
    const std::string& wanted = p.text(0);
    if (!part.exists)
        return Value::integer(0);
    if (wanted.empty()) {
        in.heap.budget.spend_on_text(part.text.size());
        return Value::integer(unicode::length(part.text) + 1);
    }
    std::int64_t times = 0;
    for (std::size_t at = find_text(in.heap, part.text, wanted); at != std::string_view::npos;
         at = find_text(in.heap, part.text, wanted, at + wanted.size()))
        ++times;
    return Value::integer(times);
}

// ---- what the characters are ----

template <class Is>
static Value all_are(Interpreter& in, const Value& self, Arguments& arguments, Is is)
{
    const Parameters p("str method", arguments, {});
    const std::string& text = self.text();
    in.heap.budget.spend_on_text(text.size() * 4);
    for (std::size_t at = 0; at < text.size();)
        if (!is(unicode::next(text, at)))
            return Value::boolean(false);
    return Value::boolean(!text.empty());
}

static Value isspace(Interpreter& in, const Value& self, Arguments& arguments)
{
    return all_are(in, self, arguments, unicode::is_space);
}
static Value isalpha(Interpreter& in, const Value& self, Arguments& arguments)
{
    return all_are(in, self, arguments, unicode::is_alpha);
}
static Value isdecimal(Interpreter& in, const Value& self, Arguments& arguments)
{
    return all_are(in, self, arguments, unicode::is_decimal);
}
static Value isdigit(Interpreter& in, const Value& self, Arguments& arguments)
{
    return all_are(in, self, arguments, unicode::is_digit);
}
static Value isnumeric(Interpreter& in, const Value& self, Arguments& arguments)
{
    return all_are(in, self, arguments, unicode::is_numeric);
}
static Value isalnum(Interpreter& in, const Value& self, Arguments& arguments)
{
    return all_are(in, self, arguments, [](char32_t c) { return unicode::is_alpha(c) || unicode::is_numeric(c); });
}
static Value is_ascii(Interpreter& in, const Value& self, Arguments& arguments)
{
    return Value::boolean(self.text().empty() ||
                          all_are(in, self, arguments, [](char32_t c) { return c < 0x80; }).as_bool());
}
static Value isprintable(Interpreter& in, const Value& self, Arguments& arguments)
{
    return Value::boolean(self.text().empty() || all_are(in, self, arguments, unicode::is_printable).as_bool());
}

static Value isidentifier(Interpreter& in, const Value& self, Arguments& arguments)
{
    const std::string& text = self.text();
    const bool starts_well = !text.empty() && !(text[0] >= '0' && text[0] <= '9');
    const Value rest = all_are(in, self, arguments,
                               [](char32_t c) { return c == '_' || unicode::is_alpha(c) || unicode::is_decimal(c); });
    return Value::boolean(starts_well && rest.as_bool());
}

// Says whether no character is of the other case, and at least one has a case: islower, isupper.
static bool has_only_case(Heap& heap, std::string_view text, bool wants_lower)
{
    heap.budget.spend_on_text(text.size() * 4);
    bool any = false;
    for (std::size_t at = 0; at < text.size();) {
        const char32_t c = unicode::next(text, at);
        if (unicode::is_title(c) || (wants_lower ? unicode::is_upper(c) : unicode::is_lower(c)))
            return false;
        any = any || (wants_lower ? unicode::is_lower(c) : unicode::is_upper(c));
    }
    return any;
}

static Value islower(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("islower", arguments, {});
    return Value::boolean(has_only_case(in.heap, self.text(), true));
}
static Value isupper(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("isupper", arguments, {});
    return Value::boolean(has_only_case(in.heap, self.text(), false));
}

static Value istitle(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("istitle", arguments, {});
    in.heap.budget.spend_on_text(self.text().size() * 4);
    bool inside_word = false, any = false;
    for (std::size_t at = 0; at < self.text().size();) {
        const char32_t c = unicode::next(self.text(), at);
        const bool starts = unicode::is_upper(c) || unicode::is_title(c), goes_on = unicode::is_lower(c);
        if ((starts && inside_word) || (goes_on && !inside_word))
            return Value::boolean(false);
        inside_word = starts || goes_on;
        any = any || inside_word;
    }
    return Value::boolean(any);
}

const Method* find_string_query(std::string_view name)
{
    static constexpr Method kMethods[] = {
        {"startswith", startswith},
        {"endswith", endswith},
        {"find", find},
        {"rfind", rfind},
        {"index", index},
        {"rindex", rindex},
        {"count", count},
        {"isspace", isspace},
        {"isalpha", isalpha},
        {"isdecimal", isdecimal},
        {"isdigit", isdigit},
        {"isnumeric", isnumeric},
        {"isalnum", isalnum},
        {"isascii", is_ascii},
        {"isprintable", isprintable},
        {"islower", islower},
        {"isupper", isupper},
        {"istitle", istitle},
        {"isidentifier", isidentifier},
    };
    for (const Method& method : kMethods)
        if (method.name == name)
            return &method;
    return nullptr;
}

}  // namespace engine::jinja
