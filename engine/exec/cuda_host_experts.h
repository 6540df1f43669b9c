// CudaHostExperts has the CPU compute the routed experts of a GPU's layer that lie on the host: rows go to the host,
// and the experts' results come back. At the same time the GPU itself computes the experts of which it has a copy; for
// many rows also those that it pays to bring to the device.
#pragma once

#include "engine/exec/cpu_backend.h"
#include "engine/exec/cuda_calls.h"
#include "engine/exec/cuda_event.h"
#include "engine/exec/cuda_experts.h"
#include "engine/exec/cuda_memory.h"
#include "engine/exec/cuda_recorder.h"
#include "engine/exec/cuda_recording.h"
#include "engine/exec/cuda_step_inputs.h"
#include "engine/exec/side_thread.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace engine {

/// Owned by a GPU's backend, on its thread.
class CudaHostExperts
{
public:
    /// The model has experts. All that is given outlives it. `max_rows`: tokens of the largest batch. Throws
    /// std::bad_alloc.
    CudaHostExperts(CudaCalls& calls, const CudaStepInputs& inputs, CpuBackend& cpu, CudaExperts& device,
                    CudaRecorder& recorder, const Hyperparameters& h, int max_rows);
    /// Allocates the page-locked memory and the event. DeviceFull, DeviceLost.
    Status allocate();
    /// Call it between steps: experts come through this ring from now on. Null: none come.
    void use(ExpertRing* ring) { ring_ = ring; }

    /// Computes the experts of a layer: on the host those that the device does not hold. Precondition:
    /// w.experts_on_host. While a recording is made, the host's part is left to its replays.
    void compute(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out);
    /// Marks how far rows have been sent: once wait_and_compute() has waited for this mark, they can be read.
    void note_rows();
    /// Waits for the rows that were sent, and computes.
    void wait_and_compute(const CudaHostExpertsCall& call);
    /// begin_step() is called before any layer of the step has been given to the device, end_step() when all have.
    void begin_step();
    void end_step() { refill(); }

private:
    /// The most copies that begin in a step. They come from memory that is not page-locked, so the driver may have this
    /// thread wait for some of each.
    static constexpr int kMostRefills = 2;

    std::size_t most_pairs() const { return std::size_t(max_rows_) * std::size_t(experts_used_); }
    std::size_t places_bytes() const;
    void copy(const void* from, int rows, int cols, void* to, Device::Direction direction);
    void send(const Rows& from, Rows& to);
    void bring(Rows& out);
    void send_choice(const Rows& x, const kernels::cuda::Routing& routing);
    void compute_with_copies(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out);
    void compute_many(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out);
    void share_many(Rows& x, const LayerWeights& w, const ExpertParameters& p, const kernels::cuda::Routing& routing);
    bool choose_what_comes(int l, int rows);
    void fill_places(int l, const LayerWeights& w, std::span<const int> coming);
    void compute_rest(const LayerWeights& w, ExpertParameters p, int rows, std::span<const std::uint64_t> elsewhere);
    void let_device_begin();
    void refill();

    CudaCalls& calls_;
    const CudaStepInputs& inputs_;
    CpuBackend& cpu_;
    CudaExperts& device_;
    CudaRecorder& recorder_;
    const int experts_, experts_used_, max_rows_, expert_length_, embedding_length_;
    // The rows below lie in it: the CPU computes where the device's copies come and go.
    CudaStaging staging_;
    std::optional<CudaArena> staged_;
    Rows x_;                                  // (rows, expert_length)
    Rows routed_;                             // (rows, dim) that the router reads, where these are other rows
    Rows out_;                                // (rows, expert_length)
    int* staged_chosen_ = nullptr;            // (rows, used)
    float* staged_weights_ = nullptr;         // (rows, used)
    std::uint64_t* staged_places_ = nullptr;  // what goes to ExpertsApart::places
    CudaEvent rows_came_;
    ExpertRing* ring_ = nullptr;
    std::vector<int> rows_of_;  // (experts,) rows of a large step that chose it; 0: it may not come through the ring
    SideThread side_;           // computes the host's part of many rows, while this one gives the device its part
    int to_refill_ = -1;        // the layer of this step that was computed last with copies
    int refills_ = 0;           // copies that were begun in this step
    int last_refilled_ = -1;    // layers after it are tried first, so that each has its turn
};

}  // namespace engine
