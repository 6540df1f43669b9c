// OnDevice holds the part of a model that lies on a device: the device, all that manages its memory, and the first
// layers.
#pragma once

#include "engine/device/emulated_device.h"
#include "engine/exec/cuda_backend.h"
#include "engine/exec/expert_ring.h"
#include "engine/kv/device_states.h"
#include "engine/kv/kv_pager.h"
#include "engine/machine_rates.h"
#include "engine/model/device_weights.h"
#include "engine/model/expert_cache.h"
#include "engine/plan/columns.h"
#include "engine/plan/device_choice.h"
#include "engine/run/model_on_host.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace engine {

/// Holds a layer whose experts may lie elsewhere.
struct LayerOnDevice {
    DeviceLayer rest;
    std::optional<DeviceLayer> experts = {};
    LayerWeights weights = {};  // of both parts, wherever they are
    std::optional<ExpertCache> cache = {};
    bool has_experts() const { return bool(rest.weights().router); }
};

/// Owned by ModelPlacement, which decides what is to lie there.
class OnDevice
{
public:
    /// Opens the device that the options ask for, not the CPU; nothing of the model lies there yet. Unsupported: it
    /// cannot be used, or not for this model; DeviceFull, DeviceLost. Throws std::bad_alloc, std::system_error.
    static Result<std::unique_ptr<OnDevice>> open(const ModelOnHost& model, const PlacementOptions& options,
                                                  const StepLimits& limits);

    std::string id() const { return std::string(device_->id()); }
    bool is_gpu() const { return cuda_ != nullptr; }
    Backend& backend() { return cuda_ ? static_cast<Backend&>(*cuda_) : model_.cpu; }  // what computes there
    const Device& device() const { return *device_; }
    EmulatedDevice* emulated() { return emulated_; }  // null: it is not emulated
    CudaBackend* cuda() { return cuda_.get(); }       // null: it is no GPU
    Vram& vram() { return *vram_; }
    const Vram& vram() const { return *vram_; }
    KvPager& pager() { return *pager_; }
    const KvPager& pager() const { return *pager_; }
    DeviceStates& states() { return *states_; }
    DeviceLayout& layout() { return layout_; }

    int layers() const { return int(layers_.size()); }
    /// The weights stay at their address until the layer goes.
    const LayerWeights& layer(int l) const { return layers_[std::size_t(l)].weights; }
    /// Says whether the layer has routed experts, and they lie on the host.
    bool experts_on_host(int l) const { return layers_[std::size_t(l)].has_experts() && !has_experts_of(l); }
    bool has_experts_of(int l) const { return layers_[std::size_t(l)].experts.has_value(); }  // and they lie here
    int layers_without_experts() const;  // whose experts lie on the host
    const DeviceHead* head() const { return head_ ? &*head_ : nullptr; }

    /// Copies the next layer's weights to the device, its routed experts where they are asked for; returns their bytes.
    /// DeviceFull, DeviceLost.
    Result<std::int64_t> copy_layer(bool with_experts);
    /// Copies the routed experts of a layer to the device; returns their bytes. Errors as copy_layer().
    Result<std::int64_t> copy_experts(int l);
    /// Gives up the device's experts of a layer, which the host computes from then on; returns their bytes.
    std::int64_t drop_experts(int l);
    /// Finds the host's copies of the layer's experts again after they have moved.
    void find_experts_on_host(int l) { join_parts(l); }
    /// Makes or gives back room for copies of experts in one layer. False: all have what they should, where this
    /// many layers, from the first on, leave their experts on the host. DeviceFull, DeviceLost.
    Result<bool> lay_out_expert_cache(int host_expert_layers);
    /// Makes or gives back the ring that experts come through, as the layers need it. False: it is as it should be.
    /// DeviceFull: it finds no room, and is not tried again before try_rings_again(). DeviceLost.
    Result<bool> lay_out_expert_ring();
    bool has_expert_ring() const { return expert_ring_->places() > 0; }
    void drop_expert_ring();
    /// Drops copies at once of layers that have more of them than they should.
    void drop_larger_expert_caches(int host_expert_layers);
    /// Returns the copies of the layer's experts. Null: there are none.
    const ExpertCache* expert_cache(int l) const;
    /// Returns how much more often than by chance recent answers have found copies; see expected_hits(). Empty: too few
    /// tokens were seen.
    std::optional<double> observed_skew() const;
    bool has_expert_cache() const { return vram_->used(Vram::Use::ExpertCache) > 0; }
    void wait_until_computed() { (void)device_->finish_work(); }
    void settle();  // waits for KV and copies of experts that are on their way
    /// Copies the head's weights, after those of the last layer; returns their bytes. Errors as copy_layer().
    Result<std::int64_t> copy_head();
    /// Drops the last layer, and with it the head; returns their bytes.
    std::int64_t drop_layer();

    /// Returns the placement that these options and what the device has free ask for, without its layers.
    PlannedPlacement placement(const PlacementOptions& options) const;
    /// Returns how many layers a plan with these options has, whatever lies there now.
    int planned_layers(const PlacementOptions& options) const;
    /// Chooses what is to lie there of this many layers, beside this many block columns of a conversation, with
    /// `most_copies` bytes of copies of experts at most. The copies have the room that it says from now on.
    DeviceChoice plan(const PlacementOptions& options, int layers, int columns, std::int64_t most_copies);
    /// Returns how many tokens of a step find room for their KV beside what stays; `rows` at most, one at least.
    int step_rows(int rows) const;

    /// Sets the machine's rates from now on; null: none are known. `errors`: how far off they are in steps.
    void use_rates(const MachineRates* rates, const RateErrors& errors = {});
    /// Makes the ring. False: not even a block finds room, and the device cannot do without.
    bool make_ring();
    /// Call it when there may be more room: the ring grows as the layout asks for, and that of experts is tried again.
    void try_rings_again();
    Status send_kv_home();  // all blocks go to the host
    /// Lays blocks out in the sizes that the cache's have from now on. Precondition: none is there.
    void lay_out_kv();
    void attach();  // the cache keeps blocks here from now on
    /// Returns what went wrong with experts on their way since this was last called.
    Status take_ring_status() { return expert_ring_->take_status(); }
    std::uint64_t kv_changes() const { return kv_->changes() + states_->changes(); }  // of KV and states

    DeviceTelemetry telemetry() const;  // all but the wanted placement

private:
    explicit OnDevice(const ModelOnHost& model);
    Status open_emulated(const PlacementOptions& options, const StepLimits& limits);
    Status open_cuda(const PlacementOptions& options, const StepLimits& limits);
    DeviceRates rates_of(const MachineRates* rates) const { return rates_of(rates, id()); }
    DeviceRates rates_of(const MachineRates* rates, const std::string& device_id) const;
    void plan_expert_ring(const MachineRates* rates, const DeviceRates& device);
    int expert_ring_places() const;

    Result<DeviceLayer> copy_part(int l, LayerPart part);
    void join_parts(int l);
    void drop_cache(int l);
    const LayerWeights& source_of_copies(int l) const;

    ModelOnHost model_;
    DeviceLayout layout_;
    std::unique_ptr<Device> device_;
    EmulatedDevice* emulated_ = nullptr;  // device_, where it is emulated
    std::unique_ptr<Vram> vram_;
    std::unique_ptr<CudaBackend> cuda_;
    std::string cuda_name_;  // of a GPU, with its driver
    std::unique_ptr<DeviceKv> kv_;
    std::unique_ptr<KvStream> stream_;
    std::unique_ptr<ExpertRing> expert_ring_;
    bool expert_ring_refused_ = false;
    std::unique_ptr<KvPager> pager_;
    std::unique_ptr<DeviceStates> states_;
    int longest_step_ = 0;  // tokens
    ExpertTraffic expert_traffic_;
    std::int64_t expert_hits_ = 0, expert_misses_ = 0;  // of caches that are gone
    std::optional<double> skew_before_;                 // of caches that are gone
    std::deque<LayerOnDevice> layers_;                  // the first of the model's
    std::optional<DeviceHead> head_;                    // there with the last layer, if it found room
};

}  // namespace engine
