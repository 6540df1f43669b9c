// SchemaWriter turns a JSON Schema into the rules of a grammar.
#pragma once

#include "engine/answer_grammar.h"
#include "engine/grammar/schema_merge.h"
#include "engine/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace engine {

/// Each function returns an expression that can stand within another one as it is.
class SchemaWriter
{
public:
    SchemaWriter(Schema root, SchemaRigour rigour)
        : root_(std::move(root))
        , rigour_(rigour)
    {
    }
    Result<std::string> write();

private:
    using Text = Result<std::string>;

    Text schema(const Schema& given, int depth);
    bool may_copy(const Schema& s);
    bool is_used_up() const;
    Result<const Schema*> referred(const std::string& pointer) const;
    Text reference(const std::string& pointer, int depth);
    Text expanded(const Schema& s, int depth);
    Text choices(const Schema& s, const std::string& word, int depth);
    Text all_of(const Schema& s, int depth);
    Text of_type(const Schema& s, const std::string& type, int depth);
    Text object(const Schema& s, int depth);
    struct Member {
        std::string text;
        bool required = false;
    };
    std::optional<std::vector<std::string>> listed_names(const Schema& s);
    Result<std::vector<Member>> members(const Schema& s, const std::vector<std::string>& listed, int depth);
    Text other_members(const Schema& s, const std::vector<std::string>& names, int depth);
    std::string in_order(const std::vector<Member>& members, const std::string& others);
    Text array(const Schema& s, int depth);
    Status check_words(const Schema& s);
    static std::string type_by_words(const Schema& s);
    std::string name(const std::string& kind) { return kind + "-" + std::to_string(++names_); }
    void add_rule(const std::string& rule, const std::string& text) { rules_ += rule + " ::= " + text + "\n"; }

    Schema root_;
    const SchemaRigour rigour_;
    std::string rules_;
    std::map<std::string, std::string> rule_of_;  // of what is referred to
    int names_ = 0;
    int schemas_ = 0;
    std::int64_t work_ = 0;  // of copying schemas, in values
};

}  // namespace engine
