// Lists the packed tensor types in a macro, so that code that exists for each of them is written once.
#pragma once

// clang-format off
// Expands TYPE(name, suffix, more...) for each type, in the order of all_tensor_types(). name: as in TensorType, and
// after `Block` in blocks.h; suffix: how the names of the type's CUDA kernels end; more: any further arguments.
#define SPILLWAY_EACH_PACKED_TYPE(TYPE, ...)         \
    TYPE(Q4_0, q4_0, __VA_ARGS__)       \
    TYPE(Q4_1, q4_1, __VA_ARGS__)       \
    TYPE(Q5_0, q5_0, __VA_ARGS__)       \
    TYPE(Q5_1, q5_1, __VA_ARGS__)       \
    TYPE(Q8_0, q8_0, __VA_ARGS__)       \
    TYPE(Q2_K, q2_k, __VA_ARGS__)       \
    TYPE(Q3_K, q3_k, __VA_ARGS__)       \
    TYPE(Q4_K, q4_k, __VA_ARGS__)       \
    TYPE(Q5_K, q5_k, __VA_ARGS__)       \
    TYPE(Q6_K, q6_k, __VA_ARGS__)       \
    TYPE(IQ2_XXS, iq2_xxs, __VA_ARGS__) \
    TYPE(IQ2_XS, iq2_xs, __VA_ARGS__)   \
    TYPE(IQ3_XXS, iq3_xxs, __VA_ARGS__) \
    TYPE(IQ1_S, iq1_s, __VA_ARGS__)     \
    TYPE(IQ4_NL, iq4_nl, __VA_ARGS__)   \
    TYPE(IQ3_S, iq3_s, __VA_ARGS__)     \
    TYPE(IQ2_S, iq2_s, __VA_ARGS__)     \
    TYPE(IQ4_XS, iq4_xs, __VA_ARGS__)   \
    TYPE(IQ1_M, iq1_m, __VA_ARGS__)     \
    TYPE(TQ1_0, tq1_0, __VA_ARGS__)     \
    TYPE(TQ2_0, tq2_0, __VA_ARGS__)     \
    TYPE(MXFP4, mxfp4, __VA_ARGS__)     \
    TYPE(NVFP4, nvfp4, __VA_ARGS__)
// clang-format on
