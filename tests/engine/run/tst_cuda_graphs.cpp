// Decode steps that a GPU is given as graphs: what makes a new one, what does not, and that they give the same bits.
#include "tests/support/cuda_run.h"

#include <QtTest>

using namespace test_support;

namespace {

constexpr Lengths kLengths{150, 214};

/// As the emulated one, but no graph is ever made.
cuda::DriverTable tableWithoutGraphs()
{
    cuda::DriverTable table = emulator::EmulatedGpu::table();
    table.graph_instantiate = [](cuda::GraphExec*, cuda::Graph, unsigned long long) {
        return cuda::Status::OutOfMemory;
    };
    return table;
}

/// The kinds of steps that a conversation of 214 tokens makes, by when its first block leaves.
LoadRequest never_leaving()
{
    return on_cuda(request_for("llama"));
}
LoadRequest leaving_after(int tokens)
{
    LoadRequest request = with_room_for(request_for("llama"), tokens);
    request.placement.kv_policy = KvPolicy::Merge;
    return request;
}

}  // namespace

class TestCudaGraphs : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        if (qEnvironmentVariable("SPILLWAY_TEST_DEVICE") == "cuda")
            QSKIP("a real driver does not count");
    }

    // Blocks come, leave and are attended on the host, and nothing is recorded again.
    void aStepIsRecordedOnce_data()
    {
        QTest::addColumn<int>("room");  // tokens, 0: for all
        QTest::addColumn<int>("graphs");
        constexpr int kLayers = 2;
        QTest::newRow("all resident") << 0 << 1;
        // Cut where the host attends, in each layer.
        QTest::newRow("blocks leave during the prefill") << 96 << kLayers + 1;
        QTest::newRow("blocks leave during the answer") << 190 << 1 + kLayers + 1;
    }
    void aStepIsRecordedOnce()
    {
        QFETCH(int, room);
        QFETCH(int, graphs);
        Gpu gpu;
        const LoadRequest request = room ? leaving_after(room) : never_leaving();
        const auto model = load(request);
        QVERIFY(model);
        QCOMPARE(model->info().layers, 2);
        const int before = gpu.emulated()->graphs_made();
        const Run here = run(
            *model, [](int) {}, kLengths);
        QVERIFY(here.status);
        QCOMPARE(count(here.events, Event::Kind::Offload) > 0, room > 0);
        QCOMPARE(gpu.emulated()->graphs_made() - before, graphs);
    }

    void aLayerThatMovesIsRecordedAgain()
    {
        Gpu gpu;
        const auto model = load(never_leaving());
        QVERIFY(model);
        const auto move = [&](int token) {
            if (token == 170)
                QVERIFY(model->placement().want_layers(1));
            if (token == 190)
                QVERIFY(model->placement().want_layers(2));
            while (model->placement().layers() != model->placement().wanted_layers())
                model->placement().advance();
        };
        const int before = gpu.emulated()->graphs_made();
        QVERIFY(run(*model, move, kLengths).status);
        QCOMPARE(gpu.emulated()->graphs_made() - before, 3);
    }

    void graphsGiveTheSameBits_data()
    {
        QTest::addColumn<int>("room");
        QTest::newRow("all resident") << 0;
        QTest::newRow("blocks leave") << 160;
    }
    void graphsGiveTheSameBits()
    {
        QFETCH(int, room);
        Logits recorded, direct;
        LoadRequest request;
        {
            Gpu gpu;
            request = room ? leaving_after(room) : never_leaving();
            recorded = run(
                           *load(request), [](int) {}, kLengths)
                           .logits;
            QVERIFY(gpu.emulated()->graphs_made() > 0);
        }
        {
            Gpu gpu;
            const cuda::DriverTable table = tableWithoutGraphs();
            cuda::set_platform({&table, emulator::EmulatedGpu::images(), {}});
            const auto model = load(request);
            QVERIFY(model);
            const Run here = run(
                *model, [](int) {}, kLengths);
            QVERIFY(here.status);
            QCOMPARE(count(here.events, Event::Kind::DeviceLost), 0);
            direct = here.logits;
            QCOMPARE(gpu.emulated()->graphs_made(), 0);
        }
        QCOMPARE(first_difference(recorded, direct), -1);
    }
};

QTEST_GUILESS_MAIN(TestCudaGraphs)
#include "tst_cuda_graphs.moc"
