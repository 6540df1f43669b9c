// Attention on the device: the partials of each KV block and their merge, against the scalar reference on the same
// blocks.
#include "kernels/cpu.h"
#include "kernels/half.h"
#include "tests/kernels/cuda/on_device.h"

#include <cmath>
#include <limits>
#include <random>

using namespace kernels::cuda;
using kernels::KvBlockLayout;
using kernels::KvType;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

const kernels::CpuKernels& scalar()
{
    return kernels::all_cpu_kernels()[0];
}

struct Case {
    KvBlockLayout layout;
    int kvHeads, group, tokens, rows, window;
    float softcap;
    bool sinks;
};

/// A sequence's KV and the queries of its last rows.
struct Sequence {
    Case c;
    std::vector<std::vector<std::byte>> columns;  // (blocks, KV heads * layout bytes)
    std::vector<float> q, qScale, sinks;          // (rows, heads, k_dim) (rows,) (heads,)

    int heads() const { return c.kvHeads * c.group; }
    int blocks() const { return int(columns.size()); }
    int seen(int row) const { return c.tokens - c.rows + row + 1; }
    int oldest(int row) const { return c.window > 0 ? std::max(0, seen(row) - c.window) : 0; }
};

Sequence makeSequence(const Case& c, unsigned seed)
{
    std::mt19937 rng(seed);
    std::normal_distribution<float> normal;
    const auto random = [&](int count, float size) {
        std::vector<float> x(static_cast<std::size_t>(count));
        for (float& v : x)
            v = normal(rng) * size;
        return x;
    };
    Sequence s{c, {}, {}, {}, {}};
    const KvBlockLayout& l = c.layout;
    for (int t = 0; t < c.tokens; ++t) {
        if (t % l.tokens == 0)
            s.columns.emplace_back(std::size_t(c.kvHeads) * l.bytes(), std::byte(0xff));  // the rest: not numbers
        for (int h = 0; h < c.kvHeads; ++h)
            scalar().store_kv(l, s.columns.back().data() + std::size_t(h) * l.bytes(), t % l.tokens,
                              random(l.k_dim, 2.0f).data(), random(l.v_dim, 1.0f).data());
    }
    s.q = random(c.rows * s.heads() * l.k_dim, 2.0f);
    for (float& x : s.q)  // what tensor cores take as it is
        x = kernels::half_to_float(kernels::float_to_half(x));
    for (int r = 0; r < c.rows; ++r)
        s.qScale.push_back((1.0f + 0.1f * float(r)) / std::sqrt(float(l.k_dim)));
    if (c.sinks)
        s.sinks = random(s.heads(), 2.0f);
    return s;
}

struct Partial {
    float max = -kInfinity;
    float sum = 0.0f;
    std::vector<float> out;
};

// The reference's partial of one block for one query head, which may be empty.
Partial reference(const Sequence& s, int row, int head, int block)
{
    const KvBlockLayout& l = s.c.layout;
    Partial p;
    p.out.resize(std::size_t(l.v_dim));
    const int first = std::max(0, s.oldest(row) - block * l.tokens);
    const int last = std::min(l.tokens, s.seen(row) - block * l.tokens);
    if (first >= last)
        return p;
    std::vector<float> q(s.q.begin() + (row * s.heads() + head) * l.k_dim,
                         s.q.begin() + (row * s.heads() + head + 1) * l.k_dim);
    for (float& x : q)
        x *= s.qScale[std::size_t(row)];
    std::vector<float> scores(std::size_t(l.tokens));
    scalar().attend_block({l, s.columns[std::size_t(block)].data() + std::size_t(head / s.c.group) * l.bytes(), first,
                           last, 1, q.data(), s.c.softcap, scores.data(), &p.max, &p.sum, p.out.data()});
    return p;
}

std::vector<float> reference(const Sequence& s, int row, int head)
{
    Partial all;
    all.out.resize(std::size_t(s.c.layout.v_dim));
    for (int b = 0; b < s.blocks(); ++b) {
        const Partial p = reference(s, row, head, b);
        scalar().merge_partial(s.c.layout.v_dim, p.max, p.sum, p.out.data(), all.max, all.sum, all.out.data());
    }
    const float sink = s.c.sinks ? s.sinks[std::size_t(head)] : -kInfinity;
    const float max = std::max(all.max, sink);
    const float kept = std::exp(all.max - max);
    const float total = all.sum * kept + std::exp(sink - max);
    for (float& x : all.out)
        x *= kept / total;
    return all.out;
}

// A score is a sum of k_dim products, at most some 60 in size by construction: its rounding, 2^-24 * 60 * 20 in two
// computations, is a relative error of the weights. |v| stays below 6.
constexpr double kTolerance = 6 * 2 * 1200 * 0x1p-24;

// Tensor cores take the weights as halves, and values of Q8_0 too: each is off by 2^-11 at most, and so is their mean.
constexpr double kToleranceOfHalves = kTolerance + 6 * 2 * 0x1p-11;

}  // namespace

Q_DECLARE_METATYPE(Case)

class TestCudaAttend : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();

    /// The sequence on the device.
    struct Placed {
        Attention attention;
        DevicePtr sinks = 0;
        std::vector<DevicePtr> columns;
        PartialsLayout partials;
    };

    static Placed place(OnDevice& on, const Sequence& s, const std::vector<bool>& here = {})
    {
        const Case& c = s.c;
        const int maxBlocks = s.blocks() + 2;
        Placed p{{}, 0, {}, PartialsLayout(c.rows, maxBlocks, s.heads(), c.layout.v_dim)};
        std::vector<std::uint64_t> table(std::size_t(maxBlocks), 0);
        for (int b = 0; b < s.blocks(); ++b)
            if (here.empty() || here[std::size_t(b)])
                table[std::size_t(b)] = on.put(s.columns[std::size_t(b)]);
        const int stride = s.heads() * c.layout.k_dim;
        p.attention = {.kv = {c.layout, c.kvHeads, on.put(table)},
                       .group = c.group,
                       .rows = c.rows,
                       .first = on.put(std::vector<int>{c.tokens - c.rows}),
                       .window = c.window,
                       .softcap = c.softcap,
                       .q = {on.put(s.q), stride},
                       .q_scale = on.put(s.qScale),
                       .max_blocks = maxBlocks,
                       .partials = on.room(p.partials.bytes)};
        if (c.sinks)
            p.sinks = on.put(s.sinks);
        return p;
    }

    static void compare(const std::vector<float>& actual, const Sequence& s, double tolerance = kTolerance)
    {
        for (int r = 0; r < s.c.rows; ++r)
            for (int h = 0; h < s.heads(); ++h) {
                const std::vector<float> expected = reference(s, r, h);
                for (int d = 0; d < s.c.layout.v_dim; ++d) {
                    const float value = actual[std::size_t((r * s.heads() + h) * s.c.layout.v_dim + d)];
                    QVERIFY2(std::abs(double(value) - double(expected[std::size_t(d)])) <= tolerance,
                             qPrintable(QString("row %1, head %2, %3: %4 instead of %5")
                                            .arg(r)
                                            .arg(h)
                                            .arg(d)
                                            .arg(value)
                                            .arg(expected[std::size_t(d)])));
                }
            }
    }

    static void addCases()
    {
        QTest::addColumn<Case>("c");
        const std::pair<KvType, const char*> types[] = {
            {KvType::F32, "f32"}, {KvType::F16, "f16"}, {KvType::Q8_0, "q8_0"}};
        for (const auto& [type, name] : types) {
            const auto row = [&, type = type, name = name](const char* what, int kDim, int vDim, int blockTokens,
                                                           Case c) {
                c.layout = {type, type, kDim, vDim, blockTokens};
                QTest::addRow("%s, %s", name, what) << c;
            };
            row("one token", 64, 64, 16, {{}, 2, 1, 1, 1, 0, 0, false});
            row("groups of 4", 128, 128, 64, {{}, 2, 4, 150, 1, 0, 0, false});
            row("groups of 3, rows, window", 64, 64, 16, {{}, 2, 3, 77, 3, 21, 0, false});
            row("groups of 7, odd sizes, cap", 80, 96, 32, {{}, 1, 7, 70, 2, 0, 5.0f, false});
            row("groups of 16, sinks", 64, 64, 16, {{}, 1, 16, 40, 1, 0, 0, true});
            row("small heads", 12, 24, 16, {{}, 3, 2, 33, 1, 0, 0, false});
            row("large heads", 256, 256, 16, {{}, 1, 2, 20, 1, 0, 0, false});
            row("window within a block, sinks", 64, 128, 32, {{}, 1, 1, 96, 1, 5, 0, true});
        }
        QTest::addRow("mixed types") << Case{{KvType::Q8_0, KvType::F16, 64, 64, 32}, 2, 2, 50, 1, 0, 0, false};
    }

private slots:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void attentionMatchesScalar_data() { addCases(); }
    void attentionMatchesScalar()
    {
        QFETCH(Case, c);
        const Sequence s = makeSequence(c, m_seed);
        OnDevice on;
        const Placed p = place(on, s);
        const int stride = s.heads() * c.layout.v_dim;
        const DevicePtr out = on.room(std::size_t(c.rows * stride) * 4);
        on.must(attend_blocks(on.driver(), on.queue(), p.attention));
        on.must(merge_partials(on.driver(), on.queue(), p.attention, 0, p.sinks, {out, stride}));
        compare(on.get<float>(out, std::size_t(c.rows * stride)), s);
    }

    void manyRowsMatchScalar_data()
    {
        QTest::addColumn<Case>("c");
        for (const auto& [type, name] : {std::pair{KvType::F16, "f16"}, {KvType::Q8_0, "q8_0"}}) {
            const auto row = [&, type = type, name = name](const char* what, int kDim, int vDim, int blockTokens,
                                                           Case c) {
                c.layout = {type, type, kDim, vDim, blockTokens};
                QTest::addRow("%s, %s", name, what) << c;
            };
            row("from the start", 64, 64, 16, {{}, 2, 1, 70, 70, 0, 0, false});
            row("groups of 4, later", 128, 128, 64, {{}, 1, 4, 150, 20, 0, 0, false});
            row("groups of 3, window", 64, 64, 16, {{}, 1, 3, 200, 40, 33, 0, false});
            row("odd sizes, cap", 80, 96, 32, {{}, 1, 2, 70, 9, 0, 5.0f, false});
            row("sinks, short window", 64, 32, 16, {{}, 1, 7, 90, 11, 4, 0, true});
            row("small heads", 12, 24, 16, {{}, 2, 2, 33, 5, 0, 0, false});
            row("large heads", 256, 256, 16, {{}, 1, 2, 70, 10, 0, 0, false});
        }
        QTest::addRow("mixed types") << Case{{KvType::Q8_0, KvType::F16, 64, 64, 32}, 1, 2, 50, 17, 0, 0, false};
    }
    void manyRowsMatchScalar()
    {
        QFETCH(Case, c);
        const Sequence s = makeSequence(c, m_seed);
        OnDevice on;
        const Placed p = place(on, s);
        const int stride = s.heads() * c.layout.v_dim;
        const DevicePtr out = on.room(std::size_t(c.rows * stride) * 4);
        QVERIFY(attend_many_can(p.attention));
        on.must(attend_many(on.driver(), on.queue(), p.attention, {}, p.sinks, {out, stride}));
        compare(on.get<float>(out, std::size_t(c.rows * stride)), s, kToleranceOfHalves);
    }

    // What is attended on the CPU joins as if it had been here.
    void partialsOfAbsentBlocksComeFromElsewhere()
    {
        const Case c{{KvType::F16, KvType::F16, 64, 64, 16}, 2, 2, 90, 1, 0, 0, true};
        const Sequence s = makeSequence(c, m_seed);
        OnDevice on;
        std::vector<bool> here(std::size_t(s.blocks()), true);
        here[1] = here[3] = false;
        const Placed p = place(on, s, here);
        std::vector<float> elsewhere;
        std::vector<Partial> partials(std::size_t(s.heads()));
        for (int h = 0; h < s.heads(); ++h) {
            Partial& joint = partials[std::size_t(h)];
            joint.out.resize(64);
            for (int b : {1, 3}) {
                const Partial p = reference(s, 0, h, b);
                scalar().merge_partial(64, p.max, p.sum, p.out.data(), joint.max, joint.sum, joint.out.data());
            }
        }
        for (const Partial& joint : partials)
            elsewhere.push_back(joint.max);
        for (const Partial& joint : partials)
            elsewhere.push_back(joint.sum);
        for (const Partial& joint : partials)
            elsewhere.insert(elsewhere.end(), joint.out.begin(), joint.out.end());
        QCOMPARE(elsewhere.size(), elsewhere_floats(s.heads(), 64));
        const DevicePtr out = on.room(std::size_t(s.heads() * 64) * 4);
        on.must(attend_blocks(on.driver(), on.queue(), p.attention));
        on.must(
            merge_partials(on.driver(), on.queue(), p.attention, on.put(elsewhere), p.sinks, {out, s.heads() * 64}));
        compare(on.get<float>(out, std::size_t(s.heads() * 64)), s);
    }

    // Blocks that come through a ring are attended as they come: in runs, each of which finds its own blocks only.
    void runsGiveTheSame_data()
    {
        QTest::addColumn<bool>("manyRows");
        QTest::newRow("a few rows") << false;
        QTest::newRow("many rows") << true;
    }
    void runsGiveTheSame()
    {
        QFETCH(bool, manyRows);
        const Case c{{KvType::Q8_0, KvType::F16, 64, 96, 16}, 2, 3, 200, manyRows ? 50 : 3, 0, 0, true};
        const Sequence s = makeSequence(c, m_seed);
        OnDevice on;
        Placed p = place(on, s);
        const int stride = s.heads() * c.layout.v_dim;
        const DevicePtr out = on.room(std::size_t(c.rows * stride) * 4);
        const DevicePtr state = on.room(carried_bytes(c.rows, s.heads(), c.layout.v_dim));
        const std::vector<int> ends{1, 3, 8, 9, s.blocks()};
        for (int begin = 0; const int end : ends) {
            p.attention.begin = begin;
            p.attention.end = end;
            if (manyRows)
                on.must(attend_many(on.driver(), on.queue(), p.attention, {state, begin == 0, end == s.blocks()},
                                    p.sinks, {out, stride}));
            else
                on.must(attend_blocks(on.driver(), on.queue(), p.attention));
            begin = end;
        }
        if (!manyRows)
            on.must(merge_partials(on.driver(), on.queue(), p.attention, 0, p.sinks, {out, stride}));
        compare(on.get<float>(out, std::size_t(c.rows * stride)), s, manyRows ? kToleranceOfHalves : kTolerance);
    }

    // The grid follows the size of the device and the room for blocks, never the length: and neither changes a bit.
    void bitsDoNotDependOnTheGrid()
    {
        const Case c{{KvType::Q8_0, KvType::Q8_0, 64, 64, 16}, 1, 4, 130, 1, 0, 0, false};
        const Sequence s = makeSequence(c, m_seed);
        std::vector<std::vector<float>> results;
        for (int multiprocessors : {1, 3, 100}) {
            emulator::EmulatedGpu gpu({.multiprocessors = multiprocessors});
            OnDevice on(gpu);
            const Placed p = place(on, s);
            const DevicePtr out = on.room(std::size_t(s.heads() * 64) * 4);
            on.must(attend_blocks(on.driver(), on.queue(), p.attention));
            on.must(merge_partials(on.driver(), on.queue(), p.attention, 0, 0, {out, s.heads() * 64}));
            results.push_back(on.get<float>(out, std::size_t(s.heads() * 64)));
        }
        QVERIFY(results[0] == results[1]);
        QVERIFY(results[0] == results[2]);
    }

    // A captured step goes on as the conversation grows: length and table are read from memory.
    void aGraphFollowsTheLength()
    {
        const Case c{{KvType::F16, KvType::F16, 64, 64, 16}, 1, 2, 40, 1, 0, 0, false};
        const Sequence s = makeSequence(c, m_seed);
        OnDevice on;
        const Placed p = place(on, s);
        const DevicePtr out = on.room(128 * 4);
        on.must(on.driver().begin_capture(on.queue()));
        on.must(attend_blocks(on.driver(), on.queue(), p.attention));
        on.must(merge_partials(on.driver(), on.queue(), p.attention, 0, 0, {out, 128}));
        const GraphExec graph = on.must(on.driver().end_capture(on.queue()));
        for (int tokens : {40, 17, 1}) {
            Sequence shorter = s;
            shorter.c.tokens = tokens;
            const int first = tokens - 1;
            on.must(on.driver().copy_to_device(p.attention.first, &first, 4, on.queue()));
            on.must(on.driver().launch(graph, on.queue()));
            compare(on.get<float>(out, 128), shorter);
        }
        on.must(on.driver().destroy(graph));
    }

    void shapesThatCannotBeAreRefused()
    {
        OnDevice on;
        Attention a;
        a.kv.layout = {KvType::F16, KvType::F16, 64, 60, 16};
        QVERIFY(attend_blocks(on.driver(), on.queue(), a) == Status::InvalidValue);
        QVERIFY(merge_partials(on.driver(), on.queue(), a, 0, 0, {}) == Status::InvalidValue);
        QVERIFY(attend_many(on.driver(), on.queue(), a, {}, 0, {}) == Status::InvalidValue);
        a.kv.layout = {KvType::F32, KvType::F32, 64, 64, 16};
        QVERIFY(!attend_many_can(a));
        a.kv.layout = {KvType::F16, KvType::F16, 264, 264, 16};
        QVERIFY(!attend_many_can(a));
    }
};

QTEST_APPLESS_MAIN(TestCudaAttend)
#include "tst_cuda_attend.moc"
