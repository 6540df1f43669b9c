// Lists every kernel of the program by its name: the .cu file that holds it, and the extern "C" function in there.
#pragma once

#include "kernels/packed_types.h"

// clang-format off
// One kernel for each packed type, in the order of all_tensor_types(); or for each type, the floats first.
#define SPILLWAY_KERNEL_OF_PACKED_TYPE(Name, suffix, KERNEL, file) KERNEL(file, file##_##suffix)
#define SPILLWAY_KERNEL_OF_EACH_PACKED_TYPE(KERNEL, file)                                \
    SPILLWAY_EACH_PACKED_TYPE(SPILLWAY_KERNEL_OF_PACKED_TYPE, KERNEL, file)
#define SPILLWAY_KERNEL_OF_EACH_TYPE(KERNEL, file)                                       \
    KERNEL(file, file##_f32)    KERNEL(file, file##_f16)    KERNEL(file, file##_bf16)    \
    SPILLWAY_KERNEL_OF_EACH_PACKED_TYPE(KERNEL, file)

#define SPILLWAY_CUDA_KERNELS(KERNEL)                   \
    KERNEL(attend, attend_1)                            \
    KERNEL(attend, attend_2)                            \
    KERNEL(attend, attend_4)                            \
    KERNEL(attend, attend_8)                            \
    KERNEL(attend_halves, attend_4_64)                  \
    KERNEL(attend_halves, attend_4_128)                 \
    KERNEL(attend_halves, attend_8_64)                  \
    KERNEL(attend_halves, attend_8_128)                 \
    KERNEL(attend_many, attend_many_64)                 \
    KERNEL(attend_many, attend_many_128)                \
    KERNEL(attend_many, attend_many_256)                \
    KERNEL(attend_many, attend_many_512)                \
    KERNEL(attend_many, attend_many_576)                \
    KERNEL(elementwise, add)                            \
    KERNEL(elementwise, scale)                          \
    KERNEL(elementwise, soft_cap)                       \
    KERNEL(elementwise, weigh_rows)                     \
    KERNEL(elementwise, copy_heads)                     \
    SPILLWAY_KERNEL_OF_EACH_TYPE(KERNEL, embed)         \
    KERNEL(experts, choose_experts)                     \
    KERNEL(experts, scale_weights)                      \
    KERNEL(experts, sort_pairs)                         \
    KERNEL(experts, sum_experts)                        \
    KERNEL(experts, weigh_pairs)                        \
    KERNEL(gated, gated)                                \
    KERNEL(gated, gated_q8)                             \
    KERNEL(gated, gate_heads)                           \
    KERNEL(gated, keep_above)                           \
    SPILLWAY_KERNEL_OF_EACH_TYPE(KERNEL, gated_matvec)  \
    KERNEL(halves, halves_largest)                      \
    KERNEL(halves, halves_of_rows)                      \
    SPILLWAY_KERNEL_OF_EACH_PACKED_TYPE(KERNEL, halves) \
    SPILLWAY_KERNEL_OF_EACH_TYPE(KERNEL, matvec)        \
    SPILLWAY_KERNEL_OF_EACH_TYPE(KERNEL, matvec8)       \
    KERNEL(matvec_mixed, matvec_q3_k_q5_k)              \
    KERNEL(matvec_mixed, matvec_q4_k_q5_k)              \
    KERNEL(matvec_mixed, matvec_q4_k_q6_k)              \
    KERNEL(matvec_mixed, matvec_q5_k_q6_k)              \
    KERNEL(matmul_floats, matmul_f32)                   \
    KERNEL(matmul_floats, matmul_f16)                   \
    KERNEL(matmul_floats, matmul_bf16)                  \
    SPILLWAY_KERNEL_OF_EACH_PACKED_TYPE(KERNEL, matmul) \
    KERNEL(linear_attention, linear_attention)          \
    KERNEL(merge_partials, merge_partials)              \
    KERNEL(quantize_q8, quantize_q8)                    \
    KERNEL(rank, rank_logits)                           \
    KERNEL(rank, rank_kept)                             \
    KERNEL(rank, rank_result)                           \
    KERNEL(rms_norm, rms_norm)                          \
    KERNEL(rms_norm, norm_heads)                        \
    KERNEL(rms_norm, layer_norm)                        \
    KERNEL(rms_norm, layer_norm_heads)                  \
    KERNEL(rope, rope)                                  \
    KERNEL(short_convolution, convolve_silu)            \
    KERNEL(short_convolution, gated_convolution)        \
    KERNEL(state_gates, gate_and_norm)                  \
    KERNEL(state_gates, norm_and_gate)                  \
    KERNEL(store_kv, prepare_heads)                     \
    KERNEL(store_kv, store_kv)                          \
    KERNEL(streams, add_to_streams)                     \
    KERNEL(streams, convolve_ngrams)                    \
    KERNEL(streams, correct_streams)                    \
    KERNEL(streams, gate_ngrams)                        \
    KERNEL(streams, inject_into_streams)                \
    KERNEL(streams, join_streams)                       \
    KERNEL(streams, mean_of_streams)                    \
    KERNEL(streams, predict_streams)                    \
    KERNEL(streams, take_columns)                       \
    KERNEL(wait_for_host, raise_flag)                   \
    KERNEL(wait_for_host, wait_for_host)
// clang-format on

namespace kernels::cuda {

#define SPILLWAY_ENUMERATOR(file, name) name,
enum class Kernel { SPILLWAY_CUDA_KERNELS(SPILLWAY_ENUMERATOR) Count };
#undef SPILLWAY_ENUMERATOR

constexpr int kKernelCount = int(Kernel::Count);

}  // namespace kernels::cuda
