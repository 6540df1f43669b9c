// CallForms lists how families of models write calls of tools, as rules of a grammar.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace server {

/// Says how arguments are written that stand one by one, each after its name. All fields are GBNF, but for the two
/// marks.
struct ArgumentForm {
    std::string_view name;         // $NAME
    std::string_view text_open;    // of a text that stands as it is
    std::string_view text_close;   // a mark; empty: texts are JSON's
    std::string_view value_open;   // of all other values, which are JSON
    std::string_view value_close;  // a mark
    std::string_view behind;
    std::string_view between;
};

/// Says how a family writes calls. The texts are GBNF, but for `in_template` and `mark`. $NAME stands for the tool's
/// name, $QUOTED for the name in quotes, $ARGUMENTS for its arguments.
struct CallForm {
    std::string_view family;
    std::array<std::string_view, 2> in_template;  // words of chat templates that ask for calls of this form
    std::string_view mark;                        // before the calls; empty: an answer that begins with one has no text
    std::string_view head, call, between, tail;   // after the mark; `between` empty: only one call is possible
    const ArgumentForm* arguments = nullptr;      // null: the arguments are a JSON object
    // For answers with several parts: what may stand before all parts, before the mark, and before an answer. $THOUGHT
    // stands for any text up to the end of a part.
    std::string_view before = {}, before_mark = {}, before_answer = {};
};

std::span<const CallForm> call_forms();

/// Returns the form that this chat template asks for, or that of a JSON object where it asks for none.
const CallForm& form_of_calls(std::string_view chat_template);

}  // namespace server
