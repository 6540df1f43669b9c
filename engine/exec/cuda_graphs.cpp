// Decode steps that are queued once and then launched again: some hundred kernels in one call of the driver.
#include "engine/exec/cuda_backend.h"

#include <algorithm>

namespace engine {

using CudaStatus = kernels::cuda::Status;

// Conversations alternate between few: with and without blocks on the host, and on their way.
static constexpr std::size_t kMostRecordings = 4;

void CudaBackend::run_layers(const LayerRange& range, const std::function<void()>& work)
{
    CudaRecording* recording = nullptr;
    if (can_record()) {
        std::fill(elsewhere_layers_.begin(), elsewhere_layers_.end(), CudaRecording::Layer{});
        for (int l = range.first; l < range.last; ++l)
            elsewhere_layers_[std::size_t(l)] = {any_on_host(l, 0, 1), streams(l)};
        recording = recording_of(range);
        if (!recording)
            recording = record(range, work);
    }
    if (recording)
        replay(*recording);
    else
        work();
    if (recording && recording->has_joins() && failed_ == CudaStatus::Ok && flags_.late(step_number_))
        repeat_late_step(work);
    step_ = nullptr;
}

bool CudaBackend::can_record() const
{
    return graphs_ && failed_ == CudaStatus::Ok && activations_->hidden.count() == 1;
}

CudaRecording* CudaBackend::recording_of(const LayerRange& range)
{
    const auto known = std::find_if(recordings_.begin(), recordings_.end(),
                                    [&](const auto& r) { return r->is_of(range, elsewhere_layers_); });
    return known == recordings_.end() ? nullptr : known->get();
}

/// Null where the driver makes no graph of it: then `work` is to be done directly, in this step and all others.
CudaRecording* CudaBackend::record(const LayerRange& range, const std::function<void()>& work)
{
    make_room_for_recording(range);
    auto recording = std::make_unique<CudaRecording>(driver_, range, elsewhere_layers_);
    recording_ = recording.get();
    begin_part();
    work();
    end_part(nullptr);
    recording_ = nullptr;
    if (failed_ == CudaStatus::Ok)
        return recordings_.emplace_back(std::move(recording)).get();
    if (!kernels::cuda::is_device_lost(failed_)) {
        warning_ = std::string(device_.id()) + " keeps no decode steps as graphs: " + driver_.error_text(failed_) +
                   "; each kernel is queued by itself, which is slower";
        failed_ = CudaStatus::Ok;
        graphs_ = false;
    }
    return nullptr;
}

void CudaBackend::replay(const CudaRecording& recording)
{
    for (const CudaRecording::Part& part : recording.parts()) {
        run([&] { return driver_.launch(part.graph, queue_); });
        serve(part.joins);
        if (part.then)
            attend_here_and_there(*part.then);
    }
}

void CudaBackend::begin_part()
{
    run([&] { return driver_.begin_capture(queue_); });
    capturing_ = failed_ == CudaStatus::Ok;
    joins_.clear();
}

/// A capture that was begun is ended also where a call in it has failed. `then`: what the host does after it, or null.
void CudaBackend::end_part(const CudaAttending* then)
{
    if (!capturing_)
        return;
    capturing_ = false;
    const auto graph = driver_.end_capture(queue_);
    if (failed_ == CudaStatus::Ok)
        failed_ = graph.status;
    if (graph.value)
        recording_->add({graph.value, std::exchange(joins_, {}), then ? std::optional(*then) : std::nullopt});
}

/// Those of weights that lie elsewhere by now are forgotten, and the oldest where there are many.
void CudaBackend::make_room_for_recording(const LayerRange& range)
{
    if (!recordings_.empty() && recordings_.front()->range().placement != range.placement)
        forget_recordings();
    if (recordings_.size() < kMostRecordings)
        return;
    run([&] { return driver_.synchronize(queue_); });
    recordings_.erase(recordings_.begin());
}

void CudaBackend::forget_recordings()
{
    run([&] { return driver_.synchronize(queue_); });
    recordings_.clear();
}

}  // namespace engine
