// GrammarBuilder joins the parts of rules to a Grammar, and refuses rules that nothing could follow.
#pragma once

#include "engine/grammar/character_set.h"
#include "engine/grammar/grammar.h"
#include "engine/result.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace engine {

/// Parts are built from the inside out. Rules may be used before they are defined.
class GrammarBuilder
{
public:
    /// Holds what is read from `first` on, up to `last`, a Jump that goes nowhere yet.
    struct Part {
        int first = -1;
        int last = -1;
    };

    Part nothing();
    Part character(const CharacterSet& set);
    /// Calls the rule of this name. `line`: where it is called.
    Part rule(std::string_view name, int line);
    Part then(Part a, Part b);
    Part either(Part a, Part b);
    /// Repeats a part at least and at most this many times; no `most`: without an end.
    Part repeat(Part part, int least, std::optional<int> most);

    /// Says whether nothing more may be added.
    bool full() const;

    /// Defines a rule. False: there is one of this name already.
    bool define(std::string_view name, Part part, int line);
    /// Returns the grammar, and uses the builder up. BadRequest: a rule is missing, begins with itself, or has no end.
    Result<Grammar> finish();

private:
    using Kind = GrammarNode::Kind;

    struct Rule {
        std::string name;
        int first = -1;  // -1: not defined
        int line = 0;    // where it is defined or else used first
    };

    int add(GrammarNode node);
    int add_set(const ByteSet& set);
    int index_of(std::string_view name, int line);
    Part call(int rule);
    int end_of_jumps(int node);
    void leave_out_jumps();
    Status check_defined() const;
    Status check_left_recursion() const;
    Status check_ends() const;
    std::vector<bool> nodes_that_end(bool without_bytes) const;
    std::vector<std::vector<int>> rules_at_beginnings() const;

    std::vector<GrammarNode> nodes_;  // a Call's `other` is the rule until finish()
    std::vector<ByteSet> sets_;
    std::vector<Rule> rules_;
    std::map<std::string, int, std::less<>> rule_of_;
    std::unordered_map<ByteSet, int> set_of_;
};

}  // namespace engine
