// Declares the few functions of cuBLAS that we use (NVIDIA's cublas_v2.h, by its types and numbers), and opens the
// library where one is installed; tests have a twin of it in memory. Most machines have the driver only, so nothing
// depends on it: it multiplies many tokens where it is there and faster.
#pragma once

#include "kernels/cuda/ops.h"

#include <memory>
#include <string>

namespace kernels::cuda {

/// Says what a call of cuBLAS answers; numbers that are not listed may come too.
enum class [[nodiscard]] BlasStatus : int{
    Ok = 0, NotInitialized = 1, AllocFailed = 3, InvalidValue = 7, ExecutionFailed = 13, NotSupported = 15,
};

using BlasHandle = struct BlasHandleTag*;

// cuBLAS's numbers.
enum class BlasOp : int { None = 0, Transposed = 1 };
enum class BlasType : int { Float = 0, Half = 2 };
enum class BlasScalarsAt : int { Host = 0, Device = 1 };
constexpr int kBlasSumsOfFloats = 68;
constexpr int kBlasOwnChoice = -1;

/// cuBLAS's functions with its own signatures. Matrices are stored by columns there.
struct BlasTable {
    BlasStatus (*create)(BlasHandle* handle);
    BlasStatus (*destroy)(BlasHandle handle);
    BlasStatus (*set_queue)(BlasHandle handle, Queue queue);  // makes it forget its workspace
    BlasStatus (*set_workspace)(BlasHandle handle, void* workspace, std::size_t bytes);
    BlasStatus (*set_scalars_at)(BlasHandle handle, BlasScalarsAt where);
    // c (m, n) = alpha * a * b + beta * c, with a (m, k) and b (k, n) once transposed as asked
    BlasStatus (*multiply)(BlasHandle handle, BlasOp a_op, BlasOp b_op, int m, int n, int k, const void* alpha,
                           const void* a, BlasType a_type, int a_stride, const void* b, BlasType b_type, int b_stride,
                           const void* beta, void* c, BlasType c_type, int c_stride, int compute, int algorithm);
};

/// Holds cuBLAS, which blas_library() opens on the first call and keeps. Where there is none, `table` is null and
/// `problem` says why in one sentence.
struct BlasLibrary {
    const BlasTable* table = nullptr;
    std::string problem;
};
const BlasLibrary& blas_library();

/// Opens the newest cuBLAS that is installed; each system has a version of its own. Where there is none, its library is
/// null.
OpenedLibrary open_blas_library();
/// Fills the table from a library's symbols. Returns the name of the first one that is missing, or null.
const char* fill_table(BlasTable& table, Symbol symbol, void* library);

/// cuBLAS for one queue of an open device, whose context is current when it is made, used and destroyed. One thread at
/// a time.
class Blas
{
public:
    /// Size of the memory that it works in, as NVIDIA advises for its larger GPUs.
    static constexpr std::size_t kWorkspaceBytes = std::size_t(32) << 20;

    /// Returns null if cuBLAS does not start here. The workspace is the caller's, on the device.
    static std::unique_ptr<Blas> open(const BlasTable& table, Queue queue, DevicePtr workspace, std::size_t bytes);
    ~Blas();
    Blas(const Blas&) = delete;
    Blas& operator=(const Blas&) = delete;

    /// out[t][r] = sum over i of weights[r][i] * x[t][i], or that added to what is there. weights: (rows, n) halves;
    /// x: (tokens, n)
    BlasStatus multiply(DevicePtr weights, int rows, int n, const HalfRows& x, int tokens, Rows out, Into into) const;

private:
    explicit Blas(const BlasTable& table)
        : table_(table)
    {
    }
    const BlasTable& table_;
    BlasHandle handle_ = nullptr;
};

constexpr int kBlasTile = 128;  // rows

/// Says where the halves of a matrix lie while they are multiplied: as many rows at a time as there is room for, in
/// whole tiles if there is room for one.
struct HalfRoom {
    DevicePtr at = 0;
    std::size_t bytes = 0;
};

/// Says whether weights of the type are halves already, or become halves without losing what matters.
bool blas_can(TensorType type);

/// Says how far a product came.
struct BlasProgress {
    Status status = Status::Ok;  // of the device
    BlasStatus blas_status = BlasStatus::Ok;
    int rows = 0;  // of the matrix that are done
};
// Does what matmul() does, by cuBLAS. x: the activations of p as halves, in place of p.x. Where cuBLAS fails, the rest
// of the rows is untouched.
BlasProgress matmul_by_blas(const Driver& driver, Queue queue, const Blas& blas, const Product& p, const HalfRows& x,
                            const HalfRoom& room);

}  // namespace kernels::cuda
