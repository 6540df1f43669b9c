// ExpertCache keeps some routed experts of one layer in a device's memory, while all of the layer's lie on the host:
// those that tokens choose most at present. An expert that is not there is computed where it lies, so nothing waits for
// a copy. Copies are made while the device computes, one at a time over all layers.
#pragma once

#include "engine/device/vram.h"
#include "engine/model/expert_slots.h"
#include "engine/model/weights.h"

#include <cstdint>
#include <vector>

namespace engine {

/// One expert's matrices. The gate is empty where `up` is both, or where there is none.
struct ExpertMatrices {
    Matrix gate, up, down;
};

/// Returns the matrices of one expert of the layer.
ExpertMatrices expert_of(const LayerWeights& w, int expert);

/// The copy that is on its way, of all layers' caches of a device.
struct ExpertTraffic {
    Device::Ticket newest = 0;
};

/// Owned by OnDevice; the layer's weights on the host outlive it. The engine's thread calls it.
class ExpertCache
{
public:
    /// Returns the bytes of the device that one expert of the layer takes.
    static std::int64_t slot_bytes(const LayerWeights& w);

    /// Makes room for `places` of the layer's experts, of which none is there yet. DeviceFull, DeviceLost. Throws
    /// std::bad_alloc.
    static Result<ExpertCache> make(Vram& vram, ExpertTraffic& traffic, const LayerWeights& on_host, int experts,
                                    int places);
    ExpertCache(ExpertCache&& other) noexcept;
    ExpertCache& operator=(ExpertCache&&) = delete;
    ~ExpertCache();

    int places() const { return slots_.places(); }
    bool has(int expert) const { return slots_.slot_of(expert) != ExpertSlots::kNone; }
    std::int64_t bytes() const { return std::int64_t(bytes_); }
    /// Uses of experts in steps, each expert of a step counted once.
    std::int64_t hits() const { return hits_; }
    std::int64_t misses() const { return misses_; }

    /// Hits and uses in steps of one token since nearly all places were filled: what an answer finds.
    struct Settled {
        std::int64_t hits = 0, uses = 0;
    };
    const Settled& settled() const { return settled_; }

    /// Lets a copy that has arrived be used from now on. A step that asks more than once where experts lie calls it
    /// before.
    void take_arrived();
    /// Begins a step of this many tokens that computes the layer.
    void begin_step(int tokens);
    /// Notes that this many of the step's tokens have chosen the expert. Returns where it lies on the device; null: it
    /// does not.
    const ExpertMatrices* use(int expert, int tokens);
    /// Returns where the copy of an expert begins on the device; null: it has none. Its matrices follow each other
    /// there as in within_slot().
    DevicePtr place_of(int expert) const;
    /// Returns one expert's matrices, with `data` counted in bytes from the beginning of its copy: null for the first
    /// matrix.
    static ExpertMatrices within_slot(const LayerWeights& w);
    /// Begins to copy the expert for which that pays most, where the link is idle. False: none began. on_host: the
    /// layer's weights, which stay there until the copy has ended. A device that is lost here is noticed by the next
    /// step.
    bool refill(const LayerWeights& on_host);

private:
    ExpertCache(Vram& vram, ExpertTraffic& traffic, DevicePtr memory, std::size_t slot_bytes, int experts, int places);

    Vram* vram_;
    ExpertTraffic* traffic_;
    DevicePtr memory_;
    std::size_t slot_bytes_, bytes_;
    ExpertSlots slots_;
    std::vector<ExpertMatrices> in_slot_;  // (places,)
    ExpertSlots::Change coming_;           // the copy on its way; no expert: there is none
    Device::Ticket ticket_ = 0;            // of that copy
    std::int64_t hits_ = 0, misses_ = 0;
    Settled settled_;
    bool settling_ = true;  // the step has several tokens, or there are places to fill
};

}  // namespace engine
