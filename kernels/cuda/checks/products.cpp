#include "kernels/cuda/checks/products.h"

#include "kernels/cpu.h"
#include "kernels/cuda/checks/checks.h"
#include "kernels/cuda/checks/compare.h"
#include "kernels/cuda/ops.h"

#include <algorithm>
#include <utility>

namespace kernels::cuda {

using kernel_rows::Fill;

namespace {

bool is_float(TensorType type)
{
    return activation_of(type) == Activation::F32;
}

double largest_weight(TensorType type)
{
    for (const kernel_rows::TypeFacts& facts : kernel_rows::packedTypes())
        if (facts.type == type)
            return double(facts.largest * kernel_rows::kScale);
    return 2.0;
}

Checked check_product(const Driver& driver, unsigned seed, TensorType type, std::initializer_list<int> lengths,
                      std::initializer_list<std::pair<int, int>> rows_and_tokens)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const int n : lengths)
        for (const auto& [rows, tokens] : rows_and_tokens) {
            DeviceMemory on(driver);
            ProductCase c = product_case(type, n, rows, tokens, Fill::Random, random);
            c.scale = rows > 5 ? 0.5f : 1.0f;
            const std::vector<float> actual = product_on(on, c);
            note(checked, on, product_error(c, actual),
                 std::to_string(rows) + " rows of " + std::to_string(n) + ", " + std::to_string(tokens) + " tokens");
        }
    return checked;
}

/// Returns what head h of `all` is by itself: the rows of x that are its, and its matrix.
ProductCase of_head(const ProductCase& all, int rows, int heads, int h)
{
    ProductCase one = all;
    const std::size_t matrix = std::size_t(rows) * row_bytes(all.type, all.n);
    const auto weights = all.weights.begin() + std::ptrdiff_t(matrix * std::size_t(h));
    one.rows = rows;
    one.tokens = all.tokens / heads;
    one.weights.assign(weights, weights + std::ptrdiff_t(matrix));
    one.x.bytes.clear();
    for (int t = 0; t < one.tokens; ++t) {
        const auto row = all.x.bytes.begin() + std::ptrdiff_t(std::size_t(t * heads + h) * all.x.stride);
        one.x.bytes.insert(one.x.bytes.end(), row, row + std::ptrdiff_t(all.x.stride));
    }
    one.scale = h % 2 == 0 ? 1.0f : 0.5f;
    return one;
}

Checked check_heads(const Driver& driver, unsigned seed, TensorType type, int n)
{
    constexpr int kHeads = 3, kApart = 5;  // floats between the results of two heads
    constexpr float kUntouched = -12345.0f;
    std::mt19937 random(seed);
    Checked checked;
    for (const auto& [rows, tokens] : {std::pair{7, 1}, {5, 11}, {70, 20}}) {
        DeviceMemory on(driver);
        const ProductCase all = product_case(type, n, rows * kHeads, tokens * kHeads, Fill::Random, random);
        const int head = rows + kApart, stride = kHeads * head;
        const std::vector<float> start(std::size_t(stride * tokens), kUntouched);
        const DevicePtr out = on.put(start);
        on.keep(head_matmul(driver, on.queue(),
                            {.product = {.type = type,
                                         .n = n,
                                         .rows = rows,
                                         .weights = on.put(all.weights),
                                         .scale = on.put(std::vector<float>{1.0f, 0.5f, 1.0f}),
                                         .tokens = tokens,
                                         .x = on.put(all.x.bytes),
                                         .x_stride = kHeads * all.x.stride,
                                         .out = {out, stride}},
                             .heads = kHeads,
                             .x_stride = all.x.stride,
                             .out_stride = head}));
        const auto values = on.get<float>(out, start.size());
        for (int h = 0; h < kHeads; ++h) {
            std::vector<float> actual;
            bool beyond = false;
            for (int t = 0; t < tokens; ++t) {
                const auto row = values.begin() + t * stride + h * head;
                actual.insert(actual.end(), row, row + rows);
                beyond |= std::any_of(row + rows, row + head, [](float x) { return x != kUntouched; });
            }
            if (beyond)
                actual.front() = std::numeric_limits<float>::quiet_NaN();
            note(checked, on, product_error(of_head(all, rows, kHeads, h), actual),
                 std::to_string(rows) + " rows, " + std::to_string(tokens) + " tokens, head " + std::to_string(h));
        }
    }
    return checked;
}

// Checks that looked-up rows of a table are the very floats that the reference makes.
Checked check_embed(const Driver& driver, unsigned seed, TensorType type)
{
    std::mt19937 random(seed);
    const int block = type_traits(type).block_len;
    const int n = block == 1 ? 132 : 3 * block;
    const std::vector<std::byte> table = weight_rows(type, n, 5, Fill::Random, random);
    const std::vector<int> ids{4, 0, 0, 3};
    const float scale = 1.5f;

    DeviceMemory on(driver);
    const DevicePtr out = on.room(ids.size() * std::size_t(n) * sizeof(float));
    on.keep(embed(driver, on.queue(), type, on.put(table), on.put(ids), scale, int(ids.size()), n, {out, n}));
    std::vector<float> expected(ids.size() * std::size_t(n));
    for (std::size_t r = 0; r < ids.size(); ++r)
        scalar().dequantize(type, n, table.data() + std::size_t(ids[r]) * row_bytes(type, n),
                            &expected[r * std::size_t(n)]);
    for (float& x : expected)
        x *= scale;
    Checked checked;
    note(checked, on, share_of_same(on.get<float>(out, expected.size()), expected), std::to_string(n) + " values");
    return checked;
}

// 8 bits are wrong by one in 250 of the largest value of a group, twice 8 bits by one in 60,000; a scale in half
// precision may be short of that value by a fifteenth of a step, twice.
constexpr double kTwiceRounded = 1.15 / (2 * 127 * 254);

/// (tokens, n): for each value of x the largest of its group of 32.
std::vector<float> largest_of_groups(const std::vector<float>& x)
{
    std::vector<float> largest(x.size());
    for (std::size_t begin = 0; begin < x.size(); begin += 32) {
        float most = 0;
        for (std::size_t i = begin; i < begin + 32; ++i)
            most = std::max(most, std::abs(x[i]));
        std::fill_n(largest.begin() + std::ptrdiff_t(begin), 32, most);
    }
    return largest;
}

Checked check_residual(const Driver& driver, unsigned seed, TensorType type)
{
    constexpr int kRows = 9;
    const int n = type_traits(type).block_len == 32 ? 480 : 512;  // a step of tensor cores may have a tail
    std::mt19937 random(seed);
    Checked checked;
    for (const auto& [tokens, heads] : {std::pair{1, 1}, {3, 1}, {7, 2}, {20, 2}}) {
        DeviceMemory on(driver);
        const auto weights = weight_rows(type, n, kRows * heads, kernel_rows::Fill::Random, random);
        const std::vector<float> x = kernel_rows::activations(n, tokens * heads, random);
        const std::vector<float> largest = largest_of_groups(x);
        const std::size_t stride = activation_row_bytes(Activation::Q8, n), all = stride * std::size_t(tokens * heads);
        const DevicePtr rounded = on.room(all), residual = on.room(all);
        const DevicePtr out = on.room(std::size_t(tokens * heads * kRows) * sizeof(float));
        on.keep(quantize_q8(driver, on.queue(), {on.put(x), n}, tokens * heads, n, {rounded, stride}, residual));
        const Product product{.type = type,
                              .n = n,
                              .rows = kRows,
                              .weights = on.put(weights),
                              .tokens = tokens,
                              .x = rounded,
                              .residual = residual,
                              .x_stride = stride * std::size_t(heads),
                              .out = {out, kRows * heads}};
        on.keep(heads == 1 ? matmul(driver, on.queue(), product)
                           : head_matmul(driver, on.queue(), {product, heads, stride, kRows}));
        const auto actual = on.get<float>(out, std::size_t(tokens * heads * kRows));
        std::vector<float> w(static_cast<std::size_t>(n));
        for (int r = 0; r < kRows * heads; ++r) {
            scalar().dequantize(type, n, weights.data() + std::size_t(r) * row_bytes(type, n), w.data());
            for (int t = 0; t < tokens; ++t) {
                const auto row = std::size_t(t * heads + r / kRows) * std::size_t(n);
                double truth = 0, tolerance = 0;
                for (std::size_t i = 0; i < w.size(); ++i) {
                    const double added = double(w[i]) * double(x[row + i]);
                    truth += added;
                    tolerance += std::abs(double(w[i])) * double(largest[row + i]) * kTwiceRounded +
                                 std::abs(added) * (n / 8.0 + 8) * kHalfEpsilon;
                }
                note(checked, on, share_of(tolerance, double(actual[std::size_t(t * heads * kRows + r)]), truth),
                     std::to_string(tokens) + " tokens, " + std::to_string(heads) + " heads");
            }
        }
    }
    return checked;
}

// One launch, or one for each type, for matrices with as many rows as each has.
void check_together(Checked& checked, const Driver& driver, const std::vector<TensorType>& types, int tokens,
                    std::mt19937& random)
{
    constexpr int kN = 768;
    DeviceMemory on(driver);
    std::vector<ProductCase> cases;
    std::vector<Product> products;
    const int stride = (3 + 6 * int(types.size())) * int(types.size());  // columns of one result, with room between
    const DevicePtr out = on.room(std::size_t(stride * tokens) * sizeof(float));
    int column = 0;
    for (std::size_t i = 0; i < types.size(); ++i) {
        cases.push_back(product_case(types[i], kN, 3 + 6 * int(i), tokens, Fill::Random, random));
        ProductCase& c = cases.back();
        c.x = cases.front().x;
        c.scale = i == 1 ? 0.5f : 1.0f;
        products.push_back({
            .type = c.type,
            .n = kN,
            .rows = c.rows,
            .weights = on.put(c.weights),
            .scale = i == 1 ? on.put(std::vector<float>{c.scale}) : 0,
            .bias = i == 2 ? on.put(std::vector<float>(std::size_t(c.rows), 0.0f)) : 0,
            .tokens = tokens,
            .x = i == 0 ? on.put(c.x.bytes) : products.front().x,
            .x_stride = c.x.stride,
            .out = {out + std::size_t(column) * sizeof(float), stride},
        });
        column += c.rows + 1;
    }
    on.keep(matvec_together(driver, on.queue(), products));
    const std::vector<float> all = on.get<float>(out, std::size_t(stride * tokens));
    for (std::size_t i = 0, first = 0; i < cases.size(); first += std::size_t(cases[i].rows) + 1, ++i) {
        std::vector<float> actual;
        for (int t = 0; t < tokens; ++t) {
            const auto row = all.begin() + std::ptrdiff_t(t * stride) + std::ptrdiff_t(first);
            actual.insert(actual.end(), row, row + cases[i].rows);
        }
        note(checked, on, product_error(cases[i], actual),
             std::string(type_traits(types[i]).name) + ", number " + std::to_string(i) + ", " + std::to_string(tokens) +
                 " tokens");
    }
}

Checked check_together(const Driver& driver, unsigned seed, const std::vector<TensorType>& types)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const int tokens : {1, 3, 11})
        check_together(checked, driver, types, tokens, random);
    return checked;
}

}  // namespace

std::vector<std::byte> weight_rows(TensorType type, int n, int count, Fill fill, std::mt19937& random)
{
    for (const kernel_rows::TypeFacts& facts : kernel_rows::packedTypes())
        if (facts.type == type)
            return kernel_rows::packedRows(facts, n, count, fill, random);
    return kernel_rows::floatRows(type, n, count, random);
}

ProductCase product_case(TensorType type, int n, int rows, int tokens, Fill fill, std::mt19937& random)
{
    ProductCase c{type, n, rows, tokens, weight_rows(type, n, rows, fill, random), {}};
    c.x = kernel_rows::rounded(activation_of(type), n, tokens, kernel_rows::activations(n, tokens, random));
    return c;
}

std::vector<float> product_on(DeviceMemory& on, const ProductCase& c, const std::vector<float>& bias,
                              const std::vector<float>& before)
{
    constexpr float kUntouched = -12345.0f;
    const int stride = c.rows + 3;
    std::vector<float> start(std::size_t(stride * c.tokens), kUntouched);
    for (std::size_t i = 0; i < before.size(); ++i)
        start[i / std::size_t(c.rows) * std::size_t(stride) + i % std::size_t(c.rows)] = before[i];
    const DevicePtr out = on.put(start);
    on.keep(matmul(on.driver(), on.queue(),
                   {.type = c.type,
                    .n = c.n,
                    .rows = c.rows,
                    .weights = on.put(c.weights),
                    .scale = c.scale == 1.0f ? 0 : on.put(std::vector<float>{c.scale}),
                    .bias = bias.empty() ? 0 : on.put(bias),
                    .tokens = c.tokens,
                    .x = on.put(c.x.bytes),
                    .x_stride = c.x.stride,
                    .out = {out, stride},
                    .into = before.empty() ? Into::Place : Into::Sum}));
    const std::vector<float> all = on.get<float>(out, start.size());
    std::vector<float> result;
    bool beyond = false;
    for (int t = 0; t < c.tokens; ++t) {
        const auto row = all.begin() + t * stride;
        result.insert(result.end(), row, row + c.rows);
        beyond |= row[c.rows] != kUntouched;
    }
    if (beyond)
        std::fill(result.begin(), result.end(), std::numeric_limits<float>::quiet_NaN());
    return result;
}

// Every value that is added is at most the largest weight times |x|. The reference makes at most n / 8 + 8 roundings in
// a chain, a lane and the tree after it fewer.
double product_tolerance(const ProductCase& c, int token)
{
    const std::byte* row = c.x.bytes.data() + std::size_t(token) * c.x.stride;
    double magnitude = 0;
    for (const float x : kernel_rows::seen(activation_of(c.type), c.n, row))
        magnitude += std::abs(double(x));
    return 2 * (c.n / 8.0 + 8) * kHalfEpsilon * largest_weight(c.type) * magnitude;
}

std::vector<float> scalar_product(const ProductCase& c)
{
    std::vector<float> out(std::size_t(c.rows * c.tokens));
    scalar().matmul[std::size_t(c.type)](
        {c.n, c.rows, c.weights.data(), c.tokens, c.x.bytes.data(), c.x.stride, out.data(), std::size_t(c.rows)});
    for (float& value : out)
        value *= c.scale;
    return out;
}

double product_error(const ProductCase& c, const std::vector<float>& actual)
{
    const std::vector<float> expected = scalar_product(c);
    double worst = 0;
    for (int t = 0; t < c.tokens; ++t) {
        const double bound = product_tolerance(c, t);
        for (auto i = std::size_t(t * c.rows); i < std::size_t((t + 1) * c.rows); ++i)
            worst = std::max(worst, share_of(bound, actual[i], expected[i]));
    }
    return worst;
}

void add_product_checks(std::vector<KernelCheck>& checks)
{
    for (const TypeTraits& traits : all_tensor_types()) {
        const TensorType type = traits.type;
        const int block = is_float(type) ? 8 : traits.block_len;
        checks.push_back(
            {std::string("product ") + traits.name, [=](const Driver& driver, unsigned seed) {
                 return check_product(driver, seed, type, {block, 5 * block, 1024}, {{1, 1}, {7, 1}, {3, 2}, {5, 11}});
             }});
        // These rows are longer than what a warp has under way of one.
        checks.push_back({std::string("product of long rows ") + traits.name, [=](const Driver& driver, unsigned seed) {
                              return check_product(driver, seed, type, {5 * 1024 + block}, {{3, 1}, {10, 3}});
                          }});
        // Many tokens are multiplied with tensor cores. A step of these kernels is 128 packed weights, or 32 floats.
        checks.push_back({std::string("product of many tokens ") + traits.name,
                          [=, n = traits.block_len == 256  ? 256
                                  : is_float(type)         ? 168
                                  : traits.block_len == 64 ? 192
                                                           : 160](const Driver& driver, unsigned seed) {
                              return check_product(driver, seed, type, {n}, {{3, 17}, {70, 131}});
                          }});
        checks.push_back({std::string("product of heads ") + traits.name, [=](const Driver& driver, unsigned seed) {
                              return check_heads(driver, seed, type, is_float(type) ? 40 : std::max(block, 32));
                          }});
        checks.push_back({std::string("embedding ") + traits.name,
                          [=](const Driver& driver, unsigned seed) { return check_embed(driver, seed, type); }});
    }
    using enum TensorType;
    const std::pair<const char*, std::vector<TensorType>> together[] = {
        {"of one type", {Q4_K, Q4_K, Q4_K, Q4_K}},   {"of halves", {F16, F16, F16}},
        {"Q3_K and Q5_K", {Q3_K, Q3_K, Q5_K}},       {"Q4_K and Q5_K", {Q5_K, Q4_K, Q5_K}},
        {"Q4_K and Q6_K", {Q4_K, Q4_K, Q6_K, Q4_K}}, {"Q5_K and Q6_K", {Q6_K, Q5_K}},
    };
    for (const auto& [name, types] : together)
        checks.push_back({std::string("products in one launch, ") + name,
                          [types = types](const Driver& d, unsigned seed) { return check_together(d, seed, types); }});
    for (const kernel_rows::TypeFacts& facts : kernel_rows::packedTypes())
        checks.push_back(
            {std::string("product of two times 8 bits ") + type_traits(facts.type).name,
             [type = facts.type](const Driver& driver, unsigned seed) { return check_residual(driver, seed, type); }});
}

}  // namespace kernels::cuda
