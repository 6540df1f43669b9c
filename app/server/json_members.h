// JsonMembers takes the members of a JSON object one by one, while its text comes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace server {

inline constexpr std::string_view kJsonBlank = " \t\r\n";

/// Returns how long the object or array is that the text begins with; nothing: it is not whole yet.
std::optional<std::size_t> json_bytes(std::string_view text);

/// Says whether an object begins here that JSON allows; nothing: it takes more text to say.
std::optional<bool> begins_json_object(std::string_view text);

/// Looks only at where a value begins and ends; whether JSON allows what stands in it is not said. The text outlives
/// it.
class JsonMembers
{
public:
    enum class Next { Member, End, NotYet, Broken };

    /// Reads the members of a text that begins with '{'.
    explicit JsonMembers(std::string_view text)
        : text_(text)
    {
    }

    /// Member: key() is there, and value() as far as it has come.
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
