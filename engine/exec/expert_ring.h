// ExpertRing brings experts that lie on the host to a device for one step of many rows, matrix by matrix through a few
// places, in the order in which the step multiplies with them. A place is filled again once its matrix was used.
#pragma once

#include "engine/kv/kv_stream.h"
#include "engine/model/expert_costs.h"
#include "engine/model/weights.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace engine {

/// Owned by OnDevice, as are the weights that it reads; the engine's thread calls it.
class ExpertRing
{
public:
    /// Makes a ring for this many layers, with this many experts each. Throws std::bad_alloc.
    ExpertRing(Vram& vram, int layers, int experts);

    /// Steps of this many rows or fewer bring no experts, so that they wait for no copy.
    static constexpr int kFewRows = 16;

    // ---- between steps ----

    /// Takes places for matrices of this many bytes; fewer when the device has no more memory; 0 gives all back.
    int set_places(int count, std::size_t bytes) { return stream_.set_slots(count, bytes); }
    int places() const { return stream_.slot_count(); }
    /// Sets the costs by which choose() decides. Empty: the layer's experts are computed where they lie.
    void set_costs(int l, const std::optional<ExpertCosts>& costs) { costs_[std::size_t(l)] = costs; }
    /// Says whether a step of `rows` rows may bring experts of layer l.
    bool may_bring(int l, int rows) const { return rows > kFewRows && places() > 0 && costs_[std::size_t(l)]; }

    // ---- in a step, a layer ----

    /// Chooses, among the experts that this many rows have chosen, those that it pays to bring. rows: (experts,), 0 for
    /// experts that may not come. `from` has their matrices. Precondition: may_bring().
    void choose(int l, const LayerWeights& from, std::span<const int> rows);
    /// Begins to bring what was chosen: first all gates, where they are matrices of their own, then all ups, then all
    /// downs. Where the host's memory is not page-locked, it takes the time of copying as many matrices as there are
    /// places.
    void start();
    /// Returns the experts that were chosen, in the order of their numbers.
    std::span<const int> chosen() const { return chosen_; }
    /// Returns where the n-th matrix of all that come will be on the device.
    DevicePtr place_of(std::size_t n) const { return stream_.slot_of(n); }
    /// Takes the next matrices of the kind that is multiplied with now. What is computed from now on finds them on the
    /// device, or on the host where the device failed. Precondition: not all of that kind were taken.
    std::span<const std::byte* const> take();
    /// Call it when all matrices that were taken have been used, or are used by what was given to compute.
    void release() { stream_.release(); }
    /// Call it when the layer is computed, or given to compute.
    void end();

    std::int64_t brought_bytes() const { return brought_bytes_; }  // since it was made
    /// Returns what went wrong since this was last called.
    Status take_status() { return std::exchange(status_, {}); }

private:
    KvStream stream_;                                // of blocks that are matrices
    std::vector<std::optional<ExpertCosts>> costs_;  // (layers,)
    std::vector<int> chosen_;
    std::vector<const std::byte*> taken_;
    std::size_t used_ = 0;  // matrices of the layer, so far
    std::int64_t brought_bytes_ = 0;
    Status status_;
};

}  // namespace engine
