#include "engine/grammar/token_masks.h"

#include <utility>

namespace engine {

TokenMasks::TokenMasks(Grammar grammar, std::shared_ptr<const TokenTrie> trie, std::vector<int> ends)
    : grammar_(std::move(grammar))
    , states_(grammar_)
    , trie_(std::move(trie))
    , ends_(std::move(ends))
    , way_(std::size_t(trie_->depth()) + 1)
{
}

void TokenMasks::walk(State state, TokenMask& mask)
{
    const auto nodes = trie_->nodes();
    way_[0] = state;
    for (std::size_t at = 0; at < nodes.size();) {
        const TokenTrie::Node& node = nodes[at];
        const State after = states_.after(way_[std::size_t(node.depth)], node.byte);
        if (after == GrammarStates::kDead) {
            at = std::size_t(node.after);
            continue;
        }
        way_[std::size_t(node.depth) + 1] = after;
        for (const int id : trie_->ids(node))
            mask.allow(id);
        ++at;
    }
}

Result<const TokenMask*> TokenMasks::next(State state)
{
    if (const auto known = masks_.find(state); known != masks_.end())
        return &known->second;
    if (masks_.size() >= kMostMasks)
        masks_.clear();
    TokenMask mask(trie_->vocabulary_size());
    states_.allow_more_work();
    walk(state, mask);
    if (states_.may_end(state))
        for (const int id : ends_)
            mask.allow(id);
    if (states_.gave_up())
        return fail(Error::Code::BadRequest, "the grammar can be read in so many ways at once that it takes too long");
    return &masks_.emplace(state, std::move(mask)).first->second;
}

TokenMasks::State TokenMasks::forget_all_but(State state)
{
    masks_.clear();
    return states_.forget_all_but(state);
}

}  // namespace engine
