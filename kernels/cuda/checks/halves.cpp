#include "kernels/cuda/checks/checks.h"

#include "kernels/cuda/checks/compare.h"
#include "kernels/cuda/checks/products.h"
#include "kernels/cuda/of_type.h"
#include "kernels/cuda/ops.h"
#include "kernels/half.h"

#include <algorithm>

namespace kernels::cuda {

namespace {

std::vector<std::uint16_t> halves_of(const std::vector<float>& values)
{
    std::vector<std::uint16_t> halves;
    for (const float v : values)
        halves.push_back(kernels::float_to_half(v));
    return halves;
}

// x: (rows, n) times `size`
void check_rows(Checked& checked, const Driver& driver, std::mt19937& random, int rows, int n, float size)
{
    const int stride = n + 4;
    std::vector<float> x = kernel_rows::activations(stride, rows, random);
    for (float& v : x)
        v *= size;
    std::vector<float> seen;
    for (int r = 0; r < rows; ++r)
        seen.insert(seen.end(), x.begin() + r * stride, x.begin() + r * stride + n);
    double largest = 0;
    for (const float v : seen)
        largest = std::max(largest, std::abs(double(v)));
    const double scale = largest <= 65504 ? 1 : std::exp2(14 - std::floor(std::log2(largest)));
    for (float& v : seen)
        v = float(double(v) * scale);

    DeviceMemory on(driver);
    const HalfRows to{on.room(seen.size() * sizeof(std::uint16_t)), on.room(sizeof(HalfScalars))};
    on.keep(rows_to_halves(driver, on.queue(), {on.put(x), stride}, rows, n, to));
    const std::string where =
        std::to_string(rows) + " rows of " + std::to_string(n) + " values around " + std::to_string(size);
    note(checked, on, share_of_same(on.get<std::uint16_t>(to.at, seen.size()), halves_of(seen)), where);
    const std::vector<float> scalars = on.get<float>(to.scalars, 3);
    note(checked, on, share_of_same(scalars, {float(1 / scale), 0.0f, 1.0f}), where + ", their factor");
}

Checked check_activations(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const auto& [rows, n] : {std::pair(1, 8), std::pair(131, 520), std::pair(3, 1024)})
        for (const float size : {1.0f, 1e5f, 1e30f})
            check_rows(checked, driver, random, rows, n, size);
    return checked;
}

Checked check_weights(const Driver& driver, unsigned seed, TensorType type)
{
    std::mt19937 random(seed);
    constexpr int kRows = 5;
    const int n = 3 * type_traits(type).block_len;
    const std::vector<std::byte> weights = weight_rows(type, n, kRows, kernel_rows::Fill::Random, random);
    std::vector<float> expected(std::size_t(kRows * n));
    for (int r = 0; r < kRows; ++r)
        scalar().dequantize(type, n, weights.data() + std::size_t(r) * row_bytes(type, n),
                            &expected[std::size_t(r * n)]);
    DeviceMemory on(driver);
    const DevicePtr to = on.room(expected.size() * sizeof(std::uint16_t));
    on.keep(weights_to_halves(driver, on.queue(), type, on.put(weights), kRows, n, to));
    Checked checked;
    note(checked, on, share_of_same(on.get<std::uint16_t>(to, expected.size()), halves_of(expected)),
         std::to_string(kRows) + " rows of " + std::to_string(n));
    return checked;
}

}  // namespace

void add_halves_checks(std::vector<KernelCheck>& checks)
{
    checks.push_back({"activations as halves", check_activations});
    for (const TypeTraits& traits : all_tensor_types())
        if (is_packed(traits.type))
            checks.push_back({std::string("weights as halves ") + traits.name,
                              [type = traits.type](const Driver& driver, unsigned seed) {
                                  return check_weights(driver, seed, type);
                              }});
}

}  // namespace kernels::cuda
