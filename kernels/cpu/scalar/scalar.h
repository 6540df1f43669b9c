// Declares the reference table: plain C++ for every slot and every type. It defines what the wider tables must compute.
#pragma once

#include "kernels/cpu.h"

namespace kernels::scalar {

CpuKernels table();

// What each computes is said at its slot in kernels/cpu.h.
void matmul_f32(const MatMul& m);
void matmul_f16(const MatMul& m);
void matmul_bf16(const MatMul& m);
template <class Block>
void matmul_packed(const MatMul& m);  // instantiated for every block of blocks.h

void dequantize(TensorType type, int n, const std::byte* row, float* out);
void quantize_q8(int n, const float* x, std::byte* row);
void rms_norm(int n, const float* x, const float* weight, float eps, float* out);
void l2_norm(int n, const float* x, float eps, float factor, float* out);
void layer_norm(int n, const float* x, const float* weight, float eps, float* out);
void add(int n, const float* y, float* x);
void rope(bool neox, int n_rot, const float* cos, const float* sin, float* head);
void silu_mul(int n, const float* gate, const float* up, float* out);
void gelu_mul(int n, const float* gate, const float* up, float* out);
void swiglu_oai(int n, const float* gate, const float* up, float alpha, float limit, float* out);
void sigmoid_mul(int n, const float* gate, const float* up, float* out);
void relu_squared(int n, const float* x, float* out);
void linear_attention(const LinearAttention& a);
void short_convolution(const Convolution& c);
void store_kv(const KvBlockLayout& layout, std::byte* block, int t, const float* k, const float* v);
void load_kv(const KvBlockLayout& layout, const std::byte* block, int t, float* k, float* v);
void attend_block(const AttendBlock& a);
void merge_partial(int dim, float max, float sum, const float* out, float& acc_max, float& acc_sum, float* acc_out);

}  // namespace kernels::scalar
