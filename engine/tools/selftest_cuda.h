// Checks a GPU as a part of the self-test: each kernel beside its reference, and small models on the GPU beside the
// same models on the CPU.
#pragma once

#include "engine/selftest.h"

namespace engine {

/// The references take keys and values as halves. Tensor cores round queries and attention weights to halves too: twice
/// as many independent roundings of the same size.
constexpr double kHalvesBesideKv = 1.4143;

/// The most that logits of the CPU and of a GPU may lie apart: two roundings of the activations to 8 bits with nothing
/// in common, as far apart as two results that each keep their bound can be.
constexpr double kCpuAndCudaApart = 0.06;

using OnCheck = std::function<void(const SelftestCheck&)>;
using Wanted = std::function<bool(const std::string& name)>;

/// Returns an empty sentence, or why this GPU cannot be checked. Throws std::bad_alloc.
std::string check_cuda(int ordinal, int threads, const Wanted& wanted, const OnCheck& on_check);

}  // namespace engine
