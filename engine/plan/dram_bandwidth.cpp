#include "engine/plan/dram_bandwidth.h"

#include "engine/device/huge_array.h"
#include "engine/exec/thread_pool.h"
#include "engine/metrics/clock.h"

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace engine {

double measure_dram_read(ThreadPool& pool)
{
    constexpr std::size_t kPasses = 4;
    const std::size_t bytes = std::size_t(measures_small_sets() ? 4 : 256) << 20;
    const auto words = bytes / sizeof(std::uint64_t);
    const HugeArray memory(bytes);
    auto* const data = reinterpret_cast<std::uint64_t*>(memory.data());
    std::uninitialized_fill_n(data, words, 1);
    std::int64_t best_us = 0;
    for (std::size_t pass = 0; pass < kPasses; ++pass) {
        std::vector<std::uint64_t> sums(std::size_t(pool.size()) * 8);  // a cache line each
        const std::int64_t start = now_us();
        pool.run([&](int worker) {
            const auto share = words / std::size_t(pool.size());
            const std::uint64_t* p = data + share * std::size_t(worker);
            std::uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
            for (std::size_t i = 0; i + 8 <= share; i += 8) {
                a += p[i], b += p[i + 1], c += p[i + 2], d += p[i + 3];
                e += p[i + 4], f += p[i + 5], g += p[i + 6], h += p[i + 7];
            }
            sums[std::size_t(worker) * 8] = a + b + c + d + e + f + g + h;
        });
        const std::int64_t us = std::max<std::int64_t>(1, now_us() - start);
        if (sums[0] != 0 && (best_us == 0 || us < best_us))
            best_us = us;
    }
    return best_us > 0 ? double(bytes) / double(best_us) * 1e6 : 0.0;
}

bool measures_small_sets()
{
    static const bool small = std::getenv("SPILLWAY_MEASURE_SMALL_SETS") != nullptr;
    return small;
}

}  // namespace engine
