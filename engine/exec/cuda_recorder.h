// CudaRecorder makes graphs of what is queued while it records. They are the parts of a CudaRecording.
#pragma once

#include "engine/exec/cuda_calls.h"
#include "engine/exec/cuda_recording.h"

#include <vector>

namespace engine {

/// Owned by a GPU's backend, on its thread.
class CudaRecorder
{
public:
    explicit CudaRecorder(CudaCalls& calls)
        : calls_(calls)
    {
    }

    /// Begins to record: what is queued from now on is not done, but becomes parts of the recording, which lives until
    /// end(). Call end() also where this throws std::bad_alloc.
    void begin(CudaRecording& recording);
    /// Ends the recording, also where a call has failed. Throws nothing.
    void end();
    bool is_recording() const { return recording_ != nullptr; }

    /// Ends the part here and begins another. Between them the host does `then`.
    void cut(CudaHostWork then);
    /// Notes that the host attends this while the part runs.
    void add_join(const CudaAttending& a) { joins_.push_back(a); }

private:
    void begin_part();
    void end_part(CudaHostWork then);

    CudaCalls& calls_;
    CudaRecording* recording_ = nullptr;  // null: what is queued is done
    bool capturing_ = false;
    std::vector<CudaAttending> joins_;  // of the part
};

}  // namespace engine
