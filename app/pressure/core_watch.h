// CoreWatch measures what an answer's tokens waited for beside their own arithmetic: cores, and a disk.
#pragma once

#include "engine/telemetry.h"
#include "engine/thread_times.h"

#include <cstdint>
#include <optional>

/// Returns how long, of what is computed in an answer's tokens, the engine's thread was ready and had no core: at
/// least, since what it may have slept through is taken off. Empty: the system does not say, or a GPU computes.
std::optional<double> waitedForCores(const engine::ThreadTimes& before, const engine::ThreadTimes& after,
                                     const engine::StepShares& shares);

/// Looks at the first token and at the last one of an answer. Used on the engine's thread.
class CoreWatch
{
public:
    void onFrame(const engine::Telemetry& frame);
    /// Judges the answer that ends with this frame.
    std::optional<double> onEnd(const engine::Telemetry& last);
    /// Returns what the program had to fetch from a disk during the tokens of the answer that ended last. Empty: not
    /// known.
    std::optional<std::int64_t> diskBytes() const { return m_diskBytes; }

private:
    std::optional<engine::ThreadTimes> m_before;
    std::optional<engine::ThreadTimes> m_after;  // its last token, before anything is saved
    std::optional<std::int64_t> m_diskBefore, m_diskAfter, m_diskBytes;
    bool m_answering = false;
};
