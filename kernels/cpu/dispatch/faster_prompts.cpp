#include "kernels/cpu/dispatch/faster_prompts.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <new>

namespace kernels {

namespace {

constexpr std::size_t kAlignment = 64;
constexpr int kRows = 64, kTokens = 64, kLength = 1024;  // a panel that stays in the nearest caches
constexpr int kPasses = 5;

struct Free {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{kAlignment}); }
};

/// Returns weights that are all zero: integer products take as long with any values, and zeros are the same interleaved
/// and not.
std::unique_ptr<std::byte, Free> zeros(std::size_t bytes)
{
    auto* const memory = static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{kAlignment}));
    std::fill_n(memory, bytes, std::byte(0));
    return std::unique_ptr<std::byte, Free>(memory);
}

}  // namespace

CpuKernels with_faster_prompts(const CpuKernels& plain, const CpuKernels& tiles, const PromptSeconds& seconds)
{
    CpuKernels mixed = plain;
    for (const TypeTraits& type : all_tensor_types()) {
        const auto slot = std::size_t(type.type);
        if (tiles.matmul[slot] == plain.matmul[slot] || seconds(tiles, type.type) >= seconds(plain, type.type))
            continue;
        mixed.matmul[slot] = tiles.matmul[slot];
        mixed.matmul_interleaved[slot] = tiles.matmul_interleaved[slot];
    }
    return mixed;
}

double prompt_seconds(const CpuKernels& table, TensorType type)
{
    const std::size_t x_stride = activation_row_bytes(activation_of(type), kLength);
    const auto weights = zeros(std::size_t(kRows) * row_bytes(type, kLength));
    const auto x = zeros(kTokens * x_stride);
    const auto out = zeros(std::size_t(kRows) * kTokens * sizeof(float));
    const MatMul work{kLength, kRows, weights.get(), kTokens, x.get(), x_stride, reinterpret_cast<float*>(out.get()),
                      kRows};
    const auto slot = std::size_t(type);
    const auto product = table.matmul_interleaved[slot] ? table.matmul_interleaved[slot] : table.matmul[slot];
    double best = std::numeric_limits<double>::max();
    product(work);  // brings all of it into the caches
    for (int pass = 0; pass < kPasses; ++pass) {
        const auto start = std::chrono::steady_clock::now();
        product(work);
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
}

}  // namespace kernels
