// JsonMembers reads the members of a JSON object one by one, while its text comes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace server {

inline constexpr std::string_view kJsonBlank = " \t\r\n";

/// Returns the length of the object or array that the text begins with; empty: it is not whole yet.
std::optional<std::size_t> json_bytes(std::string_view text);

/// Says whether the text begins with an object as JSON allows; empty: more text is needed to tell.
std::optional<bool> begins_json_object(std::string_view text);

/// Finds only where values begin and end, and does not check whether they are valid JSON. The text outlives this
/// object.
class JsonMembers
{
public:
    enum class Next { Member, End, NotYet, Broken };

    /// Reads the members of a text that begins with '{'.
    explicit JsonMembers(std::string_view text)
        : text_(text)
    {
    }

    /// Reads on. Member: key() is whole, value() as far as it has come.
    Next next();

    std::string_view key() const { return key_; }
    std::string_view value() const { return value_; }
    bool value_is_whole() const { return is_whole_; }
    std::size_t bytes_read() const { return at_; }

private:
    std::optional<std::size_t> string_bytes(std::size_t quote) const;
    std::optional<std::size_t> value_bytes(std::size_t at) const;

    const std::string_view text_;
    std::size_t at_ = 1;
    bool begun_ = false;
    std::string_view key_, value_;
    bool is_whole_ = false;
};

}  // namespace server
