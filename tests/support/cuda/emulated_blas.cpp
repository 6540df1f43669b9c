// Stands in for cuBLAS on the emulated GPU, with those of its functions that this program uses. Sums are in double
// precision.
#include "kernels/cuda/blas.h"
#include "kernels/half.h"
#include "tests/support/cuda/emulated_state.h"

namespace kernels::cuda {

struct BlasHandleTag {
    Queue queue = nullptr;
    bool has_workspace = false;
    BlasScalarsAt scalars = BlasScalarsAt::Host;
};

}  // namespace kernels::cuda

namespace emulator {

namespace {

DevicePtr device_address(const void* at)
{
    return reinterpret_cast<std::uintptr_t>(at);
}

/// The beginning of every function: counts the call, and answers instead of it where it must fail.
struct BlasCall {
    Lock lock;
    BlasStatus status = BlasStatus::Ok;

    BlasCall()
    {
        if (!gpu) {
            status = BlasStatus::NotInitialized;
            return;
        }
        lock = Lock(gpu->mutex);
        if (gpu->lost != Status::Ok || ++gpu->blas_calls == gpu->blas_fails_at)
            status = BlasStatus::ExecutionFailed;
        else if (current_context != &gpu->context)
            status = BlasStatus::NotInitialized;
    }
    bool refused() const { return status != BlasStatus::Ok; }
};

BlasStatus create(BlasHandle* handle)
{
    const BlasCall call;
    if (call.refused())
        return call.status;
    *handle = *gpu->blas_handles.insert(new BlasHandleTag).first;
    return BlasStatus::Ok;
}

// Gives the handle back also where the device is lost, or the call was made to fail.
BlasStatus destroy(BlasHandle handle)
{
    const BlasCall call;
    if (!gpu || gpu->blas_handles.erase(handle) == 0)
        return BlasStatus::NotInitialized;
    delete handle;
    return call.status;
}

BlasStatus set_queue(BlasHandle handle, Queue queue)
{
    const BlasCall call;
    if (call.refused())
        return call.status;
    handle->queue = queue;
    handle->has_workspace = false;
    return BlasStatus::Ok;
}

BlasStatus set_workspace(BlasHandle handle, void* workspace, std::size_t bytes)
{
    const BlasCall call;
    if (call.refused())
        return call.status;
    if (device_address(workspace) % 256 != 0 || !on_device(device_address(workspace), bytes))
        return BlasStatus::InvalidValue;
    handle->has_workspace = true;
    return BlasStatus::Ok;
}

BlasStatus set_scalars_at(BlasHandle handle, BlasScalarsAt where)
{
    const BlasCall call;
    if (call.refused())
        return call.status;
    handle->scalars = where;
    return BlasStatus::Ok;
}

struct Multiplication {
    int m, n, k;
    const float* alpha;
    const std::uint16_t* a;
    int a_stride;
    const std::uint16_t* b;
    int b_stride;
    const float* beta;
    float* c;
    int c_stride;
};

// One value of c: a is transposed, b is not.
float value_of(const Multiplication& p, int row, int column)
{
    double sum = 0;
    for (int i = 0; i < p.k; ++i)
        sum += double(kernels::half_to_float(p.a[std::size_t(row) * std::size_t(p.a_stride) + std::size_t(i)])) *
               double(kernels::half_to_float(p.b[std::size_t(column) * std::size_t(p.b_stride) + std::size_t(i)]));
    return float(double(*p.alpha) * sum);
}

void multiply_now(const Multiplication& p)
{
    for (int column = 0; column < p.n; ++column)
        for (int row = 0; row < p.m; ++row) {
            float& c = p.c[std::size_t(column) * std::size_t(p.c_stride) + std::size_t(row)];
            // What is multiplied by 0 is not read: it may be no number.
            c = value_of(p, row, column) + (*p.beta == 0.0f ? 0.0f : *p.beta * c);
        }
}

/// Returns how many bytes `columns` columns of `rows` values reach over.
std::size_t reach(int rows, int columns, int stride, std::size_t value_bytes)
{
    return (std::size_t(columns - 1) * std::size_t(stride) + std::size_t(rows)) * value_bytes;
}

BlasStatus multiply(BlasHandle handle, BlasOp a_op, BlasOp b_op, int m, int n, int k, const void* alpha, const void* a,
                    BlasType a_type, int a_stride, const void* b, BlasType b_type, int b_stride, const void* beta,
                    void* c, BlasType c_type, int c_stride, int compute, int)
{
    const BlasCall call;
    if (call.refused())
        return call.status;
    const bool known = a_op == BlasOp::Transposed && b_op == BlasOp::None && a_type == BlasType::Half &&
                       b_type == BlasType::Half && c_type == BlasType::Float && compute == kBlasSumsOfFloats &&
                       handle->scalars == BlasScalarsAt::Device && handle->has_workspace;
    if (!known)
        return BlasStatus::NotSupported;
    const bool there = m > 0 && n > 0 && k > 0 && a_stride >= k && b_stride >= k && c_stride >= m &&
                       on_device(device_address(alpha), sizeof(float)) &&
                       on_device(device_address(beta), sizeof(float)) &&
                       on_device(device_address(a), reach(k, m, a_stride, sizeof(std::uint16_t))) &&
                       on_device(device_address(b), reach(k, n, b_stride, sizeof(std::uint16_t))) &&
                       on_device(device_address(c), reach(m, n, c_stride, sizeof(float)));
    if (!there)
        return BlasStatus::InvalidValue;
    ++gpu->blas_products;
    const Multiplication work{m,
                              n,
                              k,
                              static_cast<const float*>(alpha),
                              static_cast<const std::uint16_t*>(a),
                              a_stride,
                              static_cast<const std::uint16_t*>(b),
                              b_stride,
                              static_cast<const float*>(beta),
                              static_cast<float*>(c),
                              c_stride};
    return enqueue(handle->queue, [work] { multiply_now(work); }) == Status::Ok ? BlasStatus::Ok
                                                                                : BlasStatus::ExecutionFailed;
}

}  // namespace

const BlasLibrary& EmulatedGpu::blas()
{
    static const BlasTable table{create, destroy, set_queue, set_workspace, set_scalars_at, multiply};
    static const BlasLibrary library{&table, {}};
    return library;
}

void EmulatedGpu::fail_blas_call(int n)
{
    const Lock lock(state_->mutex);
    state_->blas_fails_at = state_->blas_calls + n;
}

int EmulatedGpu::blas_products() const
{
    const Lock lock(state_->mutex);
    return state_->blas_products;
}

}  // namespace emulator
