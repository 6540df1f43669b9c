#include "engine/tools/selftest_cuda.h"

#include "engine/shape_model.h"
#include "engine/tools/token_run.h"
#include "kernels/cuda/check.h"

#include <cstdio>
#include <cstring>
#include <optional>

namespace engine {

namespace {

namespace cuda = kernels::cuda;
using Outcome = SelftestCheck::Outcome;

constexpr unsigned kSeed = 20261121;  // always the same, so that a failure repeats
constexpr int kPrefillTokens = 40, kAnswerTokens = 24;
constexpr int kBlockTokens = 16;

std::string device_id(int ordinal)
{
    return "cuda:" + std::to_string(ordinal);
}

std::string problem_of(const cuda::Driver& driver, const cuda::Checked& checked)
{
    return checked.where + ": " +
           (checked.status != cuda::Status::Ok
                ? driver.error_text(checked.status)
                : "differs from the reference by " + std::to_string(checked.worst) + " x the bound");
}

std::string kernel_name(int ordinal, const cuda::KernelCheck& kernel)
{
    return device_id(ordinal) + " " + kernel.name;
}

SelftestCheck check_kernel(const cuda::Driver& driver, const cuda::KernelCheck& kernel)
{
    SelftestCheck check{kernel_name(driver.info().ordinal, kernel), Outcome::Passed, {}};
    const cuda::Checked checked = kernel.run(driver, kSeed);
    if (checked.passed())
        return check;
    check.outcome = Outcome::Failed;
    check.detail = problem_of(driver, checked);
    return check;
}

std::string blas_name(int ordinal)
{
    return device_id(ordinal) + " products by cuBLAS";
}

SelftestCheck check_blas(const cuda::Platform& platform, const cuda::Driver& driver)
{
    SelftestCheck check{blas_name(driver.info().ordinal), Outcome::Skipped, "cuBLAS is not installed"};
    if (!platform.blas)
        return check;
    const cuda::BlasLibrary& library = platform.blas();
    check.detail = library.problem;
    if (!library.table)
        return check;
    const cuda::BlasChecked checked = cuda::check_blas(driver, *library.table, kSeed);
    check.outcome = checked.passed() ? Outcome::Passed : Outcome::Failed;
    if (checked.blas_status != cuda::BlasStatus::Ok)
        check.detail = "cuBLAS failed with its error " + std::to_string(int(checked.blas_status));
    else if (!checked.passed())
        check.detail = problem_of(driver, checked.checked);
    return check;
}

/// One small model; where it lies is what is checked.
struct TinyModel {
    const char* shape;
    const ShapeModel& file;
    int threads;
};

LoadRequest request_for(const TinyModel& model)
{
    LoadRequest request;
    request.model = model.file.path();
    request.kv_block_tokens = kBlockTokens;
    request.prefill_chunk_tokens = 32;
    request.context_tokens = 2 * (kPrefillTokens + kAnswerTokens);
    request.threads = model.threads;
    return request;
}

/// Returns token ids that differ from each other, and are the same on every machine.
std::vector<int> some_tokens(int vocabulary)
{
    std::vector<int> ids;
    for (int i = 0; i < kPrefillTokens + kAnswerTokens; ++i)
        ids.push_back(int((std::int64_t(i) * 7919 + 31) % vocabulary));
    return ids;
}

/// Runs the model. The error says what went wrong, also where layers left the device.
Result<StepLogits> logits_of(const LoadRequest& request)
{
    auto model =
        LoadedModel::load(request, {[](const LoadProgress&) {}, [] { return false; }, [](const std::string&) {}});
    if (!model)
        return tl::unexpected(model.error());
    LoadedModel& loaded = **model;
    if (!loaded.info().warnings.empty())
        return fail(Error::Code::DeviceLost, loaded.info().warnings.front());
    TokenRun run = run_tokens(loaded, some_tokens(loaded.info().vocabulary), kPrefillTokens);
    if (!run.status)
        return tl::unexpected(run.status.error());
    for (const Event& event : run.events)
        if (event.kind == Event::Kind::DeviceLost)
            return fail(Error::Code::DeviceLost, event.sentence);
    const auto device = loaded.placement().telemetry();
    const bool wanted = request.placement.device != PlacementOptions::Device::Cpu;
    if (wanted && (!device || device->layers != loaded.info().layers))
        return fail(Error::Code::DeviceLost, "not all layers stayed on the device");
    return std::move(run.logits);
}

/// Says how a model is put on the device.
struct PlacementCase {
    const char* name;
    KvPolicy policy;
    double share_on_host;  // of the KV blocks
    int times;             // with the same bits
};

constexpr PlacementCase kPlacements[] = {
    {"all on the device", KvPolicy::Auto, 0, 2},
    {"half of the KV on the host, streamed", KvPolicy::Stream, 0.5, 1},
    {"half of the KV on the host, attended there", KvPolicy::Merge, 0.5, 1},
    {"decoded by the cpu", KvPolicy::CpuDecode, 0, 1},
};

std::string placement_name(int ordinal, const char* shape, const PlacementCase& placement)
{
    return device_id(ordinal) + " " + shape + ", " + placement.name;
}

/// Checks that the logits are close to the CPU's, and have the same bits each time.
SelftestCheck check_placement(int ordinal, const TinyModel& model, const PlacementCase& placement,
                              const StepLogits& on_cpu)
{
    SelftestCheck check{placement_name(ordinal, model.shape, placement), Outcome::Failed, {}};
    LoadRequest request = request_for(model);
    request.placement.device = PlacementOptions::Device::Cuda;
    request.placement.cuda_ordinal = ordinal;
    request.placement.kv_policy = placement.policy;
    request.placement.kv_offload_share = placement.share_on_host;
    const auto first = logits_of(request);
    const auto again = first && placement.times > 1 ? logits_of(request) : first;
    if (!first || !again) {
        check.detail = first ? again.error().what : first.error().what;
        return check;
    }
    const double apart = relative_difference(*first, on_cpu);
    if (*again != *first)
        check.detail = "the same placement gave other results the second time";
    else if (first->size() != on_cpu.size() || !(apart <= kCpuAndCudaApart))
        check.detail = "logits differ from the cpu's by " + std::to_string(apart);
    else {
        char detail[80];
        std::snprintf(detail, sizeof detail, "%d tokens, %.4f from the cpu", kAnswerTokens, apart);
        check.detail = detail;
        check.outcome = Outcome::Passed;
    }
    return check;
}

void check_model(int ordinal, const char* shape, int threads, const Wanted& wanted, const OnCheck& on_check)
{
    const std::string name = device_id(ordinal) + " " + shape;
    std::error_code error;
    const auto file = ShapeModel::make(shape, std::filesystem::temp_directory_path(error));
    if (!file)
        return on_check({name, Outcome::Failed, file.error().what});
    const TinyModel model{shape, *file, threads};
    const auto on_cpu = logits_of(request_for(model));
    if (!on_cpu)
        return on_check({name + " on the cpu", Outcome::Failed, on_cpu.error().what});
    for (const PlacementCase& placement : kPlacements)
        if (wanted(placement_name(ordinal, shape, placement)))
            on_check(check_placement(ordinal, model, placement, *on_cpu));
}

}  // namespace

std::string check_cuda(int ordinal, int threads, const Wanted& wanted, const OnCheck& on_check)
{
    const cuda::Platform platform = cuda::platform();
    if (!platform.table)
        return platform.problem;
    {
        const auto opened = cuda::Driver::open(*platform.table, platform.images, ordinal);
        if (!opened.driver)
            return opened.problem;
        for (const cuda::KernelCheck& kernel : cuda::kernel_checks())
            if (wanted(kernel_name(ordinal, kernel)))
                on_check(check_kernel(*opened.driver, kernel));
        if (wanted(blas_name(ordinal)))
            on_check(check_blas(platform, *opened.driver));
    }
    // Windows and norms of heads are in the second one.
    check_model(ordinal, "tiny-llama:q4_k_m", threads, wanted, on_check);
    check_model(ordinal, "tiny-gemma3:q8_0", threads, wanted, on_check);
    return {};
}

}  // namespace engine
