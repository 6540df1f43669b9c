#include "kernels/cuda/checks/checks.h"
#include "kernels/cuda/checks/compare.h"
#include "kernels/cuda/checks/gates.h"
#include "kernels/cuda/checks/products.h"
#include "kernels/cuda/checks/routing.h"

#include <algorithm>
#include <random>
#include <utility>

namespace kernels::cuda {

namespace {

/// Returns a power of two for each expert.
std::vector<float> scales_of(int experts)
{
    std::vector<float> scales;
    for (int e = 0; e < experts; ++e)
        scales.push_back(e % 3 == 0 ? 1.0f : e % 3 == 1 ? 2.0f : 0.5f);
    return scales;
}

/// Compares one pair's results, with the bias taken off, with the product of that pair by itself.
double pair_error(const ProductCase& stack, int pair, int x_row, int expert, const std::vector<float>& all,
                  const std::vector<float>& bias)
{
    ProductCase one = stack;
    const std::size_t bytes = std::size_t(stack.rows) * row_bytes(stack.type, stack.n);
    const auto weights = stack.weights.begin() + std::ptrdiff_t(std::size_t(expert) * bytes);
    const auto x = stack.x.bytes.begin() + std::ptrdiff_t(std::size_t(x_row) * stack.x.stride);
    one.tokens = 1;
    one.weights.assign(weights, weights + std::ptrdiff_t(bytes));
    one.x.bytes.assign(x, x + std::ptrdiff_t(stack.x.stride));
    one.scale = scales_of(expert + 1).back();
    std::vector<float> actual;
    for (int r = 0; r < stack.rows; ++r)
        actual.push_back(all[std::size_t(pair * stack.rows + r)] - bias[std::size_t(expert * stack.rows + r)]);
    return product_error(one, actual);
}

Checked check_expert_product(const Driver& driver, unsigned seed, TensorType type)
{
    constexpr int kN = 256, kRows = 70, kUsed = 2, kExperts = 5;
    std::mt19937 random(seed);
    Checked checked;
    std::vector<float> bias(kRows * kExperts);
    for (float& v : bias)
        v = float(int(random() % 16)) / 16.0f;
    for (const int rows : {1, 3, 150})
        for (const int pairs_of_each_row : {kUsed, 1}) {
            const RoutingShape s{rows, kUsed, kExperts};
            const int pairs = rows * kUsed;
            ProductCase c = product_case(type, kN, kRows, pairs / pairs_of_each_row, kernel_rows::Fill::Random, random);
            c.weights = weight_rows(type, kN, kRows * kExperts, kernel_rows::Fill::Random, random);
            DeviceMemory on(driver);
            const Routing routing = room_for_routing(on, s);
            const std::vector<float> logits = random_logits(s, random);
            on.keep(route(driver, on.queue(), {on.put(logits), kExperts}, {}, routing));
            const DevicePtr out = on.room(std::size_t(pairs * kRows) * sizeof(float));
            on.keep(expert_matmul(driver, on.queue(),
                                  {.type = type,
                                   .n = kN,
                                   .rows = kRows,
                                   .weights = on.put(c.weights),
                                   .scale = on.put(scales_of(kExperts)),
                                   .bias = on.put(bias),
                                   .tokens = pairs,
                                   .x = on.put(c.x.bytes),
                                   .x_stride = c.x.stride,
                                   .out = {out, kRows}},
                                  routing, pairs_of_each_row));
            const auto all = on.get<float>(out, std::size_t(pairs * kRows));
            const std::vector<int> best = best_of_each_row(logits, s);
            for (const int pair : {0, pairs / 2, pairs - 1})
                note(checked, on, pair_error(c, pair, pair / pairs_of_each_row, best[std::size_t(pair)], all, bias),
                     name_of(s));
        }
    return checked;
}

/// Compares gated products of experts with the two products by themselves, which the check above is for.
Checked check_gated_experts(const Driver& driver, unsigned seed, TensorType type)
{
    constexpr int kN = 256, kRows = 6, kUsed = 2, kExperts = 4;
    std::mt19937 random(seed);
    Checked checked;
    for (const auto& [rows, fused] : {std::pair{1, false}, {3, false}, {1, true}}) {
        const RoutingShape s{rows, kUsed, kExperts};
        const int pairs = rows * kUsed;
        // Fused: each expert's ups follow its gates.
        const int stacked = fused ? 2 * kRows : kRows;
        const ProductCase c = product_case(type, kN, stacked * kExperts, rows, kernel_rows::Fill::Random, random);
        DeviceMemory on(driver);
        const Routing routing = room_for_routing(on, s);
        on.keep(route(driver, on.queue(), {on.put(random_logits(s, random)), kExperts}, {}, routing));
        const std::vector<float> bias(std::size_t(kRows * kExperts), 0.5f);
        const auto values = std::size_t(pairs * kRows);
        Product product{.type = type,
                        .n = kN,
                        .rows = kRows,
                        .weights = on.put(c.weights),
                        .scale = on.put(scales_of(kExperts)),
                        .bias = on.put(bias),
                        .tokens = pairs,
                        .x = on.put(c.x.bytes),
                        .x_stride = c.x.stride,
                        .stack_stride = fused ? stacked * row_bytes(type, kN) : 0,
                        .out = {on.room(values * sizeof(float)), kRows}};
        const std::vector<float> up_scales(kExperts, 2.0f);
        GatedProduct both{product,
                          fused ? product.weights + kRows * row_bytes(type, kN)
                                : on.put(weight_rows(type, kN, kRows * kExperts, kernel_rows::Fill::Random, random)),
                          on.put(up_scales), on.put(std::vector<float>(bias.size(), 0.25f)),
                          all_gatings().back().gating};
        on.keep(gated_expert_matvec(driver, on.queue(), both, routing, kUsed));
        const auto actual = on.get<float>(product.out.at, values);
        on.keep(expert_matmul(driver, on.queue(), product, routing, kUsed));
        const auto gates = on.get<float>(product.out.at, values);
        product.weights = both.up_weights;
        product.scale = both.up_scale;
        product.bias = both.up_bias;
        on.keep(expert_matmul(driver, on.queue(), product, routing, kUsed));
        const auto ups = on.get<float>(product.out.at, values);
        for (int pair = 0; pair < pairs; ++pair) {
            const auto at = std::size_t(pair * kRows);
            const double tolerance = 2 * product_tolerance(c, pair / kUsed);  // no scale is larger
            note(checked, on, gate_error(both.gating, {&actual[at], kRows}, &gates[at], &ups[at], tolerance, tolerance),
                 name_of(s) + (fused ? ", fused" : ""));
        }
    }
    return checked;
}

/// Computes in two launches what one launch computes.
Status in_two_parts(const Driver& driver, Queue queue, const Product& p, Routing routing, int pairs_of_each_row)
{
    constexpr int kFirst = 3;
    routing.count = kFirst;
    const Status status = expert_matmul(driver, queue, p, routing, pairs_of_each_row);
    if (status != Status::Ok)
        return status;
    routing.first = kFirst;
    routing.count = routing.experts - kFirst;
    return expert_matmul(driver, queue, p, routing, pairs_of_each_row);
}

// Compares experts that lie by themselves, in another order and with gaps, with those in stacks; one is left out.
Checked check_copies(const Driver& driver, unsigned seed, TensorType type)
{
    constexpr int kN = 256, kRows = 6, kUsed = 2, kExperts = 4, kLeftOut = 2;
    constexpr float kBefore = 3.0f;
    std::mt19937 random(seed);
    Checked checked;
    for (const int rows : {1, 3, 20}) {
        const RoutingShape s{rows, kUsed, kExperts};
        const int pairs = rows * kUsed;
        const ProductCase c = product_case(type, kN, kRows * kExperts, rows, kernel_rows::Fill::Random, random);
        const auto ups = weight_rows(type, kN, kRows * kExperts, kernel_rows::Fill::Random, random);
        DeviceMemory on(driver);
        const std::size_t bytes = kRows * row_bytes(type, kN), gap = 256, up_at = (bytes + gap - 1) / gap * gap;
        std::vector<std::byte> copies(kExperts * (2 * up_at + gap));
        const DevicePtr copies_at = on.room(copies.size());
        std::vector<std::uint64_t> places;
        for (std::size_t e = 0; e < kExperts; ++e) {
            const std::size_t at = (kExperts - 1 - e) * (2 * up_at + gap);
            std::copy_n(c.weights.begin() + std::ptrdiff_t(e * bytes), bytes, copies.begin() + std::ptrdiff_t(at));
            std::copy_n(ups.begin() + std::ptrdiff_t(e * bytes), bytes, copies.begin() + std::ptrdiff_t(at + up_at));
            places.push_back(e == kLeftOut ? 0 : copies_at + at);
        }
        on.keep(driver.copy_to_device(copies_at, copies.data(), copies.size(), on.queue()));
        Routing stacked = room_for_routing(on, s);
        const std::vector<float> logits = random_logits(s, random);
        on.keep(route(driver, on.queue(), {on.put(logits), kExperts}, {}, stacked));
        Routing scattered = stacked;
        scattered.places = on.put(places);
        std::vector<float> bias;
        for (int i = 0; i < kRows * kExperts; ++i)
            bias.push_back(float(i) / 16.0f);
        const std::vector<float> before(std::size_t(pairs * kRows), kBefore);
        Product product{.type = type,
                        .n = kN,
                        .rows = kRows,
                        .weights = on.put(c.weights),
                        .scale = on.put(scales_of(kExperts)),
                        .bias = on.put(bias),
                        .tokens = pairs,
                        .x = on.put(c.x.bytes),
                        .x_stride = c.x.stride};
        GatedProduct gated{product, on.put(ups), 0, 0, all_gatings().front().gating};
        // Returns the results of all launchers. Those of pairs that are left out stay as they were.
        const auto results = [&](const Routing& routing) {
            const bool is_scattered = routing.places != 0;
            std::vector<float> all;
            const auto keep = [&](auto& p, Product& inner, DevicePtr& up_weights, auto launcher) {
                const DevicePtr weights = inner.weights, up = up_weights;
                if (is_scattered) {
                    inner.weights = 0;
                    up_weights = up_at;
                }
                inner.out = {on.put(before), kRows};
                on.keep(launcher(driver, on.queue(), p, routing, kUsed));
                inner.weights = weights;
                up_weights = up;
                const auto out = on.get<float>(inner.out.at, before.size());
                all.insert(all.end(), out.begin(), out.end());
            };
            DevicePtr none = 0;
            if (is_scattered && rows > kFewTokens)
                keep(product, product, none, in_two_parts);
            else
                keep(product, product, none, expert_matmul);
            if (rows <= kFewTokens)
                keep(gated, gated.gate, gated.up_weights, gated_expert_matvec);
            return all;
        };
        std::vector<float> expected = results(stacked);
        const std::vector<int> best = best_of_each_row(logits, s);
        for (std::size_t i = 0; i < expected.size(); ++i)
            if (best[i / kRows % std::size_t(pairs)] == kLeftOut)
                expected[i] = kBefore;
        note(checked, on, share_of_same(results(scattered), expected), name_of(s));
    }
    return checked;
}

// Checks sums of small integers, which are exact.
Checked check_sum(const Driver& driver, unsigned)
{
    Checked checked;
    for (const RoutingShape& s : {RoutingShape{1, 3, 4}, {20, 8, 9}}) {
        constexpr int kN = 300;
        std::vector<float> weights, y, expected;
        for (int i = 0; i < s.rows * s.used; ++i)
            weights.push_back(float(i % 7) * 0.25f);
        for (int i = 0; i < s.rows * s.used * kN; ++i)
            y.push_back(float(i % 11));
        for (int r = 0; r < s.rows; ++r)
            for (int i = 0; i < kN; ++i) {
                expected.push_back(0);
                for (int pair = r * s.used; pair < (r + 1) * s.used; ++pair)
                    expected.back() += weights[std::size_t(pair)] * y[std::size_t(pair * kN + i)];
            }
        DeviceMemory on(driver);
        Routing routing = room_for_routing(on, s);
        routing.weights = on.put(weights);
        const DevicePtr out = on.room(expected.size() * sizeof(float));
        const DevicePtr pairs = on.put(y);
        on.keep(sum_experts(driver, on.queue(), {pairs, kN}, routing, kN, {out, kN}));
        note(checked, on, share_of_same(on.get<float>(out, expected.size()), expected), name_of(s));

        // The weights are multiplied into the input instead.
        std::vector<float> weighed;
        for (std::size_t i = 0; i < y.size(); ++i)
            weighed.push_back(weights[i / kN] * y[i / kN / std::size_t(s.used) * kN + i % kN]);
        const DevicePtr in = on.room(weighed.size() * sizeof(float));
        on.keep(weigh_pairs(driver, on.queue(), {pairs, kN}, routing, kN, {in, kN}));
        note(checked, on, share_of_same(on.get<float>(in, weighed.size()), weighed), name_of(s) + ", input");
        routing.weights = 0;
        std::fill(expected.begin(), expected.end(), 0.0f);
        for (std::size_t i = 0; i < y.size(); ++i)
            expected[i / kN / std::size_t(s.used) * kN + i % kN] += y[i];
        on.keep(sum_experts(driver, on.queue(), {pairs, kN}, routing, kN, {out, kN}));
        note(checked, on, share_of_same(on.get<float>(out, expected.size()), expected), name_of(s) + ", plain");

        // The sum is added to what was there, without an expert that is left out.
        std::vector<int> chosen;
        for (int i = 0; i < s.rows * s.used; ++i)
            chosen.push_back(i % s.experts);
        std::vector<std::uint64_t> places(std::size_t(s.experts), 1);
        places[1] = 0;
        routing.chosen = on.put(chosen);
        routing.places = on.put(places);
        for (std::size_t i = 0; i < y.size(); ++i)
            if (chosen[i / kN] != 1)
                expected[i / kN / std::size_t(s.used) * kN + i % kN] += y[i];
        on.keep(sum_experts(driver, on.queue(), {pairs, kN}, routing, kN, {out, kN}));
        note(checked, on, share_of_same(on.get<float>(out, expected.size()), expected), name_of(s) + ", some");
    }
    return checked;
}

}  // namespace

void add_expert_checks(std::vector<KernelCheck>& checks)
{
    checks.push_back({"sum of experts", check_sum});
    for (const TensorType type : {TensorType::F16, TensorType::Q4_K, TensorType::MXFP4})
        checks.push_back({std::string("copies of experts ") + type_traits(type).name,
                          [=](const Driver& driver, unsigned seed) { return check_copies(driver, seed, type); }});
    for (const TensorType type : {TensorType::F16, TensorType::MXFP4, TensorType::NVFP4})
        checks.push_back(
            {std::string("gated product of experts ") + type_traits(type).name,
             [=](const Driver& driver, unsigned seed) { return check_gated_experts(driver, seed, type); }});
    for (const TensorType type : {TensorType::F32, TensorType::F16, TensorType::BF16, TensorType::Q8_0,
                                  TensorType::Q4_K, TensorType::MXFP4, TensorType::NVFP4})
        checks.push_back(
            {std::string("product of experts ") + type_traits(type).name,
             [=](const Driver& driver, unsigned seed) { return check_expert_product(driver, seed, type); }});
}

}  // namespace kernels::cuda
