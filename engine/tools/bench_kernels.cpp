#include "engine/bench.h"

#include "engine/caught.h"
#include "engine/device/kernels_in_use.h"
#include "engine/exec/rows.h"
#include "engine/exec/thread_pool.h"
#include "engine/metrics/clock.h"
#include "engine/metrics/host_probe.h"
#include "engine/plan/dram_bandwidth.h"
#include "engine/plan/measure_rates.h"

#include <algorithm>
#include <array>
#include <new>
#include <system_error>
#include <vector>

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

constexpr const char* kStateKernel = "linear-attention";

/// Measures attention: a head of 128 values that four query heads share.
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

/// Measures linear attention by the delta rule: heads of 128 keys and 128 values, one after another.
class StateMeter
{
public:
    /// Throws std::bad_alloc.
    explicit StateMeter(ThreadPool& pool)
        : pool_(pool)
        , states_(aligned_array<float>(RateMeter::sets().back() / sizeof(float)))
        , rows_(std::size_t(kPromptTokens) * kColumns, 0.05f)
        , gates_(kPromptTokens, 0.5f)
        , out_(std::size_t(kPromptTokens) * kHeadLength * std::size_t(pool.size()))
    {
        std::fill_n(states_.get(), RateMeter::sets().back() / sizeof(float), 0.01f);
    }
    KernelRow row()
    {
        const auto heads_in = [](std::size_t bytes) { return int(bytes / kHeadBytes); };
        const auto moved_gb_s = [&](int heads) { return 2.0 * heads * double(kHeadBytes) / seconds(heads, 1) / 1e9; };
        const int prompt_heads = 8 * pool_.size();
        // M^T k, decay, k d^T, M^T q: four multiplications of each value, three of them with an addition
        const double operations = 7.0 * kHeadLength * kHeadLength * kPromptTokens * prompt_heads;
        return {kStateKernel, moved_gb_s(heads_in(RateMeter::sets().front())),
                moved_gb_s(heads_in(RateMeter::sets().back())),
                operations / seconds(prompt_heads, kPromptTokens) / 1e9};
    }

private:
    static constexpr int kHeadLength = 128, kColumns = 3 * kHeadLength;
    static constexpr std::size_t kHeadBytes = kHeadLength * kHeadLength * sizeof(float);

    /// Returns the median of some passes.
    double seconds(int heads, int tokens)
    {
        const ThreadPool::Step step(pool_);
        std::vector<double> passes;
        const std::int64_t begin = now_us();
        while (passes.size() < 5 || now_us() - begin < kLeastMs * 1000) {
            const std::int64_t start = now_us();
            int calls = 0;
            do {
                pass(heads, tokens);
                ++calls;
            } while (now_us() - start < 500);  // so that the clock's steps do not count
            passes.push_back(double(now_us() - start) / 1e6 / calls);
        }
        std::ranges::sort(passes);
        return passes[passes.size() / 2];
    }
    void pass(int heads, int tokens)
    {
        pool_.for_each(heads, std::max(1, heads / (8 * pool_.size())), [&](int begin, int end, int worker) {
            for (int head = begin; head < end; ++head)
                kernels::cpu_kernels().linear_attention(
                    {.keys = kHeadLength,
                     .values = kHeadLength,
                     .tokens = tokens,
                     .delta_rule = true,
                     .q = rows_.data(),
                     .k = rows_.data() + kHeadLength,
                     .qk_stride = kColumns,
                     .v = rows_.data() + 2 * kHeadLength,
                     .v_stride = kColumns,
                     .decay = gates_.data(),
                     .beta = gates_.data(),
                     .gate_stride = 1,
                     .state = states_.get() + std::size_t(head) * kHeadLength * kHeadLength,
                     .state_stride = kHeadLength,
                     .out = out_.data() + std::size_t(worker) * kPromptTokens * kHeadLength,
                     .out_stride = kHeadLength});
        });
    }

    ThreadPool& pool_;
    AlignedArray<float> states_;
    std::vector<float> rows_, gates_, out_;
};

/// Returns the names of the kernels that can be measured.
std::vector<std::string> kernel_names()
{
    std::vector<std::string> names;
    for (const kernels::TypeTraits& type : kernels::all_tensor_types())
        names.emplace_back(type.name);
    for (const Attention& kernel : kAttention)
        names.emplace_back(kernel.name);
    names.emplace_back(kStateKernel);
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
    if (wanted(kStateKernel))
        add(StateMeter(pool).row());
    return report;
} catch (...) {
    return caught("to measure this");
}

}  // namespace engine
