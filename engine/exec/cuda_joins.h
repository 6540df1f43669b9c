// CudaJoins lets the CPU take part in a step that is a graph: device and host wait for each other's flags. The device
// waits only inside a step, while the CPU's workers spin anyway, and for 250 ms at most: a step in which the host was
// late is computed again kernel by kernel.
#pragma once

#include "engine/exec/cuda_calls.h"
#include "engine/exec/cuda_event.h"
#include "engine/exec/cuda_flags.h"
#include "engine/exec/cuda_host_part.h"
#include "engine/exec/cuda_recording.h"
#include "engine/exec/cuda_step_inputs.h"

#include <vector>

namespace engine {

/// Says how the CPU's part of a recorded step comes in.
enum class CudaJoining {
    CutGraphs,  // the graph ends there, and the host queues the next one
    Flags,      // one graph, in which device and host wait for each other
};

/// Owned by a GPU's backend, on its thread.
class CudaJoins
{
public:
    /// All that is given outlives it.
    CudaJoins(CudaCalls& calls, const CudaStepInputs& inputs, CudaHostPart& host_part);
    /// Makes flags for this many layers. DeviceFull, DeviceLost.
    Status allocate(int layers);

    /// Says whether host and device join by flags in this step. Copies of blocks that come through the ring are queued
    /// in each step anew, which a graph cannot do: then it is cut.
    bool by_flags() const;
    /// Says whether it may join in this way from now on. False: it does already, or the host was late too often.
    bool may_become(CudaJoining joining) const;
    void set(CudaJoining joining) { joining_ = joining; }

    // ---- while a graph is recorded ----

    /// Asks the host to attend layer l.
    void ask(int l);
    /// Makes the device wait until the host has attended layer l.
    void wait_for_answer(int l);

    // ---- while it runs ----

    /// Does the host's side of a graph's joins, in order.
    void serve(const std::vector<CudaAttending>& joins);
    /// Says whether the device gave up waiting: what the step has computed since is wrong.
    bool late() const { return flags_.late(inputs_.number()); }
    /// Counts a late step; says whether there have been too many by now.
    bool note_late_step();

private:
    template <class Flag>
    bool wait_until(const Flag& raised);

    CudaCalls& calls_;
    const CudaStepInputs& inputs_;
    CudaHostPart& host_part_;
    CudaFlags flags_;
    CudaEvent graph_done_;
    CudaJoining joining_ = CudaJoining::CutGraphs;
    int late_steps_ = 0;
};

}  // namespace engine
