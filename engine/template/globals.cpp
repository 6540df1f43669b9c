// Global functions.
#include "engine/template/globals.h"

#include "engine/template/interpreter.h"
#include "engine/template/operators.h"
#include "engine/template/parameters.h"
#include "engine/template/strftime.h"
#include "engine/template/text_of.h"

namespace engine::jinja {

constexpr std::int64_t kLongestRange = 100'000;  // Jinja's sandbox has the same limit

static Value make_range(Interpreter& in, const Value&, Arguments& arguments)
{
    const Parameters p("range", arguments, {"start", "stop", "step"}, 1);
    const bool one = !p.given(1);
    const std::int64_t start = one ? 0 : p.integer(0, 0), stop = one ? p.integer(0, 0) : p.integer(1, 0);
    const std::int64_t step = p.integer(2, 1);
    if (step == 0)
        throw TemplateError("range() arg 3 must not be zero");
    Value range = in.heap.make<Range>(start, stop, step);
    if (range.as<Range>().length > kLongestRange || range.as<Range>().length < 0)
        throw TemplateError("Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000).");
    return range;
}

// dict(mapping or pairs, key=value ...)
static Value make_dict(Interpreter& in, const Value&, Arguments& arguments)
{
    Value result = in.heap.dict();
    auto& dict = result.as<Dict>();
    if (arguments.positional.size() > 1)
        fail_type("dict expected at most 1 argument, got " + std::to_string(arguments.positional.size()));
    if (!arguments.positional.empty()) {
        const Value& source = arguments.positional[0];
        if (source.is(Type::Dict)) {
            for (const Dict::Entry& entry : source.as<Dict>().entries())
                dict.set(entry.key, entry.value);
        } else {
            Iterator iterator(in.heap, source);
            for (Value pair; iterator.next(pair);) {
                const std::vector<Value> halves = collect(in.heap, pair);
                if (halves.size() != 2)
                    throw TemplateError("dictionary update sequence element has length " +
                                        std::to_string(halves.size()) + "; 2 is required");
                dict.set(halves[0], halves[1]);
            }
        }
    }
    for (const auto& [key, value] : arguments.named)
        dict.set(in.heap.string(key), value);
    return result;
}

static Value make_namespace(Interpreter& in, const Value& self, Arguments& arguments)
{
    Value result = in.heap.make<Namespace>();
    result.as<Namespace>().attributes = make_dict(in, self, arguments);
    return result;
}

static Value raise_exception(Interpreter& in, const Value&, Arguments& arguments)
{
    const Parameters p("raise_exception", arguments, {"message"}, 1);
    throw TemplateError(str_text(in.heap, p[0]), 0, true);
}

static Value strftime_now(Interpreter& in, const Value&, Arguments& arguments)
{
    const Parameters p("strftime_now", arguments, {"format"}, 1);
    const std::tm now = in.options().now ? *in.options().now : local_time_now();
    return in.heap.string(strftime(in.heap, p.text(0), now));
}

static Value make_cycler(Interpreter& in, const Value&, Arguments& arguments)
{
    if (arguments.positional.empty())
        throw TemplateError("at least one item has to be provided");
    return in.heap.make<Cycler>(std::move(arguments.positional));
}

static Value make_joiner(Interpreter& in, const Value&, Arguments& arguments)
{
    const Parameters p("joiner", arguments, {"sep"});
    return in.heap.make<Joiner>(p.given(0) ? p[0] : in.heap.string(", "));
}

Function::Body find_global(std::string_view name)
{
    static constexpr std::pair<std::string_view, Function::Body> kGlobals[] = {
        {"range", make_range},          {"dict", make_dict},
        {"namespace", make_namespace},  {"raise_exception", raise_exception},
        {"strftime_now", strftime_now}, {"cycler", make_cycler},
        {"joiner", make_joiner},
    };
    for (const auto& [known, body] : kGlobals)
        if (known == name)
            return body;
    return nullptr;
}

}  // namespace engine::jinja
