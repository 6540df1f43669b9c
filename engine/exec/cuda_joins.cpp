// Where the CPU attends a part of a recorded step, either the recording is cut and the host queues what comes after, or
// it is one graph, in which device and host wait for each other's flags (design D3). The device waits within a step
// only, when the CPU's workers spin already, and not for long: a step that was late is computed again kernel by kernel.
#include "engine/exec/cuda_address.h"
#include "engine/exec/cuda_backend.h"

#include <cassert>
#include <thread>

namespace engine {

namespace cuda = kernels::cuda;
using CudaStatus = cuda::Status;

// Looks at a flag before the driver is asked whether the device still works.
static constexpr int kLooks = 1000;
// Steps that came too late before it is done the other way for good.
static constexpr int kMostLate = 3;

cuda::DevicePtr CudaBackend::step_number_there() const
{
    return cuda_address(positions_) + std::size_t(sizes_.max_rows) * sizeof(int);
}

/// Blocks that come through the ring are queued by hand, and only once.
bool CudaBackend::joins_by_flags() const
{
    return joining_ == CudaJoining::Flags && step_->cache.stream()->blocks().empty();
}

/// In a recording: the host is asked, and the device attends its own blocks before it waits.
void CudaBackend::record_join(const CudaAttending& a)
{
    run([&] { return flags_.ask(step_number_there(), a.l); });
    attend_here(a);
    run([&] { return flags_.wait_for_answer(step_number_there(), a.l); });
    joins_.push_back(a);
}

/// The host's side of a graph's joins, while it runs.
void CudaBackend::serve(const std::vector<CudaAttending>& joins)
{
    if (joins.empty())
        return;
    assert(cpu_.pool().in_step());
    run([&] { return driver_.record(graph_done_, queue_); });
    for (const CudaAttending& a : joins) {
        if (!wait_until([&] { return flags_.asked(step_number_, a.l); })) {
            flags_.give_up(step_number_);
            return;
        }
        attend_rest(a);
        flags_.answer(step_number_, a.l);
    }
    wait_until([&] { return flags_.passed(step_number_, joins.back().l); });
}

/// False: it will never be.
template <class Flag>
bool CudaBackend::wait_until(const Flag& raised)
{
    while (failed_ == CudaStatus::Ok) {
        for (int look = 0; look < kLooks; ++look)
            if (raised())
                return true;
        const CudaStatus graph = driver_.query(graph_done_);
        if (graph == CudaStatus::NotReady)
            std::this_thread::yield();
        else if (!raised())
            failed_ = graph == CudaStatus::Ok ? CudaStatus::LaunchFailed : graph;  // it ended, and did not do its work
    }
    return false;
}

void CudaBackend::set_joining(CudaJoining joining)
{
    if (joining == joining_ || late_steps_ >= kMostLate)
        return;
    run([&] { return driver_.make_current(); });
    join_from_now_on(joining);
}

/// What was recorded joins in the other way.
void CudaBackend::join_from_now_on(CudaJoining joining)
{
    run([&] { return driver_.synchronize(queue_); });
    recordings_.clear();
    joining_ = joining;
}

/// What a late step has computed is thrown away: it begins anew with the rows it got.
void CudaBackend::repeat_late_step(const std::function<void()>& work)
{
    warning_ = "the CPU let " + std::string(device_.id()) + " wait for more than " +
               std::to_string(CudaFlags::kMostMs) + " ms; the step was computed again, without a graph";
    if (++late_steps_ == kMostLate) {
        join_from_now_on(CudaJoining::CutGraphs);
        warning_ += "; from now on graphs end where the CPU takes part";
    }
    enter(*step_, *host_);
    work();
}

}  // namespace engine
