// ModelPlacement keeps where a loaded model's layers and KV lie: on the host, and the first layers on a device. Layers
// move one at a time between steps, with their KV; when the device is lost, all goes on from the host.
#pragma once

#include "engine/engine.h"
#include "engine/exec/placement.h"
#include "engine/run/expert_moves.h"
#include "engine/run/experts_plan.h"
#include "engine/run/on_device.h"
#include "engine/run/placement_adaptation.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace engine {

/// Names the conversation whose KV comes back first when a device is changed between two steps.
struct KvInUse {
    std::vector<PageId> pages;
    int tokens = 0;
    std::vector<TokenRange> pins;
};

/// Holds the device that takes the place of the present one. Null: the host alone.
struct NextDevice {
    std::unique_ptr<OnDevice> device;
    PlacementOptions options;  // with which it was opened
};

class ModelPlacement
{
public:
    explicit ModelPlacement(const ModelOnHost& model);
    ~ModelPlacement();

    /// Opens the device that the options ask for; no layer lies there yet, but as many are wanted as the options say
    /// or as fit. Where it fails all stays on the host. Unsupported: the device cannot be used, or not for this model;
    /// DeviceFull, DeviceLost. Throws std::bad_alloc, std::system_error.
    Status open(const PlacementOptions& options, const StepLimits& limits);
    bool has_device() const { return on_device_ != nullptr; }
    /// Call it between steps. Changes to another device, or none, or the same one with another memory. It is opened at
    /// once, and where that fails nothing has changed; then advance() brings the layers home one after another, closes
    /// the old device and fills the new one. How KV is kept when it is full stays as it was chosen. SetDeviceLayers
    /// gives up a change whose old device is still there. Errors and exceptions as open().
    Status change_device(const PlacementOptions& wish, const StepLimits& limits, KvInUse in_use);

    /// Says where the step that was prepared last computes.
    const Placement& placement() const { return on_host_ ? host_ : split_; }

    /// Lays one more part of the host's weights out as its kernels are fastest, before a step does. False: all are.
    bool ready_host_part();

    /// Returns what has gone wrong on the device since finish().
    Status take_status() { return on_device_ ? on_device_->backend().take_status() : model_.cpu.take_status(); }

    /// Begins a turn, or goes on with one after a step of another. Columns that hold tokens of `pins` leave last.
    void begin_turn(std::vector<TokenRange> pins = {});
    void go_on(std::span<const TokenRange> pins);
    /// Ends the turn of the conversation with these pages. True: layers that left for it may come with advance().
    bool end_turn(std::span<const PageId> pages);
    /// Call them before and after a step; see KvPager. Layers that have just come home are laid out for the host first,
    /// which can take seconds: Cancelled, when `given_up` says meanwhile that nobody wants the step any more.
    Status prepare(const KvSequence& sequence, int first, int count, const std::function<bool()>& given_up);
    Status finish(const KvSequence& sequence, int first, int count);
    /// Call it after a step of one row. After every so many of them, what was measured may change what `auto` goes by.
    void note_step(const PlainStep& step, int context_tokens);

    /// Returns how many tokens of a step find room for their KV beside what stays; `rows` at most, one at least.
    int step_rows(int rows) const;

    // ---- changes that may be asked for at any time between steps; an error's sentence says why it cannot be ----

    /// Changes the wanted placement; layers and KV then move with advance(). BadRequest: there is no device, or the
    /// number cannot be.
    Status apply(const PlacementCommand& command);
    Status set_pins(const KvSequence& sequence, std::span<const TokenRange> pins);
    /// Sets the types of keys and values, those of earlier tokens, too: they are written anew on the host, and come
    /// back. Also where there is no device. Precondition: may_set_kv_types() agrees.
    void set_kv_types(kernels::KvType k_type, kernels::KvType v_type);
    /// Says whether keys and values may be kept so. Unsupported: the device's kernels read no such blocks.
    Status may_set_kv_types(kernels::KvType k_type, kernels::KvType v_type) const;

    /// Sets the machine's rates from now on. Without a device it makes no difference.
    void set_rates(std::shared_ptr<const MachineRates> rates);
    /// Waits until the device has computed. If it is lost, those find out who ask for its results.
    void wait_until_computed();
    /// Does one small part of the change to the wanted placement: a layer moves, or a column of KV comes back. False:
    /// all is as wanted, or nothing more fits.
    bool advance();
    /// Waits for what advance(), or a step, has put on its way.
    void settle();
    /// Makes room: what is missed least leaves the device, in the end the last layer. False: nothing is there.
    bool give_up_layer();
    /// Call it when the device does not answer: everything is on the host from now on.
    void lose(const Error& error);

    int layers() const { return on_device_ ? on_device_->layers() : 0; }
    /// Returns how many layers the step which was prepared last computes on the device.
    int step_device_layers() const { return on_host_ ? 0 : layers(); }
    int wanted_layers() const { return next_ ? 0 : wanted_; }  // a device that is being left is to hold none
    KvPolicy policy() const { return options_.kv_policy; }
    std::optional<DeviceTelemetry> telemetry() const;
    const OnDevice* device() const { return on_device_.get(); }  // null: there is none
    /// Says whether the host waits for KV on its way to the device: a GPU waits by itself, unseen by the host.
    bool host_waits_for_link() const { return !on_device_ || !on_device_->device().orders_itself(); }
    /// Says where the sequence's blocks lie, and its states; while kv_changes() is the same, so is the map.
    KvMap kv_map(const KvSequence& sequence) const;
    std::uint64_t kv_changes() const { return kv_changes_ + (on_device_ ? on_device_->kv_changes() : 0); }
    std::vector<Event> take_events();

private:
    struct CarryOut;  // carries out a command
    Result<NextDevice> open_next(const PlacementOptions& options, const StepLimits& limits) const;
    void adopt(std::unique_ptr<OnDevice> opened);
    void change_over();
    void close();
    void lay_out_kv();
    bool use_host_part();
    void drop_host_copies();
    void want_planned_layers();
    void let_experts_give_way(int columns);
    bool send_experts_home(Event::Cause cause);
    bool advance_experts();
    Status move_to_device(int l);
    void move_to_host(int l, Event::Cause cause);
    Result<std::int64_t> move_head();
    void go_by(const Assumptions& assumed);
    void begin_to_adapt();
    void relieve(Event::Cause cause);
    bool follow_other_programs();
    void want_again(int before, Event::Cause cause);
    void note(Event::Kind kind, Event::Cause cause, std::string sentence);

    ModelOnHost model_;
    PlacementOptions options_;
    std::unique_ptr<OnDevice> on_device_;             // null: all is on the host
    int wanted_ = 0;                                  // layers
    std::int64_t relieved_at_ = 0, lowest_mark_ = 0;  // high mark when steps were short or layers came; the least since
    int relieved_from_ = 0, given_up_from_ = 0;       // layers before programs, or conversations, took their room; or 0
    ExpertsPlan experts_;
    PlacementAdaptation adaptation_;
    std::optional<NextDevice> next_;  // comes when no layer lies on a device any more
    KvInUse in_use_;                  // the conversation whose KV comes back then
    DeviceTelemetry closed_;          // the counts of devices that were closed
    Placement host_, split_;
    bool on_host_ = true;                               // where the step that is being prepared computes
    Event::Cause returning_ = Event::Cause::Watermark;  // why blocks come back
    std::uint64_t kv_changes_ = 0;                      // changes that the device does not count
    std::vector<Event> events_;
    ExpertMoves expert_moves_{experts_, split_, events_};
};

}  // namespace engine
