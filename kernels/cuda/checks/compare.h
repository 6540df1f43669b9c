// Keeps the largest difference that a check has seen.
#pragma once

#include "kernels/cpu.h"
#include "kernels/cuda/check.h"
#include "kernels/cuda/checks/device_memory.h"

#include <cmath>
#include <limits>
#include <span>
#include <string>

namespace kernels::cuda {

/// Returns the kernels that say what is right.
inline const CpuKernels& scalar()
{
    return all_cpu_kernels().front();
}

constexpr double kHalfEpsilon = double(std::numeric_limits<float>::epsilon()) / 2;

/// Returns |actual - expected| as a share of the tolerance. No difference is 0 also where none is allowed; NaN, and a
/// difference where none is allowed, are infinity.
inline double share_of(double tolerance, double actual, double expected)
{
    if (actual == expected)
        return 0;
    const double share = std::abs(actual - expected) / tolerance;
    return std::isnan(share) ? std::numeric_limits<double>::infinity() : share;
}

/// Returns 0 where two vectors are the same byte for byte or value for value, else infinity.
template <class T>
double share_of_same(const std::vector<T>& actual, const std::vector<T>& expected)
{
    return actual == expected ? 0 : std::numeric_limits<double>::infinity();
}

inline void note(Checked& checked, const DeviceMemory& on, double share, const std::string& where)
{
    if (checked.status != Status::Ok)
        return;
    checked.status = on.status();
    if (share > checked.worst || !on.ok()) {
        checked.worst = share;
        checked.where = where;
    }
}

}  // namespace kernels::cuda
