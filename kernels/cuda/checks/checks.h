// Declares the checks of each group of kernels, which kernel_checks() joins.
#pragma once

#include "kernels/cuda/check.h"

#include <vector>

namespace kernels::cuda {

/// Adds checks of operations on rows of activations: norms, rotations, sums, caps, gates, rounding.
void add_row_checks(std::vector<KernelCheck>& checks);
/// Adds checks of products over weights of every type.
void add_product_checks(std::vector<KernelCheck>& checks);
/// Adds checks of products that end in a gate.
void add_gated_product_checks(std::vector<KernelCheck>& checks);
/// Adds checks that activations and packed weights become halves with the very bits that the host makes.
void add_halves_checks(std::vector<KernelCheck>& checks);
/// Adds checks of the search for the largest logits of a row.
void add_rank_checks(std::vector<KernelCheck>& checks);
/// Adds checks of how a mixture of experts chooses: which experts, in what order, with which factors.
void add_routing_checks(std::vector<KernelCheck>& checks);
/// Adds checks of products with each pair's expert, and of their sum.
void add_expert_checks(std::vector<KernelCheck>& checks);
/// Adds checks of how keys and values come into KV blocks.
void add_store_kv_checks(std::vector<KernelCheck>& checks);
/// Adds checks that what products end with in their own launch has the bits of an operation by itself.
void add_launch_end_checks(std::vector<KernelCheck>& checks);
/// Adds checks of attention over a sequence's KV blocks.
void add_attention_checks(std::vector<KernelCheck>& checks);
/// Adds checks of convolutions, and of norms and gates in recurrent layers.
void add_recurrent_checks(std::vector<KernelCheck>& checks);
/// Adds checks of linear attention with its state.
void add_linear_attention_checks(std::vector<KernelCheck>& checks);
/// Adds checks of several residual streams side by side, and of sparse gates.
void add_stream_checks(std::vector<KernelCheck>& checks);
/// Adds checks of the flags between a device and its host.
void add_flag_checks(std::vector<KernelCheck>& checks);

}  // namespace kernels::cuda
