#include "engine/exec/cuda_host_experts.h"

#include "engine/exec/cuda_address.h"
#include "engine/model/device_weights.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace engine {

namespace cuda = kernels::cuda;

namespace {

std::size_t value_bytes(int rows, int cols)
{
    return std::size_t(rows) * std::size_t(cols) * sizeof(float);
}

/// Waits at the end of a scope for work that runs beside it and reads the stack, whatever was thrown.
struct EndsBefore {
    SideThread& side;
    ~EndsBefore() { side.end(); }
};

}  // namespace

CudaHostExperts::CudaHostExperts(CudaCalls& calls, const CudaStepInputs& inputs, CpuBackend& cpu, CudaExperts& device,
                                 CudaRecorder& recorder, const Hyperparameters& h, int max_rows)
    : calls_(calls)
    , inputs_(inputs)
    , cpu_(cpu)
    , device_(device)
    , recorder_(recorder)
    , experts_(h.experts)
    , experts_used_(h.experts_used)
    , max_rows_(max_rows)
    , expert_length_(h.expert_length)
    , embedding_length_(h.embedding_length)
    , rows_of_(std::size_t(h.experts))
{
}

Status CudaHostExperts::allocate()
{
    const auto rows_bytes = [&](int cols) { return cuda_aligned(value_bytes(max_rows_, cols)); };
    const std::size_t bytes = 2 * rows_bytes(expert_length_) + rows_bytes(embedding_length_) +
                              cuda_aligned(most_pairs() * sizeof(int)) + cuda_aligned(most_pairs() * sizeof(float)) +
                              cuda_aligned(places_bytes());
    if (Status ok = staging_.allocate(calls_.device(), bytes); !ok)
        return ok;
    CudaArena& staged = staged_.emplace(staging_.data(), bytes);
    x_ = Rows(max_rows_, expert_length_, staged, host_row_memory());
    routed_ = Rows(max_rows_, embedding_length_, staged, host_row_memory());
    out_ = Rows(max_rows_, expert_length_, staged, host_row_memory());
    staged_chosen_ = reinterpret_cast<int*>(staged.take(most_pairs() * sizeof(int)));
    staged_weights_ = reinterpret_cast<float*>(staged.take(most_pairs() * sizeof(float)));
    staged_places_ = reinterpret_cast<std::uint64_t*>(staged.take(places_bytes()));
    return rows_came_.make(calls_.device());
}

std::size_t CudaHostExperts::places_bytes() const
{
    return std::size_t(ExpertsApart::kKinds * experts_) * sizeof(std::uint64_t);
}

/// Queues a copy of rows that lie next to each other, of which one side is in the host's memory. Of few rows a kernel
/// makes it: a recorded step would lose more time by a copy of the driver's.
void CudaHostExperts::copy(const void* from, int rows, int cols, void* to, Device::Direction direction)
{
    if (rows <= cuda::kFewTokens) {
        calls_.launch(cuda::copy_heads, cuda::Rows{cuda_address(from), cols}, cuda::Heads{1, cols, cols}, rows,
                      cuda::Rows{cuda_address(to), cols}, cols);
        return;
    }
    const std::size_t bytes = value_bytes(rows, cols);
    calls_.run([&] {
        return direction == Device::Direction::ToHost
                   ? calls_.driver().copy_to_host(to, cuda_address(from), bytes, calls_.queue())
                   : calls_.driver().copy_to_device(cuda_address(to), from, bytes, calls_.queue());
    });
}

/// Queues a copy of the rows to where the CPU reads them.
void CudaHostExperts::send(const Rows& from, Rows& to)
{
    to.set_shape(from.count(), from.cols());
    copy(from.row(0), from.count(), from.cols(), to.row(0), Device::Direction::ToHost);
}

void CudaHostExperts::bring(Rows& out)
{
    copy(out_.row(0), out.count(), out.cols(), out.row(0), Device::Direction::ToDevice);
}

void CudaHostExperts::compute(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out)
{
    const bool copies = inputs_.cached_experts(p.layer).cache != nullptr;
    if (copies && x.count() <= cuda::kFewTokens)
        return compute_with_copies(x, w, p, out);
    if (x.count() > cuda::kFewTokens && (copies || (ring_ && ring_->may_bring(p.layer, x.count()))))
        return compute_many(x, w, p, out);
    CudaHostExpertsCall call{.weights = w.experts_on_host, .p = p, .rows = x.count(), .cols = x.cols()};
    send(x, x_);
    if (p.routed_by) {
        send(*p.routed_by, routed_);
        call.routed_cols = p.routed_by->cols();
    }
    out.set_shape(x.count(), w.down_experts.rows);
    if (recorder_.is_recording())
        recorder_.cut(call);
    else
        wait_and_compute(call);
    bring(out);
}

void CudaHostExperts::send_choice(const Rows& x, const cuda::Routing& routing)
{
    static_assert(sizeof(int) == sizeof(float));
    const auto there = [](cuda::DevicePtr at) { return reinterpret_cast<const void*>(std::uintptr_t(at)); };
    send(x, x_);
    copy(there(routing.chosen), routing.rows, routing.used, staged_chosen_, Device::Direction::ToHost);
    copy(there(routing.weights), routing.rows, routing.used, staged_weights_, Device::Direction::ToHost);
}

/// The device chooses the experts, tells the host, and goes on with those that it has.
void CudaHostExperts::compute_with_copies(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out)
{
    cuda::Routing routing = device_.choose(x, w, p);
    routing.places = inputs_.expert_places(p.layer);
    send_choice(x, routing);
    if (recorder_.is_recording())
        recorder_.cut(CudaRowsSent{});
    else
        note_rows();
    device_.compute_chosen(x, w, ExpertCache::within_slot(w), p, routing);
    const CudaHostExpertsCall call{
        .weights = w.experts_on_host, .p = p, .rows = x.count(), .cols = x.cols(), .has_copies = true};
    if (recorder_.is_recording())
        recorder_.cut(call);
    else
        wait_and_compute(call);
    out.set_shape(x.count(), w.down_experts.rows);
    bring(out);
    device_.add_up(p, routing, out);
}

/// The device chooses the experts and tells the host, which decides which of them the device computes. Steps of many
/// rows are not recorded.
void CudaHostExperts::compute_many(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out)
{
    cuda::Routing routing = device_.choose(x, w, p);
    send_choice(x, routing);
    out.set_shape(x.count(), w.down_experts.rows);
    refill();
    calls_.run([&] { return calls_.driver().synchronize(calls_.queue()); });
    if (!calls_.ok() || given_up(inputs_.step().groups))
        return;
    share_many(x, w, p, routing);
    bring(out);
    routing.places = device_.places();
    device_.add_up(p, routing, out);
}

/// Has the device and the host compute their parts at the same time.
void CudaHostExperts::share_many(Rows& x, const LayerWeights& w, const ExpertParameters& p,
                                 const cuda::Routing& routing)
{
    ExpertsApart apart{device_.places(), choose_what_comes(p.layer, x.count()) ? ring_ : nullptr};
    fill_places(p.layer, w, apart.ring ? ring_->chosen() : std::span<const int>());
    calls_.run(
        [&] { return calls_.driver().copy_to_device(apart.places, staged_places_, places_bytes(), calls_.queue()); });
    const std::span<const std::uint64_t> elsewhere(staged_places_, std::size_t(experts_));
    const auto rest = [&] { compute_rest(*w.experts_on_host, p, x.count(), elsewhere); };
    const std::function<void()> work(std::cref(rest));  // one reference fits it: nothing is allocated
    side_.begin(work);
    const EndsBefore stack{side_};
    if (apart.ring)
        ring_->start();  // only now: this thread may have to copy what comes first, and the others compute meanwhile
    device_.compute_apart(x, w, p, routing, apart);
    if (apart.ring)
        ring_->end();
    let_device_begin();
    const StepClock::Scope on_host(inputs_.step().clock, StepClock::Part::HostLayers);
    side_.wait();
}

/// Chooses the experts that come to the device for this step, among those that have no copy there. False: none come.
bool CudaHostExperts::choose_what_comes(int l, int rows)
{
    if (!ring_ || !ring_->may_bring(l, rows))
        return false;
    std::ranges::fill(rows_of_, 0);
    for (const int expert : std::span(staged_chosen_, std::size_t(rows * experts_used_)))
        ++rows_of_[std::size_t(expert)];
    const CudaStepInputs::CachedExperts& of = inputs_.cached_experts(l);
    for (int e = 0; of.cache && e < experts_; ++e)
        if (inputs_.expert_places_here(l)[std::size_t(e)] != 0)
            rows_of_[std::size_t(e)] = 0;
    ring_->choose(l, *of.weights, rows_of_);
    return !ring_->chosen().empty();
}

/// Notes where the device finds the experts' matrices of each kind: in their copies, or in the ring once they have
/// come.
void CudaHostExperts::fill_places(int l, const LayerWeights& w, std::span<const int> coming)
{
    std::ranges::fill_n(staged_places_, std::ptrdiff_t(places_bytes() / sizeof(std::uint64_t)), 0);
    const bool copies = inputs_.cached_experts(l).cache != nullptr;
    std::uint64_t* places = staged_places_;
    std::size_t offset = 0, sent = 0;
    for_each_expert_stack(w, [&](const Matrix& stack) {
        for (int e = 0; copies && e < experts_; ++e)
            if (const std::uint64_t copy = inputs_.expert_places_here(l)[std::size_t(e)]; copy != 0)
                places[e] = copy + offset;
        for (const int e : coming)
            places[e] = cuda_address(ring_->place_of(sent++));
        offset += aligned_on_device(stack.bytes());
        places += experts_;
    });
}

/// Windows collects what is queued, and begins with it only when an event is queried.
void CudaHostExperts::let_device_begin()
{
    note_rows();
    calls_.run([&] {
        const cuda::Status asked = calls_.driver().query(rows_came_.get());
        return asked == cuda::Status::NotReady ? cuda::Status::Ok : asked;
    });
}

void CudaHostExperts::note_rows()
{
    calls_.run([&] { return calls_.driver().record(rows_came_.get(), calls_.queue()); });
}

void CudaHostExperts::wait_and_compute(const CudaHostExpertsCall& call)
{
    refill();
    const cuda::Driver& driver = calls_.driver();
    calls_.run(
        [&] { return call.has_copies ? driver.synchronize(rows_came_.get()) : driver.synchronize(calls_.queue()); });
    if (!calls_.ok())
        return;
    const StepClock::Scope on_host(inputs_.step().clock, StepClock::Part::HostLayers);
    x_.set_shape(call.rows, call.cols);  // not set yet where a recording has sent the rows
    if (call.has_copies) {
        compute_rest(*call.weights, call.p, call.rows, inputs_.expert_places_here(call.p.layer));
    } else {
        ExpertParameters p = call.p;
        p.tokens = inputs_.step().groups;
        if (p.routed_by) {
            routed_.set_shape(call.rows, call.routed_cols);
            p.routed_by = &routed_;
        }
        cpu_.experts(x_, *call.weights, p, out_);
    }
}

/// Computes the experts that the device does not compute in this step.
void CudaHostExperts::compute_rest(const LayerWeights& w, ExpertParameters p, int rows,
                                   std::span<const std::uint64_t> elsewhere)
{
    p.tokens = inputs_.step().groups;
    const auto pairs = std::size_t(rows * p.used);
    const ChosenExperts chosen{.experts = {staged_chosen_, pairs},
                               .weights = {staged_weights_, pairs},
                               .elsewhere = elsewhere,
                               .cache = inputs_.cached_experts(p.layer).cache};
    cpu_.rest_of_experts(x_, w, p, chosen, out_);
    if (chosen.cache)
        to_refill_ = p.layer;
}

void CudaHostExperts::begin_step()
{
    if (refills_ < kMostRefills)
        last_refilled_ = -1;
    to_refill_ = -1;
    refills_ = 0;
}

/// Begins a copy while the device is busy with what follows the layer whose choices are known. It begins in this step,
/// since the device is told where experts lie when the next one begins.
void CudaHostExperts::refill()
{
    if (to_refill_ < 0 || refills_ >= kMostRefills || !calls_.ok())
        return;
    const int layer = std::exchange(to_refill_, -1);
    const CudaStepInputs::CachedExperts& of = inputs_.cached_experts(layer);
    if (layer <= last_refilled_ || !of.cache || !of.cache->refill(*of.weights))
        return;
    last_refilled_ = layer;
    ++refills_;
}

}  // namespace engine
