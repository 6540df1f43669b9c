// Launches the kernels that store KV and attend it.
#include "kernels/cuda/attend.h"

#include "kernels/cuda/ops.h"

#include <algorithm>

namespace kernels::cuda {

template <class T>
static T* pointer(DevicePtr at)
{
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(at));
}

Status store_kv(const Driver& driver, Queue queue, const KvBlocks& kv, DevicePtr k, DevicePtr v, int stride,
                DevicePtr first, int tokens)
{
    if (kv.layout.k_dim % 4 != 0 || kv.layout.v_dim % 4 != 0)
        return Status::InvalidValue;
    const Dim grid{unsigned(kv.heads), unsigned(tokens)};
    return driver.launch(Kernel::store_kv, grid, {64}, 0, queue, kv.layout, k, v, stride, kv.blocks, first);
}

PartialsLayout::PartialsLayout(int rows, int max_blocks, int heads, int v_dim)
    : max(0)
    , sum(max + std::size_t(rows) * std::size_t(max_blocks) * std::size_t(heads) * 4)
    , out((sum + sum + 15) / 16 * 16)
    , bytes(out + sum * std::size_t(v_dim))
{
}

static bool can_attend(const Attention& a)
{
    const KvBlockLayout& l = a.kv.layout;
    return l.k_dim % 4 == 0 && l.v_dim % 8 == 0 && l.v_dim / 8 <= kAttendThreads && l.tokens % 16 == 0 && a.group > 0;
}

Status attend_blocks(const Driver& driver, Queue queue, const Attention& a)
{
    if (!can_attend(a))
        return Status::InvalidValue;
    const PartialsLayout partials(a.rows, a.max_blocks, a.kv.heads * a.group, a.kv.layout.v_dim);
    const AttendArguments arguments{
        .layout = a.kv.layout,
        .kv_heads = a.kv.heads,
        .group = a.group,
        .blocks = pointer<std::uint64_t>(a.kv.blocks),
        .begin = a.begin,
        .end = a.end,
        .first = pointer<int>(a.first),
        .window = {a.window, a.window_kind == WindowKind::Chunks},
        .q = pointer<float>(a.q.at),
        .q_stride = a.q.stride,
        .q_scale = pointer<float>(a.q_scale),
        .softcap = a.softcap,
        .max_blocks = a.max_blocks,
        .max = pointer<float>(a.partials + partials.max),
        .sum = pointer<float>(a.partials + partials.sum),
        .out = pointer<float>(a.partials + partials.out),
    };
    struct Variant {
        int heads;
        Kernel kernel;
    };
    constexpr Variant kVariants[] = {
        {1, Kernel::attend_1}, {2, Kernel::attend_2}, {4, Kernel::attend_4}, {8, Kernel::attend_8}};
    const Variant* v = std::begin(kVariants);
    while (v->heads < a.group && v != std::end(kVariants) - 1)
        ++v;

    // Enough thread blocks to fill the device four times over, whatever the length of the conversation is now.
    const int head_blocks = a.kv.heads * ((a.group + v->heads - 1) / v->heads);
    const int wanted = 4 * driver.info().multiprocessors / (head_blocks * a.rows);
    const int sharing = std::clamp(wanted, 1, std::max(1, std::min(a.max_blocks, a.end - a.begin)));
    const int shared_floats = v->heads * (a.kv.layout.k_dim + a.kv.layout.tokens) + kAttendThreads * 8;
    return driver.launch(v->kernel, {unsigned(head_blocks), unsigned(sharing), unsigned(a.rows)}, {kAttendThreads},
                         unsigned(shared_floats) * 4, queue, arguments);
}

Status merge_partials(const Driver& driver, Queue queue, const Attention& a, DevicePtr host_partials, DevicePtr sinks,
                      Rows out)
{
    if (!can_attend(a))
        return Status::InvalidValue;
    const int heads = a.kv.heads * a.group;
    const PartialsLayout partials(a.rows, a.max_blocks, heads, a.kv.layout.v_dim);
    const MergeArguments arguments{
        .block_tokens = a.kv.layout.tokens,
        .heads = heads,
        .v_dim = a.kv.layout.v_dim,
        .blocks = pointer<std::uint64_t>(a.kv.blocks),
        .first = pointer<int>(a.first),
        .window = {a.window, a.window_kind == WindowKind::Chunks},
        .sinks = pointer<float>(sinks),
        .max_blocks = a.max_blocks,
        .max = pointer<float>(a.partials + partials.max),
        .sum = pointer<float>(a.partials + partials.sum),
        .partials = pointer<float>(a.partials + partials.out),
        .host_partials = pointer<float>(host_partials),
        .out = pointer<float>(out.at),
        .out_stride = out.stride,
    };
    return driver.launch(Kernel::merge_partials, {unsigned(heads), unsigned(a.rows)}, {kAttendThreads}, 0, queue,
                         arguments);
}

bool attend_many_can(const Attention& a)
{
    const KvBlockLayout& l = a.kv.layout;
    return can_attend(a) && l.k_type != KvType::F32 && l.v_type != KvType::F32 && l.k_dim <= 576 && l.v_dim <= 576;
}

Status attend_many(const Driver& driver, Queue queue, const Attention& a, const Carried& carried, DevicePtr sinks,
                   Rows out)
{
    if (!attend_many_can(a) || (carried.state == 0 && !(carried.begins && carried.ends)))
        return Status::InvalidValue;
    const AttendManyArguments arguments{
        .layout = a.kv.layout,
        .kv_heads = a.kv.heads,
        .group = a.group,
        .rows = a.rows,
        .blocks = pointer<std::uint64_t>(a.kv.blocks),
        .begin = a.begin,
        .end = a.end,
        .first = pointer<int>(a.first),
        .window = {a.window, a.window_kind == WindowKind::Chunks},
        .q = pointer<float>(a.q.at),
        .q_stride = a.q.stride,
        .q_scale = pointer<float>(a.q_scale),
        .softcap = a.softcap,
        .sinks = pointer<float>(sinks),
        .state = pointer<float>(carried.state),
        .begins = carried.begins,
        .ends = carried.ends,
        .out = pointer<float>(out.at),
        .out_stride = out.stride,
    };
    const int dim = std::max(a.kv.layout.k_dim, a.kv.layout.v_dim);
    const Kernel kernel = dim <= 64    ? Kernel::attend_many_64
                          : dim <= 128 ? Kernel::attend_many_128
                          : dim <= 256 ? Kernel::attend_many_256
                          : dim <= 512 ? Kernel::attend_many_512
                                       : Kernel::attend_many_576;
    const unsigned threads = dim <= 256 ? kAttendManyThreads : 2 * kAttendManyThreads;
    const unsigned queries = unsigned(a.rows) * unsigned(a.group);
    return driver.launch(kernel, {(queries + kAttendManyQueries - 1) / kAttendManyQueries, unsigned(a.kv.heads)},
                         {threads}, 0, queue, arguments);
}

}  // namespace kernels::cuda
