#include "app/server/unquoted_calls.h"

#include "app/server/json_calls.h"
#include "app/server/loose_values.h"

#include <optional>
#include <utility>

namespace server {

namespace {

/// Reads the arguments of NAME(key=value, ...), from behind the name on.
std::optional<Json> pythons_arguments(LooseValues& values)
{
    Json arguments = Json::object();
    if (!values.take("("))
        return std::nullopt;
    while (!values.take(")")) {
        if (!arguments.empty() && !values.take(","))
            return std::nullopt;
        const auto key = values.name();
        auto value = key && values.take("=") ? values.value() : std::nullopt;
        if (!value)
            return std::nullopt;
        arguments[*key] = std::move(*value);
    }
    return arguments;
}

}  // namespace

ReadCalls read_gemma_call(const CallBody& body)
{
    LooseValues values(body.text);
    const bool begins = values.take("call") && values.take(":");
    auto name = begins ? values.name() : std::nullopt;
    auto arguments = name ? values.value() : std::nullopt;
    if (arguments && arguments->is_object())
        return {ReadCalls::Found::Calls, {{std::move(*name), text_of(*arguments)}}, values.bytes_read()};
    return !arguments && values.ran_out() ? calls_not_yet() : no_calls();
}

ReadCalls read_python_calls(const CallBody& body)
{
    LooseValues values(body.text);
    if (!values.take("["))
        return no_calls();
    if (values.take("{"))
        return read_json_calls(body);
    ReadCalls read{ReadCalls::Found::Calls};
    while (!values.take("]")) {
        const bool goes_on = read.calls.empty() || values.take(",");
        auto name = goes_on ? values.name() : std::nullopt;
        auto arguments = name ? pythons_arguments(values) : std::nullopt;
        if (!arguments)
            return values.ran_out() ? calls_not_yet() : no_calls();
        read.calls.push_back({std::move(*name), text_of(*arguments)});
    }
    read.bytes = values.bytes_read();
    return read.calls.empty() ? no_calls() : read;
}

}  // namespace server
