// CoreWatch measures how long the thread that computes an answer waited for a core.
#pragma once

#include "engine/telemetry.h"
#include "engine/thread_times.h"

#include <optional>

/// How long, of what is computed in an answer's tokens, the engine's thread was ready and had no core: at least, since
/// what it may have slept through is taken off. Empty: the system does not say, or a GPU computes.
std::optional<double> waitedForCores(const engine::ThreadTimes& before, const engine::ThreadTimes& after,
                                     const engine::StepShares& shares);

/// Looks at the first token and at the last one of an answer. Used on the engine's thread.
class CoreWatch
{
public:
    void onFrame(const engine::Telemetry& frame);
    /// Judges the answer that ends with this frame.
    std::optional<double> onEnd(const engine::Telemetry& last);

private:
    std::optional<engine::ThreadTimes> m_before;
    std::optional<engine::ThreadTimes> m_after;  // its last token, before anything is saved
    bool m_answering = false;
};
