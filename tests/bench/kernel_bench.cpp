// How fast the products are: for every table and type, GB/s of weights with one token, from memory and from the second
// cache, and GOP/s with many, beside the memory's plain read bandwidth measured in the same run. One thread.
//   kernel_bench [TABLE [TYPE]]
#include "kernels/cpu.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

using kernels::CpuKernels;

namespace {

double seconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Best of several runs that last at least `least` seconds together.
template <class Work>
double best_seconds(double least, Work work)
{
    double best = 1e9;
    for (double total = 0; total < least;) {
        const double start = seconds();
        work();
        const double took = seconds() - start;
        best = std::min(best, took);
        total += took;
    }
    return best;
}

double read_gb_per_s()
{
    const std::vector<std::uint64_t> memory(std::size_t(1) << 26, 1);  // 512 MiB: beyond every cache
    volatile std::uint64_t sink = 0;
    const double took = best_seconds(1.0, [&] {
        std::uint64_t sums[8] = {};
        for (std::size_t i = 0; i < memory.size(); i += 8)
            for (std::size_t j = 0; j < 8; ++j)
                sums[j] += memory[i + j];
        sink = sink + std::accumulate(sums, sums + 8, std::uint64_t(0));
    });
    return double(memory.size()) * 8 / took / 1e9;
}

// Bytes that make sane numbers in every type: no infinities or subnormals among the scales.
std::vector<std::byte> weights_of(kernels::TensorType type, int n, int rows)
{
    std::vector<std::byte> bytes(kernels::row_bytes(type, n) * std::size_t(rows));
    std::mt19937_64 rng(1);
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
        const std::uint64_t random = rng() & 0x3fff3fff3fff3fffu;
        std::memcpy(&bytes[i], &random, 8);
    }
    return bytes;
}

void measure(const CpuKernels& table, const kernels::TypeTraits& traits)
{
    constexpr int kLength = 2048;
    const std::size_t row_bytes = kernels::row_bytes(traits.type, kLength);
    const int rows = int((std::size_t(96) << 20) / row_bytes);  // 96 MiB: three times this machine's last cache
    const std::vector<std::byte> weights = weights_of(traits.type, kLength, rows);

    constexpr int kTokens = 512;
    const kernels::Activation form = kernels::activation_of(traits.type);
    const std::size_t stride = kernels::activation_row_bytes(form, kLength);
    std::vector<std::byte> x(stride * kTokens);
    std::vector<float> values(kLength);
    std::mt19937 rng(2);
    std::normal_distribution<float> normal;
    for (int t = 0; t < kTokens; ++t) {
        for (float& v : values)
            v = normal(rng);
        if (form == kernels::Activation::Q8)
            table.quantize_q8(kLength, values.data(), &x[std::size_t(t) * stride]);
        else
            std::memcpy(&x[std::size_t(t) * stride], values.data(), values.size() * sizeof(float));
    }
    const auto product = table.matmul[std::size_t(traits.type)];
    std::vector<float> out(std::size_t(rows) + std::size_t(kTokens) * 256);

    const auto one_token = [&](int some_rows) {
        const double took = best_seconds(0.2, [&] {
            product({kLength, some_rows, weights.data(), 1, x.data(), stride, out.data(), std::size_t(some_rows)});
        });
        return double(some_rows) * double(row_bytes) / took / 1e9;
    };
    const double from_memory = one_token(rows);
    const double from_cache = one_token(int((std::size_t(256) << 10) / row_bytes));
    const bool slow = std::string_view(table.name) == "scalar";
    const int many_rows = slow ? 32 : 256;
    const double many = best_seconds(slow ? 0.1 : 0.4, [&] {
        product({kLength, many_rows, weights.data(), kTokens, x.data(), stride, out.data(), std::size_t(many_rows)});
    });
    std::printf("%-7s %-7s  1 token: memory %6.2f GB/s, cache %6.2f GB/s   %d tokens: %7.1f GOP/s\n", table.name,
                traits.name, from_memory, from_cache, kTokens, 2.0 * many_rows * kTokens * kLength / many / 1e9);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv)
{
    std::printf("memory read, one thread: %.1f GB/s\n", read_gb_per_s());
    for (const CpuKernels& table : kernels::all_cpu_kernels())
        for (const kernels::TypeTraits& traits : kernels::all_tensor_types())
            if ((argc < 2 || std::string_view(argv[1]) == table.name) &&
                (argc < 3 || std::string_view(argv[2]) == traits.name))
                measure(table, traits);
}
