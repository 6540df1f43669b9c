// Tests attention on the device beyond what kernel_checks() compares: parts that are attended by the host or one after
// another, grids, graphs.
#include "kernels/cuda/checks/attention.h"
#include "tests/kernels/cuda/on_device.h"
#include "tests/support/test_program.h"

#include <random>

using namespace kernels::cuda;
using kernels::KvType;

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
    void aGraphFollowsTheLength()
    {
        const AttentionCase c{{KvType::F16, KvType::F16, 64, 64, 16}, 1, 2, 40, 1, 0, 0, false};
        const AttentionSequence s = attention_sequence(c, m_seed);
        OnDevice on;
        const PlacedAttention p = place(on.memory(), s);
        const DevicePtr out = on.room(128 * 4);
        on.must(on.driver().begin_capture(on.queue()));
        on.must(attend_blocks(on.driver(), on.queue(), p.attention));
        on.must(merge_partials(on.driver(), on.queue(), p.attention, 0, 0, {out, 128}));
        const GraphExec graph = on.must(on.driver().end_capture(on.queue()));
        for (int tokens : {40, 17, 1}) {
            AttentionSequence shorter = s;
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
        a.kv.layout = {KvType::F16, KvType::F16, 584, 584, 16};
        QVERIFY(!attend_many_can(a));
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestCudaAttend)
#include "tst_cuda_attend.moc"
