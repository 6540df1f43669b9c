// StepClock measures where the time of an answer goes.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace engine {

/// A stopwatch with one hand for each part of the work; at any time one of them runs, so that together they show the
/// time that has passed. It is read where the work goes from one part to another: a few times a step, and once or twice
/// for the attention of a layer whose KV lies in two places. The engine's thread only.
class StepClock
{
    struct Hands {  // the two that run
        std::size_t part = 0;
        std::size_t other = 0;
        double share = 1;  // that `part` gets
    };

public:
    enum class Part { Rest, DeviceLayers, HostLayers, KvLink, HostAttention, Sampling, Telemetry };

    /// Sets all hands to zero.
    void start()
    {
        seconds_ = {};
        readings_ = 0;
        since_ = Time::now();
    }
    using Seconds = std::array<double, 7>;  // by part
    /// Returns what each part took since the start.
    Seconds seconds()
    {
        charge();
        return seconds_;
    }
    double seconds(Part part) { return seconds()[std::size_t(part)]; }
    /// Returns how often it has been read since the start: what it costs itself.
    std::int64_t readings() const { return readings_; }

    /// While a scope lives, time goes to `part`, or a share of it, and the rest to what it went to before.
    class Scope
    {
    public:
        Scope(StepClock& clock, Part part, double share = 1)
            : clock_(clock)
            , before_(clock.hands_)
        {
            clock_.charge();
            clock_.hands_ = {std::size_t(part), before_.part, share};
        }
        ~Scope()
        {
            clock_.charge();
            clock_.hands_ = before_;
        }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        StepClock& clock_;
        const Hands before_;
    };

private:
    using Time = std::chrono::steady_clock;

    void charge()
    {
        const Time::time_point now = Time::now();
        const double passed = std::chrono::duration<double>(now - since_).count();
        seconds_[hands_.part] += passed * hands_.share;
        seconds_[hands_.other] += passed * (1 - hands_.share);
        since_ = now;
        ++readings_;
    }

    Seconds seconds_ = {};
    Hands hands_;
    Time::time_point since_ = Time::now();
    std::int64_t readings_ = 0;
};

}  // namespace engine
