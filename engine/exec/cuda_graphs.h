// CudaGraphs queues a decode step once and then launches it again and again as graphs: some hundred kernels in one call
// of the driver. It keeps the recordings, and computes a step again where the host was late.
#pragma once

#include "engine/exec/cuda_attention.h"
#include "engine/exec/cuda_calls.h"
#include "engine/exec/cuda_host_experts.h"
#include "engine/exec/cuda_joins.h"
#include "engine/exec/cuda_recorder.h"
#include "engine/exec/cuda_recording.h"
#include "engine/exec/cuda_step_inputs.h"

#include <functional>
#include <memory>
#include <vector>

namespace engine {

/// Owned by a GPU's backend, on its thread.
class CudaGraphs
{
public:
    /// All that is given outlives it. `activations`: what the device computes in. `host_experts`: null where the model
    /// has no experts. `layers`: of the model.
    CudaGraphs(CudaCalls& calls, CudaStepInputs& inputs, Activations& activations, CudaAttention& attention,
               CudaHostExperts* host_experts, CudaJoins& joins, CudaRecorder& recorder, int layers);

    /// Computes the layers of the step that was begun, and ends it.
    void run_layers(const LayerRange& range, const std::function<void()>& work);
    /// Call it between steps, when KV blocks are laid out in another way from now on: forgets all recordings.
    void forget();
    /// Call it between steps. Joining by flags is not tried again where the host was late too often.
    void set_joining(CudaJoining joining);

private:
    bool can_record() const;
    CudaRecording* recording_of(const LayerRange& range);
    CudaRecording* record(const LayerRange& range, const std::function<void()>& work);
    void replay(const CudaRecording& recording);
    void make_room_for_recording(const LayerRange& range);
    void join_from_now_on(CudaJoining joining);
    void repeat_late_step(const std::function<void()>& work);

    CudaCalls& calls_;
    CudaStepInputs& inputs_;
    Activations& activations_;
    CudaAttention& attention_;
    CudaHostExperts* host_experts_;
    CudaJoins& joins_;
    CudaRecorder& recorder_;
    std::vector<std::unique_ptr<CudaRecording>> recordings_;  // the oldest first
    std::vector<CudaRecording::Layer> layers_;                // (layers,) of this step, where it can be recorded
    bool works_ = true;  // false once the driver could not make a graph, though it had memory
    static constexpr int kFirstPauseSteps = 32, kLongestPauseSteps = 4096;
    int steps_to_next_try_ = 0;           // after the driver lacked memory for a graph
    int pause_steps_ = kFirstPauseSteps;  // after the next time
};

}  // namespace engine
