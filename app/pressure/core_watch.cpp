#include "app/pressure/core_watch.h"

#include <algorithm>
#include <utility>

std::optional<double> waitedForCores(const engine::ThreadTimes& before, const engine::ThreadTimes& after,
                                     const engine::StepShares& shares)
{
    if (!shares.kv_link_s)
        return {};
    const double asleep = *shares.kv_link_s + shares.telemetry_s + shares.rest_s;
    const double computed = std::max(0.0, shares.decode_s() - asleep);
    return std::clamp(after.waited_s - before.waited_s - asleep, 0.0, computed);
}

void CoreWatch::onFrame(const engine::Telemetry& frame)
{
    const bool decoding = frame.phase == engine::Phase::Decode;
    if (decoding && !m_answering) {
        m_before = engine::this_threads_times();
        m_after.reset();
    } else if (!decoding && m_answering) {
        m_after = engine::this_threads_times();
    }
    m_answering = decoding;
}

std::optional<double> CoreWatch::onEnd(const engine::Telemetry& last)
{
    const auto before = std::exchange(m_before, {});  // of an answer without a frame nothing is known
    const auto after = m_answering || !m_after ? engine::this_threads_times() : m_after;
    m_answering = false;
    m_after.reset();
    return before && after && last.shares ? waitedForCores(*before, *after, *last.shares) : std::nullopt;
}
