// Fields reads the fields of a JSON object from a client: each has its type and bounds, and the first that violates
// them refuses the request.
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

/// Parses a request's body as an object. Refused: the text is nested too deeply, has too many members, is no JSON, or
/// not UTF-8.
tl::expected<Json, Refusal> parse_body(std::string_view text);
/// The most compares of names: each name in an object is compared with those before it, and so many compares take a
/// fifth of a second.
constexpr std::int64_t kMostNameCompares = 1 << 25;

/// Parses JSON in a string of the body, such as the arguments of calls. The result is_discarded() where parse_body()
/// would refuse. `compares`: how many compares of names the request's strings may still take; this string's are
/// subtracted.
Json parse_inner(std::string_view text, std::int64_t& compares);
/// Does the same for a text that has all compares for itself.
Json parse_inner(std::string_view text);

/// Returns JSON as text. Bytes that are no UTF-8 become U+FFFD.
std::string text_of(const Json& json);
/// Says whether it is a text of no length. An empty list or object is none.
bool is_empty_text(const Json& json);

/// A field that is absent or null counts as missing; a value that is no object has no fields. The object outlives this
/// one.
class Fields
{
public:
    explicit Fields(const Json& object)
        : object_(object)
    {
    }
    explicit Fields(const Json&&) = delete;

    /// Returns a field; null: it is missing.
    const Json* find(const char* name) const;
    std::optional<std::string> text(const char* name);
    std::optional<bool> flag(const char* name);
    std::optional<double> number(const char* name, double least, double most);
    std::optional<std::int64_t> integer(const char* name, std::int64_t least, std::int64_t most);
    const Json* array(const char* name);
    const Json* object(const char* name);
    /// Returns the texts of a field that is a text or a list of texts.
    std::vector<std::string> texts(const char* name);

    /// Refuses a known field whose wish cannot be fulfilled, so that the client learns of it. `idle`: the value that
    /// wishes nothing, which is accepted.
    void not_supported(const char* name, const Json& idle);

    /// Refuses the request; only the first refusal is kept.
    void refuse(const char* name, const std::string& sentence, Refusal::Kind kind = Refusal::Kind::BadRequest);
    const std::optional<Refusal>& refusal() const { return refusal_; }

private:
    const Json& object_;
    std::optional<Refusal> refusal_;
};

}  // namespace server
