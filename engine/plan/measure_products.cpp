#include "engine/plan/measure_products.h"

#include "engine/exec/cuda_address.h"
#include "engine/exec/cuda_memory.h"
#include "kernels/cuda/blas.h"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace engine {

namespace cuda = kernels::cuda;
using CudaStatus = cuda::Status;

namespace {

constexpr int kPromptTokens = 512;  // a step of a prompt
constexpr std::size_t kSliceBytes = std::size_t(32) << 20;

/// Describes a product of one matrix with many tokens: fewer where the matrix is small.
struct ManyTokens {
    explicit ManyTokens(const WeightRead& matrix)
        : type(matrix.type)
        , n(matrix.row_length)
        , rows(int(matrix.bytes / std::int64_t(kernels::row_bytes(type, n))))
        , tokens(std::clamp(n / 8, cuda::kFewTokens + 1, kPromptTokens))
        , rounded_row(kernels::activation_row_bytes(kernels::activation_of(type), n))
    {
    }
    bool as_floats() const { return kernels::activation_of(type) == kernels::Activation::F32; }
    std::size_t weight_bytes() const { return std::size_t(rows) * kernels::row_bytes(type, n); }
    std::size_t x_bytes() const { return std::size_t(tokens) * std::size_t(n) * sizeof(float); }
    std::size_t out_bytes() const { return std::size_t(tokens) * std::size_t(rows) * sizeof(float); }
    std::size_t rounded_bytes() const { return std::size_t(tokens) * rounded_row; }
    double operations() const { return 2.0 * tokens * double(n) * rows; }

    kernels::TensorType type;
    int n, rows, tokens;
    std::size_t rounded_row;  // bytes
};

std::size_t total(std::initializer_list<std::size_t> pieces)
{
    std::size_t bytes = 0;
    for (const std::size_t piece : pieces)
        bytes += cuda_aligned(piece);
    return bytes;
}

}  // namespace

Result<double> measure_matmul_ops_per_s(const DeviceMeter& meter, const WeightRead& matrix)
{
    const ManyTokens work(matrix);
    if (total({work.weight_bytes(), work.x_bytes(), work.out_bytes(), work.rounded_bytes()}) > meter.bytes())
        return meter.too_small();
    CudaArena arena(meter.memory(), meter.bytes());
    const auto take = [&](std::size_t bytes) { return cuda_address(arena.take(bytes)); };
    const cuda::Rows x{take(work.x_bytes()), work.n};
    const cuda::DevicePtr rounded = work.as_floats() ? x.at : take(work.rounded_bytes());
    const cuda::Product product{.type = work.type,
                                .n = work.n,
                                .rows = work.rows,
                                .weights = take(work.weight_bytes()),
                                .tokens = work.tokens,
                                .x = rounded,
                                .x_stride = work.rounded_row,
                                .out = {take(work.out_bytes()), work.rows}};
    const cuda::Driver& driver = meter.device().driver();
    auto time = meter.seconds([&] {
        CudaStatus status = CudaStatus::Ok;
        if (!work.as_floats())
            status = cuda::quantize_q8(driver, meter.device().compute(), x, work.tokens, work.n,
                                       {product.x, product.x_stride});
        return status == CudaStatus::Ok ? cuda::matmul(driver, meter.device().compute(), product) : status;
    });
    if (!time)
        return time;
    return work.operations() / *time;
}

Result<double> measure_blas_ops_per_s(const DeviceMeter& meter, const WeightRead& matrix)
{
    const cuda::Platform platform = cuda::platform();
    const cuda::BlasTable* table = platform.blas ? platform.blas().table : nullptr;
    if (!table || !cuda::blas_can(matrix.type))
        return fail(Error::Code::Unsupported, "cuBLAS does not multiply this here");
    const ManyTokens work(matrix);
    const std::size_t half_row = std::size_t(work.n) * sizeof(std::uint16_t);
    const std::size_t slice = std::max(half_row, std::min(kSliceBytes, half_row * std::size_t(work.rows)));
    const std::size_t needed = total(
        {work.weight_bytes(), work.x_bytes(), work.x_bytes() / 2, work.out_bytes(), slice, sizeof(cuda::HalfScalars)});
    if (needed + kCudaAlignment > meter.bytes())
        return meter.too_small();
    CudaArena arena(meter.memory(), meter.bytes());
    const auto take = [&](std::size_t bytes) { return cuda_address(arena.take(bytes)); };
    const std::size_t workspace =
        std::min(cuda::Blas::kWorkspaceBytes, (meter.bytes() - needed) / kCudaAlignment * kCudaAlignment);
    const auto blas = cuda::Blas::open(*table, meter.device().compute(), take(workspace), workspace);
    if (!blas)
        return fail(Error::Code::Unsupported, "cuBLAS does not start here");
    const cuda::Rows x{take(work.x_bytes()), work.n};
    const cuda::HalfRows halves{take(work.x_bytes() / 2), take(sizeof(cuda::HalfScalars))};
    const cuda::HalfRoom room{take(slice), slice};
    const cuda::Product product{.type = work.type,
                                .n = work.n,
                                .rows = work.rows,
                                .weights = take(work.weight_bytes()),
                                .tokens = work.tokens,
                                .out = {take(work.out_bytes()), work.rows}};
    const cuda::Driver& driver = meter.device().driver();
    cuda::BlasStatus said = cuda::BlasStatus::Ok;
    auto time = meter.seconds([&] {
        const CudaStatus status =
            cuda::rows_to_halves(driver, meter.device().compute(), x, work.tokens, work.n, halves);
        if (status != CudaStatus::Ok)
            return status;
        const cuda::BlasProgress done =
            cuda::matmul_by_blas(driver, meter.device().compute(), *blas, product, halves, room);
        if (done.blas_status != cuda::BlasStatus::Ok)
            said = done.blas_status;
        return done.status;
    });
    if (!time)
        return time;
    if (said != cuda::BlasStatus::Ok)
        return fail(Error::Code::Unsupported, "cuBLAS fails here with its error " + std::to_string(int(said)));
    return work.operations() / *time;
}

}  // namespace engine
