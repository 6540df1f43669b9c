#include "app/pressure/core_watch.h"

#include "engine/disk_reads.h"

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
        m_diskBefore = engine::disk_read_bytes();
        m_after.reset();
    } else if (!decoding && m_answering) {
        m_after = engine::this_threads_times();
        m_diskAfter = engine::disk_read_bytes();
    }
    m_answering = decoding;
}

std::optional<double> CoreWatch::onEnd(const engine::Telemetry& last)
{
    const auto before = std::exchange(m_before, {});  // an answer without a frame must not use those of the one before
    const bool ended = !m_answering && m_after;
    const auto after = ended ? m_after : engine::this_threads_times();
    const auto diskBefore = std::exchange(m_diskBefore, {});
    const auto diskAfter = ended ? m_diskAfter : engine::disk_read_bytes();
    m_diskBytes = diskBefore && diskAfter ? std::optional(*diskAfter - *diskBefore) : std::nullopt;
    m_answering = false;
    m_after.reset();
    return before && after && last.shares ? waitedForCores(*before, *after, *last.shares) : std::nullopt;
}
