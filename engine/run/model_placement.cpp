#include "engine/run/model_placement.h"

#include "engine/layer_move.h"
#include "engine/metrics/clock.h"
#include "engine/plan/columns.h"
#include "engine/plan/model_costs.h"
#include "engine/run/events.h"
#include "engine/run/placement_checks.h"
#include "engine/run/placement_commands.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace engine {

namespace {

/// "f16", or "q8_0 and f16" for keys and values.
std::string names_of(const kernels::KvBlockLayout& block)
{
    const auto name = [](kernels::KvType type) { return std::string(name_of(kv_type(type))); };
    return block.k_type == block.v_type ? name(block.k_type) : name(block.k_type) + " and " + name(block.v_type);
}

/// Takes over those options that a change of the device chooses anew; the others stay as they are.
void take_device(const PlacementOptions& from, PlacementOptions& to)
{
    to.device = from.device;
    to.cuda_ordinal = from.cuda_ordinal;
    to.emulated = from.emulated;
    to.device_layers = from.device_layers;
    to.host_expert_layers = from.host_expert_layers;
    to.host_experts_first = from.host_experts_first;
    to.tensor_overrides = from.tensor_overrides;
    to.expert_cache_bytes = from.expert_cache_bytes;
    to.vram_budget_bytes = from.vram_budget_bytes;
    to.budget_fit_tokens = from.budget_fit_tokens;
}

bool same_device(const PlacementOptions& a, const PlacementOptions& b)
{
    if (a.device != b.device)
        return false;
    return a.device == PlacementOptions::Device::Cuda ? a.cuda_ordinal == b.cuda_ordinal : a.emulated == b.emulated;
}

/// Returns the room that is needed before something comes back: a layer, if there were more, or else the experts of
/// one.
std::int64_t room_for_more(const DeviceLayout& layout, int layers, int before)
{
    if (layers < before)
        return layout.layer(layers).weights;
    std::int64_t experts = 0;
    for (int l = 0; l < layers; ++l)
        experts = std::max(experts, layout.layer(l).experts);
    return experts;
}

std::string device_name(const OnDevice* device)
{
    return device ? device->id() : "cpu";
}

Status check_device(const OnDevice* device)
{
    if (!device)
        return fail(Error::Code::BadRequest, "the model is computed on the cpu alone: it has no device");
    return {};
}

}  // namespace

ModelPlacement::ModelPlacement(const ModelOnHost& model)
    : model_(model)
    , adaptation_(model)
    , host_(model.host_weights, model.cpu)
    , split_(model.host_weights, model.cpu)
{
}

ModelPlacement::~ModelPlacement()
{
    model_.cache.set_device(nullptr, nullptr);
}

// ---- a device is opened, changed, closed ----

Status ModelPlacement::open(const PlacementOptions& options, const StepLimits& limits)
{
    options_ = options;
    auto opened = open_next(options, limits);
    if (!opened)
        return tl::unexpected(opened.error());
    adopt(std::move(opened->device));
    return {};
}

/// Opens the device. Nothing of the model moves, and what is open now stays as it is.
Result<NextDevice> ModelPlacement::open_next(const PlacementOptions& options, const StepLimits& limits) const
{
    if (options.device == PlacementOptions::Device::Cpu)
        return NextDevice{nullptr, options};
    if (Status ok = check(options); !ok)
        return tl::unexpected(ok.error());
    auto opened = OnDevice::open(model_, options, limits);
    if (!opened)
        return tl::unexpected(opened.error());
    return NextDevice{std::move(*opened), options};
}

/// Takes an opened device: from now on layers may move there.
void ModelPlacement::adopt(std::unique_ptr<OnDevice> opened)
{
    if (!opened)
        return;
    on_device_ = std::move(opened);
    on_device_->vram().set_watermark(options_.watermark);
    on_device_->pager().set_policy(options_.kv_policy);
    on_device_->pager().set_offload_share(options_.kv_offload_share);
    begin_to_adapt();
    on_device_->attach();
    want_planned_layers();
}

Status ModelPlacement::change_device(const PlacementOptions& wish, const StepLimits& limits, KvInUse in_use)
{
    PlacementOptions options = options_;
    take_device(wish, options);
    if (Status ok = check(options); !ok)
        return ok;
    if (on_device_ ? same_device(options_, wish) : wish.device == PlacementOptions::Device::Cpu) {
        next_.reset();
        options_ = options;
        if (!on_device_)
            return {};
        (void)apply(SetVramBudget{limit_bytes(options, on_device_->layout())});
        (void)apply(SetHostExperts{options.host_expert_layers});
        return apply(SetDeviceLayers{options.device_layers});
    }
    auto opened = open_next(options, limits);
    if (!opened)
        return tl::unexpected(opened.error());
    next_.emplace(std::move(*opened));
    in_use_ = std::move(in_use);
    return {};
}

/// Changes the device, now that all layers are on the host, and with them all KV.
void ModelPlacement::change_over()
{
    Event event = make_event(Event::Kind::DeviceChanged, device_name(on_device_.get()) + " → ");
    event.cause = Event::Cause::User;
    events_ = take_events();  // earlier events come first
    NextDevice next = std::move(*std::exchange(next_, std::nullopt));
    close();
    take_device(next.options, options_);
    adopt(std::move(next.device));
    if (on_device_) {
        // Some pages may have been given back since, with the conversation's end or for want of memory.
        const auto free = [this](PageId page) { return model_.cache.owners(page) == 0; };
        in_use_.pages.erase(std::ranges::find_if(in_use_.pages, free), in_use_.pages.end());
        lay_out_kv();  // the types of KV may have changed since
        on_device_->pager().begin_turn(in_use_.pins);
        on_device_->pager().use(in_use_.pages, in_use_.tokens);
    }
    returning_ = Event::Cause::User;
    event.duration_us = now_us() - event.time_us;
    event.sentence += device_name(on_device_.get());
    events_.push_back(std::move(event));
}

void ModelPlacement::lose(const Error& error)
{
    on_device_->pager().mark_lost();
    on_device_->states().mark_lost();
    events_ = take_events();
    close();
    note(Event::Kind::DeviceLost, Event::Cause::DeviceLost, error.what + "; the model goes on from the host's memory");
}

void ModelPlacement::close()
{
    kv_changes_ = kv_changes() + 1;
    if (on_device_) {
        const DeviceTelemetry last = on_device_->telemetry();
        closed_.to_device_bytes += last.to_device_bytes;
        closed_.to_host_bytes += last.to_host_bytes;
        closed_.expert_hits += last.expert_hits;
        closed_.expert_misses += last.expert_misses;
        closed_.expert_streamed_bytes += last.expert_streamed_bytes;
    }
    model_.cache.set_device(nullptr, nullptr);
    split_ = Placement(model_.host_weights, model_.cpu);
    on_device_.reset();
    wanted_ = 0;
    experts_.set_host_layers(0);
    experts_.try_copies_again();
    on_host_ = true;
}

// ---- a step ----

int ModelPlacement::step_rows(int rows) const
{
    return on_device_ ? on_device_->step_rows(rows) : rows;
}

void ModelPlacement::begin_turn(std::vector<TokenRange> pins)
{
    returning_ = Event::Cause::Watermark;  // what was asked for before has come
    experts_.begin_turn();
    if (!on_device_)
        return;
    if (!adaptation_.goes_by_rates(options_) && experts_.learn(*on_device_, options_) && !options_.expert_cache_bytes &&
        !next_)
        want_planned_layers();
    on_device_->pager().begin_turn(std::move(pins));
}

void ModelPlacement::go_on(std::span<const TokenRange> pins)
{
    if (on_device_)
        on_device_->pager().go_on(pins);
}

bool ModelPlacement::end_turn(std::span<const PageId> pages)
{
    if (!on_device_)
        return false;
    on_device_->pager().end_turn(pages);
    return given_up_from_ > 0;
}

Status ModelPlacement::prepare(const KvSequence& sequence, int first, int count, const std::function<bool()>& given_up)
{
    on_host_ = !on_device_ || (options_.kv_policy == KvPolicy::CpuDecode && count == 1);
    const int block = model_.cache.block_tokens();
    if (on_device_)
        let_experts_give_way((first + count + block - 1) / block);
    while (use_host_part())
        if (given_up())
            return fail(Error::Code::Cancelled, "the step was stopped");
    if (!on_device_)
        return {};
    if (model_.cache.states().any())
        if (Status ok = on_host_ ? on_device_->states().leave_all() : on_device_->states().enter(sequence.state); !ok)
            return ok;
    return on_host_ ? on_device_->pager().prepare_on_host(sequence, first, count)
                    : on_device_->pager().prepare(sequence, first, count);
}

Status ModelPlacement::finish(const KvSequence& sequence, int first, int count)
{
    if (!on_device_)
        return {};
    Status done;
    if (!on_host_)
        done = on_device_->backend().take_status();
    if (const Status ring = on_device_->take_ring_status(); done && !on_host_)
        done = ring;
    if (done && !on_host_)
        done = on_device_->pager().finish(sequence, first, count);
    CudaBackend* const cuda = on_device_->cuda();
    if (std::string warning = cuda ? cuda->take_warning() : std::string(); !warning.empty())
        note(Event::Kind::Warning, Event::Cause::None, std::move(warning));
    return done;
}

void ModelPlacement::note_step(const PlainStep& step, int context_tokens)
{
    if (next_ || on_host_ || !on_device_ || !adaptation_.goes_by_rates(options_))
        return;
    auto decided = adaptation_.note_step(*on_device_, options_, experts_, context_tokens, step);
    if (!decided)
        return;
    go_by(adaptation_.assumed());
    events_.push_back(std::move(*decided));
}

void ModelPlacement::go_by(const Assumptions& assumed)
{
    on_device_->use_rates(options_.rates.get(), assumed.errors);
    if (options_.expert_skew.value_or(kExpectedSkew) == assumed.expert_skew)
        return;
    options_.expert_skew = assumed.expert_skew;
    if (!options_.expert_cache_bytes)
        want_planned_layers();
}

/// Begins to adapt anew: nothing was seen yet of what the rates say.
void ModelPlacement::begin_to_adapt()
{
    adaptation_.begin(*on_device_, options_);
    on_device_->use_rates(options_.rates.get());
}

bool ModelPlacement::ready_host_part()
{
    on_host_ = !on_device_ || options_.kv_policy == KvPolicy::CpuDecode;
    return use_host_part();
}

/// Lays out one more part of what the step that is being prepared computes on the host, as its kernels are fastest.
/// False: all parts are laid out.
bool ModelPlacement::use_host_part()
{
    ThreadPool& pool = model_.cpu.pool();
    const int first = on_host_ ? 0 : layers();
    for (int l = first; l < model_.host_weights.layers(); ++l)
        if (model_.host_weights.use_layer(l, LayerPart::Whole, pool)) {
            if (l < layers())
                on_device_->find_experts_on_host(l);
            return true;
        }
    for (int l = 0; l < first; ++l)
        if (on_device_->experts_on_host(l) && model_.host_weights.use_layer(l, LayerPart::Experts, pool)) {
            on_device_->find_experts_on_host(l);
            return true;
        }
    return placement().head_on_host() && model_.host_weights.use_head(model_.cpu.pool());
}

/// Gives back the host's copies of weights that only the device reads.
void ModelPlacement::drop_host_copies()
{
    if (options_.kv_policy == KvPolicy::CpuDecode)
        return;  // the host computes it, too
    for (int l = 0; l < layers(); ++l)
        model_.host_weights.drop_layer(l,
                                       on_device_->experts_on_host(l) ? LayerPart::WithoutExperts : LayerPart::Whole);
    if (on_device_->head())
        model_.host_weights.drop_head();
}

// ---- layers move ----

void ModelPlacement::wait_until_computed()
{
    if (on_device_)
        on_device_->wait_until_computed();
}

bool ModelPlacement::advance()
{
    if (next_ && layers() == 0) {
        change_over();
        return true;
    }
    if (!on_device_)
        return false;
    on_device_->pager().trim_windows();
    if (follow_other_programs())
        return true;
    if (given_up_from_ > 0 && !next_ && !on_device_->pager().others_in_use())
        want_again(std::exchange(given_up_from_, 0), Event::Cause::Watermark);
    if (layers() > wanted_layers()) {
        move_to_host(layers() - 1, Event::Cause::Split);
        return true;
    }
    if (send_experts_home(Event::Cause::Split))
        return true;
    if (layers() < wanted_layers()) {
        if (const Status moved = move_to_device(layers()); !moved) {
            if (moved.error().code == Error::Code::DeviceLost) {
                lose(moved.error());
                return false;
            }
            note(Event::Kind::Warning, Event::Cause::Split,
                 "only " + std::to_string(layers()) + " of the " + std::to_string(wanted_) +
                     " layers asked for find room on the device " + on_device_->id());
            relieved_from_ = std::max(relieved_from_, wanted_);  // another program may have been faster
            lowest_mark_ = on_device_->vram().high_mark();
            wanted_ = layers();
        }
        return true;
    }
    return advance_experts() || (on_device_ && on_device_->pager().bring_back(returning_));
}

bool ModelPlacement::send_experts_home(Event::Cause cause)
{
    if (!expert_moves_.send_home(*on_device_, cause))
        return false;
    drop_host_copies();
    return true;
}

/// Does one small part of the wanted change of experts. False: all is as wanted, or the device is gone.
bool ModelPlacement::advance_experts()
{
    auto changed = expert_moves_.bring(*on_device_);
    if (changed && *changed)
        drop_host_copies();
    else if (changed)
        changed = expert_moves_.lay_out_rooms(*on_device_);
    if (!changed)
        lose(changed.error());
    return changed.value_or(false);
}

void ModelPlacement::settle()
{
    if (on_device_)
        on_device_->settle();
}

Status ModelPlacement::move_to_device(int l)
{
    Event event = make_event(Event::Kind::LayerMove, layer_moved(l, Residency::Device));
    event.cause = Event::Cause::Split;
    event.layer = l;
    const auto bytes = on_device_->copy_layer(!experts_.leave(*on_device_, l));
    if (!bytes)
        return tl::unexpected(bytes.error());
    ++kv_changes_;
    adaptation_.forget_steps();
    split_.place(l, on_device_->backend(), on_device_->layer(l));
    drop_host_copies();
    const auto kv = on_device_->pager().join(l);
    if (!kv && kv.error().code == Error::Code::DeviceLost)
        return tl::unexpected(kv.error());
    event.blocks = kv.value_or(0);
    event.bytes = *bytes + std::int64_t(event.blocks) * std::int64_t(model_.cache.layer(l).bytes());
    if (layers() == model_.cache.num_layers()) {
        const auto head = move_head();
        if (!head && head.error().code == Error::Code::DeviceLost)
            return tl::unexpected(head.error());
        event.bytes += head.value_or(0);
    }
    event.duration_us = now_us() - event.time_us;
    events_.push_back(std::move(event));
    return {};
}

/// Moves the head to the device after the last layer; returns its bytes. DeviceFull: it stays on the host, which only
/// costs speed.
Result<std::int64_t> ModelPlacement::move_head()
{
    auto bytes = on_device_->copy_head();
    if (bytes) {
        split_.place_head(on_device_->backend(), on_device_->head()->weights());
        drop_host_copies();
    }
    return bytes;
}

void ModelPlacement::move_to_host(int l, Event::Cause cause)
{
    Event event = make_event(Event::Kind::LayerMove, layer_moved(l, Residency::Host));
    event.cause = cause;
    event.layer = l;
    split_.place_head(model_.cpu, model_.host_weights.head());
    adaptation_.forget_steps();
    // A device that is lost here is noticed by the next step.
    (void)on_device_->pager().leave(l);
    split_.place(l, model_.cpu, model_.host_weights.layer(l));
    event.bytes = on_device_->drop_layer();
    ++kv_changes_;
    event.duration_us = now_us() - event.time_us;
    events_.push_back(std::move(event));
}

bool ModelPlacement::give_up_layer()
{
    if (layers() == 0)
        return false;
    if (on_device_->pager().others_in_use()) {
        given_up_from_ = std::max(given_up_from_, wanted_);
    } else {  // the device had less than it said: another program was faster
        relieved_from_ = std::max(relieved_from_, wanted_);
        lowest_mark_ = on_device_->vram().high_mark();
    }
    if (expert_moves_.give_up(*on_device_, !options_.host_expert_layers)) {
        drop_host_copies();
        return true;
    }
    move_to_host(layers() - 1, Event::Cause::Watermark);
    wanted_ = layers();
    return true;
}

/// Makes room for this many block columns, which a step is about to fill: experts leave at once. Those that a shorter
/// conversation has room for come between steps.
void ModelPlacement::let_experts_give_way(int columns)
{
    if (!experts_.needs(columns, !options_.expert_cache_bytes) || next_)
        return;
    const std::pair planned{wanted_, experts_.host_layers()};
    if (options_.expert_cache_bytes) {
        (void)experts_.make(*on_device_, options_, wanted_);
    } else {
        wanted_ = experts_.make(*on_device_, options_, on_device_->planned_layers(options_));
        while (layers() > wanted_)
            move_to_host(layers() - 1, Event::Cause::Watermark);
        on_device_->drop_larger_expert_caches(experts_.host_layers());
    }
    while (send_experts_home(Event::Cause::Watermark)) {
    }
    if (planned != std::pair{wanted_, experts_.host_layers()})
        adaptation_.forget_change();
}

/// Brings what lies on the device to what the budget allows: layers that are too many leave at once, then KV; with
/// room, things come back. KV that must stay, as under `resident`, drives out layers.
void ModelPlacement::relieve(Event::Cause cause)
{
    returning_ = cause;
    if (cause == Event::Cause::User)
        relieved_from_ = given_up_from_ = 0;
    on_device_->pager().trim_windows();
    wanted_ = experts_.make(*on_device_, options_, on_device_->planned_layers(options_));
    while (layers() > wanted_)
        move_to_host(layers() - 1, cause);
    while (send_experts_home(cause)) {
    }
    on_device_->drop_larger_expert_caches(experts_.host_layers());
    on_device_->try_rings_again();
    while (!on_device_->pager().make_room(0, cause) && on_device_->vram().used() > on_device_->vram().budget() &&
           layers() > 0) {
        move_to_host(layers() - 1, cause);
        wanted_ = layers();
    }
}

/// Follows what other programs leave. One may have taken so much that not even a block of tokens fits into a step, and
/// a prompt would be read token by token. Then a new plan is made, for fewer layers or experts: once, until the room
/// changes again. When there is room for a layer more than at the least since, or for a layer's experts, they come
/// back; so do those that a step gave up for want of room. True: some have left.
bool ModelPlacement::follow_other_programs()
{
    const int block = model_.cache.block_tokens();
    const std::int64_t mark = on_device_->vram().high_mark();
    if (next_)
        return false;
    if (mark != relieved_at_ && step_rows(block) != block) {
        relieved_at_ = lowest_mark_ = mark;
        adaptation_.forget_change();
        const int before = wanted_;
        relieve(Event::Cause::OtherProgram);
        wanted_ = std::min(wanted_, before);
        relieved_from_ = std::max(relieved_from_, before);
        return true;
    }
    lowest_mark_ = std::min(lowest_mark_, mark);
    const bool has_experts = on_device_->layout().has_experts();
    if (relieved_from_ > 0 && mark - lowest_mark_ > room_for_more(on_device_->layout(), wanted_, relieved_from_)) {
        relieved_at_ = lowest_mark_ = mark;
        want_again(relieved_from_, Event::Cause::OtherProgram);
        if (wanted_ >= relieved_from_ && !has_experts)  // only these may come back with more room
            relieved_from_ = 0;
    }
    return false;
}

/// Asks again for layers that left for a time, as many as a plan has room for, up to those before; and for what else
/// had no room. Layers that still find none wait for another program to end.
void ModelPlacement::want_again(int before, Event::Cause cause)
{
    adaptation_.forget_change();
    experts_.try_copies_again();
    on_device_->try_rings_again();
    const int planned = std::clamp(on_device_->planned_layers(options_), wanted_, std::max(wanted_, before));
    wanted_ = experts_.make(*on_device_, options_, planned);
    if (wanted_ < before) {
        relieved_from_ = std::max(relieved_from_, before);
        lowest_mark_ = on_device_->vram().high_mark();
    }
    returning_ = cause;
}

void ModelPlacement::want_planned_layers()
{
    relieved_from_ = given_up_from_ = 0;
    wanted_ = experts_.make(*on_device_, options_, on_device_->planned_layers(options_));
    const int asked = std::min(options_.device_layers.value_or(0), model_.cache.num_layers());
    if (wanted_ < asked)
        note(Event::Kind::Warning, Event::Cause::Split,
             "only " + std::to_string(wanted_) + " of the " + std::to_string(asked) +
                 " layers asked for find room on the device " + on_device_->id());
}

// ---- what is asked for ----

Status ModelPlacement::apply(const PlacementCommand& command)
{
    if (Status ok = check_device(on_device_.get()); !ok)
        return ok;
    adaptation_.forget_change();
    return std::visit(CarryOut{*this}, command);
}

Status ModelPlacement::set_pins(const KvSequence& sequence, std::span<const TokenRange> pins)
{
    if (Status ok = check_device(on_device_.get()); !ok)
        return ok;
    on_device_->pager().set_pins(sequence.pages, pins);
    ++kv_changes_;
    return {};
}

void ModelPlacement::set_rates(std::shared_ptr<const MachineRates> rates)
{
    options_.rates = std::move(rates);
    if (on_device_)
        begin_to_adapt();
}

Status ModelPlacement::may_set_kv_types(kernels::KvType k_type, kernels::KvType v_type) const
{
    std::vector<KvLayerShape> shapes(model_.cache.layers().begin(), model_.cache.layers().end());
    for (KvLayerShape& shape : shapes)
        shape.block.set_types(k_type, v_type);
    const bool on_gpu = (on_device_ && on_device_->cuda()) || (next_ && next_->device && next_->device->cuda());
    return on_gpu ? CudaBackend::supports(model_.h, shapes) : Status();
}

void ModelPlacement::set_kv_types(kernels::KvType k_type, kernels::KvType v_type)
{
    Event event = make_event(Event::Kind::KvRewritten, names_of(model_.cache.layer(0).block));
    event.cause = Event::Cause::User;
    if (const Status ok = on_device_ ? on_device_->send_kv_home() : Status(); !ok)
        lose(ok.error());
    events_ = take_events();  // earlier events come first
    {
        const ThreadPool::Step step(model_.cpu.pool());
        model_.cache.set_types(k_type, v_type,
                               [this](const KvLayerShape& from, const std::byte* old, const KvLayerShape& to,
                                      std::byte* block) { model_.cpu.rewrite_kv(from, old, to, block); });
    }
    ++kv_changes_;
    event.blocks = model_.cache.used_pages() * model_.cache.kv_layers();
    event.bytes = std::int64_t(model_.cache.used_pages()) * std::int64_t(model_.cache.page_bytes());
    event.duration_us = now_us() - event.time_us;
    event.sentence += " → " + names_of(model_.cache.layer(0).block);
    events_.push_back(std::move(event));
    if (on_device_)
        lay_out_kv();
}

/// Lays out the device's KV, which is empty, for blocks of another size.
void ModelPlacement::lay_out_kv()
{
    on_device_->lay_out_kv();
    while (!on_device_->make_ring() && layers() > 0)
        move_to_host(layers() - 1, Event::Cause::User);
    begin_to_adapt();
    relieve(Event::Cause::User);
}

// ---- what there is to say ----

std::optional<DeviceTelemetry> ModelPlacement::telemetry() const
{
    if (!on_device_)
        return std::nullopt;
    DeviceTelemetry t = on_device_->telemetry();
    t.layers_wanted = wanted_layers();
    t.to_device_bytes += closed_.to_device_bytes;
    t.to_host_bytes += closed_.to_host_bytes;
    t.expert_hits += closed_.expert_hits;
    t.expert_misses += closed_.expert_misses;
    t.expert_streamed_bytes += closed_.expert_streamed_bytes;
    t.expert_skew = options_.expert_skew;
    return t;
}

static_assert(int(KvMap::Place::Host) == int(Residency::Host) && int(KvMap::Place::Device) == int(Residency::Device) &&
              int(KvMap::Place::Moving) == int(Residency::Moving));

KvMap ModelPlacement::kv_map(const KvSequence& sequence) const
{
    KvMap map;
    map.block_tokens = model_.cache.block_tokens();
    map.layers = model_.cache.num_layers();
    map.columns = int(sequence.pages.size());
    map.cells.reserve(sequence.pages.size() * std::size_t(map.layers));
    for (int b = 0; b < map.columns; ++b) {
        const PageId page = sequence.pages[std::size_t(b)];
        const std::uint8_t pin = on_device_ && on_device_->pager().pinned(page) ? KvMap::kPinned : 0;
        for (int l = 0; l < map.layers; ++l) {
            auto place = KvMap::Place(model_.cache.residency(page, l));
            if (!model_.cache.layer(l).has_kv())
                place = KvMap::Place::None;
            else if (place == KvMap::Place::Host && l < layers() &&
                     b < model_.cache.layer(l).first_block(sequence.length()))
                place = KvMap::Place::Window;
            map.cells.push_back(std::uint8_t(std::uint8_t(place) | pin));
        }
    }
    const RecurrentStates& states = model_.cache.states();
    for (int l = 0; states.any() && l < map.layers; ++l)
        map.states.push_back({std::int64_t(states.layer_bytes(l)), states.residency(sequence.state, l)});
    return map;
}

std::vector<Event> ModelPlacement::take_events()
{
    if (on_device_)
        std::ranges::move(on_device_->pager().take_events(), std::back_inserter(events_));
    return std::exchange(events_, {});
}

void ModelPlacement::note(Event::Kind kind, Event::Cause cause, std::string sentence)
{
    Event event = make_event(kind, std::move(sentence));
    event.cause = cause;
    events_.push_back(std::move(event));
}

}  // namespace engine
