// Fields takes the fields of a JSON object that came from outside: each has its type and bounds, and the first that
// does not keep to them is the answer.
#pragma once

#include "app/server/refusal.h"

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace server {

using Json = nlohmann::ordered_json;

/// An object. What is nested too deeply, has too many members, is no JSON, or not UTF-8, is refused.
tl::expected<Json, Refusal> parse_body(std::string_view text);
/// Each name in an object is compared with those before it; so many compares take a fifth of a second.
constexpr std::int64_t kMostNameCompares = 1 << 25;

/// Reads JSON that stands in a string of the body, as the arguments of calls do. What parse_body() would refuse is
/// discarded. `compares`: how many compares of names the request's strings may still take; what this one takes is
/// subtracted.
Json parse_inner(std::string_view text, std::int64_t& compares);
/// Does the same for a text of its own.
Json parse_inner(std::string_view text);

/// Writes JSON as it goes out. Bytes that are no UTF-8 become U+FFFD.
std::string text_of(const Json& json);

/// A field that is absent or null is not there; what is no object has none. The object outlives it.
class Fields
{
public:
    explicit Fields(const Json& object)
        : object_(object)
    {
    }
    explicit Fields(const Json&&) = delete;

    /// Null: it is not there.
    const Json* find(const char* name) const;
    std::optional<std::string> text(const char* name);
    std::optional<bool> flag(const char* name);
    std::optional<double> number(const char* name, double least, double most);
    std::optional<std::int64_t> integer(const char* name, std::int64_t least, std::int64_t most);
    const Json* array(const char* name);
    const Json* object(const char* name);
    /// A text, or a list of texts.
    std::vector<std::string> texts(const char* name);

    /// Refuses a known field that cannot be done: whoever asks for it hears so. `idle`: what asks for nothing.
    void not_supported(const char* name, const Json& idle);

    /// Refuses the request; only the first refusal is kept.
    void refuse(const char* name, const std::string& sentence, Refusal::Kind kind = Refusal::Kind::BadRequest);
    const std::optional<Refusal>& refusal() const { return refusal_; }

private:
    const Json& object_;
    std::optional<Refusal> refusal_;
};

}  // namespace server
