// Launches the kernels that work on each row by itself.
#include "kernels/cuda/launching.h"
#include "kernels/cuda/norms.h"
#include "kernels/cuda/of_type.h"

#include <algorithm>

namespace kernels::cuda {

// Threads of a block in kernels that compute each value by itself.
static constexpr unsigned kThreadsOfValues = 256;

static Dim grid_of_values(int rows, int n)
{
    return {(unsigned(n) + kThreadsOfValues - 1) / kThreadsOfValues, unsigned(rows)};
}

Status embed(const Driver& driver, Queue queue, TensorType type, DevicePtr table, DevicePtr ids, float scale, int rows,
             int n, Rows out)
{
    if (n % 4 != 0)
        return Status::InvalidValue;
    constexpr unsigned kThreads = 128;
    const Dim grid{(unsigned(n) / 4 + kThreads - 1) / kThreads, unsigned(rows)};
    return driver.launch(of_type(Kernel::embed_f32, type), grid, {kThreads}, 0, queue, ids, table, row_bytes(type, n),
                         scale, n, out.at, out.stride);
}

Status rms_norm(const Driver& driver, Queue queue, Rows x, DevicePtr weight, float eps, int rows, int dim, Rows out,
                const Rounded& rounded)
{
    if (rounded.rows.at && dim % 32 != 0)
        return Status::InvalidValue;
    return driver.launch_early(Kernel::rms_norm, {unsigned(rows)}, {unsigned(norm_threads(dim))}, 0, queue, x.at,
                               x.stride, weight, eps, dim, out.at, out.stride, rounded_rows(rounded));
}

Status layer_norm(const Driver& driver, Queue queue, Rows x, DevicePtr weight, float eps, int rows, int dim, Rows out)
{
    constexpr unsigned kThreads = kNormThreads;
    return driver.launch_early(Kernel::layer_norm, {unsigned(rows)}, {kThreads}, 0, queue, x.at, x.stride, weight, eps,
                               dim, out.at, out.stride);
}

// Warps of a block in kernels that give each head one.
static constexpr unsigned kHeadWarps = 4;

static Dim grid_of_heads(int rows, int heads)
{
    return {(unsigned(heads) + kHeadWarps - 1) / kHeadWarps, unsigned(rows)};
}

Status norm_heads(const Driver& driver, Queue queue, Rows x, const Heads& heads, DevicePtr weight, float eps, int rows,
                  Rows out)
{
    return driver.launch_early(Kernel::norm_heads, grid_of_heads(rows, heads.count), {32 * kHeadWarps}, 0, queue, x.at,
                               x.stride, heads.count, heads.length, heads.stride, weight, eps, out.at, out.stride);
}

Status layer_norm_heads(const Driver& driver, Queue queue, Rows x, const Heads& heads, DevicePtr weights, float eps,
                        int rows)
{
    return driver.launch_early(Kernel::layer_norm_heads, grid_of_heads(rows, heads.count), {32 * kHeadWarps}, 0, queue,
                               x.at, x.stride, heads.count, heads.length, heads.stride, weights, eps);
}

Status rope(const Driver& driver, Queue queue, Rows x, int heads, int length, DevicePtr cos, DevicePtr sin, int pairs,
            RopePairs order, int rows)
{
    constexpr unsigned kThreads = 128;
    const Dim grid{(unsigned(heads * pairs) + kThreads - 1) / kThreads, unsigned(rows)};
    return driver.launch_early(Kernel::rope, grid, {kThreads}, 0, queue, x.at, x.stride, heads, length, cos, sin, pairs,
                               int(order == RopePairs::Halves));
}

Status add(const Driver& driver, Queue queue, Rows y, int rows, int n, Rows x)
{
    return driver.launch_early(Kernel::add, grid_of_values(rows, n), {kThreadsOfValues}, 0, queue, y.at, y.stride, x.at,
                               x.stride, n);
}

Status scale(const Driver& driver, Queue queue, float factor, int rows, int n, Rows x)
{
    return driver.launch_early(Kernel::scale, grid_of_values(rows, n), {kThreadsOfValues}, 0, queue, factor, x.at,
                               x.stride, n);
}

Status soft_cap(const Driver& driver, Queue queue, float cap, int rows, int n, Rows x)
{
    return driver.launch_early(Kernel::soft_cap, grid_of_values(rows, n), {kThreadsOfValues}, 0, queue, cap, x.at,
                               x.stride, n);
}

Status gated(const Driver& driver, Queue queue, const Gating& gating, Rows gates, Rows up, int rows, int n, Rows out)
{
    return driver.launch_early(Kernel::gated, grid_of_values(rows, n), {kThreadsOfValues}, 0, queue, gates.at,
                               gates.stride, up.at, up.stride, gating, n, out.at, out.stride);
}

// Grid and threads of kernels that round rows. All heads of a long prompt's rows may be more than the
// 65,535 blocks that a grid has along y.
static constexpr unsigned kThreadsOfQuads = 128;

static Dim grid_of_quads(int rows, int n)
{
    return {unsigned(rows), (unsigned(n) / 4 + kThreadsOfQuads - 1) / kThreadsOfQuads};
}

static bool begins_with_quads(const Rows& rows)
{
    return rows.at % 16 == 0 && rows.stride % 4 == 0;
}

Status gated_q8(const Driver& driver, Queue queue, const Gating& gating, Rows gates, Rows up, int rows, int n,
                const Rounded& out)
{
    if (n % 32 != 0 || !begins_with_quads(gates) || !begins_with_quads(up))
        return Status::InvalidValue;
    return driver.launch_early(Kernel::gated_q8, grid_of_quads(rows, n), {kThreadsOfQuads}, 0, queue, gates.at,
                               gates.stride, up.at, up.stride, gating, n, rounded_rows(out));
}

Status gate_heads(const Driver& driver, Queue queue, Rows gates, const Heads& heads, int rows, Rows x)
{
    return driver.launch_early(Kernel::gate_heads, grid_of_values(rows, heads.count * heads.length), {kThreadsOfValues},
                               0, queue, gates.at, gates.stride, heads.count, heads.length, heads.stride, x.at,
                               x.stride);
}

Status keep_above(const Driver& driver, Queue queue, float deviations, int rows, int n, Rows x)
{
    constexpr unsigned kThreads = 512;
    return driver.launch(Kernel::keep_above, {unsigned(rows)}, {kThreads}, 0, queue, deviations, n, x.at, x.stride);
}

Status take_columns(const Driver& driver, Queue queue, Rows x, int rows, int n, Rows out)
{
    return driver.launch(Kernel::take_columns, grid_of_values(rows, n), {kThreadsOfValues}, 0, queue, x.at, x.stride, n,
                         out.at, out.stride);
}

Status copy_heads(const Driver& driver, Queue queue, Rows x, const Heads& heads, int rows, Rows out, int out_stride)
{
    return driver.launch_early(Kernel::copy_heads, grid_of_values(rows, heads.count * heads.length), {kThreadsOfValues},
                               0, queue, x.at, x.stride, heads.count, heads.length, heads.stride, out.at, out.stride,
                               out_stride);
}

Status weigh_rows(const Driver& driver, Queue queue, Rows weights, int rows, int n, Rows x)
{
    return driver.launch_early(Kernel::weigh_rows, grid_of_values(rows, n), {kThreadsOfValues}, 0, queue, weights.at,
                               weights.stride, x.at, x.stride, n);
}

Status quantize_q8(const Driver& driver, Queue queue, Rows x, int rows, int n, Q8Rows out, DevicePtr residual)
{
    if (n % 32 != 0)
        return Status::InvalidValue;
    return driver.launch_early(Kernel::quantize_q8, grid_of_quads(rows, n), {kThreadsOfQuads}, 0, queue, x.at, x.stride,
                               n, rounded_rows({out, residual}));
}

}  // namespace kernels::cuda
