// Checks products over weights of every type against the scalar reference.
#pragma once

#include "kernels/cuda/check.h"
#include "kernels/cuda/checks/device_memory.h"
#include "kernels/cuda/checks/random_rows.h"

#include <random>
#include <vector>

namespace kernels::cuda {

struct ProductCase {
    TensorType type = TensorType::F32;
    int n = 0, rows = 0, tokens = 0;
    std::vector<std::byte> weights;
    kernel_rows::ActivationRows x;
    float scale = 1.0f;  // of all weights
};

ProductCase product_case(TensorType type, int n, int rows, int tokens, kernel_rows::Fill fill, std::mt19937& random);
/// Returns `count` rows of a type.
std::vector<std::byte> weight_rows(TensorType type, int n, int count, kernel_rows::Fill fill, std::mt19937& random);

/// Returns the product, (tokens, rows), computed on the device. `bias`: (rows,) or none; `before`: (tokens, rows), to
/// which it is added, or none. All of it is NaN if something beyond the rows was written.
std::vector<float> product_on(DeviceMemory& on, const ProductCase& c, const std::vector<float>& bias = {},
                              const std::vector<float>& before = {});

/// Returns the product, (tokens, rows), computed by the scalar reference.
std::vector<float> scalar_product(const ProductCase& c);
/// Returns how far a token's results may be from that.
double product_tolerance(const ProductCase& c, int token);
/// Returns the largest difference from the reference, as a share of the tolerance.
double product_error(const ProductCase& c, const std::vector<float>& actual);

}  // namespace kernels::cuda
