// Grammar holds the rules that a text must follow, as a machine that reads the text's UTF-8 bytes. Immutable once made.
#pragma once

#include "engine/result.h"

#include <bitset>
#include <cstdint>
#include <string_view>
#include <vector>

namespace engine {

using ByteSet = std::bitset<256>;

/// A step of the machine. Nodes and sets are named by their index.
struct GrammarNode {
    enum class Kind : std::uint8_t {
        Bytes,   // reads one byte of the set, then goes to next
        Call,    // reads what a rule, which begins at `other`, asks for, then goes to next
        Split,   // goes to next and to `other`
        Jump,    // goes to next; none is left in a Grammar
        Return,  // the rule is over
    };
    Kind kind = Kind::Return;
    int next = -1;
    int other = -1;
    int set = -1;

    bool operator==(const GrammarNode&) const = default;
};

class Grammar
{
public:
    // What a text of rules may have at most: a file from elsewhere must not take all memory, nor all time.
    static constexpr std::size_t kMostText = 1 << 20;  // bytes
    static constexpr int kMostNodes = 1 << 18;
    static constexpr int kMostRules = 1 << 14;  // and groups
    static constexpr int kMostDepth = 64;       // groups within groups
    static constexpr int kMostRepeats = 4096;   // the numbers in {m,n}

    /// Reads llama.cpp's GBNF, of which the rule "root" is what a text must be. BadRequest names the line of a mistake.
    static Result<Grammar> parse(std::string_view gbnf);

    const GrammarNode& node(int index) const { return nodes_[std::size_t(index)]; }
    int node_count() const { return int(nodes_.size()); }
    int start() const { return start_; }
    bool reads(const GrammarNode& node, std::uint8_t byte) const { return sets_[std::size_t(node.set)][byte]; }
    /// Says whether a rule is over at this node, whatever follows.
    bool returns(int index) const { return node(index).kind == GrammarNode::Kind::Return; }

private:
    friend class GrammarBuilder;

    std::vector<GrammarNode> nodes_;
    std::vector<ByteSet> sets_;
    int start_ = -1;
};

}  // namespace engine
