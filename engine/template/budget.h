// What one rendering may still use. Templates come out of model files and are hostile until they have finished:
// everything that takes time, memory or stack asks here first.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// Counts steps, bytes and depth of one rendering down to zero. Single-threaded, owned by the Heap.
class Budget
{
public:
    Budget(std::int64_t steps, std::size_t bytes, std::size_t string_bytes, int depth)
        : steps_(steps)
        , bytes_(bytes)
        , string_bytes_(string_bytes)
        , depth_(depth)
    {
    }

    void step() { spend(1); }

    void spend(std::int64_t steps)
    {
        steps_ -= steps;
        if (steps_ < 0)
            throw TemplateError("the template takes too many steps");
    }

    /// Work proportional to text: copying or scanning 32 bytes counts as one step.
    void spend_on_text(std::size_t bytes) { spend(std::int64_t(bytes / 32) + 1); }

    void take(std::size_t bytes)
    {
        if (bytes > bytes_)
            throw TemplateError("the template needs too much memory");
        bytes_ -= bytes;
    }
    void give_back(std::size_t bytes) { bytes_ += bytes; }

    /// Asks before a string of this size is built; the count may come from the template and be absurd.
    void check_string(std::uint64_t bytes) const
    {
        if (bytes > string_bytes_)
            throw TemplateError("the template makes too long a text");
    }

    void enter()
    {
        if (depth_ <= 0)
            throw TemplateError("the template nests too deeply");
        --depth_;
    }
    void leave() { ++depth_; }

private:
    std::int64_t steps_;
    std::size_t bytes_;
    std::size_t string_bytes_;
    int depth_;
};

/// One level of native recursion, given back on the way out.
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
