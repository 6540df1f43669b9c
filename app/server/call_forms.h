// CallForms lists how families of models write calls of tools, as rules that hold them to it.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace server {

/// Arguments that stand one by one, each behind its name. All are GBNF, but for the two marks.
struct ArgumentForm {
    std::string_view name;         // $NAME
    std::string_view text_open;    // of a text that stands as it is
    std::string_view text_close;   // a mark; empty: texts are JSON's
    std::string_view value_open;   // of all else, which is JSON
    std::string_view value_close;  // a mark
    std::string_view behind;
    std::string_view between;
};

/// What is between the quotes is GBNF, but for the marks. $NAME is the tool's name, $QUOTED the same in quotes,
/// $ARGUMENTS what it is given.
struct CallForm {
    std::string_view family;
    std::array<std::string_view, 2> in_template;  // what chat templates say that ask for calls of this form
    std::string_view mark;                        // before the calls; empty: an answer that begins with one has no text
    std::string_view head, call, between, tail;   // behind it; no `between`: there is one call only
    const ArgumentForm* arguments = nullptr;      // null: they are a JSON object
    // Where an answer has several parts: what may stand before them all, before the mark, and before an answer.
    // $THOUGHT is any text up to where a part ends.
    std::string_view before = {}, before_mark = {}, before_answer = {};
};

std::span<const CallForm> call_forms();

/// The one that this chat template asks for, or a JSON object where it does not say.
const CallForm& form_of_calls(std::string_view chat_template);

}  // namespace server
