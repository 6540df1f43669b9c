// Checks products by cuBLAS.
#include "kernels/cuda/check.h"
#include "kernels/cuda/checks/compare.h"
#include "kernels/cuda/checks/products.h"

#include <cmath>

namespace kernels::cuda {

namespace {

struct Case {
    TensorType type;
    int n, rows, tokens;
    float size;  // of the activations
    Into into;
};

std::vector<float> dequantized(const Case& c, const std::vector<std::byte>& weights)
{
    std::vector<float> values(std::size_t(c.rows * c.n));
    for (int r = 0; r < c.rows; ++r)
        scalar().dequantize(c.type, c.n, weights.data() + std::size_t(r) * row_bytes(c.type, c.n),
                            &values[std::size_t(r * c.n)]);
    return values;
}

// A weight and an activation each lose half a unit in a half's last place, or what a subnormal half cannot hold, and
// the n products and the bias are summed as floats in any order.
double tolerance(double weight, double x, double x_unit, int n)
{
    constexpr double kHalfUlp = 0x1p-11, kSubnormal = 0x1p-25;
    const double product = std::abs(weight * x);
    return product * (2 * kHalfUlp + kHalfUlp * kHalfUlp + (n + 2) * kHalfEpsilon) + std::abs(x) * kSubnormal +
           std::abs(weight) * kSubnormal * x_unit;
}

void check_product(BlasChecked& all, const Driver& driver, const BlasTable& table, std::mt19937& random, const Case& c)
{
    const std::vector<std::byte> weights = weight_rows(c.type, c.n, c.rows, kernel_rows::Fill::Random, random);
    const std::vector<float> w = dequantized(c, weights);
    std::vector<float> x = kernel_rows::activations(c.n, c.tokens, random);
    for (float& v : x)
        v *= c.size;
    const std::vector<float> bias = kernel_rows::activations(c.rows, 1, random);
    const std::vector<float> before = kernel_rows::activations(c.rows, c.tokens, random);

    DeviceMemory on(driver);
    const auto blas = Blas::open(table, on.queue(), on.room(Blas::kWorkspaceBytes), Blas::kWorkspaceBytes);
    if (!blas) {
        all.blas_status = BlasStatus::NotInitialized;
        return;
    }
    const HalfRows halves{on.room(x.size() * sizeof(std::uint16_t)), on.room(sizeof(HalfScalars))};
    const HalfRoom room{on.room(weights.size() * 8), 3 * std::size_t(c.n) * sizeof(std::uint16_t)};  // of three rows
    const DevicePtr out = on.put(before);
    on.keep(rows_to_halves(driver, on.queue(), {on.put(x), c.n}, c.tokens, c.n, halves));
    if (on.ok()) {
        const BlasProgress done = matmul_by_blas(driver, on.queue(), *blas,
                                                 {.type = c.type,
                                                  .n = c.n,
                                                  .rows = c.rows,
                                                  .weights = on.put(weights),
                                                  .bias = on.put(bias),
                                                  .tokens = c.tokens,
                                                  .out = {out, c.rows},
                                                  .into = c.into},
                                                 halves, room);
        on.keep(done.status);
        if (all.blas_status == BlasStatus::Ok)
            all.blas_status = done.blas_status;
    }
    const std::vector<float> actual = on.get<float>(out, before.size());

    // What the factor leaves of a subnormal half's last place; at most twice too much.
    const double x_unit = std::max(1.0, 20.0 * double(c.size) / 1024);
    double worst = 0;
    for (int t = 0; t < c.tokens; ++t)
        for (int r = 0; r < c.rows; ++r) {
            const auto i = std::size_t(t * c.rows + r);
            double sum = double(bias[std::size_t(r)]) + (c.into == Into::Sum ? double(before[i]) : 0.0);
            double bound = std::abs(sum) * (c.n + 2) * kHalfEpsilon;
            for (int k = 0; k < c.n; ++k) {
                const double weight = w[std::size_t(r * c.n + k)], value = x[std::size_t(t * c.n + k)];
                sum += weight * value;
                bound += tolerance(weight, value, x_unit, c.n);
            }
            worst = std::max(worst, share_of(bound, actual[i], sum));
        }
    note(all.checked, on, worst,
         std::string(type_traits(c.type).name) + ", " + std::to_string(c.rows) + " rows of " + std::to_string(c.n) +
             ", " + std::to_string(c.tokens) + " tokens around " + std::to_string(c.size));
}

}  // namespace

BlasChecked check_blas(const Driver& driver, const BlasTable& table, unsigned seed)
{
    std::mt19937 random(seed);
    BlasChecked all;
    for (const TypeTraits& traits : all_tensor_types()) {
        if (!blas_can(traits.type))
            continue;
        const int n = traits.block_len == 1 ? 72 : 2 * traits.block_len;
        check_product(all, driver, table, random, {traits.type, n, 7, 17, 1.0f, Into::Place});
        check_product(all, driver, table, random, {traits.type, n, 8, 33, 1e6f, Into::Sum});
    }
    return all;
}

}  // namespace kernels::cuda
