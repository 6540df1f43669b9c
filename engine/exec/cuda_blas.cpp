#include "engine/exec/cuda_blas.h"

#include "engine/exec/cuda_address.h"

#include <algorithm>

namespace engine {

namespace cuda = kernels::cuda;

// This many bytes of halves stay in the cache of a large GPU from when they are made until they are multiplied.
static constexpr std::size_t kSliceBytes = std::size_t(32) << 20;

CudaBlas::Sizes::Sizes(const Hyperparameters& h, int max_rows)
{
    CountedMemory counted;
    const Activations a(h, max_rows, counted);
    // Floats there, halves here.
    activations =
        std::max({a.x.value_capacity_bytes(), a.attended.value_capacity_bytes(), a.inner.value_capacity_bytes()}) / 2;
    const std::size_t inputs = activations / std::size_t(max_rows);  // bytes of the longest row of a matrix
    const std::size_t outputs =
        std::max({a.qkv.value_capacity_bytes(), a.gate_up.value_capacity_bytes(), a.branch.value_capacity_bytes()}) /
        sizeof(float) / std::size_t(max_rows);
    weights = std::max(inputs, std::min(kSliceBytes, inputs * outputs));
    scalars = sizeof(cuda::HalfScalars);
}

std::size_t CudaBlas::Sizes::device() const
{
    return cuda_aligned(activations) + cuda_aligned(scalars) + cuda_aligned(weights) + cuda::Blas::kWorkspaceBytes;
}

// Routers choose between experts by small differences, for which halves are not exact enough.
std::int64_t CudaBlas::bytes(const Hyperparameters& h, int max_rows)
{
    return h.experts > 0 ? 0 : std::int64_t(Sizes(h, max_rows).device());
}

Result<std::unique_ptr<CudaBlas>> CudaBlas::make(CudaDevice& device, Vram& vram, const Hyperparameters& h, int max_rows)
{
    const cuda::Platform platform = cuda::platform();
    if (h.experts > 0 || !platform.blas)
        return fail(Error::Code::Unsupported, "cuBLAS is not used here");
    const cuda::BlasLibrary& library = platform.blas();
    if (!library.table)
        return fail(Error::Code::Unsupported, library.problem);
    const Sizes sizes(h, max_rows);
    const auto memory = vram.take(Vram::Use::Scratch, sizes.device());
    if (!memory)
        return tl::unexpected(memory.error());
    std::unique_ptr<CudaBlas> blas(new CudaBlas(device, vram, sizes, *memory));
    if (const Status ok = device.checked(device.driver().make_current()); !ok)
        return tl::unexpected(ok.error());
    const cuda::DevicePtr workspace = cuda_address(blas->arena_.take(cuda::Blas::kWorkspaceBytes));
    blas->blas_ = cuda::Blas::open(*library.table, device.compute(), workspace, cuda::Blas::kWorkspaceBytes);
    if (!blas->blas_)
        return fail(Error::Code::Unsupported, "cuBLAS is installed, but does not start on this GPU");
    return blas;
}

CudaBlas::CudaBlas(CudaDevice& device, Vram& vram, const Sizes& sizes, DevicePtr memory)
    : device_(device)
    , vram_(vram)
    , sizes_(sizes)
    , memory_(memory)
    , arena_(memory, sizes.device())
    , x_{cuda_address(arena_.take(sizes.activations)), cuda_address(arena_.take(sizes.scalars))}
    , room_{cuda_address(arena_.take(sizes.weights)), sizes.weights}
{
}

CudaBlas::~CudaBlas()
{
    (void)device_.driver().make_current();
    (void)device_.finish_work();
    blas_.reset();
    vram_.give_back(Vram::Use::Scratch, memory_, sizes_.device());
}

cuda::Status CudaBlas::take(cuda::Rows x, int rows, int n) const
{
    return cuda::rows_to_halves(device_.driver(), device_.compute(), x, rows, n, x_);
}

cuda::BlasProgress CudaBlas::multiply(const cuda::Product& product) const
{
    return cuda::matmul_by_blas(device_.driver(), device_.compute(), *blas_, product, x_, room_);
}

}  // namespace engine
