// CoreWatch measures what an answer's tokens waited for beside their own arithmetic: cores, and a disk.
#pragma once

#include "engine/telemetry.h"
#include "engine/thread_times.h"

#include <cstdint>
#include <optional>

/// Returns for how many seconds of an answer's arithmetic the engine's thread was ready to run and had no core. That is
/// the least it can have been, since time in which the thread may have slept is taken off. Empty: the system does not
/// say, or a GPU computes.
std::optional<double> waitedForCores(const engine::ThreadTimes& before, const engine::ThreadTimes& after,
                                     const engine::StepShares& shares);

/// Reads the thread's times and the disk's counter at the first and at the last token of an answer. Used on the
/// engine's thread.
class CoreWatch
{
public:
    void onFrame(const engine::Telemetry& frame);
    /// Returns waitedForCores() of the answer that ends with this frame, in seconds; empty: not known.
    std::optional<double> onEnd(const engine::Telemetry& last);
    /// Returns the bytes that the program had to fetch from a disk during the tokens of the answer that ended last.
    /// Empty: not known.
    std::optional<std::int64_t> diskBytes() const { return m_diskBytes; }

private:
    std::optional<engine::ThreadTimes> m_before;
    std::optional<engine::ThreadTimes> m_after;  // at the answer's last token, before anything is saved
    std::optional<std::int64_t> m_diskBefore, m_diskAfter, m_diskBytes;
    bool m_answering = false;
};
