// Methods of strings that make new text or pieces of it.
#include "engine/template/attributes.h"
#include "engine/template/conversion.h"
#include "engine/template/format.h"
#include "engine/template/interpreter.h"
#include "engine/template/operators.h"
#include "engine/template/output.h"
#include "engine/template/parameters.h"
#include "engine/template/text_pieces.h"
#include "engine/template/unicode.h"

namespace engine::jinja {

// ---- case ----

template <std::string (*convert)(std::string_view, Conversion&)>
static Value in_case(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("str method", arguments, {});
    return in.heap.string(converted(in.heap, self.traced(), convert));
}

// ---- strip ----

static Value stripped(Interpreter& in, const Value& self, Arguments& arguments, bool left, bool right)
{
    const Parameters p("strip", arguments, {"chars"});
    std::string_view text = self.text();
    in.heap.budget.spend_on_text(text.size());
    if (p.is_none(0)) {
        text = left ? unicode::strip_left(text) : text;
        text = right ? unicode::strip_right(text) : text;
    } else {
        text = strip_characters(in.heap, text, p.text(0), left, right);
    }
    return text.size() == self.text().size() ? self : in.heap.part(self, text);
}

static Value strip(Interpreter& in, const Value& self, Arguments& arguments)
{
    return stripped(in, self, arguments, true, true);
}
static Value lstrip(Interpreter& in, const Value& self, Arguments& arguments)
{
    return stripped(in, self, arguments, true, false);
}
static Value rstrip(Interpreter& in, const Value& self, Arguments& arguments)
{
    return stripped(in, self, arguments, false, true);
}

static Value removeprefix(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("removeprefix", arguments, {"prefix"}, 1);
    const std::string_view text = self.text(), prefix = p.text(0);
    in.heap.budget.spend_on_text(prefix.size());
    return text.substr(0, prefix.size()) == prefix ? in.heap.part(self, text.substr(prefix.size())) : self;
}

static Value removesuffix(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("removesuffix", arguments, {"suffix"}, 1);
    const std::string_view text = self.text(), suffix = p.text(0);
    in.heap.budget.spend_on_text(suffix.size());
    if (suffix.empty() || text.size() < suffix.size() || text.substr(text.size() - suffix.size()) != suffix)
        return self;
    return in.heap.part(self, text.substr(0, text.size() - suffix.size()));
}

// ---- pieces ----

static Value list_of(Heap& heap, const Value& text, const std::vector<std::string_view>& pieces)
{
    Value list = heap.list();
    for (const std::string_view piece : pieces)
        list.as<List>().push(heap.part(text, piece));
    return list;
}

static Value split(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("split", arguments, {"sep", "maxsplit"});
    const std::int64_t most = p.integer(1, -1);
    if (!p.is_none(0) && !p[0].is_string())
        fail_type("must be str or None, not " + std::string(type_name(p[0])));
    if (p.is_none(0))
        return list_of(in.heap, self, split_space(in.heap, self.text(), most));
    return list_of(in.heap, self, split_text(in.heap, self.text(), p.text(0), most));
}

static Value rsplit(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("rsplit", arguments, {"sep", "maxsplit"});
    const std::int64_t most = p.integer(1, -1);
    if (!p.is_none(0) && !p[0].is_string())
        fail_type("must be str or None, not " + std::string(type_name(p[0])));
    if (p.is_none(0))
        return list_of(in.heap, self, rsplit_space(in.heap, self.text(), most));
    return list_of(in.heap, self, rsplit_text(in.heap, self.text(), p.text(0), most));
}

static Value splitlines(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("splitlines", arguments, {"keepends"});
    return list_of(in.heap, self, split_lines(in.heap, self.text(), p.flag(0)));
}

static Value parted(Interpreter& in, const Value& self, Arguments& arguments, bool from_right)
{
    const Parameters p("partition", arguments, {"sep"}, 1);
    const std::string_view text = self.text(), separator = p.text(0);
    if (separator.empty())
        throw TemplateError("empty separator");
    const std::size_t at = from_right ? rfind_text(in.heap, text, separator) : find_text(in.heap, text, separator);
    if (at != std::string_view::npos)
        return in.heap.tuple(
            {in.heap.part(self, text.substr(0, at)), p[0], in.heap.part(self, text.substr(at + separator.size()))});
    const Value nothing = in.heap.string("");
    return from_right ? in.heap.tuple({nothing, nothing, self}) : in.heap.tuple({self, nothing, nothing});
}

static Value partition(Interpreter& in, const Value& self, Arguments& arguments)
{
    return parted(in, self, arguments, false);
}
static Value rpartition(Interpreter& in, const Value& self, Arguments& arguments)
{
    return parted(in, self, arguments, true);
}

static Value join(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("join", arguments, {"iterable"}, 1);
    Output out(in.heap);
    Iterator iterator(in.heap, p[0]);
    std::int64_t index = 0;
    for (Value item; iterator.next(item); ++index) {
        if (!item.is_string())
            fail_type("sequence item " + std::to_string(index) + ": expected str instance, " +
                      std::string(type_name(item)) + " found");
        if (index > 0)
            out.add(self.traced());
        out.add(item.traced());
    }
    return in.heap.string(out.take());
}

static Value replace(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("replace", arguments, {"old", "new", "count"}, 2);
    return in.heap.string(replaced(in.heap, self.traced(), p.text(0), p.traced(1), p.integer(2, -1)));
}

// ---- padding ----

static Value padded(Interpreter& in, const Value& self, const Parameters& p, bool left, bool right)
{
    const std::int64_t length = self.as<String>().length(), width = p.integer(0, 0);
    if (width <= length)
        return self;
    const TracedText space(" ");
    const TracedText& fill = p.given(1) ? p.traced(1) : space;
    in.heap.budget.spend_on_text(fill.bytes().size());
    if (unicode::length(fill.bytes()) != 1)
        fail_type("The fill character must be exactly one character long");
    in.heap.budget.check_repeated(fill.bytes().size(), std::uint64_t(width));
    const std::int64_t room = width - length;
    // Python puts the odd space to the left only where both the room and the width are odd.
    const std::int64_t before = left && right ? room / 2 + (room & width & 1) : left ? room : 0;
    TracedText out = fill.repeated(before);
    out.append(self.traced());
    out.append(fill.repeated(room - before));
    return in.heap.string(std::move(out));
}

static Value center(Interpreter& in, const Value& self, Arguments& arguments)
{
    return padded(in, self, Parameters("center", arguments, {"width", "fillchar"}, 1), true, true);
}
static Value ljust(Interpreter& in, const Value& self, Arguments& arguments)
{
    return padded(in, self, Parameters("ljust", arguments, {"width", "fillchar"}, 1), false, true);
}
static Value rjust(Interpreter& in, const Value& self, Arguments& arguments)
{
    return padded(in, self, Parameters("rjust", arguments, {"width", "fillchar"}, 1), true, false);
}

static Value zfill(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("zfill", arguments, {"width"}, 1);
    const std::int64_t length = self.as<String>().length(), width = p.integer(0, 0);
    if (width <= length)
        return self;
    in.heap.budget.check_string(std::uint64_t(width));
    const std::string_view text = self.text();
    const std::size_t sign = !text.empty() && (text[0] == '+' || text[0] == '-') ? 1 : 0;
    TracedText out = self.traced().part(text.substr(0, sign));
    out.append(std::string(std::size_t(width - length), '0'), kOtherText);
    out.append(self.traced(), text.substr(sign));
    return in.heap.string(std::move(out));
}

static Value expandtabs(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("expandtabs", arguments, {"tabsize"});
    const std::int64_t size = p.integer(0, 8);
    Output out(in.heap);
    std::int64_t column = 0;
    for (std::size_t at = 0; at < self.text().size();) {
        const std::size_t start = at;
        const char32_t c = unicode::next(self.text(), at);
        if (c == '\t' && size <= 0)
            continue;
        if (c == '\t') {
            const std::int64_t spaces = size - column % size;
            in.heap.budget.check_string(std::uint64_t(spaces));
            out.add(std::string(std::size_t(spaces), ' '));
            column += spaces;
            continue;
        }
        out.add(self.traced(), std::string_view(self.text()).substr(start, at - start));
        column = c == '\n' || c == '\r' ? 0 : column + 1;
    }
    return in.heap.string(out.take());
}

static Value format(Interpreter& in, const Value& self, Arguments& arguments)
{
    return in.heap.string(str_format(in, self.traced(), arguments));
}

const Method* find_string_method(std::string_view name)
{
    static constexpr Method kMethods[] = {
        {"strip", strip},
        {"split", split},
        {"lstrip", lstrip},
        {"rstrip", rstrip},
        {"replace", replace},
        {"join", join},
        {"upper", in_case<unicode::upper>},
        {"lower", in_case<unicode::lower>},
        {"title", in_case<unicode::title>},
        {"capitalize", in_case<unicode::capitalize>},
        {"casefold", in_case<unicode::lower>},
        {"swapcase", in_case<unicode::swapcase>},
        {"rsplit", rsplit},
        {"splitlines", splitlines},
        {"partition", partition},
        {"rpartition", rpartition},
        {"removeprefix", removeprefix},
        {"removesuffix", removesuffix},
        {"center", center},
        {"ljust", ljust},
        {"rjust", rjust},
        {"zfill", zfill},
        {"expandtabs", expandtabs},
        {"format", format},
    };
    for (const Method& method : kMethods)
        if (method.name == name)
            return &method;
    return nullptr;
}

}  // namespace engine::jinja
