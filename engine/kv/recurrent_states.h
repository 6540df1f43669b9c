// RecurrentStates keeps the states of recurrent layers in the host's memory: one for each sequence, written by every
// step, and checkpoints, which never change. A state has a fixed size, and unlike keys and values it cannot be cut: a
// sequence goes back only to a checkpoint, and what follows is computed again. For a step with drafted rows the state
// before it is kept, too; from that the rows that are accepted are computed again.
#pragma once

#include "engine/device/huge_array.h"
#include "engine/kv/kv_sequence.h"
#include "engine/result.h"
#include "engine/telemetry.h"

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace engine {

class DeviceStates;

/// Owned by the KV cache; the engine's thread calls it. A state that several own is not written: prepare() copies it
/// first.
class RecurrentStates
{
public:
    /// The most checkpoints of one sequence: the oldest goes first, but for that of its shared tokens.
    static constexpr int kMostCheckpoints = 6;
    /// The most states of one sequence: its own, that before drafted rows, and checkpoints.
    static constexpr int kMostOfSequence = 2 + kMostCheckpoints;

    /// `floats`: (layers,) of each layer's state, 0 where it has none. `limit`: states in all.
    RecurrentStates(const std::vector<int>& floats, int limit);

    /// Says whether the model has any recurrent layer. Without one nothing here does anything.
    bool any() const { return bytes_ > 0; }
    int num_layers() const { return int(floats_.size()); }
    /// Returns the bytes of one layer's state; 0: it keeps no state.
    std::size_t layer_bytes(int l) const { return std::size_t(floats_[std::size_t(l)]) * sizeof(float); }
    /// Returns the bytes of one state, all layers.
    std::size_t bytes() const { return bytes_; }
    int used() const { return int(slots_.size() - free_.size()); }
    /// Returns the bytes that states have, those of free ones included.
    std::int64_t allocated_bytes() const { return allocated_bytes_; }
    /// Sets what is called before a state gets memory: it says whether there may be this many bytes more.
    void ask_before_memory(std::function<bool(std::size_t)> may_take) { may_take_ = std::move(may_take); }
    /// Sets what is called where no state can be had: it says whether a sequence that nobody needs now has given
    /// something up.
    void ask_for_more(std::function<bool()> give_up) { give_up_ = std::move(give_up); }
    /// Gives the memory of one free state back to the system. False: none has any.
    bool give_up_free();

    /// Gives the sequence a state of its own for the next step: all zero at its beginning. NoMemory; the sequence is
    /// unchanged then, but for checkpoints that were given up.
    Status prepare(KvSequence& sequence);
    /// Returns the most tokens, `tokens` at most, after which there is a state to go back to.
    int reachable(const KvSequence& sequence, int tokens) const;
    /// Goes back to the state after reachable(tokens) tokens; returns that number. The sequence's tokens are not
    /// touched.
    int cut(KvSequence& sequence, int tokens);
    /// Makes a checkpoint of the sequence as it is. Where its state lies on a device that does not answer, or is lost,
    /// it makes none, and the next step finds that out. Throws std::bad_alloc; so does branch(), and nothing is shared
    /// then.
    void keep(KvSequence& sequence);
    /// Gives up the oldest checkpoint, that of the shared tokens last; drop_newest() the newest. Precondition: it has
    /// any.
    void drop_oldest(KvSequence& sequence);
    void drop_newest(KvSequence& sequence);
    /// Gives `to`, which has none, the state after reachable(tokens) tokens of `from` and the checkpoints before it;
    /// answers how many tokens that are.
    int branch(const KvSequence& from, int tokens, KvSequence& to);
    /// Call it after prepare(), where rows of the next step may be taken back: there is memory for the state before it
    /// until the sequence is cut to nothing, or forget_before(). NoMemory.
    Status keep_before(KvSequence& sequence);
    void forget_before(KvSequence& sequence) { give_back(sequence.before); }
    /// Says whether the sequence's state is that after all of its tokens.
    bool whole(const KvSequence& sequence) const { return sequence.state != kNoState && !at(sequence.state).damaged; }

    /// Notes that the sequence's state was written by a step that failed.
    void spoil(const KvSequence& sequence);

    /// Returns the state of one layer where the next step computes it: on the device, or on the host.
    float* layer(StateId state, int l) const;
    /// Does the same for the state before drafted rows. Precondition: keep_before().
    float* layer_before(const KvSequence& sequence, int l) const;
    /// Says where a layer's state is.
    Residency residency(StateId state, int l) const;
    /// Returns the state of one layer on the host, whether it is up to date or not.
    float* host_layer(StateId state, int l) const;

    /// Returns the host's bytes of all layers of a state.
    std::span<std::byte> host_bytes(StateId state) { return {at(state).memory.data(), bytes_}; }
    std::span<const std::byte> host_bytes(StateId state) const { return {at(state).memory.data(), bytes_}; }

    /// Lets states lie on this device, too, from now on; null: no longer. It belongs to the caller.
    void set_device(DeviceStates* device) { device_ = device; }
    void mark_damaged(StateId state) { slots_[std::size_t(state)].damaged = true; }

    /// Takes an empty state for what is read from a file; kNoState: there is no memory.
    StateId take();
    void give_back(StateId& state);

private:
    struct Slot {
        HugeArray memory;  // none until first used
        int owners = 0;
        bool damaged = false;
    };
    Slot& at(StateId state) { return slots_[std::size_t(state)]; }
    const Slot& at(StateId state) const { return slots_[std::size_t(state)]; }
    StateId share(StateId state);
    StateId take_free();

    std::vector<int> floats_;           // (layers,)
    std::vector<std::size_t> offsets_;  // (layers,) bytes from a state's start
    std::size_t bytes_ = 0;
    std::vector<Slot> slots_;
    std::vector<StateId> free_;
    std::int64_t allocated_bytes_ = 0;
    std::function<bool(std::size_t)> may_take_;
    std::function<bool()> give_up_;
    DeviceStates* device_ = nullptr;
};

}  // namespace engine
