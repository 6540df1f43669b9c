// GrammarStates follows a text through a Grammar, byte by byte, and remembers every state and step it has seen.
#pragma once

#include "engine/grammar/grammar.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace engine {

/// A state is a number. It stands for all the places in the rules where the text may be, with the rules they return to.
/// So one can copy a state and go back to it; texts that may go on alike are in the same state. One thread.
class GrammarStates
{
public:
    using State = int;
    static constexpr State kDead = 0;  // no text that begins so follows the rules

    /// The grammar lives as long as this.
    explicit GrammarStates(const Grammar& grammar);

    State start() const { return start_; }
    /// Returns the state after one more byte.
    State after(State state, std::uint8_t byte)
    {
        const State known = steps_[std::size_t(state)][byte];
        return known != kUnknown ? known : find_step(state, byte);
    }
    State after(State state, std::string_view text);
    /// Says whether the text may end here.
    bool may_end(State state) const { return infos_[std::size_t(state)].may_end; }
    /// Says whether it may go on.
    bool may_go_on(State state) const { return infos_[std::size_t(state)].count > 0; }

    /// Says whether the rules have led to more places, states or work than anybody would wait for: then steps lead to
    /// kDead that should not.
    bool gave_up() const { return gave_up_; }
    /// Counts work from zero again.
    void allow_more_work() { work_ = 0; }
    /// Counts the states that are remembered.
    int count() const { return int(infos_.size()); }
    /// Forgets all states but this one and start(), which get other numbers; returns the new one of `state`.
    State forget_all_but(State state);

private:
    static constexpr State kUnknown = -1;
    static constexpr int kMostPlaces = 1 << 14;  // at once
    static constexpr int kMostStates = 1 << 16;
    static constexpr std::size_t kMostMemory = 1 << 22;  // places, and returns
    static constexpr int kMostWork = 1 << 24;            // nodes walked through

    /// A list of places to return to, the innermost first. 0: the text is over.
    using Returns = int;
    struct Return {
        int node = 0;
        Returns outer = 0;
    };
    /// Says where the text may be: before a Bytes node.
    struct Place {
        int node = 0;
        Returns returns = 0;
        bool operator==(const Place&) const = default;
        std::uint64_t key() const { return std::uint64_t(node) << 32 | std::uint32_t(returns); }
    };
    struct Info {
        std::size_t first = 0;  // of its places
        int count = 0;
        bool may_end = false;
    };

    State find_step(State state, std::uint8_t byte);
    State intern();
    void reset();
    void enter(int node, Returns returns);
    Returns push(int node, Returns outer);
    std::span<const Place> places(State state) const;

    const Grammar& grammar_;
    State start_ = kDead;
    bool gave_up_ = false;

    std::vector<std::array<State, 256>> steps_;  // by state and byte
    std::vector<Info> infos_;                    // by state
    std::vector<Place> places_;                  // of all states
    std::unordered_multimap<std::size_t, State> state_of_hash_;
    std::vector<Return> returns_;
    std::unordered_map<std::uint64_t, Returns> returns_of_;

    // The state that is being made.
    std::vector<Place> todo_, found_;
    std::unordered_set<std::uint64_t> seen_;
    bool may_end_ = false;
    int work_ = 0;
};

}  // namespace engine
