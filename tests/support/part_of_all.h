// PartOfAll chooses which of many cases that are alike a run tries.
#pragma once

#include <QtGlobal>

#include <random>

namespace test_support {

/// Takes all cases, or with sanitizers one of `one_of`, others in each run. It prints the run's seed; with
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
        return random_() % one_of_ == 0;
#else
        return true;
#endif
    }

private:
    [[maybe_unused]] const unsigned one_of_;
    std::mt19937 random_;
};

}  // namespace test_support
