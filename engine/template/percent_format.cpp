// Python's % formatting.
#include "engine/template/format.h"

#include "engine/template/operators.h"
#include "engine/template/output.h"
#include "engine/template/text_of.h"

#include <algorithm>
#include <charconv>

namespace engine::jinja {

namespace {

/// Formats one string, and keeps track of the arguments that were used.
class PercentFormatter
{
public:
    PercentFormatter(Heap& heap, const TracedText& format, const Value& values)
        : heap_(heap)
        , traced_(format)
        , format_(format.bytes())
        , values_(values)
        , out_(heap)
    {
    }

    TracedText run()
    {
        while (at_ < format_.size()) {
            const std::size_t mark = std::min(format_.find('%', at_), format_.size());
            out_.add(traced_, format_.substr(at_, mark - at_));
            at_ = mark + 1;
            if (mark < format_.size())
                field();
        }
        // Python does not mind where arguments that can be indexed go unused, except text and tuples.
        const bool is_used = used_ > 0 || by_name_ || values_.is(Type::Dict) || values_.is(Type::List) ||
                             values_.is(Type::Range) || values_.is_undefined();
        if (values_.is(Type::Tuple) ? used_ < values_.as<List>().items.size() && !by_name_ : !is_used)
            fail_type("not all arguments converted during string formatting");
        return out_.take();
    }

private:
    char peek() const { return at_ < format_.size() ? format_[at_] : '\0'; }

    Value next_value()
    {
        if (!values_.is(Type::Tuple)) {
            if (used_++ > 0)
                fail_type("not enough arguments for format string");
            return values_;
        }
        const auto& items = values_.as<List>().items;
        if (used_ >= items.size())
            fail_type("not enough arguments for format string");
        return items[used_++];
    }

    Value named_value()
    {
        const std::size_t close = format_.find(')', at_);
        if (close == std::string_view::npos)
            throw TemplateError("incomplete format key");
        if (!values_.is(Type::Dict))
            fail_type("format requires a mapping");
        const std::string_view name = format_.substr(at_ + 1, close - at_ - 1);
        const Value* found = values_.as<Dict>().find(name);
        if (!found)
            throw TemplateError(quote(name));
        at_ = close + 1;
        by_name_ = true;
        return *found;
    }

    std::int64_t count()
    {
        constexpr std::int64_t kMost = 100'000'000;
        if (peek() == '*') {
            ++at_;
            const Value value = next_value();
            if (!value.is_integer())
                fail_type("* wants int");
            return std::clamp<std::int64_t>(value.as_integer(), -kMost, kMost);
        }
        std::int64_t value = 0;
        for (; peek() >= '0' && peek() <= '9'; ++at_)
            value = std::min(value * 10 + (peek() - '0'), kMost);
        return value;
    }

    void field()
    {
        FormatSpec spec;
        spec.align = '>';
        Value value;
        if (peek() == '(')
            value = named_value();
        bool zero = false, left = false;
        for (; std::string_view("-+ 0#").find(peek()) != std::string_view::npos && peek() != '\0'; ++at_) {
            left = left || peek() == '-';
            zero = zero || peek() == '0';
            spec.alternate = spec.alternate || peek() == '#';
            if (peek() == '+' || (peek() == ' ' && spec.sign != '+'))
                spec.sign = peek();
        }
        spec.width = count();
        if (spec.width < 0) {
            left = true;
            spec.width = -spec.width;
        }
        if (peek() == '.') {
            ++at_;
            spec.precision = std::max<std::int64_t>(count(), 0);
        }
        while (peek() == 'l' || peek() == 'h' || peek() == 'L')
            ++at_;
        const char type = peek();
        if (type == '\0')
            throw TemplateError("incomplete format");
        ++at_;
        if (left)
            spec.align = '<';
        else if (zero && type != 's' && type != 'r' && type != 'c') {
            spec.align = '=';
            spec.fill = "0";
        }
        if (type == '%')
            return out_.add("%");
        write(type, value.is_missing() ? next_value() : value, spec);
    }

    void write(char type, const Value& value, FormatSpec spec)
    {
        if (type == 's')
            return out_.add(format_text(heap_, traced_text(heap_, value), spec));
        if (type == 'r' || type == 'a')
            return out_.add(format_text(heap_, traced_repr(heap_, value), spec));
        if (type == 'c' && value.is_string())
            return out_.add(format_text(heap_, value.traced(), spec));
        if (value.is_undefined())
            fail_undefined(value);
        if (std::string_view("diuxXoceEfFgG").find(type) == std::string_view::npos)
            fail_character(type);
        if (!value.is_number())
            fail_type(std::string("%") + type + " format: a real number is required, not " +
                      std::string(type_name(value)));
        if (std::string_view("diuxXoc").find(type) != std::string_view::npos) {
            spec.type = type == 'i' || type == 'u' ? 'd' : type;
            return out_.add(format_integer(heap_, whole(value), spec));
        }
        spec.type = type;
        out_.add(format_float(heap_, value.as_real(), spec));
    }

    [[noreturn]] void fail_character(char type) const
    {
        char code[8];
        const auto end = std::to_chars(code, code + sizeof code, static_cast<unsigned char>(type), 16).ptr;
        throw TemplateError(std::string("unsupported format character '") + type + "' (0x" + std::string(code, end) +
                            ") at index " + std::to_string(at_ - 1));
    }

    static std::int64_t whole(const Value& value)
    {
        if (value.is_integer())
            return value.as_integer();
        if (!(value.as_real() > -9.2e18 && value.as_real() < 9.2e18))
            throw TemplateError("an integer does not fit 64 bits");
        return std::int64_t(value.as_real());
    }

    Heap& heap_;
    const TracedText& traced_;
    std::string_view format_;  // its bytes
    const Value& values_;
    Output out_;
    std::size_t at_ = 0;
    std::size_t used_ = 0;
    bool by_name_ = false;
};

}  // namespace

Value percent_format(Heap& heap, const Value& format, const Value& values)
{
    return heap.string(PercentFormatter(heap, format.traced(), values).run());
}

}  // namespace engine::jinja
