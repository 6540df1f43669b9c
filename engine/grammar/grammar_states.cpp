#include "engine/grammar/grammar_states.h"

#include <algorithm>

namespace engine {

GrammarStates::GrammarStates(const Grammar& grammar)
    : grammar_(grammar)
{
    reset();
}

void GrammarStates::reset()
{
    steps_.clear();
    infos_.clear();
    places_.clear();
    state_of_hash_.clear();
    returns_.assign(1, {});
    returns_of_.clear();

    (void)intern();  // kDead
    enter(grammar_.start(), 0);
    start_ = intern();
}

std::span<const GrammarStates::Place> GrammarStates::places(State state) const
{
    const Info& info = infos_[std::size_t(state)];
    return std::span(places_).subspan(info.first, std::size_t(info.count));
}

GrammarStates::State GrammarStates::after(State state, std::string_view text)
{
    for (const char byte : text)
        state = after(state, std::uint8_t(byte));
    return state;
}

GrammarStates::State GrammarStates::find_step(State state, std::uint8_t byte)
{
    for (int i = 0; i < infos_[std::size_t(state)].count; ++i) {
        const Place place = places(state)[std::size_t(i)];
        const GrammarNode& node = grammar_.node(place.node);
        ++work_;
        if (grammar_.reads(node, byte))
            enter(node.next, place.returns);
    }
    const State next = intern();
    steps_[std::size_t(state)][byte] = next;
    return next;
}

GrammarStates::Returns GrammarStates::push(int node, Returns outer)
{
    const std::uint64_t key = std::uint64_t(node) << 32 | std::uint32_t(outer);
    const auto [at, is_new] = returns_of_.try_emplace(key, Returns(returns_.size()));
    if (is_new)
        returns_.push_back({node, outer});
    return at->second;
}

/// Walks from a node to all places where a byte is read next. The walk ends, since no rule begins with itself.
void GrammarStates::enter(int node, Returns returns)
{
    const auto visit = [this](int at, Returns to) {
        const Place place{at, to};
        if (seen_.insert(place.key()).second)
            todo_.push_back(place);
    };
    visit(node, returns);
    while (!todo_.empty()) {
        const Place place = todo_.back();
        todo_.pop_back();
        if (++work_ > kMostWork || found_.size() > kMostPlaces || returns_.size() > kMostMemory) {
            gave_up_ = true;
            todo_.clear();
            return;
        }
        const GrammarNode& at = grammar_.node(place.node);
        switch (at.kind) {
        case GrammarNode::Kind::Bytes:
            found_.push_back(place);
            break;
        case GrammarNode::Kind::Call:
            // A call at the end of a rule has nothing to return to: so lists that call themselves stay in one state.
            visit(at.other, grammar_.returns(at.next) ? place.returns : push(at.next, place.returns));
            break;
        case GrammarNode::Kind::Split:
            visit(at.next, place.returns);
            visit(at.other, place.returns);
            break;
        case GrammarNode::Kind::Return:
            if (place.returns == 0)
                may_end_ = true;
            else
                visit(returns_[std::size_t(place.returns)].node, returns_[std::size_t(place.returns)].outer);
            break;
        case GrammarNode::Kind::Jump:
            break;
        }
    }
}

/// Returns the number of the state that was entered.
GrammarStates::State GrammarStates::intern()
{
    std::ranges::sort(found_, {}, &Place::key);
    std::size_t hash = may_end_;
    for (const Place& place : found_)
        hash = (hash ^ (std::size_t(place.node) << 24 ^ std::size_t(place.returns))) * 0x9E3779B97F4A7C15U;

    State state = kUnknown;
    const auto [first, last] = state_of_hash_.equal_range(hash);
    for (auto at = first; at != last; ++at)
        if (infos_[std::size_t(at->second)].may_end == may_end_ && std::ranges::equal(places(at->second), found_))
            state = at->second;
    if (state == kUnknown && (int(infos_.size()) >= kMostStates || places_.size() > kMostMemory))
        gave_up_ = true;
    if (gave_up_)
        state = kDead;
    if (state == kUnknown) {
        state = State(infos_.size());
        infos_.push_back({places_.size(), int(found_.size()), may_end_});
        places_.insert(places_.end(), found_.begin(), found_.end());
        steps_.emplace_back().fill(found_.empty() ? kDead : kUnknown);
        state_of_hash_.emplace(hash, state);
    }
    found_.clear();
    seen_.clear();
    may_end_ = false;
    return state;
}

GrammarStates::State GrammarStates::forget_all_but(State state)
{
    const auto kept = places(state);
    const std::vector<Place> old_places(kept.begin(), kept.end());
    const std::vector<Return> old_returns = returns_;
    const bool old_may_end = may_end(state);
    reset();

    for (Place place : old_places) {
        std::vector<int> nodes;
        for (Returns at = place.returns; at != 0; at = old_returns[std::size_t(at)].outer)
            nodes.push_back(old_returns[std::size_t(at)].node);
        place.returns = 0;
        for (auto node = nodes.rbegin(); node != nodes.rend(); ++node)
            place.returns = push(*node, place.returns);
        found_.push_back(place);
    }
    may_end_ = old_may_end;
    return intern();
}

}  // namespace engine
