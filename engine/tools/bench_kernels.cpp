#include "engine/bench.h"

#include "engine/caught.h"
#include "engine/device/kernels_in_use.h"
#include "engine/exec/thread_pool.h"
#include "engine/metrics/host_probe.h"
#include "engine/plan/dram_bandwidth.h"
#include "engine/plan/measure_rates.h"

#include <algorithm>
#include <array>
#include <new>
#include <system_error>

namespace engine {

namespace {

constexpr int kRowLength = 4096, kPromptTokens = 512;
constexpr int kLeastMs = 50;  // for each number

struct Attention {
    const char* name;
    KvType type;
};
constexpr std::array kAttention = {Attention{"attention-f32", KvType::F32}, Attention{"attention-f16", KvType::F16},
                                   Attention{"attention-q8_0", KvType::Q8_0}};

/// A head of 128 values that four query heads share.
KernelRow attention_row(RateMeter& meter, const Attention& kernel)
{
    const auto points = meter.attention({kernel.type, kernel.type, 128, 4, 256}).curve.points();
    return {kernel.name, points.front().bytes_per_s / 1e9, points.back().bytes_per_s / 1e9};
}

KernelRow product_row(RateMeter& meter, const kernels::TypeTraits& type)
{
    const auto points = meter.product(type, kRowLength).curve.points();
    return {type.name, points.front().bytes_per_s / 1e9, points.back().bytes_per_s / 1e9,
            meter.matmul_ops_per_s(type, kRowLength, kPromptTokens) / 1e9};
}

/// The names of the kernels that can be measured.
std::vector<std::string> kernel_names()
{
    std::vector<std::string> names;
    for (const kernels::TypeTraits& type : kernels::all_tensor_types())
        names.emplace_back(type.name);
    for (const Attention& kernel : kAttention)
        names.emplace_back(kernel.name);
    return names;
}

}  // namespace

Result<KernelReport> bench_kernel(std::string_view name, int threads)
try {
    if (threads < 0 || threads > 1024)
        return fail(Error::Code::BadRequest, "the number of threads must be between 1 and 1024");
    const std::vector<std::string> names = kernel_names();
    if (name != "all" && std::ranges::find(names, name) == names.end()) {
        std::string known;
        for (const std::string& one : names)
            known += one + ", ";
        return fail(Error::Code::NotFound, "there is no kernel called " + std::string(name) + "; there are " + known +
                                               "and all for every one of them");
    }
    const auto wanted = [name](std::string_view one) { return name == "all" || name == one; };
    ThreadPool pool(threads > 0 ? threads : physical_cores());
    KernelReport report{kernels_in_use(), pool.size(), {}};
    RateMeter meter(pool, kLeastMs);
    const auto add = [&](KernelRow row) {
        row.dram_read_gb_s = measure_dram_read(pool) / 1e9;
        report.rows.push_back(std::move(row));
    };
    for (const kernels::TypeTraits& type : kernels::all_tensor_types())
        if (wanted(type.name))
            add(product_row(meter, type));
    for (const Attention& kernel : kAttention)
        if (wanted(kernel.name))
            add(attention_row(meter, kernel));
    return report;
} catch (...) {
    return caught("to measure this");
}

}  // namespace engine
