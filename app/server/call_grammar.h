// CallGrammar writes the rules that hold an answer to calls of tools, in the form of the model's family.
#pragma once

#include "app/server/ask.h"
#include "app/server/call_forms.h"
#include "app/server/grammar_text.h"
#include "engine/result.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace server {

/// Replaces the grammar of the answer, which is empty or came from a schema, by that of an answer that may or must be
/// calls. Does nothing where no rules are needed, as where no function is strict. BadRequest: a strict function's
/// schema cannot be followed in this form.
engine::Status add_call_rules(Ask& ask, std::string_view chat_template);

/// Checks whether a grammar can follow the parameters of a function; BadRequest says what cannot be followed.
engine::Status check_parameters(const Json& function);

class CallGrammar
{
public:
    CallGrammar(const Ask& ask, const CallForm& form)
        : ask_(ask)
        , form_(form)
    {
    }
    /// Writes the grammar for the tools that may be called, as in OpenAI's requests.
    engine::Result<std::string> write(const std::vector<Json>& tools);

private:
    using Text = engine::Result<std::string>;

    Text call_of(const Json& function);
    Text arguments_of(const Json& function);
    Text members_of(const Json& function, const Json& parameters);
    Text member(const Json& function, const Json& parameters, const std::string& name, const Json& schema);
    std::string any_member();
    std::string in_order(const std::vector<std::pair<std::string, bool>>& members, const std::string& others);
    std::string calls(const std::string& call);
    std::string root(const std::string& calls);
    std::string root_without_mark(const std::string& calls);
    std::string text_value();

    const Ask& ask_;
    const CallForm& form_;
    GrammarText text_;
    std::string text_rule_, any_member_rule_;  // empty until they are used
};

}  // namespace server
