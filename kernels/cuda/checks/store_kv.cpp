#include "kernels/cuda/checks/checks.h"

#include "kernels/cpu.h"
#include "kernels/cuda/checks/compare.h"
#include "kernels/cuda/ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>

namespace kernels::cuda {

namespace {

constexpr int kHeads = 3;
constexpr int kFirst = 13;  // the tokens go into three blocks, the second of which is not on the device
constexpr int kTokens = 22;
constexpr int kBlockTokens = 16;

// Returns 0 if the device writes the very bytes that the CPU writes, and no others.
double error_of(DeviceMemory& on, std::mt19937& random, const KvBlockLayout& layout)
{
    const int stride = kHeads * (layout.k_dim + layout.v_dim) + 8;
    std::normal_distribution<float> normal;
    std::vector<float> rows(std::size_t(kTokens * stride));
    for (float& x : rows)
        x = normal(random);
    rows[3] = NAN;
    rows[std::size_t(stride)] = 7e4f;  // beyond a half
    for (int d = 0; d < layout.k_dim; ++d)
        rows[std::size_t(2 * stride + d)] = 0.0f;

    const std::size_t column = std::size_t(kHeads) * layout.bytes();
    const std::vector<std::byte> untouched(column, std::byte(0x5a));
    const DevicePtr blocks[] = {on.put(untouched), on.put(untouched), on.put(untouched)};
    const DevicePtr at = on.put(rows);
    const KvBlocks kv{layout, kHeads, on.put(std::vector<std::uint64_t>{blocks[0], 0, blocks[2]})};
    on.keep(store_kv(on.driver(), on.queue(), kv, at, at + std::size_t(kHeads * layout.k_dim) * sizeof(float), stride,
                     on.put(std::vector<int>{kFirst}), kTokens));

    double worst = 0;
    for (int b = 0; b < 3; ++b) {
        std::vector<std::byte> expected = untouched;
        for (int t = 0; t < kTokens && b != 1; ++t)
            for (int h = 0; h < kHeads && (kFirst + t) / kBlockTokens == b; ++h) {
                const float* row = &rows[std::size_t(t * stride)];
                scalar().store_kv(layout, expected.data() + std::size_t(h) * layout.bytes(),
                                  (kFirst + t) % kBlockTokens, row + h * layout.k_dim,
                                  row + kHeads * layout.k_dim + h * layout.v_dim);
            }
        worst = std::max(worst, share_of_same(on.get<std::byte>(blocks[b], column), expected));
    }
    return worst;
}

Checked check_store_kv(const Driver& driver, unsigned seed, KvType k, KvType v)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const auto& [k_dim, v_dim] : {std::pair{64, 64}, {128, 128}, {80, 96}, {12, 20}}) {
        DeviceMemory on(driver);
        const double share = error_of(on, random, {k, v, k_dim, v_dim, kBlockTokens});
        note(checked, on, share, "heads of " + std::to_string(k_dim) + " and " + std::to_string(v_dim));
    }
    if (k == v) {
        DeviceMemory on(driver);
        note(checked, on, error_of(on, random, {k, v, 80, 64, kBlockTokens, true}), "values in keys");
    }
    return checked;
}

struct PreparedCase {
    const char* name;
    KvType type;
    int heads, k_dim, v_dim, pairs;
    RopePairs order;
    bool q_norm, k_norm, v_norm;
};

/// Queries, keys and values of some tokens, as the reference leaves them.
struct PreparedRows {
    std::vector<float> rows;  // (kTokens, stride)
    int stride = 0, k_col = 0, v_col = 0;
};

PreparedRows random_heads(std::mt19937& random, const PreparedCase& c)
{
    PreparedRows r;
    r.k_col = c.heads * c.k_dim;
    r.v_col = r.k_col + kHeads * c.k_dim;
    r.stride = r.v_col + kHeads * c.v_dim + 8;
    std::normal_distribution<float> normal;
    r.rows.resize(std::size_t(kTokens * r.stride));
    for (float& x : r.rows)
        x = normal(random);
    return r;
}

/// Holds what a row's heads are normed and turned by.
struct HeadTables {
    std::vector<float> q_norm, k_norm, v_norm, cos, sin;
};

HeadTables tables_of(std::mt19937& random, const PreparedCase& c)
{
    std::normal_distribution<float> normal(1.0f, 0.2f);
    const auto weights = [&](int length) {
        std::vector<float> w(std::size_t(length), 0.0f);
        for (float& x : w)
            x = normal(random);
        return w;
    };
    HeadTables t{weights(c.k_dim), weights(c.k_dim), weights(c.v_dim), {}, {}};
    for (int i = 0; i < kTokens * c.pairs; ++i) {
        t.cos.push_back(std::cos(0.37f * float(i)));
        t.sin.push_back(std::sin(0.37f * float(i)));
    }
    return t;
}

constexpr float kEpsilon = 1e-6f;

void prepare_on_host(const PreparedCase& c, const HeadTables& t, PreparedRows& r)
{
    for (int row = 0; row < kTokens; ++row) {
        float* const heads = &r.rows[std::size_t(row * r.stride)];
        for (int h = 0; h < c.heads + kHeads; ++h) {
            float* const head = heads + h * c.k_dim;
            if (h < c.heads ? c.q_norm : c.k_norm)
                scalar().rms_norm(c.k_dim, head, h < c.heads ? t.q_norm.data() : t.k_norm.data(), kEpsilon, head);
            if (c.pairs > 0)
                scalar().rope(c.order == RopePairs::Halves, 2 * c.pairs, &t.cos[std::size_t(row * c.pairs)],
                              &t.sin[std::size_t(row * c.pairs)], head);
        }
        for (int h = 0; h < kHeads && c.v_norm; ++h) {
            float* const head = heads + r.v_col + h * c.v_dim;
            scalar().rms_norm(c.v_dim, head, t.v_norm.data(), kEpsilon, head);
        }
    }
}

/// The rows on a device, prepared there; the second KV block is not on it.
class PreparedOnDevice
{
public:
    PreparedOnDevice(const Driver& driver, const PreparedCase& c, const HeadTables& t, const PreparedRows& r)
        : layout_{c.type, c.type, c.k_dim, c.v_dim, kBlockTokens}
        , on_(driver)
        , at_(on_.put(r.rows))
        , blocks_{on_.put(untouched()), on_.put(untouched()), on_.put(untouched())}
    {
        const auto norm = [&](bool wanted, const std::vector<float>& weights) { return wanted ? on_.put(weights) : 0; };
        const PreparedHeads heads{
            .heads = c.heads,
            .q = at_,
            .k = at_ + std::size_t(r.k_col) * sizeof(float),
            .v = at_ + std::size_t(r.v_col) * sizeof(float),
            .stride = r.stride,
            .q_norm = norm(c.q_norm, t.q_norm),
            .k_norm = norm(c.k_norm, t.k_norm),
            .v_norm = norm(c.v_norm, t.v_norm),
            .epsilon = kEpsilon,
            .cos = on_.put(t.cos),
            .sin = on_.put(t.sin),
            .pairs = c.pairs,
            .order = c.order,
            .first = on_.put(std::vector<int>{kFirst}),
            .rows = kTokens,
        };
        const DevicePtr table = on_.put(std::vector<std::uint64_t>{blocks_[0], 0, blocks_[2]});
        on_.keep(prepare_heads(driver, on_.queue(), {layout_, kHeads, table}, heads));
    }
    const DeviceMemory& on() const { return on_; }

    /// Returns the largest error of the queries as a share of the tolerance; `expected`: the rows as the reference
    /// leaves them.
    double query_error(const PreparedRows& expected, double tolerance) const
    {
        const std::vector<float> actual = on_.get<float>(at_, expected.rows.size());
        double worst = 0;
        for (int row = 0; row < kTokens; ++row)
            for (int i = 0; i < expected.k_col; ++i) {
                const auto index = std::size_t(row * expected.stride + i);
                worst = std::max(worst, share_of(tolerance, double(actual[index]), double(expected.rows[index])));
            }
        return worst;
    }
    double kv_error(const PreparedRows& expected, double tolerance) const
    {
        double worst = 0;
        for (int b = 0; b < 3; ++b) {
            const std::vector<std::byte> bytes = block_of(expected, b);
            const auto stored = on_.get<std::byte>(blocks_[b], bytes.size());
            if (layout_.k_type != KvType::F32) {
                worst = std::max(worst, share_of_same(stored, bytes));
                continue;
            }
            std::vector<float> actual(bytes.size() / sizeof(float)), reference(actual.size());
            std::memcpy(actual.data(), stored.data(), bytes.size());
            std::memcpy(reference.data(), bytes.data(), bytes.size());
            for (std::size_t i = 0; i < actual.size(); ++i)
                worst = std::max(worst, share_of(tolerance, double(actual[i]), double(reference[i])));
        }
        return worst;
    }

private:
    std::vector<std::byte> untouched() const
    {
        return std::vector<std::byte>(std::size_t(kHeads) * layout_.bytes(), std::byte(0x5a));
    }
    /// Returns what the CPU writes into block b.
    std::vector<std::byte> block_of(const PreparedRows& r, int b) const
    {
        std::vector<std::byte> block = untouched();
        for (int token = 0; token < kTokens && b != 1; ++token)
            for (int h = 0; h < kHeads && (kFirst + token) / kBlockTokens == b; ++h) {
                const float* row = &r.rows[std::size_t(token * r.stride)];
                scalar().store_kv(layout_, block.data() + std::size_t(h) * layout_.bytes(),
                                  (kFirst + token) % kBlockTokens, row + r.k_col + h * layout_.k_dim,
                                  row + r.v_col + h * layout_.v_dim);
            }
        return block;
    }

    const KvBlockLayout layout_;
    DeviceMemory on_;
    const DevicePtr at_;
    const DevicePtr blocks_[3];
};

// Norms and rotations round some twenty times what is at most a few in size. What is only kept has the very bytes that
// the CPU writes.
Checked check_prepared_heads(const Driver& driver, unsigned seed)
{
    constexpr double kTolerance = 40 * kHalfEpsilon * 8;
    const PreparedCase cases[] = {
        {"turned halves", KvType::F32, 6, 64, 64, 32, RopePairs::Halves, false, false, false},
        {"turned neighbours, a part", KvType::F32, 3, 80, 96, 16, RopePairs::Neighbours, false, false, false},
        {"normed and turned", KvType::F32, 9, 128, 64, 64, RopePairs::Halves, true, true, true},
        {"long heads", KvType::F32, 4, 256, 256, 128, RopePairs::Halves, true, true, false},
        {"kept as halves", KvType::F16, 5, 64, 96, 0, RopePairs::Halves, false, false, false},
        {"kept in 8 bits", KvType::Q8_0, 3, 80, 64, 0, RopePairs::Halves, false, false, false},
    };
    std::mt19937 random(seed);
    Checked checked;
    for (const PreparedCase& c : cases) {
        PreparedRows rows = random_heads(random, c);
        const HeadTables tables = tables_of(random, c);
        const PreparedOnDevice there(driver, c, tables, rows);
        prepare_on_host(c, tables, rows);
        const double worst = std::max(there.query_error(rows, kTolerance), there.kv_error(rows, kTolerance));
        note(checked, there.on(), worst, c.name);
    }
    return checked;
}

}  // namespace

void add_store_kv_checks(std::vector<KernelCheck>& checks)
{
    checks.push_back({"heads before attention", check_prepared_heads});
    const std::pair<KvType, const char*> types[] = {{KvType::F32, "f32"}, {KvType::F16, "f16"}, {KvType::Q8_0, "q8_0"}};
    for (const auto& [k, k_name] : types)
        for (const auto& [v, v_name] : types)
            checks.push_back(
                {std::string("keys to ") + k_name + ", values to " + v_name,
                 [k = k, v = v](const Driver& driver, unsigned seed) { return check_store_kv(driver, seed, k, v); }});
}

}  // namespace kernels::cuda
