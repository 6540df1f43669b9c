// Tests attention on the device beyond what kernel_checks() compares: parts that are attended by the host or one after
// another, grids, graphs.
#include "kernels/cpu.h"
#include "kernels/cuda/checks/attention.h"
#include "tests/kernels/cuda/on_device.h"
#include "tests/support/test_program.h"

#include <random>

using namespace kernels::cuda;
using kernels::KvType;

Q_DECLARE_METATYPE(AttentionCase)

namespace {

/// Room for what attention makes of a sequence, rounded, too, where its heads allow it.
class Attended
{
public:
    Attended(OnDevice& on, const AttentionSequence& s)
        : m_on(on)
        , m_floats(s.out_floats())
        , m_columns(s.heads() * s.c.layout.v_dim)
        , m_out(on.room(m_floats * sizeof(float)))
    {
        if (s.c.layout.v_dim % 32 != 0)
            return;
        m_stride = kernels::activation_row_bytes(kernels::Activation::Q8, m_columns);
        m_bytes = std::size_t(s.c.rows) * m_stride;
        m_rounded = on.put(std::vector<std::byte>(2 * m_bytes, std::byte(0x5a)));
    }
    Rows out() const { return {m_out, m_columns}; }
    Rounded rounded() const { return m_rounded ? Rounded{{m_rounded, m_stride}, m_rounded + m_bytes} : Rounded(); }
    std::vector<float> values() const { return m_on.get<float>(m_out, m_floats); }
    std::vector<std::byte> bytes() const
    {
        return m_rounded ? m_on.get<std::byte>(m_rounded, 2 * m_bytes) : std::vector<std::byte>();
    }

private:
    OnDevice& m_on;
    const std::size_t m_floats;
    const int m_columns;
    const DevicePtr m_out;
    DevicePtr m_rounded = 0;
    std::size_t m_stride = 0, m_bytes = 0;
};

}  // namespace

class TestCudaAttend : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();

    static void compare(const std::vector<float>& actual, const AttentionSequence& s,
                        double tolerance = kAttentionTolerance)
    {
        const double error = attention_error(s, actual, tolerance);
        QVERIFY2(error <= 1, qPrintable(QString("%1 x the tolerance").arg(error)));
    }

private slots:
    void initTestCase() { qInfo("seed %u", m_seed); }

    // Kernels read these numbers four at a time, in every row, whatever the number of heads. SmolLM has 9 and 15.
    void partialsOfTheHostAreAligned()
    {
        for (int heads = 1; heads <= 80; ++heads) {
            constexpr HostPartialsLayout kOne{1, 8};
            static_assert(kOne.sum() == 1 && kOne.out() == 4 && kOne.floats() == 12);
            const HostPartialsLayout layout{heads, 64};
            QVERIFY(layout.sum() >= heads && layout.out() >= layout.sum() + heads);
            QCOMPARE(layout.out() % 4, 0);
            QCOMPARE(layout.floats() % 4, 0);
        }
    }

    // Blocks that come through a ring are attended as they come: in runs, each of which finds its own blocks only.
    void runsGiveTheSame_data()
    {
        QTest::addColumn<bool>("manyRows");
        QTest::addColumn<bool>("latent");
        for (const bool latent : {false, true}) {
            QTest::addRow("a few rows%s", latent ? ", latent" : "") << false << latent;
            QTest::addRow("many rows%s", latent ? ", latent" : "") << true << latent;
        }
    }
    void runsGiveTheSame()
    {
        QFETCH(bool, manyRows);
        QFETCH(bool, latent);
        AttentionCase c{{KvType::Q8_0, KvType::F16, 64, 96, 16}, 2, 3, 200, manyRows ? 50 : 3, 0, 0, true};
        if (latent)
            c.layout = {KvType::F16, KvType::F16, 128, 64, 16, true};
        const AttentionSequence s = attention_sequence(c, m_seed);
        OnDevice on;
        PlacedAttention p = place(on.memory(), s);
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
        compare(on.get<float>(out, std::size_t(c.rows * stride)), s,
                manyRows ? kAttentionToleranceOfHalves : kAttentionTolerance);
    }

    // The grid follows the size of the device and the room for blocks, never the length: and neither changes a bit.
    void bitsDoNotDependOnTheGrid()
    {
        const AttentionCase c{{KvType::Q8_0, KvType::Q8_0, 64, 64, 16}, 1, 4, 130, 1, 0, 0, false};
        const AttentionSequence s = attention_sequence(c, m_seed);
        std::vector<std::vector<float>> results;
        for (int multiprocessors : {1, 3, 100}) {
            emulator::EmulatedGpu gpu({.multiprocessors = multiprocessors});
            OnDevice on(gpu);
            const PlacedAttention p = place(on.memory(), s);
            const DevicePtr out = on.room(std::size_t(s.heads() * 64) * 4);
            on.must(attend_blocks(on.driver(), on.queue(), p.attention));
            on.must(merge_partials(on.driver(), on.queue(), p.attention, 0, 0, {out, s.heads() * 64}));
            results.push_back(on.get<float>(out, std::size_t(s.heads() * 64)));
        }
        QVERIFY(results[0] == results[1]);
        QVERIFY(results[0] == results[2]);
    }

    // A captured step goes on as the conversation grows: length and table are read from memory.
    void aGraphFollowsTheLength_data()
    {
        QTest::addColumn<bool>("inOne");
        QTest::newRow("two launches") << false;
        QTest::newRow("one launch") << true;
    }
    void aGraphFollowsTheLength()
    {
        QFETCH(bool, inOne);
        const AttentionCase c{{KvType::F16, KvType::F16, 64, 64, 16}, 1, 2, 40, 1, 0, 0, false};
        const AttentionSequence s = attention_sequence(c, m_seed);
        OnDevice on;
        const PlacedAttention p = place(on.memory(), s);
        const DevicePtr out = on.room(128 * 4);
        const DevicePtr counters = on.put(std::vector<unsigned>(2, 0));
        on.must(on.driver().begin_capture(on.queue()));
        if (inOne) {
            on.must(attend_and_merge(on.driver(), on.queue(), p.attention, 0, {out, 128}, {}, counters));
        } else {
            on.must(attend_blocks(on.driver(), on.queue(), p.attention));
            on.must(merge_partials(on.driver(), on.queue(), p.attention, 0, 0, {out, 128}));
        }
        const GraphExec graph = on.must(on.driver().end_capture(on.queue()));
        for (int tokens : {40, 17, 1, 2, 33, 39}) {
            AttentionSequence shorter = s;
            shorter.c.tokens = tokens;
            const int first = tokens - 1;
            on.must(on.driver().copy_to_device(p.attention.first, &first, 4, on.queue()));
            on.must(on.driver().launch(graph, on.queue()));
            compare(on.get<float>(out, 128), shorter);
        }
        on.must(on.driver().destroy(graph));
    }

    // Each is launched twice, for the counters have to be zeros again.
    void oneLaunchGivesWhatTwoGive_data()
    {
        using enum KvType;
        QTest::addColumn<AttentionCase>("c");
        const auto add = [](const char* name, KvType k, KvType v, int k_dim, int v_dim, int block, AttentionCase c) {
            c.layout = {k, v, k_dim, v_dim, block};
            QTest::newRow(name) << c;
        };
        for (const int group : {1, 2, 3, 4, 5, 7, 8, 9, 16})
            for (const KvType type : {F32, Q8_0}) {
                AttentionCase c{{}, 2, group, 150, 1, 0, 0, group % 2 == 1};
                c.layout = {type, type, 64, 64, 32};
                QTest::addRow("groups of %d, %s", group, type == F32 ? "by floats" : "by halves") << c;
            }
        add("one token", F16, F16, 64, 64, 16, {{}, 2, 4, 1, 1, 0, 0, false});
        add("mixed types", Q8_0, F16, 64, 128, 32, {{}, 2, 3, 190, 2, 0, 0, true});
        add("rows, the first of one token", F16, F16, 64, 64, 16, {{}, 2, 2, 5, 5, 0, 0, true});
        add("16 rows over two pieces", Q8_0, Q8_0, 128, 128, 64, {{}, 1, 4, 70, 16, 0, 0, false});
        add("window, cap", F16, F16, 64, 256, 32, {{}, 1, 8, 200, 3, 90, 5.0f, false});
        add("chunks", F16, Q8_0, 128, 192, 16, {{}, 1, 4, 100, 4, 48, 0, true, WindowKind::Chunks});
        add("heads of no whole groups", F16, F16, 80, 72, 32, {{}, 1, 3, 130, 2, 0, 0, true});
        add("small heads", F32, F32, 12, 24, 16, {{}, 3, 2, 33, 1, 0, 0, false});
        add("heads of 576 and 512", F16, F16, 576, 512, 32, {{}, 1, 20, 70, 1, 0, 0, true});
        add("long pieces", F16, F16, 16, 32, 256, {{}, 1, 3, 514, 4, 0, 0, false, {}, 4});
        add("blocks of three pieces", Q8_0, Q8_0, 64, 64, 192, {{}, 1, 2, 600, 2, 0, 0, true});
        // In shared memory are the weights of 256 pieces, or of 2,048 pieces' every fourth.
        for (const int pieces : {31, 32, 33, 255, 256, 257, 300, 2050}) {
            const bool many = pieces > 1000;
            AttentionCase c{{}, 1, many ? 1 : 3, 16 * pieces - 3, many ? 1 : 2, 0, 0, true};
            c.layout = {F32, F32, 4, 32, 16};
            QTest::addRow("%d pieces", pieces) << c;
        }
        AttentionCase latent{{Q8_0, Q8_0, 576, 512, 32, true}, 1, 11, 90, 2, 0, 0, false};
        QTest::newRow("latent rows") << latent;
    }
    void oneLaunchGivesWhatTwoGive()
    {
        QFETCH(AttentionCase, c);
        const AttentionSequence s = attention_sequence(c, m_seed);
        OnDevice on;
        PlacedAttention p = place(on.memory(), s);
        on.must(attend_blocks(on.driver(), on.queue(), p.attention));
        Attended two(on, s);
        on.must(merge_partials(on.driver(), on.queue(), p.attention, 0, p.sinks, two.out(), two.rounded()));
        compare(two.values(), s);

        const DevicePtr counters = on.put(std::vector<unsigned>(std::size_t(s.heads() * c.rows), 0));
        for (int i = 0; i < 2; ++i) {
            // What no piece has written is not a number.
            on.must(on.driver().fill(p.attention.partials, 0xff, p.partials.bytes, on.queue()));
            Attended one(on, s);
            on.must(
                attend_and_merge(on.driver(), on.queue(), p.attention, p.sinks, one.out(), one.rounded(), counters));
            QVERIFY(one.values() == two.values());
            QVERIFY(one.bytes() == two.bytes());
            QVERIFY(on.get<unsigned>(counters, std::size_t(s.heads() * c.rows)) ==
                    std::vector<unsigned>(std::size_t(s.heads() * c.rows), 0));
        }
    }

    // As many thread blocks share the pieces as the device has room for: some have none, or one has all.
    void theEndDoesNotDependOnTheGrid()
    {
        const AttentionCase c{{KvType::Q8_0, KvType::Q8_0, 64, 64, 16}, 2, 4, 130, 2, 0, 0, true};
        const AttentionSequence s = attention_sequence(c, m_seed);
        std::vector<std::vector<float>> results;
        for (int multiprocessors : {1, 3, 100}) {
            emulator::EmulatedGpu gpu({.multiprocessors = multiprocessors});
            OnDevice on(gpu);
            PlacedAttention p = place(on.memory(), s);
            p.attention.max_blocks += 40;
            const PartialsLayout partials(c.rows, p.attention.max_blocks, 16, s.heads(), 64);
            p.attention.partials = on.room(partials.bytes);
            std::vector<std::uint64_t> table = on.get<std::uint64_t>(p.attention.kv.blocks, std::size_t(s.blocks()));
            table.resize(std::size_t(p.attention.max_blocks), 0);
            p.attention.kv.blocks = on.put(table);
            const DevicePtr counters = on.put(std::vector<unsigned>(std::size_t(s.heads() * c.rows), 0));
            Attended one(on, s);
            on.must(
                attend_and_merge(on.driver(), on.queue(), p.attention, p.sinks, one.out(), one.rounded(), counters));
            results.push_back(one.values());
            compare(results.back(), s);
        }
        QVERIFY(results[0] == results[1]);
        QVERIFY(results[0] == results[2]);
    }

    void shapesThatCannotBeAreRefused()
    {
        OnDevice on;
        Attention a;
        a.kv.layout = {KvType::F16, KvType::F16, 64, 60, 16};
        QVERIFY(attend_blocks(on.driver(), on.queue(), a) == Status::InvalidValue);
        QVERIFY(merge_partials(on.driver(), on.queue(), a, 0, 0, {}) == Status::InvalidValue);
        QVERIFY(attend_many(on.driver(), on.queue(), a, {}, 0, {}) == Status::InvalidValue);
        const DevicePtr counters = on.room(4);
        const auto merged = [&](const Rounded& rounded) {
            return attend_and_merge(on.driver(), on.queue(), a, 0, {}, rounded, counters);
        };
        QVERIFY(merged({}) == Status::InvalidValue);
        a.kv.layout = {KvType::F16, KvType::F16, 64, 72, 16};
        QVERIFY(merged({{counters, 4}, 0}) == Status::InvalidValue);  // groups that share a scale are of one head
        a.max_blocks = 3;
        a.end = 2;  // another launch has the third
        QVERIFY(merged({}) == Status::InvalidValue);
        a.kv.layout = {KvType::F32, KvType::F32, 64, 64, 16};
        QVERIFY(!attend_many_can(a));
        a.kv.layout = {KvType::F16, KvType::F16, 584, 584, 16};
        QVERIFY(!attend_many_can(a));
    }

    // One thread block joins what its heads have: four of 128 values of as many pieces as there are up to 32,768
    // tokens, not eight, unless they see few tokens.
    void muchIsMergedByALaunchOfItsOwn()
    {
        Attention a;
        a.kv = {{KvType::Q8_0, KvType::Q8_0, 128, 128, 256}, 8};
        a.group = 4;
        a.max_blocks = 512;
        QVERIFY(merges_fast_at_end(a));
        a.group = 8;
        QVERIFY(!merges_fast_at_end(a));
        a.max_blocks = 14;
        QVERIFY(merges_fast_at_end(a));
        a.max_blocks = 512;
        a.window = 1024;
        QVERIFY(merges_fast_at_end(a));
        a.kv.layout.v_dim = 60;  // no kernel takes it
        QVERIFY(!merges_fast_at_end(a));
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestCudaAttend)
#include "tst_cuda_attend.moc"
