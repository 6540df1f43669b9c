#include "kernels/cuda/checks/attention.h"

#include "kernels/cpu.h"
#include "kernels/cuda/checks/checks.h"
#include "kernels/cuda/checks/compare.h"
#include "kernels/cuda/checks/rounded.h"
#include "kernels/half.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>

namespace kernels::cuda {

namespace {

struct Shape {
    const char* name;
    AttentionCase c;
};
using Shapes = std::vector<Shape>;

std::vector<float> reference(const AttentionSequence& s, int row, int head)
{
    AttentionPartial all;
    all.out.resize(std::size_t(s.c.layout.v_dim));
    for (int b = 0; b < s.blocks(); ++b)
        join(all, reference_partial(s, row, head, b));
    const float sink = s.c.sinks ? s.sinks[std::size_t(head)] : -std::numeric_limits<float>::infinity();
    const float max = std::max(all.max, sink);
    const float kept = std::exp(all.max - max);
    const float total = all.sum * kept + std::exp(sink - max);
    for (float& x : all.out)
        x *= kept / total;
    return all.out;
}

/// The same in one launch: bit for bit, and twice, for the counters have to be zeros again.
double error_in_one_launch(DeviceMemory& on, const AttentionSequence& s, const PlacedAttention& p,
                           const std::vector<float>& expected)
{
    const int n = s.heads() * s.c.layout.v_dim;
    const DevicePtr counters = on.put(std::vector<unsigned>(std::size_t(s.c.rows * s.heads()), 0));
    const std::vector<std::byte> weights(10'000);
    const NextWeights next{on.put(weights), weights.size()};
    double worst = 0;
    for (int i = 0; i < 2; ++i) {
        const DevicePtr out = on.room(s.out_floats() * sizeof(float));
        if (s.c.layout.v_dim % 32 != 0) {
            on.keep(attend_and_merge(on.driver(), on.queue(), p.attention, p.sinks, {out, n}, {}, counters, next));
            worst = std::max(worst, share_of_same(on.get<float>(out, s.out_floats()), expected));
            continue;
        }
        const RoundedCheck rounded(on, s.c.rows, n);
        on.keep(
            attend_and_merge(on.driver(), on.queue(), p.attention, p.sinks, {out, n}, rounded.to(), counters, next));
        worst = std::max({worst, share_of_same(on.get<float>(out, s.out_floats()), expected), rounded.error(expected)});
    }
    return worst;
}

Checked check_few_rows(const Driver& driver, unsigned seed, const Shapes& cases)
{
    Checked checked;
    for (const auto& [name, c] : cases) {
        const AttentionSequence s = attention_sequence(c, seed);
        DeviceMemory on(driver);
        const PlacedAttention p = place(on, s);
        const DevicePtr out = on.room(s.out_floats() * sizeof(float));
        on.keep(attend_blocks(driver, on.queue(), p.attention));
        on.keep(merge_partials(driver, on.queue(), p.attention, 0, p.sinks, {out, s.heads() * c.layout.v_dim}));
        const std::vector<float> values = on.get<float>(out, s.out_floats());
        note(checked, on, attention_error(s, values, kAttentionTolerance), name);
        note(checked, on, error_in_one_launch(on, s, p, values), std::string(name) + ", in one launch");
    }
    return checked;
}

/// Checks attention of a few rows where the host attends every other block, and the result is also rounded.
Checked check_few_rows_with_host(const Driver& driver, unsigned seed, const Shapes& cases)
{
    Checked checked;
    for (const auto& [name, c] : cases) {
        const AttentionSequence s = attention_sequence(c, seed);
        std::vector<bool> here(std::size_t(s.blocks()), true);
        for (std::size_t b = 1; b < here.size(); b += 2)
            here[b] = false;
        DeviceMemory on(driver);
        const PlacedAttention p = place(on, s, here);
        const DevicePtr of_host = on.put(host_partials(s, here));
        const int n = s.heads() * c.layout.v_dim;
        const DevicePtr out = on.room(s.out_floats() * sizeof(float));
        RoundedCheck rounded(on, c.rows, n);
        on.keep(attend_blocks(driver, on.queue(), p.attention));
        on.keep(merge_partials(driver, on.queue(), p.attention, of_host, p.sinks, {out, n}, rounded.to()));
        const std::vector<float> values = on.get<float>(out, s.out_floats());
        note(checked, on, std::max(attention_error(s, values, kAttentionTolerance), rounded.error(values)), name);
    }
    return checked;
}

Checked check_many_rows(const Driver& driver, unsigned seed, const Shapes& cases)
{
    Checked checked;
    for (const auto& [name, c] : cases) {
        const AttentionSequence s = attention_sequence(c, seed);
        DeviceMemory on(driver);
        const PlacedAttention p = place(on, s);
        const DevicePtr out = on.room(s.out_floats() * sizeof(float));
        on.keep(attend_many(driver, on.queue(), p.attention, {}, p.sinks, {out, s.heads() * c.layout.v_dim}));
        note(checked, on, attention_error(s, on.get<float>(out, s.out_floats()), kAttentionToleranceOfHalves), name);
    }
    return checked;
}

/// Adds a case for a KV type.
void add_case(Shapes& to, const char* name, KvType type, int k_dim, int v_dim, int block_tokens, AttentionCase c)
{
    c.layout = {type, type, k_dim, v_dim, block_tokens};
    to.push_back({name, c});
}

/// Adds a case whose values are the first part of their keys.
void add_latent(Shapes& to, const char* name, KvType type, int k_dim, int v_dim, int block_tokens, AttentionCase c)
{
    c.layout = {type, type, k_dim, v_dim, block_tokens, true};
    to.push_back({name, c});
}

Shapes few_rows_of(KvType type)
{
    Shapes all;
    add_case(all, "one token", type, 64, 64, 16, {{}, 2, 1, 1, 1, 0, 0, false});
    add_case(all, "groups of 4", type, 128, 128, 64, {{}, 2, 4, 150, 1, 0, 0, false});
    add_case(all, "groups of 3, rows, window", type, 64, 64, 16, {{}, 2, 3, 77, 3, 21, 0, false});
    add_case(all, "groups of 7, odd sizes, cap", type, 80, 96, 32, {{}, 1, 7, 70, 2, 0, 5.0f, false});
    add_case(all, "groups of 16, sinks", type, 64, 64, 16, {{}, 1, 16, 40, 1, 0, 0, true});
    add_case(all, "small heads", type, 12, 24, 16, {{}, 3, 2, 33, 1, 0, 0, false});
    add_case(all, "more pieces than are merged at a time", type, 12, 24, 16, {{}, 1, 1, 4200, 1, 0, 0, true});
    add_case(all, "pieces of 64 and 128", type, 32, 40, 256, {{}, 2, 2, 258, 3, 0, 0, true, {}, 4});
    add_case(all, "pieces of 128 and 256", type, 16, 24, 256, {{}, 1, 3, 514, 4, 0, 0, false, {}, 4});
    add_case(all, "pieces of a whole block, cap", type, 64, 64, 256, {{}, 1, 8, 1500, 1, 0, 5.0f, false, {}, 4});
    add_case(all, "blocks of three pieces", type, 16, 24, 192, {{}, 1, 2, 600, 2, 0, 0, false});
    add_case(all, "long pieces in a window", type, 16, 24, 256, {{}, 1, 2, 1700, 2, 700, 0, false, {}, 4});
    add_case(all, "large heads", type, 256, 256, 16, {{}, 1, 2, 20, 1, 0, 0, false});
    add_case(all, "heads of 512", type, 512, 512, 32, {{}, 1, 8, 50, 2, 0, 0, false});
    add_case(all, "heads of 576 and 512", type, 576, 512, 32, {{}, 1, 20, 70, 2, 0, 0, false});
    add_latent(all, "latent rows", type, 576, 512, 32, {{}, 1, 20, 70, 2, 0, 0, false});
    add_latent(all, "latent rows, pieces of 256", type, 320, 256, 256, {{}, 1, 4, 1100, 3, 0, 0, false, {}, 4});
    add_latent(all, "latent rows of whole passes, window", type, 256, 128, 64, {{}, 1, 3, 150, 2, 83, 0, true});
    add_latent(all, "small latent rows", type, 28, 24, 32, {{}, 1, 20, 75, 2, 0, 0, false});
    add_case(all, "window within a block, sinks", type, 64, 128, 32, {{}, 1, 1, 96, 1, 5, 0, true});
    add_case(all, "end of a chunk, and the next", type, 64, 64, 16,
             {{}, 1, 2, 97, 3, 24, 0, false, WindowKind::Chunks});
    add_case(all, "within a chunk", type, 64, 64, 32, {{}, 2, 1, 90, 2, 40, 0, false, WindowKind::Chunks});
    return all;
}

Shapes many_rows_of(KvType type)
{
    Shapes all;
    add_case(all, "from the start", type, 64, 64, 16, {{}, 2, 1, 70, 70, 0, 0, false});
    add_case(all, "groups of 4, later", type, 128, 128, 64, {{}, 1, 4, 150, 20, 0, 0, false});
    add_case(all, "groups of 3, window", type, 64, 64, 16, {{}, 1, 3, 200, 40, 33, 0, false});
    add_case(all, "odd sizes, cap", type, 80, 96, 32, {{}, 1, 2, 70, 9, 0, 5.0f, false});
    add_case(all, "sinks, short window", type, 64, 32, 16, {{}, 1, 7, 90, 11, 4, 0, true});
    add_case(all, "groups of 3, chunks", type, 64, 64, 16, {{}, 1, 3, 200, 90, 40, 0, false, WindowKind::Chunks});
    add_case(all, "small heads", type, 12, 24, 16, {{}, 2, 2, 33, 5, 0, 0, false});
    add_case(all, "large heads", type, 256, 256, 16, {{}, 1, 2, 70, 10, 0, 0, false});
    add_case(all, "heads of 192 and 128", type, 192, 128, 16, {{}, 1, 3, 130, 70, 0, 0, false});
    add_case(all, "heads of 512", type, 512, 512, 32, {{}, 2, 4, 70, 20, 0, 0, false});
    add_case(all, "heads of 576 and 512", type, 576, 512, 32, {{}, 1, 20, 70, 12, 0, 0, false});
    add_latent(all, "latent rows", type, 576, 512, 32, {{}, 1, 20, 70, 12, 0, 0, false});
    add_latent(all, "latent rows of 320, window", type, 320, 256, 64, {{}, 1, 4, 130, 30, 45, 0, false});
    add_latent(all, "latent rows of 128, sinks", type, 128, 64, 16, {{}, 1, 8, 90, 20, 0, 0, true});
    add_latent(all, "small latent rows, cap", type, 28, 24, 32, {{}, 1, 20, 75, 9, 0, 5.0f, false});
    add_case(all, "heads of 320 and 264, sinks", type, 320, 264, 16, {{}, 1, 3, 40, 9, 12, 0, true});
    return all;
}

// Returns shapes with the host's part; numbers of heads that are not multiples of 4 move what lies behind them.
Shapes shared_shapes()
{
    Shapes all;
    add_case(all, "9 heads over 3", KvType::F16, 64, 64, 16, {{}, 3, 3, 90, 1, 0, 0, false});
    add_case(all, "15 heads over 5, rows", KvType::F16, 64, 64, 16, {{}, 5, 3, 70, 3, 0, 0, false});
    add_case(all, "71 heads over 1, sinks", KvType::Q8_0, 64, 64, 32, {{}, 1, 71, 70, 2, 0, 0, true});
    add_case(all, "2 heads, window", KvType::F16, 64, 96, 16, {{}, 1, 2, 90, 2, 40, 0, false});
    add_latent(all, "20 heads over one latent row", KvType::Q8_0, 576, 512, 32, {{}, 1, 20, 90, 1, 0, 0, false});
    return all;
}

constexpr std::pair<KvType, const char*> kAllTypes[] = {
    {KvType::F32, "f32"}, {KvType::F16, "f16"}, {KvType::Q8_0, "q8_0"}};

}  // namespace

AttentionSequence attention_sequence(const AttentionCase& c, unsigned seed)
{
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    const auto random = [&](int count, float size) {
        std::vector<float> x(static_cast<std::size_t>(count));
        for (float& v : x)
            v = normal(generator) * size;
        return x;
    };
    AttentionSequence s{c, {}};
    const KvBlockLayout& l = c.layout;
    const float key_size = l.values_in_keys ? 1.0f : 2.0f;  // |v| stays below 6
    for (int t = 0; t < c.tokens; ++t) {
        if (t % l.tokens == 0)
            s.columns.emplace_back(std::size_t(c.kv_heads) * l.bytes(), std::byte(0xff));  // the rest: not numbers
        for (int h = 0; h < c.kv_heads; ++h)
            scalar().store_kv(l, s.columns.back().data() + std::size_t(h) * l.bytes(), t % l.tokens,
                              random(l.k_dim, key_size).data(), random(l.v_dim, 1.0f).data());
    }
    s.q = random(c.rows * s.heads() * l.k_dim, 2.0f);
    for (float& x : s.q)  // what tensor cores take as it is
        x = half_to_float(float_to_half(x));
    for (int r = 0; r < c.rows; ++r)
        s.q_scale.push_back((1.0f + 0.1f * float(r)) / std::sqrt(float(l.k_dim)));
    if (c.sinks)
        s.sinks = random(s.heads(), 2.0f);
    return s;
}

AttentionPartial reference_partial(const AttentionSequence& s, int row, int head, int block)
{
    const KvBlockLayout& l = s.c.layout;
    AttentionPartial p;
    p.out.resize(std::size_t(l.v_dim));
    const int first = std::max(0, s.oldest(row) - block * l.tokens);
    const int last = std::min(l.tokens, s.seen(row) - block * l.tokens);
    if (first >= last)
        return p;
    const auto begin = s.q.begin() + std::ptrdiff_t(row * s.heads() + head) * l.k_dim;
    std::vector<float> q(begin, begin + l.k_dim);
    for (float& x : q)
        x *= s.q_scale[std::size_t(row)];
    std::vector<float> scores(std::size_t(l.tokens));
    scalar().attend_block({l, s.columns[std::size_t(block)].data() + std::size_t(head / s.c.group) * l.bytes(), first,
                           last, 1, q.data(), s.c.softcap, scores.data(), &p.max, &p.sum, p.out.data()});
    return p;
}

void join(AttentionPartial& into, const AttentionPartial& other)
{
    scalar().merge_partial(int(other.out.size()), other.max, other.sum, other.out.data(), into.max, into.sum,
                           into.out.data());
}

std::vector<float> host_partials(const AttentionSequence& s, const std::vector<bool>& here)
{
    const HostPartialsLayout layout{s.heads(), s.c.layout.v_dim};
    std::vector<float> all;
    for (int row = 0; row < s.c.rows; ++row) {
        // What lies between the parts must not matter: it is NaN.
        std::vector<float> of_row(std::size_t(layout.floats()), std::numeric_limits<float>::quiet_NaN());
        for (int h = 0; h < s.heads(); ++h) {
            AttentionPartial joint;
            joint.out.resize(std::size_t(layout.v_dim));
            for (int b = 0; b < s.blocks(); ++b)
                if (!here[std::size_t(b)])
                    join(joint, reference_partial(s, row, h, b));
            of_row[std::size_t(h)] = joint.max;
            of_row[std::size_t(layout.sum() + h)] = joint.sum;
            std::copy(joint.out.begin(), joint.out.end(), of_row.begin() + layout.out() + h * layout.v_dim);
        }
        all.insert(all.end(), of_row.begin(), of_row.end());
    }
    return all;
}

double attention_error(const AttentionSequence& s, const std::vector<float>& actual, double tolerance)
{
    const auto v_dim = std::size_t(s.c.layout.v_dim);
    double worst = 0;
    for (int r = 0; r < s.c.rows; ++r)
        for (int h = 0; h < s.heads(); ++h) {
            const std::vector<float> expected = reference(s, r, h);
            const float* values = &actual[std::size_t(r * s.heads() + h) * v_dim];
            for (std::size_t d = 0; d < v_dim; ++d)
                worst = std::max(worst, share_of(tolerance, double(values[d]), double(expected[d])));
        }
    return worst;
}

PlacedAttention place(DeviceMemory& on, const AttentionSequence& s, const std::vector<bool>& here)
{
    const AttentionCase& c = s.c;
    const int max_blocks = s.blocks() + 2;
    PlacedAttention p{
        {}, 0, PartialsLayout(c.rows, max_blocks, c.layout.tokens, s.heads(), c.layout.v_dim, c.many_pieces)};
    std::vector<std::uint64_t> table(std::size_t(max_blocks), 0);
    for (int b = 0; b < s.blocks(); ++b)
        if (here.empty() || here[std::size_t(b)])
            table[std::size_t(b)] = on.put(s.columns[std::size_t(b)]);
    p.attention = {.kv = {c.layout, c.kv_heads, on.put(table)},
                   .group = c.group,
                   .rows = c.rows,
                   .first = on.put(std::vector<int>{c.tokens - c.rows}),
                   .window = c.window,
                   .window_kind = c.window_kind,
                   .softcap = c.softcap,
                   .q = {on.put(s.q), s.heads() * c.layout.k_dim},
                   .q_scale = on.put(s.q_scale),
                   .max_blocks = max_blocks,
                   .many_pieces = c.many_pieces,
                   .partials = on.room(p.partials.bytes)};
    if (c.sinks)
        p.sinks = on.put(s.sinks);
    return p;
}

void add_attention_checks(std::vector<KernelCheck>& checks)
{
    const auto few = [&](const std::string& name, Shapes shapes) {
        checks.push_back({"attention over " + name, [shapes = std::move(shapes)](const Driver& d, unsigned s) {
                              return check_few_rows(d, s, shapes);
                          }});
    };
    const auto many = [&](const std::string& name, Shapes shapes) {
        checks.push_back(
            {"attention of many rows over " + name,
             [shapes = std::move(shapes)](const Driver& d, unsigned s) { return check_many_rows(d, s, shapes); }});
    };
    const KvBlockLayout mixed{KvType::Q8_0, KvType::F16, 64, 64, 32};
    for (const auto& [type, name] : kAllTypes) {
        few(name, few_rows_of(type));
        if (type != KvType::F32)
            many(name, many_rows_of(type));
    }
    few("mixed types", {{"groups of 2", {mixed, 2, 2, 50, 1, 0, 0, false}}});
    many("mixed types", {{"groups of 2", {mixed, 1, 2, 50, 17, 0, 0, false}}});
    checks.push_back({"attention shared with the host", [shapes = shared_shapes()](const Driver& d, unsigned s) {
                          return check_few_rows_with_host(d, s, shapes);
                      }});
}

}  // namespace kernels::cuda
