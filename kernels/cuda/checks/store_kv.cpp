#include "kernels/cuda/checks/checks.h"

#include "kernels/cpu.h"
#include "kernels/cuda/checks/compare.h"
#include "kernels/cuda/ops.h"

#include <cmath>
#include <random>
#include <utility>

namespace kernels::cuda {

namespace {

constexpr int kHeads = 3;
constexpr int kFirst = 13;  // the tokens go into two blocks, the second of which is not on the device
constexpr int kTokens = 22;
constexpr int kBlockTokens = 16;

// The very bytes that the CPU writes, and no others.
double error_of(DeviceMemory& on, std::mt19937& random, const KvBlockLayout& layout)
{
    const int stride = kHeads * (layout.k_dim + layout.v_dim) + 8;
    std::normal_distribution<float> normal;
    std::vector<float> rows(std::size_t(kTokens * stride));
    for (float& x : rows)
        x = normal(random);
    rows[3] = NAN;
    rows[std::size_t(stride)] = 7e4f;  // beyond a half
    for (int d = 0; d < layout.k_dim; ++d)
        rows[std::size_t(2 * stride + d)] = 0.0f;

    const std::size_t column = std::size_t(kHeads) * layout.bytes();
    const std::vector<std::byte> untouched(column, std::byte(0x5a));
    const DevicePtr blocks[] = {on.put(untouched), on.put(untouched), on.put(untouched)};
    const DevicePtr at = on.put(rows);
    const KvBlocks kv{layout, kHeads, on.put(std::vector<std::uint64_t>{blocks[0], 0, blocks[2]})};
    on.keep(store_kv(on.driver(), on.queue(), kv, at, at + std::size_t(kHeads * layout.k_dim) * sizeof(float), stride,
                     on.put(std::vector<int>{kFirst}), kTokens));

    double worst = 0;
    for (int b = 0; b < 3; ++b) {
        std::vector<std::byte> expected = untouched;
        for (int t = 0; t < kTokens && b != 1; ++t)
            for (int h = 0; h < kHeads && (kFirst + t) / kBlockTokens == b; ++h) {
                const float* row = &rows[std::size_t(t * stride)];
                all_cpu_kernels().front().store_kv(layout, expected.data() + std::size_t(h) * layout.bytes(),
                                                   (kFirst + t) % kBlockTokens, row + h * layout.k_dim,
                                                   row + kHeads * layout.k_dim + h * layout.v_dim);
            }
        worst = std::max(worst, share_of_same(on.get<std::byte>(blocks[b], column), expected));
    }
    return worst;
}

Checked check_store_kv(const Driver& driver, unsigned seed, KvType k, KvType v)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const auto& [k_dim, v_dim] : {std::pair{64, 64}, {128, 128}, {80, 96}, {12, 20}}) {
        DeviceMemory on(driver);
        const double share = error_of(on, random, {k, v, k_dim, v_dim, kBlockTokens});
        note(checked, on, share, "heads of " + std::to_string(k_dim) + " and " + std::to_string(v_dim));
    }
    return checked;
}

}  // namespace

void add_store_kv_checks(std::vector<KernelCheck>& checks)
{
    const std::pair<KvType, const char*> types[] = {{KvType::F32, "f32"}, {KvType::F16, "f16"}, {KvType::Q8_0, "q8_0"}};
    for (const auto& [k, k_name] : types)
        for (const auto& [v, v_name] : types)
            checks.push_back(
                {std::string("keys to ") + k_name + ", values to " + v_name,
                 [k = k, v = v](const Driver& driver, unsigned seed) { return check_store_kv(driver, seed, k, v); }});
}

}  // namespace kernels::cuda
