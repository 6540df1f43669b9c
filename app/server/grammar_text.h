// GrammarText collects rules of a grammar in GBNF: those of JSON Schemas, and of texts up to a mark.
#pragma once

#include "app/server/fields.h"
#include "engine/answer_grammar.h"
#include "engine/result.h"

#include <set>
#include <string>
#include <string_view>

namespace server {

/// GBNF of exactly this text.
std::string gbnf_text(std::string_view text);

/// The names of rules that it gives are unlike those of its caller as long as these have no digit.
class GrammarText
{
public:
    /// Begins with the rules of JSON: ws, string, number, value, object...
    GrammarText();

    void add(const std::string& name, const std::string& body) { rules_ += name + " ::= " + body + "\n"; }
    /// A rule of its own of this body; its name.
    std::string rule(const std::string& body);

    // Of schemas in all: whoever sends many must not keep the engine waiting.
    static constexpr std::size_t kMostSchemaBytes = 1 << 20;

    /// The rule of the JSON that follows the schema. BadRequest: it cannot be followed, or there have been too many.
    engine::Result<std::string> schema(const Json& schema, engine::SchemaRigour rigour = engine::SchemaRigour::Strict);
    /// The rule `root` of other rules, whose names then begin with another prefix. They come from a schema.
    std::string root_of(const std::string& gbnf);

    /// The rule of any text that ends with this mark and does not have it before.
    std::string text_until(std::string_view mark);
    /// Returns the rule of any text in which the first such mark is followed by the rule `then`; the text may end
    /// before the mark. It begins with none of these ASCII characters.
    std::string text_with(std::string_view mark, const std::string& then, std::string_view not_first = {});

    const std::string& rules() const { return rules_; }
    /// Says that there is more than the engine takes, or more schemas than may be: then it is no use to go on.
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
