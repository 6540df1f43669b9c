#include "engine/selftest.h"

#include "engine/evaluate.h"
#include "engine/exec/rows.h"
#include "engine/exec/thread_pool.h"
#include "engine/metrics/host_probe.h"
#include "engine/run/dram_bandwidth.h"
#include "kernels/cpu.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <new>
#include <nlohmann/json.hpp>
#include <vector>

namespace engine {

namespace {

using Outcome = SelftestCheck::Outcome;

/// A small generator, so that a failure repeats anywhere (splitmix64, Steele et al. 2014).
class Random
{
public:
    std::uint64_t bits()
    {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    float uniform() { return float(bits() >> 40) / float(1 << 23) - 1.0f; }

private:
    std::uint64_t state_ = 20261121;
};

SelftestCheck check_products(const kernels::CpuKernels& table, const kernels::TypeTraits& type)
{
    constexpr int kN = 512, kRows = 19, kTokens = 5;
    const kernels::CpuKernels& scalar = kernels::all_cpu_kernels().front();
    Random random;
    std::vector<std::byte> weights(kernels::row_bytes(type.type, kN) * kRows);
    for (std::byte& b : weights)
        b = std::byte(random.bits() & 0xbb);  // without the high exponent bits, so that every scale is a small number

    Rows x(kTokens, kN);
    x.set_shape(kTokens, kN);
    for (int i = 0; i < kTokens * kN; ++i)
        x.row(0)[i] = random.uniform();
    for (int t = 0; t < kTokens; ++t)
        scalar.quantize_q8(kN, x.row(t), x.q8(t));

    const bool floats = kernels::activation_of(type.type) == kernels::Activation::F32;
    std::vector<float> expected(kRows * kTokens), actual(kRows * kTokens), row(kN);
    kernels::MatMul args{kN,
                         kRows,
                         weights.data(),
                         kTokens,
                         floats ? reinterpret_cast<const std::byte*>(x.row(0)) : x.q8(0),
                         floats ? kN * sizeof(float) : x.q8_stride(),
                         expected.data(),
                         kRows};
    scalar.matmul[std::size_t(type.type)](args);
    args.out = actual.data();
    table.matmul[std::size_t(type.type)](args);

    SelftestCheck check{std::string(table.name) + " product " + type.name, Outcome::Passed, {}};
    double worst = 0;
    for (int r = 0; r < kRows; ++r) {
        scalar.dequantize(type.type, kN, weights.data() + std::size_t(r) * kernels::row_bytes(type.type, kN),
                          row.data());
        double norm = 0;
        for (const float w : row)
            norm += double(w) * w;
        // Rounding of n float sums in any order: at most n eps |w| |x|, and |x| <= sqrt(n).
        const double tolerance = kN * 6e-8 * std::sqrt(norm * kN) + 1e-30;
        for (int t = 0; t < kTokens; ++t)
            worst = std::max(
                worst, std::abs(double(actual[std::size_t(t * kRows + r)]) - expected[std::size_t(t * kRows + r)]) /
                           tolerance);
    }
    if (!(worst <= 1.0)) {
        check.outcome = Outcome::Failed;
        check.detail = "differs from the reference by " + std::to_string(worst) + " x the bound";
    }
    return check;
}

double relative_error(std::span<const float> q, std::span<const float> truth)
{
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        difference += (double(q[i]) - truth[i]) * (double(q[i]) - truth[i]);
        size += double(truth[i]) * truth[i];
    }
    return std::sqrt(difference / size);
}

SelftestCheck check_golden(const std::filesystem::path& json_path, int threads)
{
    SelftestCheck check{"golden " + json_path.stem().string(), Outcome::Failed, {}};
    std::ifstream json_file(json_path);
    const auto json = nlohmann::json::parse(json_file, nullptr, false);
    if (json.is_discarded() || !json.contains("llama_cpp_relative_error")) {
        check.outcome = Outcome::Skipped;
        check.detail = "no golden of logits";
        return check;
    }
    LoadRequest request;
    request.model = std::filesystem::path(json_path).replace_extension(".gguf");
    request.threads = threads;
    auto model = Evaluator::open(request, {});
    if (!model) {
        check.detail = model.error().what;
        return check;
    }
    const auto tokens = json["tokens"].get<std::vector<int>>();
    const auto positions = json["positions"].get<std::vector<int>>();
    std::vector<float> rows;
    const Status done = model->logits(tokens, [&](int position, std::span<const float> row) {
        if (std::find(positions.begin(), positions.end(), position) != positions.end())
            rows.insert(rows.end(), row.begin(), row.end());
        return true;
    });
    std::vector<float> truth(rows.size());
    std::ifstream truth_file(std::filesystem::path(json_path).replace_extension(".f32"), std::ios::binary);
    truth_file.read(reinterpret_cast<char*>(truth.data()), std::streamsize(truth.size() * sizeof(float)));
    if (!done || !truth_file || truth.empty()) {
        check.detail = done ? "the reference logits cannot be read" : done.error().what;
        return check;
    }
    const double error = relative_error(rows, truth), bound = 1.2 * json["llama_cpp_relative_error"].get<double>();
    check.outcome = error <= bound ? Outcome::Passed : Outcome::Failed;
    char detail[80];
    std::snprintf(detail, sizeof detail, "error %.3e, bound %.3e", error, bound);
    check.detail = detail;
    return check;
}

}  // namespace

SelftestReport selftest(const std::filesystem::path& goldens, int threads,
                        const std::function<void(const SelftestCheck&)>& on_check)
{
    SelftestReport report;
    const auto count = [&](const SelftestCheck& check) {
        (check.outcome == Outcome::Passed   ? report.passed
         : check.outcome == Outcome::Failed ? report.failed
                                            : report.skipped)++;
        if (on_check)
            on_check(check);
    };
    try {
        for (const kernels::CpuKernels& table : kernels::all_cpu_kernels().subspan(1))
            for (const kernels::TypeTraits& type : kernels::all_tensor_types())
                count(check_products(table, type));
        std::error_code error;
        std::vector<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::directory_iterator(goldens, error))
            if (entry.path().extension() == ".json")
                files.push_back(entry.path());
        if (!goldens.empty() && (error || files.empty()))
            count({"goldens", Outcome::Failed, "no goldens in " + goldens.string()});
        std::sort(files.begin(), files.end());
        for (const auto& file : files)
            count(check_golden(file, threads));
        ThreadPool pool(threads > 0 ? threads : physical_cores());
        report.dram_read_gb_s = measure_dram_read(pool) / 1e9;
    } catch (const std::exception& problem) {  // no memory, or a golden that is not what it should be
        count({"selftest", Outcome::Failed, problem.what()});
    }
    return report;
}

}  // namespace engine
