// Cuts a template into tokens, with Jinja's rules for the space around blocks (trim_blocks and lstrip_blocks on).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace engine::jinja {

struct Token {
    enum class Kind : std::uint8_t {
        Text,           // outside of blocks
        VariableBegin,  // {{
        VariableEnd,    // }}
        BlockBegin,     // {%
        BlockEnd,       // %}
        Name,
        String,  // text holds the meaning, escapes resolved
        Integer,
        Float,
        Operator,  // text holds the symbol
        End,
    };

    Kind kind = Kind::End;
    int line = 1;
    std::string text;
    std::int64_t integer = 0;
    double real = 0;

    bool is_operator(std::string_view symbol) const { return kind == Kind::Operator && text == symbol; }
    bool is_name(std::string_view name) const { return kind == Kind::Name && text == name; }
};

/// Cuts a template into tokens, the last of which is always End. Throws TemplateError where the text is no template.
std::vector<Token> tokenize(const std::string& source);

/// Names the token as a reader would, for error sentences.
std::string describe(const Token& token);

}  // namespace engine::jinja
