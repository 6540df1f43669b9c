// PressureHistory keeps the numbers that the charts are drawn from.
#pragma once

#include "app/pressure/memory_reading.h"
#include "app/pressure/ring.h"
#include "engine/telemetry.h"

#include <QList>

#include <deque>
#include <optional>

/// Keeps the telemetry of a conversation: bounded, and no finer than a chart can show. A plain value on the UI thread;
/// part of a Recording.
class PressureHistory
{
public:
    static constexpr int kMostSamples = 8192;
    static constexpr int kMostRuns = 48;
    static constexpr int kMostPoints = 4096;  // of one run
    static constexpr int kMostMarks = 4096;

    struct Sample {
        double seconds = 0;  // since the first frame, without the time between two runs of the program
        int contextTokens = 0;
        MemoryReading device;
        MemoryReading host;
    };
    /// A measured speed: of the tokens since the point before, or, where some were drafted, of the steps without
    /// drafts, since the chart shows it beside the predicted speed.
    struct SpeedPoint {
        int contextTokens = 0;
        double tokensPerSecond = 0;
    };
    /// Experts in RAM that steps read since the point before, or since the answer's first token: with a copy on the
    /// device, and without.
    struct ExpertPoint {
        int contextTokens = 0;
        double hits = 0, misses = 0;
        double share() const { return hits + misses > 0 ? hits / (hits + misses) : 0; }  // of hits
    };
    /// Holds what guessing ahead brought: of the tokens drafted since the point before, how many the answer took.
    struct GuessPoint {
        int contextTokens = 0;
        int drafted = 0, accepted = 0;
    };
    /// The points of one answer.
    struct Run {
        quint64 turn = 0;
        std::vector<SpeedPoint> points;
        std::vector<GuessPoint> guesses = {};
        bool earlier = false;  // measured before the history was picked up again
        std::vector<ExpertPoint> experts = {};
    };
    /// A point at which something moved.
    struct Mark {
        double seconds = 0;
        int contextTokens = 0;
        engine::Event::Kind kind = engine::Event::Kind::Warning;
    };

    void clear();
    /// `turn` 0: of none.
    void add(quint64 turn, const engine::Telemetry& frame);
    void add(const engine::Event& event);
    /// Call it when the answer has ended: one too short for points of its own gets one, of all its tokens.
    void finish(quint64 turn, const engine::Telemetry& last);

    // These take what was measured at another time, the oldest first.
    void restore(const Sample& sample) { m_samples.add(sample); }
    void restore(const Run& run) { m_runs.push_back(run); }
    void restore(const Mark& mark) { m_marks.add(mark); }

    /// Marks all that was measured as from earlier; what is measured from now on follows it, on another clock.
    void pickUp();
    /// Returns the second at which the part from earlier ends; empty: nothing is from earlier.
    const std::optional<double>& earlierSeconds() const { return m_earlierSeconds; }
    /// Begins another model's series: the points so far are kept, but not drawn with the next ones.
    void beginModel();
    /// Return the first run, and the second, that are the newest model's.
    std::size_t firstRun() const { return m_firstRun; }
    double modelSince() const { return m_modelSince; }
    void restoreModel(std::size_t firstRun, double since);
    /// Returns a history with fewer points, small enough to be kept for ever: at most a few hundred kB as text.
    PressureHistory thinned() const;

    const Ring<Sample>& samples() const { return m_samples; }
    /// Returns the newest model's samples of the conversation as it is now, the newest at each length: places in
    /// samples(), in growing context.
    std::vector<qsizetype> samplesOverTokens() const;
    const std::deque<Run>& runs() const { return m_runs; }
    const Ring<Mark>& marks() const { return m_marks; }
    double secondsOf(std::int64_t timeUs) const;
    Sample sampleOf(const engine::Telemetry& frame) const;

private:
    void begin(quint64 turn);
    void addSpeed(const engine::Telemetry& frame);
    void addExperts(const engine::Telemetry& frame, int fewestTokens);
    void addGuesses(const engine::Telemetry& frame, int least);
    void measureFrom(const engine::Telemetry& frame);

    Ring<Sample> m_samples{kMostSamples};
    Ring<Mark> m_marks{kMostMarks};
    std::deque<Run> m_runs;
    std::optional<std::int64_t> m_startUs;
    double m_startSeconds = 0;  // the second of the history at m_startUs
    std::size_t m_firstRun = 0;
    double m_modelSince = 0;
    std::optional<double> m_earlierSeconds;
    // Of the speed point that is being measured.
    std::int64_t m_fromUs = 0;
    int m_fromTokens = 0, m_fromDrafted = 0;
    int m_guessesDrafted = 0, m_guessesAccepted = 0;  // in the answer, up to its last guess point
    engine::PlainSteps m_fromPlain;
    /// Counts the experts read since the last point of the hit rate.
    struct Reads {
        int tokens = 0;
        std::int64_t hits = 0, misses = 0;
    };
    std::optional<Reads> m_readsFrom;
    int m_contextTokens = 0;  // of the newest frame
};
