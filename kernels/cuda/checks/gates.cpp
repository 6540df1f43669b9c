#include "kernels/cuda/checks/gates.h"

#include "kernels/cpu.h"
#include "kernels/cuda/checks/checks.h"
#include "kernels/cuda/checks/compare.h"
#include "kernels/cuda/checks/products.h"
#include "kernels/cuda/ops.h"

#include <algorithm>
#include <string>
#include <utility>

namespace kernels::cuda {

using kernel_rows::Fill;

namespace {

std::vector<float> gate_on_host(const Gating& gating, int n, const float* gates, const float* ups)
{
    std::vector<float> out(static_cast<std::size_t>(n));
    switch (gating.kind) {
    case GateKind::Silu:
        scalar().silu_mul(n, gates, ups, out.data());
        break;
    case GateKind::Gelu:
        scalar().gelu_mul(n, gates, ups, out.data());
        break;
    case GateKind::ReluSquared:
        scalar().relu_squared(n, gates, out.data());
        break;
    case GateKind::SwigluOai:
        scalar().swiglu_oai(n, gates, ups, gating.alpha, gating.limit, out.data());
        break;
    }
    return out;
}

GatedProduct gated_product(DeviceMemory& on, const Gating& gating, const ProductCase& gates, const ProductCase& ups,
                           const std::vector<float>& bias, const Rows& out)
{
    return {.gate = {.type = gates.type,
                     .n = gates.n,
                     .rows = gates.rows,
                     .weights = on.put(gates.weights),
                     .bias = on.put(bias),
                     .tokens = gates.tokens,
                     .x = on.put(gates.x.bytes),
                     .x_stride = gates.x.stride,
                     .out = out},
            .up_weights = on.put(ups.weights),
            .up_bias = on.put(bias),
            .gating = gating};
}

/// Returns the device's error as a share of the tolerance.
double gated_error(DeviceMemory& on, const Gating& gating, int n, int rows, int tokens, TensorType type,
                   std::mt19937& random)
{
    const ProductCase gates = product_case(type, n, rows, tokens, Fill::Random, random);
    ProductCase ups = product_case(type, n, rows, tokens, Fill::Random, random);
    ups.x = gates.x;
    std::vector<float> bias(static_cast<std::size_t>(rows));
    for (float& b : bias)
        b = std::uniform_real_distribution<float>(-1.0f, 1.0f)(random);
    const Rows out{on.room(std::size_t(tokens * rows) * sizeof(float)), rows};
    on.keep(gated_matvec(on.driver(), on.queue(), gated_product(on, gating, gates, ups, bias, out)));
    const std::vector<float> actual = on.get<float>(out.at, std::size_t(tokens * rows));

    std::vector<float> gate = scalar_product(gates);
    std::vector<float> up = scalar_product(ups);
    double worst = 0;
    for (int t = 0; t < tokens; ++t) {
        const auto row = std::size_t(t * rows);
        for (std::size_t r = 0; r < bias.size(); ++r) {
            gate[row + r] += bias[r];
            up[row + r] += bias[r];
        }
        worst = std::max(worst, gate_error(gating, {&actual[row], bias.size()}, &gate[row], &up[row],
                                           product_tolerance(gates, t), product_tolerance(ups, t)));
    }
    return worst;
}

Checked check_gated_product(const Driver& driver, unsigned seed, TensorType type)
{
    std::mt19937 random(seed);
    const int block = activation_of(type) == Activation::F32 ? 8 : type_traits(type).block_len;
    Checked checked;
    for (const int n : {block, 5 * block, 1024})
        for (const NamedGating& gate : all_gatings())
            for (const auto& [rows, tokens] : {std::pair{3, 1}, {5, 1}, {5, 3}, {3, 10}}) {
                DeviceMemory on(driver);
                note(checked, on, gated_error(on, gate.gating, n, rows, tokens, type, random),
                     std::to_string(rows) + " rows of " + std::to_string(n) + ", " + std::to_string(tokens) +
                         " tokens, " + gate.name);
            }
    return checked;
}

}  // namespace

std::span<const NamedGating> all_gatings()
{
    static constexpr NamedGating kAll[] = {{"silu", {GateKind::Silu}},
                                           {"gelu", {GateKind::Gelu}},
                                           {"relu squared", {GateKind::ReluSquared}},
                                           {"swiglu of gpt-oss", {GateKind::SwigluOai, 1.702f, 7.0f}}};
    return kAll;
}

// The exponential's argument, up to a few tens where the sigmoid still counts, is rounded some four times; the relative
// error of exp is the absolute one of its argument. A handful more for exp, quotient and products. A sigmoid that small
// counts for nothing: hence at least one. No gate is steeper than 1.13, and none is larger than its argument.
double gate_error(const Gating& gating, std::span<const float> actual, const float* gates, const float* ups,
                  double gate_tolerance, double up_tolerance)
{
    const std::vector<float> expected = gate_on_host(gating, int(actual.size()), gates, ups);
    double worst = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double up = std::abs(double(ups[i])) + 1;
        const double rounding = (4 * 40 + 8) * kHalfEpsilon * std::max(1.0, std::abs(double(expected[i])));
        const double passed_on =
            1.13 * gate_tolerance * (up + up_tolerance) + (std::abs(double(gates[i])) + gate_tolerance) * up_tolerance;
        worst = std::max(worst, share_of(rounding + passed_on, double(actual[i]), double(expected[i])));
    }
    return worst;
}

void add_gated_product_checks(std::vector<KernelCheck>& checks)
{
    for (const TypeTraits& traits : all_tensor_types())
        checks.push_back(
            {std::string("gated product ") + traits.name,
             [type = traits.type](const Driver& d, unsigned seed) { return check_gated_product(d, seed, type); }});
}

}  // namespace kernels::cuda
