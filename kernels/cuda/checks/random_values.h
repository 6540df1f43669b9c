// Makes random vectors, and measures their length.
#pragma once

#include "kernels/cuda/checks/compare.h"

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace kernels::cuda {

inline std::vector<float> normal_values(int count, float size, std::mt19937& random)
{
    std::vector<float> values(static_cast<std::size_t>(count));
    std::normal_distribution<float> normal(0.0f, size);
    for (float& v : values)
        v = normal(random);
    return values;
}

inline double length_of(const float* x, int n, std::ptrdiff_t stride = 1)
{
    double squares = 0;
    for (int i = 0; i < n; ++i)
        squares += double(x[i * stride]) * double(x[i * stride]);
    return std::sqrt(squares);
}

// The share by which a gate may be off: kernel and reference each round an exponential, a quotient and a few products.
constexpr double kGateRoundings = 32 * kHalfEpsilon;

}  // namespace kernels::cuda
