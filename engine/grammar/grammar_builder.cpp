#include "engine/grammar/grammar_builder.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

tl::unexpected<Error> fail_in(int line, const std::string& what)
{
    return fail(Error::Code::BadRequest, "line " + std::to_string(line) + " of the grammar: " + what);
}

}  // namespace

// ---- parts ----

int GrammarBuilder::add(GrammarNode node)
{
    nodes_.push_back(node);
    return int(nodes_.size()) - 1;
}

int GrammarBuilder::add_set(const ByteSet& set)
{
    const auto [at, is_new] = set_of_.try_emplace(set, int(sets_.size()));
    if (is_new)
        sets_.push_back(set);
    return at->second;
}

bool GrammarBuilder::full() const
{
    return int(nodes_.size()) > Grammar::kMostNodes || int(rules_.size()) > Grammar::kMostRules;
}

GrammarBuilder::Part GrammarBuilder::nothing()
{
    const int jump = add({Kind::Jump});
    return {jump, jump};
}

GrammarBuilder::Part GrammarBuilder::character(const CharacterSet& set)
{
    const int last = add({Kind::Jump});
    int first = -1;
    for (const CharacterSet::Spelling& spelling : set.spellings()) {
        int next = last;
        for (auto bytes = spelling.rbegin(); bytes != spelling.rend(); ++bytes)
            next = add({Kind::Bytes, next, -1, add_set(*bytes)});
        first = first < 0 ? next : add({Kind::Split, first, next});
    }
    if (first < 0)  // no character is in the set
        first = add({Kind::Bytes, last, -1, add_set({})});
    return {first, last};
}

int GrammarBuilder::index_of(std::string_view name, int line)
{
    const auto [at, is_new] = rule_of_.try_emplace(std::string(name), int(rules_.size()));
    if (is_new)
        rules_.push_back({std::string(name), -1, line});
    return at->second;
}

GrammarBuilder::Part GrammarBuilder::call(int rule)
{
    const int last = add({Kind::Jump});
    return {add({Kind::Call, last, rule}), last};
}

GrammarBuilder::Part GrammarBuilder::rule(std::string_view name, int line)
{
    return call(index_of(name, line));
}

GrammarBuilder::Part GrammarBuilder::then(Part a, Part b)
{
    nodes_[std::size_t(a.last)].next = b.first;
    return {a.first, b.last};
}

GrammarBuilder::Part GrammarBuilder::either(Part a, Part b)
{
    const int last = add({Kind::Jump});
    nodes_[std::size_t(a.last)].next = last;
    nodes_[std::size_t(b.last)].next = last;
    return {add({Kind::Split, a.first, b.first}), last};
}

/// Repeats a part. What is read more than once becomes a rule, so that it is built once however often it is read.
GrammarBuilder::Part GrammarBuilder::repeat(Part part, int least, std::optional<int> most)
{
    const bool many = least > 1 || most.value_or(0) > 1;
    std::optional<int> rule;
    if (many) {
        nodes_[std::size_t(part.last)] = {Kind::Return};
        rule = int(rules_.size());
        rules_.push_back({"", part.first, 0});
    }
    const auto once = [&] { return rule ? call(*rule) : part; };

    Part all = nothing();
    for (int i = 0; i < least; ++i)
        all = then(all, once());
    if (most == least)
        return all;
    if (!most && least == 1 && !rule) {  // x+ is x, and then back to it or on
        const int on = add({Kind::Jump});
        nodes_[std::size_t(part.last)].next = add({Kind::Split, part.first, on});
        return {all.first, on};
    }
    const int on = add({Kind::Jump});
    if (!most) {
        const Part again = once();
        const int split = add({Kind::Split, again.first, on});
        nodes_[std::size_t(again.last)].next = split;
        nodes_[std::size_t(all.last)].next = split;
        return {all.first, on};
    }
    for (int i = least; i < *most; ++i) {
        const Part again = once();
        nodes_[std::size_t(all.last)].next = add({Kind::Split, again.first, on});
        all.last = again.last;
    }
    nodes_[std::size_t(all.last)].next = on;
    return {all.first, on};
}

bool GrammarBuilder::define(std::string_view name, Part part, int line)
{
    Rule& rule = rules_[std::size_t(index_of(name, line))];
    if (rule.first >= 0)
        return false;
    nodes_[std::size_t(part.last)] = {Kind::Return};
    rule.first = part.first;
    rule.line = line;
    return true;
}

// ---- the whole ----

/// Returns the node to which Jumps lead from this one. There are no circles of Jumps alone: what is repeated begins
/// with a Split, and what is repeated zero times leads nowhere. All Jumps on the way lead to that node from now on, so
/// that a long way is walked once, not from each of its nodes.
int GrammarBuilder::end_of_jumps(int node)
{
    int end = node;
    while (nodes_[std::size_t(end)].kind == Kind::Jump && nodes_[std::size_t(end)].next >= 0)
        end = nodes_[std::size_t(end)].next;
    while (node != end)
        node = std::exchange(nodes_[std::size_t(node)].next, end);
    return end;
}

void GrammarBuilder::leave_out_jumps()
{
    for (GrammarNode& node : nodes_) {
        if (node.next >= 0)
            node.next = end_of_jumps(node.next);
        if (node.kind == Kind::Split)
            node.other = end_of_jumps(node.other);
    }
    for (Rule& rule : rules_)
        rule.first = end_of_jumps(rule.first);
}

Status GrammarBuilder::check_defined() const
{
    for (const Rule& rule : rules_)
        if (rule.first < 0)
            return fail_in(rule.line, "there is no rule '" + rule.name + "'");
    if (!rule_of_.contains("root"))
        return fail(Error::Code::BadRequest, "the grammar has no rule 'root', with which it would begin");
    return {};
}

/// Finds the nodes from which the rule can come to its end; `without_bytes`: without reading anything.
std::vector<bool> GrammarBuilder::nodes_that_end(bool without_bytes) const
{
    std::vector<std::vector<int>> asking(nodes_.size());  // the nodes whose answer depends on this one's
    std::vector<int> todo;
    for (int at = 0; at < int(nodes_.size()); ++at) {
        const GrammarNode& node = nodes_[std::size_t(at)];
        if (node.kind == Kind::Return)
            todo.push_back(at);
        if (node.next >= 0)
            asking[std::size_t(node.next)].push_back(at);
        if (node.kind == Kind::Split)
            asking[std::size_t(node.other)].push_back(at);
        if (node.kind == Kind::Call)
            asking[std::size_t(rules_[std::size_t(node.other)].first)].push_back(at);
    }
    std::vector<bool> ends(nodes_.size());
    const auto may_end = [&](const GrammarNode& node) {
        switch (node.kind) {
        case Kind::Bytes:
            return !without_bytes && sets_[std::size_t(node.set)].any() && ends[std::size_t(node.next)];
        case Kind::Call:
            return ends[std::size_t(node.next)] && ends[std::size_t(rules_[std::size_t(node.other)].first)];
        case Kind::Split:
            return ends[std::size_t(node.next)] || ends[std::size_t(node.other)];
        case Kind::Jump:
            return false;
        case Kind::Return:
            return true;
        }
        return false;
    };
    while (!todo.empty()) {
        const int at = todo.back();
        todo.pop_back();
        if (ends[std::size_t(at)] || !may_end(nodes_[std::size_t(at)]))
            continue;
        ends[std::size_t(at)] = true;
        todo.insert(todo.end(), asking[std::size_t(at)].begin(), asking[std::size_t(at)].end());
    }
    return ends;
}

Status GrammarBuilder::check_ends() const
{
    const std::vector<bool> ends = nodes_that_end(false);
    for (const Rule& rule : rules_)
        if (!rule.name.empty() && !ends[std::size_t(rule.first)])
            return fail_in(rule.line, "no text that follows the rule '" + rule.name + "' has an end");
    return {};
}

/// Finds, for each rule, the rules that its text may begin with.
std::vector<std::vector<int>> GrammarBuilder::rules_at_beginnings() const
{
    const std::vector<bool> empty = nodes_that_end(true);
    std::vector<std::vector<int>> beginnings(rules_.size());
    std::vector<bool> seen(nodes_.size());  // a node belongs to one rule
    for (std::size_t rule = 0; rule < rules_.size(); ++rule) {
        std::vector<int> todo = {rules_[rule].first};
        while (!todo.empty()) {
            const int at = todo.back();
            todo.pop_back();
            if (seen[std::size_t(at)])
                continue;
            seen[std::size_t(at)] = true;
            const GrammarNode& node = nodes_[std::size_t(at)];
            if (node.kind == Kind::Split)
                todo.insert(todo.end(), {node.next, node.other});
            if (node.kind != Kind::Call)
                continue;
            beginnings[rule].push_back(node.other);
            if (empty[std::size_t(rules_[std::size_t(node.other)].first)])
                todo.push_back(node.next);
        }
    }
    return beginnings;
}

/// Checks that no rule begins with itself: it would have to be read for ever before the first byte is.
Status GrammarBuilder::check_left_recursion() const
{
    const auto beginnings = rules_at_beginnings();
    enum class Seen : std::uint8_t { No, OnTheWay, Yes };
    std::vector<Seen> seen(rules_.size());
    struct Step {
        int rule = 0;
        std::size_t next = 0;  // of its beginnings
    };
    for (int first = 0; first < int(rules_.size()); ++first) {
        std::vector<Step> way;
        if (seen[std::size_t(first)] == Seen::No)
            way.push_back({first});
        while (!way.empty()) {
            Step& step = way.back();
            seen[std::size_t(step.rule)] = Seen::OnTheWay;
            if (step.next == beginnings[std::size_t(step.rule)].size()) {
                seen[std::size_t(step.rule)] = Seen::Yes;
                way.pop_back();
                continue;
            }
            const int rule = beginnings[std::size_t(step.rule)][step.next++];
            if (seen[std::size_t(rule)] == Seen::No) {
                way.push_back({rule});
            } else if (seen[std::size_t(rule)] == Seen::OnTheWay) {
                const Rule* named = &rules_[std::size_t(rule)];
                for (; named->name.empty(); way.pop_back())  // what is repeated lies within a named one
                    named = &rules_[std::size_t(way.back().rule)];
                return fail_in(named->line, "the rule '" + named->name +
                                                "' begins with itself, so that nothing could ever be read; put what "
                                                "is read first in front");
            }
        }
    }
    return {};
}

Result<Grammar> GrammarBuilder::finish()
{
    if (const Status ok = check_defined(); !ok)
        return tl::unexpected(ok.error());
    leave_out_jumps();
    if (const Status ok = check_ends(); !ok)
        return tl::unexpected(ok.error());
    if (const Status ok = check_left_recursion(); !ok)
        return tl::unexpected(ok.error());

    Grammar grammar;
    for (GrammarNode& node : nodes_)
        if (node.kind == Kind::Call)
            node.other = rules_[std::size_t(node.other)].first;
    grammar.start_ = rules_[std::size_t(rule_of_.find("root")->second)].first;
    grammar.nodes_ = std::move(nodes_);
    grammar.sets_ = std::move(sets_);
    return grammar;
}

}  // namespace engine
