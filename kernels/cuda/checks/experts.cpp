#include "kernels/cuda/checks/checks.h"

#include "kernels/cpu.h"
#include "kernels/cuda/checks/compare.h"
#include "kernels/cuda/checks/gates.h"
#include "kernels/cuda/checks/products.h"
#include "kernels/cuda/ops.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

namespace kernels::cuda {

namespace {

struct Shape {
    int rows, used, experts;
};
constexpr Shape kShapes[] = {{1, 1, 1}, {2, 5, 5}, {3, 4, 32}, {40, 8, 128}, {150, 2, 5}};

std::string name_of(const Shape& s)
{
    return std::to_string(s.rows) + " rows, " + std::to_string(s.used) + " of " + std::to_string(s.experts);
}

/// Takes room for the routing, in memory that holds nothing yet.
Routing room_for_routing(DeviceMemory& on, const Shape& s)
{
    const auto pairs = std::size_t(s.rows * s.used);
    return {s.rows,
            s.used,
            s.experts,
            on.room(pairs * sizeof(int)),
            on.room(pairs * sizeof(float)),
            on.room(pairs * sizeof(int)),
            on.room(std::size_t(s.experts + 1) * sizeof(int))};
}

/// (rows, experts), some of them equal.
std::vector<float> random_logits(const Shape& s, std::mt19937& random)
{
    std::vector<float> logits(std::size_t(s.rows * s.experts));
    for (float& v : logits)
        v = float(int(random() % 64)) / 8.0f - 4.0f;
    return logits;
}

/// (rows, used) by sorting.
std::vector<int> best_of_each_row(const std::vector<float>& logits, const Shape& s)
{
    std::vector<int> best;
    std::vector<int> order(static_cast<std::size_t>(s.experts));
    for (int r = 0; r < s.rows; ++r) {
        const float* row = &logits[std::size_t(r * s.experts)];
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return row[a] > row[b]; });
        best.insert(best.end(), order.begin(), order.begin() + s.used);
    }
    return best;
}

/// The scores of one row, in double precision.
std::vector<double> scores_of(const float* logits, int experts, Choice::Scores scores)
{
    std::vector<double> out(static_cast<std::size_t>(experts));
    double sum = 0;
    for (std::size_t e = 0; e < out.size(); ++e)
        sum += out[e] =
            scores == Choice::Scores::Sigmoid ? 1 / (1 + std::exp(-double(logits[e]))) : std::exp(double(logits[e]));
    if (scores == Choice::Scores::Softmax)
        for (double& score : out)
            score /= sum;
    return out;
}

double weight_error(const std::vector<float>& logits, const std::vector<int>& chosen, const std::vector<float>& weights,
                    const Choice& choice, const Shape& s)
{
    double worst = 0;
    for (int r = 0; r < s.rows; ++r) {
        const auto scores = scores_of(&logits[std::size_t(r * s.experts)], s.experts, choice.scores);
        const auto score = [&](int slot) { return scores[std::size_t(chosen[std::size_t(r * s.used + slot)])]; };
        double sum = 0;
        for (int slot = 0; slot < s.used; ++slot)
            sum += score(slot);
        for (int slot = 0; slot < s.used; ++slot) {
            // Exponentials of 8 at most, wrong by a few units in the last place, and sums of as many.
            const double divisor = choice.sum_to_one ? std::max(sum, double(choice.least_sum)) : 1;
            const double expected = double(choice.scale) * score(slot) / divisor;
            const double tolerance = (s.experts + 32) * kHalfEpsilon * expected;
            worst = std::max(worst, share_of(tolerance, double(weights[std::size_t(r * s.used + slot)]), expected));
        }
    }
    return worst;
}

Checked check_route(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const Shape& s : kShapes) {
        DeviceMemory on(driver);
        const Choice choice{.scale = 2.5f};
        const std::vector<float> logits = random_logits(s, random);
        const Routing routing = room_for_routing(on, s);
        on.keep(route(driver, on.queue(), {on.put(logits), s.experts}, choice, routing));
        const std::vector<int> best = best_of_each_row(logits, s);
        const auto weights = on.get<float>(routing.weights, best.size());
        note(checked, on, share_of_same(on.get<int>(routing.chosen, best.size()), best), name_of(s));
        note(checked, on, weight_error(logits, best, weights, choice, s), name_of(s));
        if (s.rows <= kFewTokens)
            continue;
        std::vector<int> sorted(best.size());
        std::iota(sorted.begin(), sorted.end(), 0);
        std::stable_sort(sorted.begin(), sorted.end(),
                         [&](int a, int b) { return best[std::size_t(a)] < best[std::size_t(b)]; });
        std::vector<int> begin{0};
        for (int e = 0; e < s.experts; ++e)
            begin.push_back(begin.back() + int(std::count(best.begin(), best.end(), e)));
        note(checked, on, share_of_same(on.get<int>(routing.sorted, sorted.size()), sorted), name_of(s));
        note(checked, on, share_of_same(on.get<int>(routing.begin, begin.size()), begin), name_of(s));
    }
    return checked;
}

/// A power of two for each expert.
std::vector<float> scales_of(int experts)
{
    std::vector<float> scales;
    for (int e = 0; e < experts; ++e)
        scales.push_back(e % 3 == 0 ? 1.0f : e % 3 == 1 ? 2.0f : 0.5f);
    return scales;
}

/// What experts are chosen by, where a bias is added to their scores: whole numbers, further apart than scores are
/// large, so that the bias alone decides.
Checked check_choice(const Driver& driver, unsigned seed, Choice choice)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const Shape& s : {Shape{1, 2, 5}, {3, 4, 40}, {20, 8, 128}})
        for (const bool biased : {false, true}) {
            DeviceMemory on(driver);
            const std::vector<float> logits = random_logits(s, random);
            std::vector<float> by = logits;  // scores are in their order
            std::vector<float> bias;
            for (int e = 0; e < s.experts; ++e)
                bias.push_back(2.0f * float(e * 7 % s.experts));
            for (std::size_t i = 0; biased && i < by.size(); ++i)
                by[i] = bias[i % bias.size()];
            choice.bias = biased ? on.put(bias) : 0;
            const Routing routing = room_for_routing(on, s);
            on.keep(route(driver, on.queue(), {on.put(logits), s.experts}, choice, routing));
            const std::vector<int> best = best_of_each_row(by, s);
            const std::string name = name_of(s) + (biased ? ", with a bias" : "");
            note(checked, on, share_of_same(on.get<int>(routing.chosen, best.size()), best), name);
            note(checked, on, weight_error(logits, best, on.get<float>(routing.weights, best.size()), choice, s), name);
        }
    return checked;
}

/// The experts' choices where they are in groups, of those that compete; -inf: the others. (rows, experts)
std::vector<float> without_lesser_groups(std::vector<float> choices, const Shape& s, const Choice& choice)
{
    const int size = s.experts / choice.groups;
    for (int r = 0; r < s.rows; ++r) {
        const auto row = choices.begin() + r * s.experts;
        std::vector<std::pair<float, int>> worth;  // less of it first, and the later ones first among equals
        for (int g = 0; g < choice.groups; ++g) {
            std::vector<float> group(row + g * size, row + (g + 1) * size);
            std::ranges::sort(group, std::greater<>());
            worth.emplace_back(size > 1 ? group[0] + group[1] : group[0], -g);
        }
        std::ranges::sort(worth);
        for (int i = 0; i < choice.groups - choice.groups_used; ++i)
            std::fill_n(row - worth[std::size_t(i)].second * size, size, -std::numeric_limits<float>::infinity());
    }
    return choices;
}

/// With a bias that alone decides, also between groups, as in check_choice; and by scores of which no two are near.
Checked check_groups(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    struct Case {
        Shape shape;
        int groups, groups_used;
    };
    std::normal_distribution<float> normal;
    for (const auto& [s, groups, used] : {Case{{1, 2, 8}, 4, 2}, {{3, 8, 256}, 8, 4}, {{20, 3, 12}, 12, 5}})
        for (const bool biased : {true, false}) {
            DeviceMemory on(driver);
            std::vector<float> logits(std::size_t(s.rows * s.experts));
            std::ranges::generate(logits, [&] { return normal(random); });
            std::vector<float> bias, by;
            for (int e = 0; e < s.experts; ++e)
                bias.push_back(4.0f *
                               float(e * 7 % s.experts + 2 * s.experts * (e / (s.experts / groups) * 5 % groups)));
            for (int r = 0; r < s.rows; ++r) {
                const auto scores = scores_of(&logits[std::size_t(r * s.experts)], s.experts, Choice::Scores::Sigmoid);
                for (std::size_t e = 0; e < scores.size(); ++e)
                    by.push_back(biased ? bias[e] : float(scores[e]));
            }
            Choice choice{.scores = Choice::Scores::Sigmoid, .least_sum = 0x1p-14f, .scale = 2.5f};
            choice.bias = biased ? on.put(bias) : 0;
            choice.groups = groups;
            choice.groups_used = used;
            const Routing routing = room_for_routing(on, s);
            on.keep(route(driver, on.queue(), {on.put(logits), s.experts}, choice, routing));
            const std::vector<int> best = best_of_each_row(without_lesser_groups(by, s, choice), s);
            const std::string name =
                name_of(s) + ", " + std::to_string(groups) + (biased ? " groups, with a bias" : " groups");
            note(checked, on, share_of_same(on.get<int>(routing.chosen, best.size()), best), name);
            note(checked, on, weight_error(logits, best, on.get<float>(routing.weights, best.size()), choice, s), name);
        }
    return checked;
}

/// The product of one pair by itself, less the bias.
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
            const Shape s{rows, kUsed, kExperts};
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

/// Beside the two products by themselves, which the check above is for.
Checked check_gated_experts(const Driver& driver, unsigned seed, TensorType type)
{
    constexpr int kN = 256, kRows = 6, kUsed = 2, kExperts = 4;
    std::mt19937 random(seed);
    Checked checked;
    for (const auto& [rows, fused] : {std::pair{1, false}, {3, false}, {1, true}}) {
        const Shape s{rows, kUsed, kExperts};
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

Checked check_scale_weights(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const Shape& s : kShapes) {
        std::vector<float> scale(std::size_t(s.experts)), weights(std::size_t(s.rows * s.used));
        std::vector<int> chosen(weights.size());
        std::ranges::generate(scale, [&] { return float(1 + random() % 100) / 16.0f; });
        std::ranges::generate(weights, [&] { return float(random() % 100) / 64.0f; });
        std::ranges::generate(chosen, [&] { return int(random() % unsigned(s.experts)); });
        DeviceMemory on(driver);
        Routing routing = room_for_routing(on, s);
        routing.chosen = on.put(chosen);
        routing.weights = on.put(weights);
        on.keep(scale_weights(driver, on.queue(), on.put(scale), routing));
        std::vector<float> expected = weights;
        for (std::size_t pair = 0; pair < expected.size(); ++pair)
            expected[pair] *= scale[std::size_t(chosen[pair])];
        note(checked, on, share_of_same(on.get<float>(routing.weights, expected.size()), expected), name_of(s));
    }
    return checked;
}

// Small whole numbers, whose sums are exact.
Checked check_sum(const Driver& driver, unsigned)
{
    Checked checked;
    for (const Shape& s : {Shape{1, 3, 4}, {20, 8, 9}}) {
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

        // The weights on what comes before instead.
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
    }
    return checked;
}

// 8 bits are wrong by one in 250 of the largest value of a group, twice 8 bits by one in 60,000.
Checked check_rest(const Driver& driver, unsigned seed, TensorType type)
{
    constexpr int kN = 512, kRows = 9;
    std::mt19937 random(seed);
    Checked checked;
    const auto weights = weight_rows(type, kN, kRows, kernel_rows::Fill::Random, random);
    for (const int tokens : {1, 3, 20}) {
        DeviceMemory on(driver);
        const std::vector<float> x = kernel_rows::activations(kN, tokens, random);
        const std::size_t stride = activation_row_bytes(Activation::Q8, kN);
        const DevicePtr rounded = on.room(stride * std::size_t(tokens));
        const DevicePtr residual = on.room(stride * std::size_t(tokens));
        const DevicePtr out = on.room(std::size_t(tokens * kRows) * sizeof(float));
        on.keep(quantize_q8(driver, on.queue(), {on.put(x), kN}, tokens, kN, {rounded, stride}, residual));
        on.keep(matmul(driver, on.queue(),
                       {.type = type,
                        .n = kN,
                        .rows = kRows,
                        .weights = on.put(weights),
                        .tokens = tokens,
                        .x = rounded,
                        .residual = residual,
                        .x_stride = stride,
                        .out = {out, kRows}}));
        const auto actual = on.get<float>(out, std::size_t(tokens * kRows));
        std::vector<float> w(kN);
        for (int r = 0; r < kRows; ++r) {
            all_cpu_kernels().front().dequantize(type, kN, weights.data() + std::size_t(r) * row_bytes(type, kN),
                                                 w.data());
            for (int t = 0; t < tokens; ++t) {
                double truth = 0, size = 0;
                for (int i = 0; i < kN; ++i) {
                    const double product = double(w[std::size_t(i)]) * double(x[std::size_t(t * kN + i)]);
                    truth += product;
                    size += std::abs(product);
                }
                note(checked, on, share_of(size / 20000, double(actual[std::size_t(t * kRows + r)]), truth),
                     std::to_string(tokens) + " tokens");
            }
        }
    }
    return checked;
}

}  // namespace

void add_expert_checks(std::vector<KernelCheck>& checks)
{
    checks.push_back({"choice of experts", check_route});
    checks.push_back({"factors of experts", check_scale_weights});
    struct Named {
        const char* name;
        Choice choice;
    };
    static constexpr Named kChoices[] = {
        {"by their softmax", {.sum_to_one = false}},
        {"by their softmax, made one", {.least_sum = 0x1p-14f, .scale = 1.5f}},
        {"by sigmoids", {.scores = Choice::Scores::Sigmoid, .sum_to_one = false}},
        {"by sigmoids, made one", {.scores = Choice::Scores::Sigmoid, .least_sum = 2.0f, .scale = 2.5f}}};
    for (const Named& c : kChoices)
        checks.push_back({std::string("choice of experts ") + c.name,
                          [&c](const Driver& d, unsigned seed) { return check_choice(d, seed, c.choice); }});
    checks.push_back({"choice of experts in groups", check_groups});
    checks.push_back({"sum of experts", check_sum});
    for (const TensorType type : {TensorType::F16, TensorType::MXFP4, TensorType::NVFP4})
        checks.push_back(
            {std::string("gated product of experts ") + type_traits(type).name,
             [=](const Driver& driver, unsigned seed) { return check_gated_experts(driver, seed, type); }});
    for (const TensorType type :
         {TensorType::F16, TensorType::Q8_0, TensorType::Q4_K, TensorType::MXFP4, TensorType::NVFP4})
        checks.push_back(
            {std::string("product of experts ") + type_traits(type).name,
             [=](const Driver& driver, unsigned seed) { return check_expert_product(driver, seed, type); }});
    for (const kernel_rows::TypeFacts& facts : kernel_rows::packedTypes())
        checks.push_back(
            {std::string("product of two times 8 bits ") + type_traits(facts.type).name,
             [type = facts.type](const Driver& driver, unsigned seed) { return check_rest(driver, seed, type); }});
}

}  // namespace kernels::cuda
