#include "kernels/cpu.h"
#include "kernels/cuda/checks/checks.h"
#include "kernels/cuda/checks/compare.h"
#include "kernels/cuda/checks/gates.h"
#include "kernels/cuda/checks/products.h"
#include "kernels/cuda/checks/rounded.h"
#include "kernels/cuda/ops.h"

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <string>
#include <utility>

namespace kernels::cuda {

using kernel_rows::Fill;

namespace {

// The end of a launch is compared bit for bit with the same operation in a launch of its own. Each is launched twice,
// since the counters have to be zeros again.
constexpr int kLaunches = 2;

int short_row(TensorType type)
{
    return activation_of(type) == Activation::F32 ? 40 : type_traits(type).block_len;
}

std::vector<float> random_floats(std::mt19937& random, int count)
{
    std::normal_distribution<float> normal(1.0f, 0.5f);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& x : values)
        x = normal(random);
    return values;
}

Product product_of(DeviceMemory& on, const ProductCase& c, const Rows& out)
{
    return {.type = c.type,
            .n = c.n,
            .rows = c.rows,
            .weights = on.put(c.weights),
            .tokens = c.tokens,
            .x = on.put(c.x.bytes),
            .x_stride = c.x.stride,
            .out = out};
}

// ---- a norm ----

double norm_error(DeviceMemory& on, TensorType type, int rows, std::mt19937& random)
{
    constexpr float kEpsilon = 1e-5f;
    const ProductCase c = product_case(type, short_row(type), rows, 1, Fill::Random, random);
    const std::vector<float> before = random_floats(random, rows);
    const DevicePtr weight = on.put(random_floats(random, rows));
    const DevicePtr counter = on.put(std::vector<unsigned>{0});
    double worst = 0;
    for (int i = 0; i < kLaunches; ++i) {
        Product p = product_of(on, c, {on.put(before), rows});
        p.into = Into::Sum;
        on.keep(matmul(on.driver(), on.queue(), p));
        const DevicePtr expected = on.room(before.size() * sizeof(float));
        on.keep(rms_norm(on.driver(), on.queue(), p.out, weight, kEpsilon, 1, rows, {expected, rows}));
        const std::vector<float> sum = on.get<float>(p.out.at, before.size());

        p.out.at = on.put(before);
        const RoundedCheck rounded(on, 1, rows);
        const Rows out{on.room(before.size() * sizeof(float)), rows};
        on.keep(matvec_and_norm(on.driver(), on.queue(), p,
                                {weight, kEpsilon, out, rounded.to(), {p.weights, c.weights.size()}}, counter));
        const std::vector<float> norms = on.get<float>(out.at, before.size());
        worst = std::max({worst, share_of_same(on.get<float>(p.out.at, before.size()), sum),
                          share_of_same(norms, on.get<float>(expected, before.size())), rounded.error(norms)});
    }
    return worst;
}

Checked check_norm(const Driver& driver, unsigned seed, TensorType type, std::initializer_list<int> lengths)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const int rows : lengths) {
        DeviceMemory on(driver);
        note(checked, on, norm_error(on, type, rows, random), std::to_string(rows) + " values");
    }
    return checked;
}

// ---- rounding, behind a gate ----

double rounding_error(DeviceMemory& on, TensorType type, int rows, std::mt19937& random)
{
    const ProductCase gates = product_case(type, short_row(type), rows, 1, Fill::Random, random);
    const Rows out{on.room(std::size_t(rows) * sizeof(float)), rows};
    const DevicePtr counters = on.put(std::vector<unsigned>(std::size_t(rows / 32), 0));
    double worst = 0;
    for (int i = 0; i < kLaunches; ++i) {
        const RoundedCheck rounded(on, 1, rows);
        GatedProduct p{.gate = product_of(on, gates, out),
                       .up_weights = on.put(weight_rows(type, gates.n, rows, Fill::Random, random)),
                       .gating = all_gatings().front().gating};
        on.keep(gated_matvec(on.driver(), on.queue(), p));
        const std::vector<float> expected = on.get<float>(out.at, std::size_t(rows));
        p.rounded = rounded.to();
        p.counters = counters;
        p.next = {p.gate.weights, gates.weights.size()};
        on.keep(gated_matvec(on.driver(), on.queue(), p));
        const std::vector<float> actual = on.get<float>(out.at, std::size_t(rows));
        worst = std::max({worst, share_of_same(actual, expected), rounded.error(actual)});
    }
    return worst;
}

Checked check_rounding(const Driver& driver, unsigned seed, TensorType type)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const int rows : {32, 160}) {
        DeviceMemory on(driver);
        note(checked, on, rounding_error(on, type, rows, random), std::to_string(rows) + " values");
    }
    return checked;
}

// Each row is a pair by itself. Row 2 of 5 goes to an expert that is not on the device, and stays as it was.
Checked check_rounding_of_experts(const Driver& driver, unsigned seed)
{
    constexpr int kRows = 96, kUsed = 5, kExperts = 7, kAway = 3;
    constexpr auto kType = TensorType::Q4_K;
    const std::vector<int> chosen{6, 0, kAway, 2, 5};
    std::mt19937 random(seed);
    Checked checked;
    DeviceMemory on(driver);
    const ProductCase c = product_case(kType, 256, kRows * kExperts, 1, Fill::Random, random);
    const std::vector<float> before(std::size_t(kRows * kUsed), -3.0f);
    const DevicePtr weights = on.put(c.weights);
    std::vector<std::uint64_t> places;
    for (int e = 0; e < kExperts; ++e)
        places.push_back(e == kAway ? 0 : weights + std::size_t(e * kRows) * row_bytes(kType, c.n));
    const Routing routing{
        .rows = 1, .used = kUsed, .experts = kExperts, .chosen = on.put(chosen), .places = on.put(places)};
    const DevicePtr counters = on.put(std::vector<unsigned>(std::size_t(kUsed * kRows / 32), 0));
    for (int i = 0; i < kLaunches; ++i) {
        const RoundedCheck rounded(on, kUsed, kRows);
        GatedProduct p{.gate = product_of(on, c, {on.put(before), kRows}), .gating = all_gatings().front().gating};
        p.gate.rows = kRows;
        p.gate.tokens = kUsed;
        p.gate.weights = p.up_weights = 0;
        on.keep(gated_expert_matvec(driver, on.queue(), p, routing, kUsed));
        const std::vector<float> expected = on.get<float>(p.gate.out.at, before.size());
        p.gate.out.at = on.put(before);
        p.rounded = rounded.to();
        p.counters = counters;
        on.keep(gated_expert_matvec(driver, on.queue(), p, routing, kUsed));
        const std::vector<float> actual = on.get<float>(p.gate.out.at, before.size());
        note(checked, on, share_of_same(actual, expected), "values");
        note(checked, on, rounded.error(actual, std::array{2}), "rounded");
    }
    return checked;
}

// ---- heads before attention ----

struct HeadsCase {
    const char* name;
    TensorType q, k, v;
    int heads, kv_heads, k_dim, v_dim, pairs;
    KvType kv;
    bool norms;
};

/// Queries, keys and values of a row, with room behind them for what else is projected.
class HeadsOnDevice
{
public:
    static constexpr int kBlockTokens = 16, kToken = 21, kOthers = 12;

    HeadsOnDevice(const Driver& driver, const HeadsCase& c, std::mt19937& random)
        : c_(c)
        , layout_{c.kv, c.kv, c.k_dim, c.v_dim, kBlockTokens}
        , on_(driver)
        , first_(on_.put(std::vector<int>{kToken}))
        , cos_(on_.put(random_floats(random, c.pairs)))
        , sin_(on_.put(random_floats(random, c.pairs)))
        , norm_(c.norms ? on_.put(random_floats(random, std::max(c.k_dim, c.v_dim))) : 0)
        , counters_(on_.put(std::vector<unsigned>(std::size_t(c.heads + 2 * c.kv_heads), 0)))
    {
        const int rows[] = {c.heads * c.k_dim, c.kv_heads * c.k_dim, c.kv_heads * c.v_dim, kOthers - 3};
        const TensorType types[] = {c.q, c.k, c.v, c.q};
        const int n = std::max({short_row(c.q), short_row(c.k), short_row(c.v)});
        for (int i = 0; i < 4; ++i) {
            const ProductCase one = product_case(types[i], n, rows[i], 1, Fill::Random, random);
            products_.push_back(product_of(on_, one, {}));
            if (i > 0)
                products_.back().x = products_.front().x;
            columns_.push_back(stride_);
            stride_ += rows[i];
        }
        stride_ += 3;
    }
    DeviceMemory& on() { return on_; }

    struct Result {
        std::vector<float> row;
        std::vector<std::byte> stored;
        bool operator==(const Result&) const = default;
    };
    Result in_two_launches()
    {
        const KvBlocks kv = blocks();
        const DevicePtr row = new_row();
        on_.keep(matvec_together(on_.driver(), on_.queue(), products_));
        on_.keep(prepare_heads(on_.driver(), on_.queue(), kv, heads(row)));
        return result(row);
    }
    Result in_one()
    {
        const KvBlocks kv = blocks();
        const DevicePtr row = new_row();
        on_.keep(matvec_and_prepare(on_.driver(), on_.queue(), products_, kv, heads(row), counters_));
        return result(row);
    }

private:
    KvBlocks blocks()
    {
        block_ = on_.put(std::vector<std::byte>(std::size_t(c_.kv_heads) * layout_.bytes(), std::byte(0x5a)));
        return {layout_, c_.kv_heads, on_.put(std::vector<std::uint64_t>{0, block_})};
    }
    DevicePtr new_row()
    {
        const DevicePtr row = on_.put(std::vector<float>(std::size_t(stride_), -7.0f));
        for (std::size_t i = 0; i < products_.size(); ++i)
            products_[i].out = {row + std::size_t(columns_[i]) * sizeof(float), stride_};
        return row;
    }
    PreparedHeads heads(DevicePtr row) const
    {
        return {.heads = c_.heads,
                .q = row,
                .k = row + std::size_t(columns_[1]) * sizeof(float),
                .v = row + std::size_t(columns_[2]) * sizeof(float),
                .stride = stride_,
                .q_norm = norm_,
                .k_norm = norm_,
                .v_norm = norm_,
                .epsilon = 1e-6f,
                .cos = cos_,
                .sin = sin_,
                .pairs = c_.pairs,
                .order = RopePairs::Halves,
                .first = first_,
                .rows = 1};
    }
    /// Keys and values in the row are undefined.
    Result result(DevicePtr row) const
    {
        Result r{on_.get<float>(row, std::size_t(stride_)),
                 on_.get<std::byte>(block_, std::size_t(c_.kv_heads) * layout_.bytes())};
        std::fill(r.row.begin() + columns_[1], r.row.begin() + columns_[3], 0.0f);
        return r;
    }

    const HeadsCase c_;
    const KvBlockLayout layout_;
    DeviceMemory on_;
    const DevicePtr first_, cos_, sin_, norm_, counters_;
    DevicePtr block_ = 0;
    std::vector<Product> products_;
    std::vector<int> columns_;
    int stride_ = 0;
};

Checked check_heads(const Driver& driver, unsigned seed, const HeadsCase& c)
{
    std::mt19937 random(seed);
    Checked checked;
    HeadsOnDevice there(driver, c, random);
    const HeadsOnDevice::Result expected = there.in_two_launches();
    for (int i = 0; i < kLaunches; ++i)
        note(checked, there.on(), there.in_one() == expected ? 0 : std::numeric_limits<double>::infinity(), c.name);
    return checked;
}

}  // namespace

void add_launch_end_checks(std::vector<KernelCheck>& checks)
{
    using enum TensorType;
    for (const TypeTraits& traits : all_tensor_types()) {
        const TensorType type = traits.type;
        const std::string name = traits.name;
        checks.push_back({"product and norm " + name,
                          [=](const Driver& driver, unsigned seed) { return check_norm(driver, seed, type, {96}); }});
        checks.push_back({"gated product and rounding " + name,
                          [=](const Driver& driver, unsigned seed) { return check_rounding(driver, seed, type); }});
        checks.push_back(
            {"products and heads " + name, [=](const Driver& driver, unsigned seed) {
                 return check_heads(driver, seed, {"one type", type, type, type, 3, 2, 32, 16, 8, KvType::F16, false});
             }});
    }
    // Less than a warp of quads, several of a thread, more than stay in its registers.
    checks.push_back({"product and norm of long rows", [](const Driver& driver, unsigned seed) {
                          return check_norm(driver, seed, Q4_K, {32, 608, 2080, 4096, 4640});
                      }});
    checks.push_back({"gated products of experts and rounding", check_rounding_of_experts});
    const HeadsCase heads[] = {
        {"Q4_K and Q6_K, normed", Q4_K, Q4_K, Q6_K, 4, 1, 128, 128, 64, KvType::Q8_0, true},
        {"Q5_K and Q6_K", Q5_K, Q5_K, Q6_K, 2, 2, 64, 32, 32, KvType::F16, false},
        {"Q4_K and Q5_K", Q5_K, Q4_K, Q5_K, 3, 1, 80, 96, 16, KvType::F16, false},
        {"Q3_K and Q5_K", Q3_K, Q3_K, Q5_K, 1, 1, 64, 64, 0, KvType::Q8_0, false},
        {"long heads", Q8_0, Q8_0, Q8_0, 2, 1, 576, 512, 32, KvType::F16, true},
    };
    for (const HeadsCase& c : heads)
        checks.push_back({std::string("products and heads, ") + c.name,
                          [c](const Driver& driver, unsigned seed) { return check_heads(driver, seed, c); }});
}

}  // namespace kernels::cuda
