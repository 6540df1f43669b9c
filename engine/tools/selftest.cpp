#include "engine/selftest.h"

#include "engine/evaluate.h"
#include "engine/exec/rows.h"
#include "engine/exec/thread_pool.h"
#include "engine/files/mapped_file.h"
#include "engine/metrics/host_probe.h"
#include "engine/plan/dram_bandwidth.h"
#include "engine/shape/random_weights.h"
#include "engine/tools/selftest_cuda.h"
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

std::string product_name(const kernels::CpuKernels& table, const kernels::TypeTraits& type)
{
    return std::string(table.name) + " product " + type.name;
}

SelftestCheck check_products(const kernels::CpuKernels& table, const kernels::TypeTraits& type)
{
    constexpr int kN = 512, kRows = 19, kTokens = 5;
    const kernels::CpuKernels& scalar = kernels::all_cpu_kernels().front();
    SplitMix random(20261121);  // so that a failure repeats anywhere
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

    SelftestCheck check{product_name(table, type), Outcome::Passed, {}};
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

std::string golden_name(const std::filesystem::path& json_path, std::optional<int> cuda)
{
    return (cuda ? "cuda:" + std::to_string(*cuda) + " golden " : "golden ") + path_text(json_path.stem());
}

/// Checks a golden on the CPU, or on a GPU with all of its layers.
SelftestCheck check_golden(const std::filesystem::path& json_path, int threads, std::optional<int> cuda)
{
    SelftestCheck check{golden_name(json_path, cuda), Outcome::Failed, {}};
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
    if (cuda) {
        request.placement.device = PlacementOptions::Device::Cuda;
        request.placement.cuda_ordinal = *cuda;
    }
    auto model = Evaluator::open(request, {});
    if (!model) {
        if (cuda && model.error().code == Error::Code::Unsupported)
            check.outcome = Outcome::Skipped;
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
    const auto device = model->device();
    if (cuda && (!device || device->layers != model->info().layers)) {
        check.detail = "not all layers stayed on the device";
        return check;
    }
    const double error = relative_error(rows, truth);
    const double bound = (cuda ? kHalvesBesideKv : 1.0) * 1.2 * json["llama_cpp_relative_error"].get<double>();
    check.outcome = error <= bound ? Outcome::Passed : Outcome::Failed;
    char detail[80];
    std::snprintf(detail, sizeof detail, "error %.3e, bound %.3e", error, bound);
    check.detail = detail;
    return check;
}

std::vector<std::filesystem::path> golden_files(const std::filesystem::path& folder)
{
    std::error_code error;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        if (entry.path().extension() == ".json")
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

SelftestReport selftest(const SelftestRequest& request, const std::function<void(const SelftestCheck&)>& on_check)
{
    SelftestReport report;
    const auto count = [&](const SelftestCheck& check) {
        (check.outcome == Outcome::Passed   ? report.passed
         : check.outcome == Outcome::Failed ? report.failed
                                            : report.skipped)++;
        if (on_check)
            on_check(check);
    };
    const auto wanted = [&](const std::string& name) { return !request.wanted || request.wanted(name); };
    try {
        for (const kernels::CpuKernels& table : kernels::all_cpu_kernels().subspan(1))
            for (const kernels::TypeTraits& type : kernels::all_tensor_types())
                if (wanted(product_name(table, type)))
                    count(check_products(table, type));
        std::vector<std::filesystem::path> goldens;
        if (!request.goldens.empty()) {
            goldens = golden_files(request.goldens);
            if (goldens.empty())
                count({"goldens", Outcome::Failed, "no goldens in " + path_text(request.goldens)});
        }
        for (const auto& file : goldens)
            if (wanted(golden_name(file, {})))
                count(check_golden(file, request.threads, {}));
        if (request.cuda) {
            report.no_cuda = check_cuda(*request.cuda, request.threads, wanted, count);
            if (report.no_cuda.empty())
                for (const auto& file : goldens)
                    if (wanted(golden_name(file, request.cuda)))
                        count(check_golden(file, request.threads, request.cuda));
        }
        ThreadPool pool(request.threads > 0 ? request.threads : physical_cores());
        report.dram_read_gb_s = measure_dram_read(pool) / 1e9;
    } catch (const std::exception& problem) {  // no memory, or a golden that is not what it should be
        count({"selftest", Outcome::Failed, problem.what()});
    }
    return report;
}

}  // namespace engine
