// sigmoid() is the logistic function, for what the engine computes outside of the kernels.
#pragma once

#include <cmath>

namespace engine {

inline float sigmoid(float x)
{
    return 1.0f / (1.0f + std::exp(-x));
}

}  // namespace engine
