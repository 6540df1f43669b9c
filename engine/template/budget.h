// Budget counts what one rendering may still use. Templates come out of model files, so none of them is trusted:
// everything that takes time, memory or stack is counted here first.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>

namespace engine::jinja {

/// Thrown inside the interpreter only; ChatTemplate turns it into a Result.
struct TemplateError {
    explicit TemplateError(std::string sentence, int at_line = 0, bool from_template = false)
        : what(std::move(sentence))
        , line(at_line)
        , verbatim(from_template)
    {
    }

    std::string what;
    int line;       // 0 = not known where it was thrown
    bool verbatim;  // raise_exception: the template's own words, nothing is added to them
};

/// Thrown where a stop was asked for. It is no TemplateError, since nothing is wrong with the template.
struct Stopped {
};

/// Counts steps, bytes and depth of one rendering down to zero, and checks the clock and the stop token.
/// Single-threaded, owned by the Heap.
class Budget
{
public:
    struct Limits {
        std::int64_t steps = 0;
        std::size_t bytes = 0;
        std::size_t string_bytes = 0;
        int depth = 0;
        std::chrono::milliseconds time{};
    };

    explicit Budget(const Limits& limits, std::stop_token stop = {})
        : steps_(limits.steps)
        , next_look_(limits.steps)
        , bytes_(limits.bytes)
        , string_bytes_(limits.string_bytes)
        , depth_(limits.depth)
        , end_(std::chrono::steady_clock::now() + limits.time)
        , stop_(std::move(stop))
    {
    }

    void step() { spend(1); }

    /// Counts steps; a step is some 100 ns of work.
    void spend(std::int64_t steps)
    {
        steps_ -= steps;
        if (steps_ < next_look_)
            look();
    }

    std::int64_t steps_left() const { return steps_; }

    /// Ends the rendering where it was stopped or takes too long. Call it now and then within long work whose steps
    /// were counted before.
    void look()
    {
        if (stop_.stop_requested())
            throw Stopped{};
        if (steps_ < 0)
            throw TemplateError("the template takes too many steps");
        if (std::chrono::steady_clock::now() > end_)
            throw TemplateError("the template takes too long");
        next_look_ = std::max<std::int64_t>(steps_ - kStepsBetweenLooks, 0);
    }

    /// Counts work proportional to text: copying or scanning 32 bytes is one step.
    void spend_on_text(std::size_t bytes) { spend(std::int64_t(bytes / 32) + 1); }

    void take(std::size_t bytes)
    {
        if (bytes > bytes_)
            throw TemplateError("the template needs too much memory");
        bytes_ -= bytes;
    }
    void give_back(std::size_t bytes) { bytes_ += bytes; }

    /// Checks a string's size before it is built; the count may come from the template and be absurd.
    void check_string(std::uint64_t bytes) const
    {
        if (bytes > string_bytes_)
            throw TemplateError("the template makes too long a text");
    }
    /// Checks a text that repeats so many bytes so often: the product may not fit 64 bits.
    void check_repeated(std::uint64_t bytes, std::uint64_t times) const
    {
        std::uint64_t all;
        check_string(__builtin_mul_overflow(bytes, times, &all) ? UINT64_MAX : all);
    }

    void enter()
    {
        if (depth_ <= 0)
            throw TemplateError("the template nests too deeply");
        --depth_;
    }
    void leave() { ++depth_; }

private:
    static constexpr std::int64_t kStepsBetweenLooks = 2048;

    std::int64_t steps_;
    std::int64_t next_look_;  // the next look() comes when fewer steps are left
    std::size_t bytes_;
    std::size_t string_bytes_;
    int depth_;
    std::chrono::steady_clock::time_point end_;
    std::stop_token stop_;
};

/// Counts one level of native recursion, for as long as it lives.
class Level
{
public:
    explicit Level(Budget& budget)
        : budget_(budget)
    {
        budget_.enter();
    }
    ~Level() { budget_.leave(); }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

private:
    Budget& budget_;
};

}  // namespace engine::jinja
