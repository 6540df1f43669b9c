// CudaFlags keeps the flags by which a GPU in the middle of a graph and the CPU's workers wait for each other: words of
// page-locked memory that both reach. A flag is raised for a step by writing the step's number into it, so no flag ever
// has to be lowered.
#pragma once

#include "engine/exec/cuda_memory.h"
#include "kernels/cuda/ops.h"

namespace engine {

class CudaFlags
{
public:
    /// The longest that a GPU waits for the CPU, by its own clock.
    static constexpr unsigned kMostMs = 250;

    /// Allocates a set of flags for each layer. DeviceFull, DeviceLost.
    Status allocate(const CudaDevice& device, int layers);

    // ---- queued for the GPU; `step`: where it finds the number of the step ----

    /// Tells the host that it can read the queries of the layer.
    kernels::cuda::Status ask(kernels::cuda::DevicePtr step, int l) const;
    /// Has the device wait until the host has answered, given up, or let it wait too long.
    kernels::cuda::Status wait_for_answer(kernels::cuda::DevicePtr step, int l) const;

    // ---- the host's side ----

    bool asked(int step, int l) const { return raised(word(l, kAsked), step); }
    void answer(int step, int l) { raise(word(l, kAnswered), step); }
    void give_up(int step);
    bool passed(int step, int l) const { return raised(word(l, kPassed), step); }
    /// Says whether an answer came too late: all that the step has computed since is wrong.
    bool late(int step) const { return raised(late_, step); }

private:
    enum Word { kAnswered, kGivenUp, kAsked, kPassed, kWords };  // the first two are read at once
    static bool raised(const int* flag, int step);
    static void raise(int* flag, int step);
    int* word(int l, Word w) const { return layers_ + l * kWords + w; }

    const CudaDevice* device_ = nullptr;
    CudaStaging memory_;
    int* layers_ = nullptr;
    int* late_ = nullptr;
    int num_layers_ = 0;
};

}  // namespace engine
