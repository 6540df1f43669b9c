// TokenMasks says which tokens of a vocabulary may come next in a text that follows a grammar.
#pragma once

#include "engine/grammar/grammar_states.h"
#include "engine/grammar/token_trie.h"
#include "engine/result.h"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace engine {

/// A bit per token.
class TokenMask
{
public:
    explicit TokenMask(int num_vocab)
        : bits_((std::size_t(num_vocab) + 63) / 64)
    {
    }
    void allow(int id)
    {
        bits_[std::size_t(id) / 64] |= std::uint64_t(1) << id % 64;
        any_ = true;
    }
    /// Takes one token out of a mask in which others stay.
    void forbid(int id) { bits_[std::size_t(id) / 64] &= ~(std::uint64_t(1) << id % 64); }
    bool allows(int id) const { return bits_[std::size_t(id) / 64] >> id % 64 & 1; }
    bool any() const { return any_; }

private:
    std::vector<std::uint64_t> bits_;
    bool any_ = false;
};

/// A mask is found by one walk through the trie and kept for when the text comes to the same state again. One thread.
class TokenMasks
{
public:
    using State = GrammarStates::State;

    /// `ends`: the tokens that end a text.
    TokenMasks(Grammar grammar, std::shared_ptr<const TokenTrie> trie, std::vector<int> ends = {});
    TokenMasks(const TokenMasks&) = delete;  // states_ refers to grammar_
    TokenMasks& operator=(const TokenMasks&) = delete;

    GrammarStates& states() { return states_; }
    /// Returns the tokens whose whole text may come next, and those that end it where it may end; valid until the next
    /// call. BadRequest: the grammar is so ambiguous that it takes too long to say.
    Result<const TokenMask*> next(State state);
    /// Forgets states and masks where there are many; returns the state's new number.
    State tidy(State state) { return states_.count() < kManyStates ? state : forget_all_but(state); }
    State forget_all_but(State state);

private:
    static constexpr std::size_t kMostMasks = 256;
    static constexpr int kManyStates = 1 << 14;

    void walk(State state, TokenMask& mask);

    Grammar grammar_;
    GrammarStates states_;
    std::shared_ptr<const TokenTrie> trie_;
    std::vector<int> ends_;
    std::unordered_map<State, TokenMask> masks_;
    std::vector<State> way_;  // by depth
};

}  // namespace engine
