// Writes the keys and values of new tokens into their KV blocks: one warp takes a token's keys of one head, another its
// values. The bits are those that the CPU writes. prepare_heads first norms and turns heads, queries among them.
#include "kernels/cuda/prepare_heads.cuh"

using namespace kernels::cuda;

// k, v: (tokens, kv heads, k_dim or v_dim), token t at t * stride. blocks: (blocks,) where the block column of each run
// of layout.tokens tokens begins, or 0 where it is not on the device: then nothing is written. The tokens are *first,
// *first + 1, ... of the sequence.
extern "C" __global__ void store_kv(kernels::KvBlockLayout layout, const float* k, const float* v, int stride,
                                    const std::uint64_t* blocks, const int* first)
{
    const int head = int(blockIdx.x);
    const PlaceInKv to = place_of(layout, blocks, *first + int(blockIdx.y));
    if (!to.column)
        return;
    const std::size_t row = std::size_t(blockIdx.y) * std::size_t(stride);
    if (warp() == 0)
        store_key(layout, to, head, k + row + std::size_t(head) * std::size_t(layout.k_dim));
    else
        store_value(layout, to, head, v + row + std::size_t(head) * std::size_t(layout.v_dim));
}
EMULATED(store_kv);

// A warp takes a head. grid: (ceil((heads + 2 kv heads) / kPrepareWarps), rows); shared: (kPrepareWarps, longest head)
// floats
extern "C" __global__ void __launch_bounds__(kPrepareWarps* kWarp) prepare_heads(const PrepareArguments a)
{
    const int number = int(blockIdx.x) * kPrepareWarps + warp();
    let_next_begin();
    if (number >= a.heads + 2 * a.kv_heads) {
        wait_for_previous();
        return;  // the whole warp
    }
    float* values = reinterpret_cast<float*>(dynamic_shared()) + warp() * max(a.layout.k_dim, a.layout.v_dim);
    prepare_head(a, number, int(blockIdx.y), values, [] { wait_for_previous(); });
}
EMULATED(prepare_heads);
