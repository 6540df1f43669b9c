#include "kernels/cuda/blas.h"

#include "kernels/cuda/of_type.h"

#include <algorithm>

namespace kernels::cuda {

// ---- the library ----

const char* fill_table(BlasTable& t, Symbol symbol, void* library)
{
    Binder bind(symbol, library);
    bind(t.create, "cublasCreate_v2");
    bind(t.destroy, "cublasDestroy_v2");
    bind(t.set_queue, "cublasSetStream_v2");
    bind(t.set_workspace, "cublasSetWorkspace_v2");
    bind(t.set_scalars_at, "cublasSetPointerMode_v2");
    bind(t.multiply, "cublasGemmEx");
    return bind.missing();
}

// Like the driver's library, this one is never closed.
static BlasLibrary load_blas_library()
{
    OpenedLibrary opened = open_blas_library();
    if (!opened.library)
        return {nullptr, std::move(opened.problem)};
    static BlasTable table;
    if (const char* missing = fill_table(table, opened.symbol, opened.library))
        return {nullptr, std::string("cuBLAS is too old: it lacks ") + missing};
    return {&table, {}};
}

const BlasLibrary& blas_library()
{
    static const BlasLibrary library = load_blas_library();
    return library;
}

// ---- a handle ----

static void* pointer(DevicePtr at)
{
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(at));
}

std::unique_ptr<Blas> Blas::open(const BlasTable& table, Queue queue, DevicePtr workspace, std::size_t bytes)
{
    std::unique_ptr<Blas> blas(new Blas(table));
    if (table.create(&blas->handle_) != BlasStatus::Ok) {
        blas->handle_ = nullptr;
        return nullptr;
    }
    const bool ready = table.set_queue(blas->handle_, queue) == BlasStatus::Ok &&
                       table.set_workspace(blas->handle_, pointer(workspace), bytes) == BlasStatus::Ok &&
                       table.set_scalars_at(blas->handle_, BlasScalarsAt::Device) == BlasStatus::Ok;
    return ready ? std::move(blas) : nullptr;
}

Blas::~Blas()
{
    if (handle_)
        (void)table_.destroy(handle_);
}

// Rows are columns to cuBLAS: out^T (rows, tokens) = weights (rows, n) * x^T (n, tokens).
BlasStatus Blas::multiply(DevicePtr weights, int rows, int n, const HalfRows& x, int tokens, Rows out, Into into) const
{
    const auto* scalars = static_cast<const HalfScalars*>(pointer(x.scalars));
    const float* beta = into == Into::Sum ? &scalars->one : &scalars->zero;
    return table_.multiply(handle_, BlasOp::Transposed, BlasOp::None, rows, tokens, n, &scalars->undo, pointer(weights),
                           BlasType::Half, n, pointer(x.at), BlasType::Half, n, beta, pointer(out.at), BlasType::Float,
                           out.stride, kBlasSumsOfFloats, kBlasOwnChoice);
}

// ---- products ----

bool blas_can(TensorType type)
{
    return is_packed(type) || type == TensorType::F16;
}

// Returns how many rows of the weights become halves at a time; there is room for `most`. Slices have about one size,
// of whole tiles if there is room for one: cuBLAS's fast kernels need an aligned stride of what they write, and take a
// third of the time of its other kernels.
static int slice_rows(int rows, std::size_t most)
{
    if (most >= std::size_t(rows))
        return rows;
    const int most_tiles = int(most / kBlasTile);
    if (most_tiles == 0)
        return int(most);
    const int tiles = (rows + kBlasTile - 1) / kBlasTile;
    const int slices = (tiles + most_tiles - 1) / most_tiles;
    return (tiles + slices - 1) / slices * kBlasTile;
}

BlasProgress matmul_by_blas(const Driver& driver, Queue queue, const Blas& blas, const Product& p, const HalfRows& x,
                            const HalfRoom& room)
{
    BlasProgress done;
    const std::size_t half_row = std::size_t(p.n) * sizeof(std::uint16_t);
    const int at_once = is_packed(p.type) ? slice_rows(p.rows, room.bytes / half_row) : p.rows;  // halves already
    if (!blas_can(p.type) || at_once == 0) {
        done.blas_status = BlasStatus::NotSupported;
        return done;
    }
    while (done.rows < p.rows) {
        const int count = std::min(at_once, p.rows - done.rows);
        DevicePtr halves = p.weights + std::size_t(done.rows) * row_bytes(p.type, p.n);
        if (is_packed(p.type)) {
            done.status = weights_to_halves(driver, queue, p.type, halves, count, p.n, room.at);
            halves = room.at;
        }
        if (done.status != Status::Ok)
            return done;
        const std::size_t first_bytes = std::size_t(done.rows) * sizeof(float);
        const Rows out{p.out.at + first_bytes, p.out.stride};
        done.blas_status = blas.multiply(halves, count, p.n, x, p.tokens, out, p.into);
        if (done.blas_status != BlasStatus::Ok)
            return done;
        if (p.bias)
            done.status = add(driver, queue, {p.bias + first_bytes, 0}, p.tokens, count, out);
        if (done.status != Status::Ok)
            return done;
        done.rows += count;
    }
    return done;
}

}  // namespace kernels::cuda
