#include "engine/kv/recurrent_states.h"

#include "engine/kv/device_states.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

namespace engine {

namespace {

constexpr std::size_t kLayerAlignment = 64;

}  // namespace

RecurrentStates::RecurrentStates(const std::vector<int>& floats, int limit)
    : floats_(floats)
{
    for (const int of_layer : floats_) {
        offsets_.push_back(bytes_);
        bytes_ += (std::size_t(of_layer) * sizeof(float) + kLayerAlignment - 1) / kLayerAlignment * kLayerAlignment;
    }
    slots_.resize(any() ? std::size_t(limit) : 0);
    for (StateId state = StateId(slots_.size()) - 1; state >= 0; --state)
        free_.push_back(state);
}

StateId RecurrentStates::take()
{
    StateId state = take_free();
    while (state == kNoState && give_up_ && give_up_())
        state = take_free();
    return state;
}

StateId RecurrentStates::take_free()
{
    if (free_.empty())
        return kNoState;
    const StateId state = free_.back();
    Slot& slot = at(state);
    if (!slot.memory && may_take_ && !may_take_(bytes_))
        return kNoState;
    try {
        if (slot.memory) {
            std::memset(slot.memory.data(), 0, bytes_);
        } else {
            slot.memory = HugeArray(bytes_);
            allocated_bytes_ += std::int64_t(bytes_);
        }
    } catch (const std::bad_alloc&) {
        return kNoState;
    }
    free_.pop_back();
    slot.owners = 1;
    slot.damaged = false;
    return state;
}

bool RecurrentStates::give_up_free()
{
    const auto found = std::ranges::find_if(free_, [this](StateId state) { return bool(at(state).memory); });
    if (found == free_.end())
        return false;
    at(*found).memory = {};
    allocated_bytes_ -= std::int64_t(bytes_);
    return true;
}

StateId RecurrentStates::share(StateId state)
{
    ++at(state).owners;
    return state;
}

void RecurrentStates::give_back(StateId& state)
{
    if (state == kNoState)
        return;
    const StateId given = std::exchange(state, kNoState);
    assert(at(given).owners > 0);
    if (--at(given).owners > 0)
        return;
    if (device_)
        device_->forget(given);
    free_.push_back(given);
}

void RecurrentStates::drop_oldest(KvSequence& sequence)
{
    auto oldest = std::ranges::find_if(sequence.checkpoints, [&](const StateCheckpoint& checkpoint) {
        return checkpoint.tokens != sequence.shared_tokens;
    });
    if (oldest == sequence.checkpoints.end())
        oldest = sequence.checkpoints.begin();
    give_back(oldest->state);
    sequence.checkpoints.erase(oldest);
}

Status RecurrentStates::prepare(KvSequence& sequence)
{
    const auto has_own = [&] { return sequence.state != kNoState && at(sequence.state).owners == 1; };
    if (!any() || has_own())
        return {};
    StateId own = take();  // may make another sequence give up its share of this one's state
    while (own == kNoState && !has_own()) {
        if (sequence.checkpoints.empty())
            return fail(Error::Code::NoMemory, "no memory is left for the states of the model's recurrent layers");
        drop_oldest(sequence);  // the state that the next step needs comes before checkpoints
        own = has_own() ? kNoState : take();
    }
    if (own == kNoState)
        return {};
    if (sequence.state != kNoState) {
        std::memcpy(at(own).memory.data(), at(sequence.state).memory.data(), bytes_);
        if (device_)
            device_->rename(sequence.state, own);
        give_back(sequence.state);
    }
    sequence.state = own;
    return {};
}

Status RecurrentStates::keep_before(KvSequence& sequence)
{
    if (sequence.before == kNoState)
        sequence.before = take();
    if (sequence.before == kNoState)
        return fail(Error::Code::NoMemory, "no memory is left to draft tokens beside the model's recurrent layers");
    return {};
}

int RecurrentStates::reachable(const KvSequence& sequence, int tokens) const
{
    if (!any() || (tokens >= sequence.length() && whole(sequence)))
        return std::min(tokens, sequence.length());
    for (auto checkpoint = sequence.checkpoints.rbegin(); checkpoint != sequence.checkpoints.rend(); ++checkpoint)
        if (checkpoint->tokens <= tokens)
            return checkpoint->tokens;
    return 0;
}

int RecurrentStates::cut(KvSequence& sequence, int tokens)
{
    const int left = reachable(sequence, tokens);
    if (!any() || (left > 0 && left == sequence.length() && whole(sequence)))
        return left;
    while (!sequence.checkpoints.empty() && sequence.checkpoints.back().tokens > left) {
        give_back(sequence.checkpoints.back().state);
        sequence.checkpoints.pop_back();
    }
    give_back(sequence.state);
    if (left > 0)
        sequence.state = share(sequence.checkpoints.back().state);
    else
        forget_before(sequence);
    return left;
}

void RecurrentStates::keep(KvSequence& sequence)
{
    if (!any() || !whole(sequence) || sequence.length() == 0)
        return;
    if (!sequence.checkpoints.empty() && sequence.checkpoints.back().tokens == sequence.length())
        return;
    if (device_ && !device_->send_home(sequence.state))
        return;
    if (int(sequence.checkpoints.size()) == kMostCheckpoints)
        drop_oldest(sequence);
    sequence.checkpoints.reserve(kMostCheckpoints);  // storing a state that is shared cannot fail then
    sequence.checkpoints.push_back({sequence.length(), share(sequence.state)});
}

void RecurrentStates::drop_newest(KvSequence& sequence)
{
    give_back(sequence.checkpoints.back().state);
    sequence.checkpoints.pop_back();
}

int RecurrentStates::branch(const KvSequence& from, int tokens, KvSequence& to)
{
    if (!any())
        return tokens;
    const bool to_its_end = tokens == from.length() && whole(from) && (!device_ || device_->send_home(from.state));
    to.checkpoints.reserve(from.checkpoints.size());  // storing states that are shared cannot fail then
    for (const StateCheckpoint& checkpoint : from.checkpoints)
        if (checkpoint.tokens <= tokens)
            to.checkpoints.push_back({checkpoint.tokens, share(checkpoint.state)});
    if (to_its_end) {
        to.state = share(from.state);
        return tokens;
    }
    if (to.checkpoints.empty())
        return 0;
    to.state = share(to.checkpoints.back().state);
    return to.checkpoints.back().tokens;
}

void RecurrentStates::spoil(const KvSequence& sequence)
{
    if (sequence.state != kNoState)
        at(sequence.state).damaged = true;
}

float* RecurrentStates::host_layer(StateId state, int l) const
{
    return reinterpret_cast<float*>(at(state).memory.data() + offsets_[std::size_t(l)]);
}

float* RecurrentStates::layer(StateId state, int l) const
{
    float* const device = device_ ? device_->layer(state, l) : nullptr;
    return device ? device : host_layer(state, l);
}

float* RecurrentStates::layer_before(const KvSequence& sequence, int l) const
{
    float* const device = device_ ? device_->layer_before(sequence.state, l) : nullptr;
    return device ? device : host_layer(sequence.before, l);
}

Residency RecurrentStates::residency(StateId state, int l) const
{
    const bool there = device_ && state != kNoState && device_->layer(state, l);
    return there ? Residency::Device : Residency::Host;
}

}  // namespace engine
