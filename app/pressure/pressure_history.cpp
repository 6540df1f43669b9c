#include "app/pressure/pressure_history.h"

#include "app/pressure/speed_without_drafts.h"

#include <algorithm>
#include <cmath>

namespace {

// A point of the speed chart spans either of these: long enough to even out single tokens, short enough to show a block
// leaving.
constexpr std::int64_t kPointUs = 250'000;
constexpr int kPointTokens = 8;
// A point of the chart of guesses spans a few drafts, since a single one is mostly taken whole or not at all.
constexpr int kPointDrafted = 32;
// Where nothing changes, a sample now and then keeps the lines going.
constexpr double kIdleSeconds = 0.5;

// The most that is kept of a conversation: a chart is a few hundred pixels wide.
constexpr qsizetype kKeptSamples = 1024;
constexpr std::size_t kKeptRuns = 32;
constexpr qsizetype kKeptPoints = 128;
constexpr qsizetype kKeptMarks = 1024;
constexpr double kGapSeconds = 1;  // drawn for the time between two runs of the program

double rounded(double value, double digits)
{
    return std::round(value * digits) / digits;
}

/// Calls `take` with `most` of `count` places at most: the first, the last, and others evenly between them.
template <class Take>
void forSome(qsizetype count, qsizetype most, const Take& take)
{
    const qsizetype some = std::min(count, most);
    for (qsizetype i = 0; i < some; ++i)
        take(some == count ? i : i * (count - 1) / (some - 1));
}

/// Joins every two points to one with the reads of both.
void thin(std::vector<PressureHistory::ExpertPoint>& points)
{
    std::size_t kept = 0;
    for (std::size_t i = 0; i < points.size(); i += 2) {
        PressureHistory::ExpertPoint both = points[std::min(i + 1, points.size() - 1)];
        if (i + 1 < points.size()) {
            both.hits += points[i].hits;
            both.misses += points[i].misses;
        }
        points[kept++] = both;
    }
    points.resize(kept);
}

/// Leaves out every second point; a chart shows no finer ones.
void thin(std::vector<PressureHistory::SpeedPoint>& points)
{
    std::size_t kept = 0;
    for (std::size_t i = 0; i < points.size(); i += 2)
        points[kept++] = points[i];
    points.resize(kept);
}

/// Joins every two points to one with the guesses of both.
void thin(std::vector<PressureHistory::GuessPoint>& points)
{
    std::size_t kept = 0;
    for (std::size_t i = 0; i < points.size(); i += 2) {
        PressureHistory::GuessPoint point = points[i];
        if (i + 1 < points.size()) {
            point.contextTokens = points[i + 1].contextTokens;
            point.drafted += points[i + 1].drafted;
            point.accepted += points[i + 1].accepted;
        }
        points[kept++] = point;
    }
    points.resize(kept);
}

}  // namespace

void PressureHistory::clear()
{
    m_samples.clear();
    m_marks.clear();
    m_runs.clear();
    m_startUs.reset();
    m_startSeconds = 0;
    m_firstRun = 0;
    m_modelSince = 0;
    m_earlierSeconds.reset();
    m_contextTokens = 0;
}

void PressureHistory::pickUp()
{
    if (m_samples.isEmpty() && m_runs.empty())
        return;
    m_earlierSeconds = m_samples.isEmpty() ? 0 : m_samples.last().seconds;
    m_startSeconds = *m_earlierSeconds + kGapSeconds;
    m_startUs.reset();
    m_contextTokens = m_samples.isEmpty() ? 0 : m_samples.last().contextTokens;
    for (Run& run : m_runs) {
        run.turn = 0;
        run.earlier = true;
    }
}

void PressureHistory::beginModel()
{
    m_firstRun = m_runs.size();
    // The next sample comes at least a gap after the last one, since the history was picked up.
    m_modelSince = m_samples.isEmpty() ? 0 : m_samples.last().seconds + kGapSeconds / 2;
}

void PressureHistory::restoreModel(std::size_t firstRun, double since)
{
    m_firstRun = std::min(firstRun, m_runs.size());
    m_modelSince = since;
}

PressureHistory PressureHistory::thinned() const
{
    PressureHistory thin;
    std::size_t firstRun = 0;
    forSome(m_samples.size(), kKeptSamples, [&](qsizetype i) {
        Sample sample = m_samples[i];
        sample.seconds = rounded(sample.seconds, 1e3);
        thin.restore(sample);
    });
    forSome(m_marks.size(), kKeptMarks, [&](qsizetype i) {
        Mark mark = m_marks[i];
        mark.seconds = rounded(mark.seconds, 1e3);
        thin.restore(mark);
    });
    for (std::size_t i = m_runs.size() - std::min(m_runs.size(), kKeptRuns); i < m_runs.size(); ++i) {
        Run run{.turn = m_runs[i].turn, .points = {}};
        const auto& points = m_runs[i].points;
        forSome(qsizetype(points.size()), kKeptPoints, [&](qsizetype at) {
            const SpeedPoint& point = points[std::size_t(at)];
            run.points.push_back({point.contextTokens, rounded(point.tokensPerSecond, 1e3)});
        });
        run.experts = m_runs[i].experts;
        while (run.experts.size() > std::size_t(kKeptPoints))
            ::thin(run.experts);
        run.guesses = m_runs[i].guesses;
        while (run.guesses.size() > std::size_t(kKeptPoints))
            ::thin(run.guesses);
        if (run.points.empty() && run.guesses.empty())
            continue;
        thin.restore(run);
        firstRun += i < m_firstRun ? 1 : 0;
    }
    thin.restoreModel(firstRun, m_modelSince);
    return thin;
}

double PressureHistory::secondsOf(std::int64_t timeUs) const
{
    // An event may have begun before the first frame, while another conversation was answered.
    return m_startSeconds + double(std::max<std::int64_t>(0, timeUs - m_startUs.value_or(timeUs))) / 1e6;
}

PressureHistory::Sample PressureHistory::sampleOf(const engine::Telemetry& frame) const
{
    return {secondsOf(frame.time_us), frame.context_tokens, MemoryReading::ofDevice(frame),
            MemoryReading::ofHost(frame)};
}

void PressureHistory::add(quint64 turn, const engine::Telemetry& frame)
{
    if (!m_startUs)
        m_startUs = frame.time_us;
    m_contextTokens = frame.context_tokens;
    const Sample sample = sampleOf(frame);
    // What other programs take of the RAM changes all the time; that is no reason for a sample.
    const bool same = !m_samples.isEmpty() && m_samples.last().device == sample.device &&
                      m_samples.last().host.kv == sample.host.kv && m_samples.last().host.state == sample.host.state;
    if (!same || sample.seconds - m_samples.last().seconds >= kIdleSeconds)
        m_samples.addThinning(sample);
    if (turn == 0)
        return;
    begin(turn);
    addSpeed(frame);
    addExperts(frame, kPointTokens);
    addGuesses(frame, kPointDrafted);
}

/// Begins a run for this turn, unless the newest run is this turn's.
void PressureHistory::begin(quint64 turn)
{
    if (!m_runs.empty() && m_runs.back().turn == turn)
        return;
    m_runs.push_back({.turn = turn, .points = {}});
    if (m_runs.size() > kMostRuns) {
        m_runs.pop_front();
        m_firstRun -= std::min<std::size_t>(m_firstRun, 1);
    }
    m_fromTokens = 0;
    m_guessesDrafted = m_guessesAccepted = 0;
    m_readsFrom.reset();
}

void PressureHistory::addExperts(const engine::Telemetry& frame, int fewestTokens)
{
    if (!frame.device || frame.device->cached_experts == 0 || frame.generated_tokens == 0) {
        m_readsFrom.reset();
        return;
    }
    const Reads now{frame.generated_tokens, frame.device->expert_hits, frame.device->expert_misses};
    // Fewer reads than before are those of another device.
    if (!m_readsFrom || now.hits < m_readsFrom->hits || now.misses < m_readsFrom->misses) {
        m_readsFrom = now;
        return;
    }
    const ExpertPoint point{frame.context_tokens, double(now.hits - m_readsFrom->hits),
                            double(now.misses - m_readsFrom->misses)};
    if (now.tokens - m_readsFrom->tokens < fewestTokens || point.hits + point.misses <= 0)
        return;
    std::vector<ExpertPoint>& points = m_runs.back().experts;
    points.push_back(point);
    if (points.size() > kMostPoints)
        thin(points);
    m_readsFrom = now;
}

void PressureHistory::addSpeed(const engine::Telemetry& frame)
{
    if (frame.generated_tokens == 0)
        return;
    if (m_fromTokens == 0) {  // the time before the first token is not decoding
        measureFrom(frame);
        return;
    }
    const int tokens = frame.generated_tokens - m_fromTokens;
    const std::int64_t us = frame.time_us - m_fromUs;
    if (tokens <= 0 || us <= 0 || (us < kPointUs && tokens < kPointTokens))
        return;
    double speed = 1e6 * tokens / double(us);
    if (frame.drafted_tokens > m_fromDrafted) {
        const int steps = frame.plain_steps.count - m_fromPlain.count;
        const double seconds = frame.plain_steps.seconds - m_fromPlain.seconds;
        if (steps <= 0 || seconds <= 0)
            return;  // the next steps without drafts tell the speed
        speed = steps / seconds;
    }
    std::vector<SpeedPoint>& points = m_runs.back().points;
    points.push_back({frame.context_tokens, speed});
    if (points.size() > kMostPoints)
        thin(points);
    measureFrom(frame);
}

void PressureHistory::addGuesses(const engine::Telemetry& frame, int least)
{
    const int drafted = frame.drafted_tokens - m_guessesDrafted;
    if (drafted < least)
        return;
    std::vector<GuessPoint>& guesses = m_runs.back().guesses;
    guesses.push_back({frame.context_tokens, drafted, std::min(frame.accepted_tokens - m_guessesAccepted, drafted)});
    if (guesses.size() > kMostPoints)
        thin(guesses);
    m_guessesDrafted = frame.drafted_tokens;
    m_guessesAccepted = frame.accepted_tokens;
}

/// Begins the next speed point at this frame.
void PressureHistory::measureFrom(const engine::Telemetry& frame)
{
    m_fromTokens = frame.generated_tokens;
    m_fromDrafted = frame.drafted_tokens;
    m_fromPlain = frame.plain_steps;
    m_fromUs = frame.time_us;
}

void PressureHistory::finish(quint64 turn, const engine::Telemetry& last)
{
    add(turn, last);
    if (m_samples.last().contextTokens != last.context_tokens)  // a short answer moves no block, but is drawn, too
        m_samples.addThinning(sampleOf(last));
    addGuesses(last, 1);
    const auto speed = speedWithoutDrafts(last, 1);
    if (m_runs.back().points.empty() && speed)
        m_runs.back().points.push_back({last.context_tokens, *speed});
    if (m_runs.back().experts.empty())
        addExperts(last, 1);
}

void PressureHistory::add(const engine::Event& event)
{
    using Kind = engine::Event::Kind;
    if (event.kind != Kind::Offload && event.kind != Kind::Fetch && event.kind != Kind::LayerMove &&
        event.kind != Kind::ExpertsMove && event.kind != Kind::DeviceLost)
        return;
    m_marks.add({secondsOf(event.time_us), m_contextTokens, event.kind});
}

std::vector<qsizetype> PressureHistory::samplesOverTokens() const
{
    std::vector<qsizetype> places;
    for (qsizetype i = m_samples.size(); i-- > 0 && m_samples[i].seconds >= m_modelSince;) {
        const qsizetype after = places.empty() ? m_samples.size() : places.back();
        const bool next = after == i + 1;  // else the tokens between them have been taken back
        const int tokens = m_samples[i].contextTokens;
        if (places.empty() || tokens < m_samples[after].contextTokens ||
            (next && tokens == m_samples[after].contextTokens))
            places.push_back(i);
    }
    std::reverse(places.begin(), places.end());
    return places;
}
