// CudaBlas multiplies many rows on a GPU by cuBLAS, where it is installed and was measured to be faster than our own
// kernels. It multiplies halves: activations keep 11 bits instead of 8, and weights become halves a slice at a time.
#pragma once

#include "engine/device/cuda_device.h"
#include "engine/device/vram.h"
#include "engine/exec/cuda_memory.h"
#include "kernels/cuda/blas.h"

#include <memory>

namespace engine {

/// Belongs to one backend, on its thread.
class CudaBlas
{
public:
    /// Returns the bytes of the device that it takes; 0: it is not used for such a model.
    static std::int64_t bytes(const Hyperparameters& h, int max_rows);
    /// Opens cuBLAS and takes its memory. Unsupported: the sentence says why there is none. DeviceFull, DeviceLost.
    static Result<std::unique_ptr<CudaBlas>> make(CudaDevice& device, Vram& vram, const Hyperparameters& h,
                                                  int max_rows);
    ~CudaBlas();
    CudaBlas(const CudaBlas&) = delete;
    CudaBlas& operator=(const CudaBlas&) = delete;

    /// Converts the activations of the products that follow. x: (rows, n)
    kernels::cuda::Status take(kernels::cuda::Rows x, int rows, int n) const;
    kernels::cuda::BlasProgress multiply(const kernels::cuda::Product& product) const;

private:
    struct Sizes {
        Sizes(const Hyperparameters& h, int max_rows);
        std::size_t activations, scalars, weights;
        std::size_t device() const;
    };

    CudaBlas(CudaDevice& device, Vram& vram, const Sizes& sizes, DevicePtr memory);

    CudaDevice& device_;
    Vram& vram_;
    const Sizes sizes_;
    DevicePtr memory_;
    CudaArena arena_;
    kernels::cuda::HalfRows x_;
    kernels::cuda::HalfRoom room_;
    std::unique_ptr<kernels::cuda::Blas> blas_;
};

}  // namespace engine
