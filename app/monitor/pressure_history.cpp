#include "app/monitor/pressure_history.h"

#include <algorithm>

namespace {

// A point of the speed chart: long enough to even out single tokens, short enough to show a block leaving.
constexpr std::int64_t kPointUs = 250'000;
constexpr int kPointTokens = 8;
// Where nothing changes, a sample now and then keeps the lines going.
constexpr double kIdleSeconds = 0.5;

/// Every second point, as one chart can show.
void thin(std::vector<PressureHistory::SpeedPoint>& points)
{
    std::size_t kept = 0;
    for (std::size_t i = 0; i < points.size(); i += 2)
        points[kept++] = points[i];
    points.resize(kept);
}

}  // namespace

void PressureHistory::clear()
{
    m_samples.clear();
    m_marks.clear();
    m_runs.clear();
    m_startUs.reset();
    m_contextTokens = 0;
}

double PressureHistory::secondsOf(std::int64_t timeUs) const
{
    return double(timeUs - m_startUs.value_or(timeUs)) / 1e6;
}

void PressureHistory::add(quint64 turn, const engine::Telemetry& frame)
{
    if (!m_startUs)
        m_startUs = frame.time_us;
    m_contextTokens = frame.context_tokens;
    const Sample sample{secondsOf(frame.time_us), frame.context_tokens, MemoryReading::ofDevice(frame),
                        MemoryReading::ofHost(frame)};
    // What other programs take of the RAM changes all the time; that is no reason for a sample.
    const bool same =
        !m_samples.isEmpty() && m_samples.last().device == sample.device && m_samples.last().host.kv == sample.host.kv;
    if (!same || sample.seconds - m_samples.last().seconds >= kIdleSeconds)
        m_samples.add(sample);
    if (turn != 0)
        addSpeed(turn, frame);
}

void PressureHistory::addSpeed(quint64 turn, const engine::Telemetry& frame)
{
    if (m_runs.empty() || m_runs.back().turn != turn) {
        m_runs.push_back({turn, {}});
        if (m_runs.size() > kMostRuns)
            m_runs.pop_front();
        m_fromTokens = 0;
    }
    if (frame.generated_tokens == 0)
        return;
    if (m_fromTokens == 0) {  // the time before the first token is not decoding
        m_fromTokens = frame.generated_tokens;
        m_fromUs = frame.time_us;
        return;
    }
    const int tokens = frame.generated_tokens - m_fromTokens;
    const std::int64_t us = frame.time_us - m_fromUs;
    if (tokens <= 0 || us <= 0 || (us < kPointUs && tokens < kPointTokens))
        return;
    std::vector<SpeedPoint>& points = m_runs.back().points;
    points.push_back({frame.context_tokens, 1e6 * tokens / double(us)});
    if (points.size() > kMostPoints)
        thin(points);
    m_fromTokens = frame.generated_tokens;
    m_fromUs = frame.time_us;
}

void PressureHistory::finish(quint64 turn, const engine::Telemetry& last)
{
    add(turn, last);
    if (m_runs.back().points.empty() && last.decode_tokens_per_s)
        m_runs.back().points.push_back({last.context_tokens, *last.decode_tokens_per_s});
}

void PressureHistory::add(const engine::Event& event)
{
    using Kind = engine::Event::Kind;
    if (event.kind != Kind::Offload && event.kind != Kind::Fetch && event.kind != Kind::LayerMove &&
        event.kind != Kind::DeviceLost)
        return;
    m_marks.add({secondsOf(event.time_us), m_contextTokens, event.kind});
}

qsizetype PressureHistory::firstOfConversation() const
{
    qsizetype first = m_samples.size();
    while (first > 0 &&
           (first == m_samples.size() || m_samples[first - 1].contextTokens <= m_samples[first].contextTokens))
        --first;
    return first;
}
