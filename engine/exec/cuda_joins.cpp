#include "engine/exec/cuda_joins.h"

#include <cassert>
#include <thread>

namespace engine {

using CudaStatus = kernels::cuda::Status;

// The host looks at a flag so often before it asks the driver whether the device still works.
static constexpr int kLooks = 1000;
// After this many late steps, graphs are cut for good.
static constexpr int kMostLate = 3;

CudaJoins::CudaJoins(CudaCalls& calls, const CudaStepInputs& inputs, CudaHostPart& host_part)
    : calls_(calls)
    , inputs_(inputs)
    , host_part_(host_part)
{
}

Status CudaJoins::allocate(int layers)
{
    if (Status ok = flags_.allocate(calls_.device(), layers); !ok)
        return ok;
    return graph_done_.make(calls_.device());
}

bool CudaJoins::by_flags() const
{
    return joining_ == CudaJoining::Flags && inputs_.step().cache.stream()->blocks().empty();
}

bool CudaJoins::may_become(CudaJoining joining) const
{
    return joining != joining_ && late_steps_ < kMostLate;
}

bool CudaJoins::note_late_step()
{
    return ++late_steps_ == kMostLate;
}

void CudaJoins::ask(int l)
{
    calls_.run([&] { return flags_.ask(inputs_.number_there(), l); });
}

void CudaJoins::wait_for_answer(int l)
{
    calls_.run([&] { return flags_.wait_for_answer(inputs_.number_there(), l); });
}

void CudaJoins::serve(const std::vector<CudaAttending>& joins)
{
    if (joins.empty())
        return;
    assert(host_part_.cpu().pool().in_step());
    const int step = inputs_.number();
    calls_.run([&] { return calls_.driver().record(graph_done_.get(), calls_.queue()); });
    for (const CudaAttending& a : joins) {
        if (!wait_until([&] { return flags_.asked(step, a.l); })) {
            flags_.give_up(step);
            return;
        }
        host_part_.attend(a);
        flags_.answer(step, a.l);
    }
    wait_until([&] { return flags_.passed(step, joins.back().l); });
}

/// Waits until the flag is raised. False: it never will be.
template <class Flag>
bool CudaJoins::wait_until(const Flag& raised)
{
    while (calls_.ok()) {
        for (int look = 0; look < kLooks; ++look)
            if (raised())
                return true;
        const CudaStatus graph = calls_.driver().query(graph_done_.get());
        if (graph == CudaStatus::NotReady)
            std::this_thread::yield();
        else if (!raised())  // the graph has ended without raising it
            calls_.run([&] { return graph == CudaStatus::Ok ? CudaStatus::LaunchFailed : graph; });
    }
    return false;
}

}  // namespace engine
