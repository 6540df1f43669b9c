// PartOfAll chooses which of many cases that are alike a run tries.
#pragma once

#include <QtGlobal>

#include <random>

namespace test_support {

/// Takes all cases, or with sanitizers one of each `one_of` that follow each other, others in each run: of so many it
/// never takes none, with which Qt Test would run a function without data. It prints the run's seed; with
/// SPILLWAY_PART_SEED set to that a run takes the same cases again.
class PartOfAll
{
public:
    explicit PartOfAll(unsigned one_of)
        : one_of_(one_of)
    {
#ifdef SPILLWAY_SANITIZED
        bool given = false;
        const int seed = qEnvironmentVariableIntValue("SPILLWAY_PART_SEED", &given);
        const unsigned chosen = given ? unsigned(seed) : std::random_device{}() >> 1;
        qInfo("one of %u cases is tried, SPILLWAY_PART_SEED=%u", one_of, chosen);
        random_.seed(chosen);
#endif
    }
    bool takes_next()
    {
#ifdef SPILLWAY_SANITIZED
        if (left_ == 0) {
            left_ = one_of_;
            taken_ = unsigned(random_() % one_of_);
        }
        return --left_ == taken_;
#else
        return true;
#endif
    }

private:
    [[maybe_unused]] const unsigned one_of_;
    [[maybe_unused]] unsigned left_ = 0, taken_ = 0;  // of those that follow each other
    std::mt19937 random_;
};

}  // namespace test_support
