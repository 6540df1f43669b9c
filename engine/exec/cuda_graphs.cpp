#include "engine/exec/cuda_graphs.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

namespace engine {

// Conversations alternate between a few recordings: with and without blocks on the host, and on their way.
static constexpr std::size_t kMostRecordings = 4;

CudaGraphs::CudaGraphs(CudaCalls& calls, CudaStepInputs& inputs, Activations& activations, CudaAttention& attention,
                       CudaHostExperts* host_experts, CudaJoins& joins, CudaRecorder& recorder, int layers)
    : calls_(calls)
    , inputs_(inputs)
    , activations_(activations)
    , attention_(attention)
    , host_experts_(host_experts)
    , joins_(joins)
    , recorder_(recorder)
    , layers_(std::size_t(layers))
{
}

void CudaGraphs::run_layers(const LayerRange& range, const std::function<void()>& work)
{
    if (host_experts_)
        host_experts_->begin_step();
    CudaRecording* recording = nullptr;
    if (can_record()) {
        std::fill(layers_.begin(), layers_.end(), CudaRecording::Layer{});
        for (int l = range.first; l < range.last; ++l)
            layers_[std::size_t(l)] = {inputs_.any_on_host(l, 0, 1), inputs_.streams(l)};
        recording = recording_of(range);
        if (!recording && --steps_to_next_try_ <= 0)
            recording = record(range, work);
    }
    const bool waits = recording && recording->has_joins();
    std::optional<DriverGate::Step> step;
    if (waits)
        step.emplace(calls_.device().gate());
    if (!recording || (waits && !*step)) {
        work();
    } else {
        replay(*recording);
        step.reset();
        if (waits && calls_.ok() && joins_.late())
            repeat_late_step(work);
    }
    if (host_experts_)
        host_experts_->end_step();
    inputs_.end_step();
}

bool CudaGraphs::can_record() const
{
    return works_ && calls_.ok() && activations_.hidden.count() == 1;
}

CudaRecording* CudaGraphs::recording_of(const LayerRange& range)
{
    const auto known =
        std::find_if(recordings_.begin(), recordings_.end(), [&](const auto& r) { return r->is_of(range, layers_); });
    return known == recordings_.end() ? nullptr : known->get();
}

/// Records a step. Returns null where the driver makes no graph: `work` is then to be done directly, in this step and
/// those that follow. Where memory was lacking it tries again after some steps, and each time waits twice as many.
CudaRecording* CudaGraphs::record(const LayerRange& range, const std::function<void()>& work)
{
    make_room_for_recording(range);
    auto recording = std::make_unique<CudaRecording>(calls_.driver(), range, layers_);
    try {
        recorder_.begin(*recording);
        work();
    } catch (...) {
        recorder_.end();
        if (!kernels::cuda::is_device_lost(calls_.failed()))
            calls_.forget_failure();  // the failure is that of a graph that is thrown away
        throw;
    }
    recorder_.end();
    if (calls_.ok()) {
        pause_steps_ = kFirstPauseSteps;
        return recordings_.emplace_back(std::move(recording)).get();
    }
    if (kernels::cuda::is_device_lost(calls_.failed()))
        return nullptr;
    works_ = calls_.failed() == kernels::cuda::Status::OutOfMemory;
    if (!works_ || pause_steps_ == kFirstPauseSteps)
        calls_.warn(std::string(calls_.device().id()) + " keeps no decode steps as graphs: " +
                    calls_.driver().error_text(calls_.failed()) + "; each kernel is queued by itself, which is slower");
    calls_.forget_failure();
    steps_to_next_try_ = pause_steps_;
    pause_steps_ = std::min(2 * pause_steps_, kLongestPauseSteps);
    return nullptr;
}

void CudaGraphs::replay(const CudaRecording& recording)
{
    for (const CudaRecording::Part& part : recording.parts()) {
        calls_.run([&] { return calls_.driver().launch(part.graph, calls_.queue()); });
        joins_.serve(part.joins);
        if (const auto* attending = std::get_if<CudaAttending>(&part.then))
            attention_.attend_here_and_there(*attending);
        else if (std::holds_alternative<CudaRowsSent>(part.then))
            host_experts_->note_rows();
        else if (const auto* experts = std::get_if<CudaHostExpertsCall>(&part.then))
            host_experts_->wait_and_compute(*experts);
    }
}

/// Forgets all recordings where weights have moved since they were made, and the oldest one where there are many.
void CudaGraphs::make_room_for_recording(const LayerRange& range)
{
    if (!recordings_.empty() && recordings_.front()->range().placement != range.placement)
        forget();
    if (recordings_.size() < kMostRecordings)
        return;
    calls_.run([&] { return calls_.driver().synchronize(calls_.queue()); });
    recordings_.erase(recordings_.begin());
}

void CudaGraphs::forget()
{
    calls_.run([&] { return calls_.driver().make_current(); });  // the thread may have closed another GPU
    calls_.run([&] { return calls_.driver().synchronize(calls_.queue()); });
    recordings_.clear();
}

void CudaGraphs::set_joining(CudaJoining joining)
{
    if (!joins_.may_become(joining))
        return;
    join_from_now_on(joining);
}

/// Changes how recorded steps join, and forgets all recordings, which join in the other way.
void CudaGraphs::join_from_now_on(CudaJoining joining)
{
    forget();
    joins_.set(joining);
}

/// Throws away what a late step has computed, and computes it again from the rows that it began with.
void CudaGraphs::repeat_late_step(const std::function<void()>& work)
{
    std::string warning = "the CPU let " + std::string(calls_.device().id()) + " wait for more than " +
                          std::to_string(CudaFlags::kMostMs) + " ms; the step was computed again, without a graph";
    if (joins_.note_late_step()) {
        join_from_now_on(CudaJoining::CutGraphs);
        warning += "; from now on graphs end where the CPU takes part";
    }
    calls_.warn(std::move(warning));
    if (host_experts_)
        host_experts_->end_step();  // before the device is told anew where experts lie
    inputs_.send(inputs_.step(), inputs_.host(), activations_);
    work();
}

}  // namespace engine
