// GrammarText collects rules of a grammar in GBNF, for JSON Schemas and for texts up to a mark.
#pragma once

#include "app/server/fields.h"
#include "engine/answer_grammar.h"
#include "engine/result.h"

#include <set>
#include <string>
#include <string_view>

namespace server {

/// Returns GBNF that matches exactly this text.
std::string gbnf_text(std::string_view text);

/// All names of rules that it makes have a digit, so that they differ from a caller's without one.
class GrammarText
{
public:
    /// Begins with the rules of JSON: ws, string, number, value, object...
    GrammarText();

    void add(const std::string& name, const std::string& body) { rules_ += name + " ::= " + body + "\n"; }
    /// Adds a rule with this body, and returns its name.
    std::string rule(const std::string& body);

    // The most bytes of all schemas: a client that sends many must not keep the engine waiting.
    static constexpr std::size_t kMostSchemaBytes = 1 << 20;

    /// Returns the rule for JSON that follows the schema. BadRequest: a grammar cannot follow it, or there are too many
    /// schemas.
    engine::Result<std::string> schema(const Json& schema, engine::SchemaRigour rigour = engine::SchemaRigour::Strict);
    /// Adds rules that came from a schema, under a prefix of their own, and returns the name of their `root`.
    std::string root_of(const std::string& gbnf);

    /// Returns the rule for any text that ends with this mark and does not contain it before.
    std::string text_until(std::string_view mark);
    /// Returns the rule for any text in which the first mark, if there is one, is followed by the rule `then`. The text
    /// begins with none of the ASCII characters in `not_first`.
    std::string text_with(std::string_view mark, const std::string& then, std::string_view not_first = {});

    const std::string& rules() const { return rules_; }
    /// Says whether there are more rules than the engine takes, or more schemas than allowed, so that it is useless to
    /// add more.
    bool is_full() const { return schema_bytes_ > kMostSchemaBytes || rules_.size() > kMostSchemaBytes; }
    static engine::Result<std::string> too_many();

private:
    enum class End { Anywhere, AtMark };
    std::string scan(std::string_view mark, const std::string& then, End end, std::string_view not_first);
    std::string new_prefix() { return "r" + std::to_string(++prefixes_) + "-"; }

    std::string rules_;
    std::set<std::string> shared_;  // rules that all schemas have
    int prefixes_ = 0;
    std::size_t schema_bytes_ = 0;
};

}  // namespace server
