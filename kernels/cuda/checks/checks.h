// Declares the checks of each group of kernels, which kernel_checks() joins.
#pragma once

#include "kernels/cuda/check.h"

#include <vector>

namespace kernels::cuda {

/// Of operations on rows of activations: norms, rotations, sums, caps, gates, rounding.
void add_row_checks(std::vector<KernelCheck>& checks);
/// Of products over weights of every type.
void add_product_checks(std::vector<KernelCheck>& checks);
/// Of products that end in a gate.
void add_gated_product_checks(std::vector<KernelCheck>& checks);
/// Of activations and packed weights as halves: the very bits that the host makes.
void add_halves_checks(std::vector<KernelCheck>& checks);
/// Of the search for the largest logits of a row.
void add_rank_checks(std::vector<KernelCheck>& checks);
/// Of how a mixture of experts chooses: which experts, in what order, with which factors.
void add_routing_checks(std::vector<KernelCheck>& checks);
/// Of products with each pair's expert, and their sum.
void add_expert_checks(std::vector<KernelCheck>& checks);
/// Of how keys and values come into KV blocks.
void add_store_kv_checks(std::vector<KernelCheck>& checks);
/// Of attention over a sequence's KV blocks.
void add_attention_checks(std::vector<KernelCheck>& checks);
/// Of convolutions, of norms and gates in recurrent layers.
void add_recurrent_checks(std::vector<KernelCheck>& checks);
/// Of linear attention with its state.
void add_linear_attention_checks(std::vector<KernelCheck>& checks);
/// Of several residual streams side by side, and of sparse gates.
void add_stream_checks(std::vector<KernelCheck>& checks);
/// Of the flags between a device and its host.
void add_flag_checks(std::vector<KernelCheck>& checks);

}  // namespace kernels::cuda
