#include "engine/exec/cuda_recorder.h"

#include <utility>

namespace engine {

using CudaStatus = kernels::cuda::Status;

void CudaRecorder::begin(CudaRecording& recording)
{
    recording_ = &recording;
    begin_part();
}

void CudaRecorder::end()
{
    end_part({});
    recording_ = nullptr;
}

void CudaRecorder::cut(CudaHostWork then)
{
    end_part(then);
    begin_part();
}

void CudaRecorder::begin_part()
{
    recording_->make_room();  // when the graph is made, it can be kept, whatever memory is left then
    calls_.run([&] { return calls_.driver().begin_capture(calls_.queue()); });
    capturing_ = calls_.ok();
    joins_.clear();
}

/// Ends the part, and its capture also where a call in it has failed. `then`: what the host does after it.
void CudaRecorder::end_part(CudaHostWork then)
{
    if (!capturing_)
        return;
    capturing_ = false;
    const auto graph = calls_.driver().end_capture(calls_.queue());
    calls_.run([&] { return graph.status; });
    if (graph.value)
        recording_->add({graph.value, std::exchange(joins_, {}), then});
}

}  // namespace engine
