// Makes rates that are the same for every size, for tests of predictions.
#pragma once

#include "engine/machine_rates.h"

namespace test_support {

inline engine::RateCurve flat(double bytes_per_s)
{
    return engine::RateCurve({{1e6, bytes_per_s}});
}

}  // namespace test_support
