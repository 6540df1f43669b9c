// Launches the kernels that store KV and attend it.
#include "kernels/cuda/attend.h"

#include "kernels/cuda/launching.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kernels::cuda {

Status store_kv(const Driver& driver, Queue queue, const KvBlocks& kv, DevicePtr k, DevicePtr v, int stride,
                DevicePtr first, int tokens)
{
    if (kv.layout.k_dim % 4 != 0 || kv.layout.v_dim % 4 != 0)
        return Status::InvalidValue;
    const Dim grid{unsigned(kv.heads), unsigned(tokens)};
    return driver.launch(Kernel::store_kv, grid, {64}, 0, queue, kv.layout, k, v, stride, kv.blocks, first);
}

Status prepare_heads(const Driver& driver, Queue queue, const KvBlocks& kv, const PreparedHeads& p)
{
    if (!can_prepare(kv, p))
        return Status::InvalidValue;
    const unsigned heads = unsigned(p.heads + 2 * kv.heads);
    const unsigned shared_floats = kPrepareWarps * unsigned(std::max(kv.layout.k_dim, kv.layout.v_dim));
    return driver.launch_early(Kernel::prepare_heads, {(heads + kPrepareWarps - 1) / kPrepareWarps, unsigned(p.rows)},
                               {32 * kPrepareWarps}, shared_floats * unsigned(sizeof(float)), queue,
                               prepare_arguments(kv, p));
}

PartialsLayout::PartialsLayout(int rows, int max_blocks, int block_tokens, int heads, int v_dim, int many_pieces)
    : max(0)
    , sum(max + std::size_t(rows) * std::size_t(MostPieces(max_blocks, block_tokens, many_pieces).count) *
                    std::size_t(heads) * 4)
    , out((sum + sum + 15) / 16 * 16)
    , bytes(out + sum * std::size_t(v_dim))
{
}

static bool can_attend(const Attention& a)
{
    const KvBlockLayout& l = a.kv.layout;
    return l.k_dim % 4 == 0 && l.v_dim % 8 == 0 && l.v_dim / 8 <= kAttendThreads && l.tokens % 16 == 0 && a.group > 0;
}

static PartialsLayout partials_of(const Attention& a)
{
    return {a.rows, a.max_blocks, a.kv.layout.tokens, a.kv.heads * a.group, a.kv.layout.v_dim, a.many_pieces};
}

static MostPieces most_pieces(const Attention& a)
{
    return {a.max_blocks, a.kv.layout.tokens, a.many_pieces};
}

/// A kernel, the query heads that a thread block of it takes, and the shared memory.
struct AttendVariant {
    Kernel kernel;
    int heads;
    unsigned shared_bytes;
};

/// Returns the fastest kernel that can compute this attention.
static AttendVariant variant_of(const Attention& a, int piece_tokens)
{
    const KvBlockLayout& l = a.kv.layout;
    const bool halves = l.k_type != KvType::F32 && l.v_type != KvType::F32;
    if (halves && l.k_dim % 64 == 0 && l.v_dim % 64 == 0) {
        const int heads = a.group <= 4 ? 4 : 8;
        const int pass = l.v_type == KvType::Q8_0 && l.k_dim % 128 == 0 && l.v_dim % 128 == 0 ? 128 : 64;
        const Kernel kernel = heads == 4 ? (pass == 64 ? Kernel::attend_4_64 : Kernel::attend_4_128)
                                         : (pass == 64 ? Kernel::attend_8_64 : Kernel::attend_8_128);
        return {kernel, heads, unsigned(AttendHalvesShared(l.k_dim, piece_tokens, heads, pass).bytes)};
    }
    constexpr std::pair<int, Kernel> kByFloats[] = {
        {1, Kernel::attend_1}, {2, Kernel::attend_2}, {4, Kernel::attend_4}, {8, Kernel::attend_8}};
    const auto* v = std::begin(kByFloats);
    while (v->first < a.group && v != std::end(kByFloats) - 1)
        ++v;
    const int floats = v->first * (l.k_dim + piece_tokens) + std::min(v->first, 4) * kAttendThreads * 8;
    return {v->second, v->first, unsigned(floats) * 4};
}

static Status launch_attend(const Driver& driver, Queue queue, const Attention& a, AttendEnd at_end,
                            const NextWeights& next)
{
    if (!can_attend(a))
        return Status::InvalidValue;
    const PartialsLayout partials = partials_of(a);
    const MostPieces most = most_pieces(a);
    const AttendVariant v = variant_of(a, most.tokens);
    // As many thread blocks as fill the device, whatever the length of the conversation is now.
    const int head_blocks = a.kv.heads * ((a.group + v.heads - 1) / v.heads);
    const int wanted = kAttendBlocks * driver.info().multiprocessors / (head_blocks * a.rows);
    const std::int64_t tokens = std::int64_t(std::min(a.max_blocks, a.end - a.begin)) * a.kv.layout.tokens;
    const int pieces = int(std::min<std::int64_t>((tokens + kPieceTokens - 1) / kPieceTokens, wanted));
    const int sharing = std::max(1, pieces);
    const Dim blocks{unsigned(head_blocks), unsigned(sharing), unsigned(a.rows)};
    at_end.next = next_read(driver, next, blocks.x * blocks.y * blocks.z, kAttendBlocks);
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
        .many_pieces = a.many_pieces,
        .piece_tokens = most.tokens,
        .max_pieces = most.count,
        .max = pointer<float>(a.partials + partials.max),
        .sum = pointer<float>(a.partials + partials.sum),
        .out = pointer<float>(a.partials + partials.out),
        .at_end = at_end,
    };
    return driver.launch_early(v.kernel, blocks, {kAttendThreads}, v.shared_bytes, queue, arguments);
}

Status attend_blocks(const Driver& driver, Queue queue, const Attention& a)
{
    return launch_attend(driver, queue, a, {}, {});
}

static bool can_merge(const Attention& a, const Rounded& rounded)
{
    return can_attend(a) && (!rounded.rows.at || a.kv.layout.v_dim % 32 == 0);
}

bool merges_fast_at_end(const Attention& a)
{
    // A launch costs some 8,000 cycles, and a multiprocessor reads some 40 bytes a cycle of the second cache.
    constexpr std::int64_t kMostBytes = 256 << 10;
    if (!can_attend(a))
        return false;
    const MostPieces most = most_pieces(a);
    int pieces = std::min(most.count, a.many_pieces);  // of more, attention takes far longer than the merge
    if (a.window > 0)
        pieces = std::min(pieces, a.window / kPieceTokens + 2);
    const int heads = std::min(a.group, variant_of(a, most.tokens).heads);
    return std::int64_t(pieces) * heads * a.kv.layout.v_dim * std::int64_t(sizeof(float)) <= kMostBytes;
}

Status attend_and_merge(const Driver& driver, Queue queue, const Attention& a, DevicePtr sinks, Rows out,
                        const Rounded& rounded, DevicePtr counters, const NextWeights& next)
{
    if (!can_merge(a, rounded) || a.begin > 0 || a.end < a.max_blocks || !counters)
        return Status::InvalidValue;
    return launch_attend(driver, queue, a,
                         {.counters = pointer<unsigned>(counters),
                          .sinks = pointer<float>(sinks),
                          .out = pointer<float>(out.at),
                          .out_stride = out.stride,
                          .rounded = rounded_rows(rounded),
                          .next = {}},
                         next);
}

Status merge_partials(const Driver& driver, Queue queue, const Attention& a, DevicePtr host_partials, DevicePtr sinks,
                      Rows out, const Rounded& rounded)
{
    if (!can_merge(a, rounded))
        return Status::InvalidValue;
    const int heads = a.kv.heads * a.group;
    const PartialsLayout partials = partials_of(a);
    const MergeArguments arguments{
        .block_tokens = a.kv.layout.tokens,
        .heads = heads,
        .v_dim = a.kv.layout.v_dim,
        .blocks = pointer<std::uint64_t>(a.kv.blocks),
        .first = pointer<int>(a.first),
        .window = {a.window, a.window_kind == WindowKind::Chunks},
        .sinks = pointer<float>(sinks),
        .many_pieces = a.many_pieces,
        .max_pieces = most_pieces(a).count,
        .max = pointer<float>(a.partials + partials.max),
        .sum = pointer<float>(a.partials + partials.sum),
        .partials = pointer<float>(a.partials + partials.out),
        .host_partials = pointer<float>(host_partials),
        .out = pointer<float>(out.at),
        .out_stride = out.stride,
        .rounded = rounded_rows(rounded),
    };
    const int value_blocks = (a.kv.layout.v_dim + kMergeValues - 1) / kMergeValues;
    return driver.launch_early(Kernel::merge_partials, {unsigned(heads), unsigned(value_blocks), unsigned(a.rows)},
                               {kMergeThreads}, 0, queue, arguments);
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
    struct Variant {
        int dim;
        Kernel kernel;
    };
    constexpr Variant kVariants[] = {{64, Kernel::attend_many_64},
                                     {128, Kernel::attend_many_128},
                                     {256, Kernel::attend_many_256},
                                     {512, Kernel::attend_many_512},
                                     {576, Kernel::attend_many_576}};
    const Variant* v = std::begin(kVariants);
    while (v->dim < std::max(a.kv.layout.k_dim, a.kv.layout.v_dim))
        ++v;
    const int at_once = attend_many_queries(v->dim);
    const Dim grid{unsigned((a.rows * a.group + at_once - 1) / at_once), unsigned(a.kv.heads)};
    return driver.launch(v->kernel, grid, {unsigned(attend_many_threads(v->dim))}, 0, queue, arguments);
}

}  // namespace kernels::cuda
