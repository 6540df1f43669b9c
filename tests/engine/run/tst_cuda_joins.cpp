// Tests that device and host wait for each other's parts in the middle of a recorded step, or the step's graph is cut
// there.
#include "engine/exec/cuda_flags.h"
#include "tests/engine/run/cuda_conversations.h"
#include "tests/support/part_of_all.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>

#include <atomic>
#include <thread>

using namespace test_support;

namespace {

// Steps from now on in which the host is held up when it looks after the device: none is 0.
std::atomic<int> stepsToHoldUp{0};

/// As the emulated one, but the host is late.
cuda::DriverTable tableThatHoldsUp()
{
    cuda::DriverTable table = emulator::EmulatedGpu::table();
    table.graph_launch = [](cuda::GraphExec graph, cuda::Queue queue) {
        const cuda::Status status = emulator::EmulatedGpu::table().graph_launch(graph, queue);
        if (stepsToHoldUp > 0 && --stepsToHoldUp >= 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(2 * CudaFlags::kMostMs));
        return status;
    };
    return table;
}

}  // namespace

class TestCudaJoins : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        if (qEnvironmentVariable("SPILLWAY_TEST_DEVICE") == "cuda")
            QSKIP("a real driver does not count");
    }

    // Where the CPU attends a part, a step is one graph again.
    void flagsJoinWithinOneGraph_data()
    {
        QTest::addColumn<int>("room");
        QTest::addColumn<int>("graphs");
#ifndef SPILLWAY_SANITIZED  // minutes for all of them
        QTest::newRow("blocks leave during the prefill") << 96 << 1;
#endif
        QTest::newRow("blocks leave during the answer") << kRoomUntilAnswer << 2;
    }
    void flagsJoinWithinOneGraph()
    {
        QFETCH(int, room);
        QFETCH(int, graphs);
        const LoadRequest request = [&] {
            Gpu gpu;
            return leaving_after(room);
        }();
        Logits cut;
        {
            Gpu gpu;
            cut = run(
                      *load(request), [](int) {}, kLengths)
                      .logits;
        }
        Gpu gpu;
        auto model = load(joining_by_flags(request));
        QVERIFY(model);
        const int before = gpu.emulated()->graphs_made();
        std::int64_t on_cpu = 0;
        const Run here = run(
            *model,
            [&](int token) {
                const auto t = model->placement().telemetry();
                on_cpu += token > kLengths.prefill ? t->step_attended_on_host_bytes : 0;
            },
            kLengths);
        QVERIFY(here.status);
        QVERIFY(on_cpu > 0);
        if (count(here.events, Event::Kind::Warning) == 0)  // on a busy machine the host may really be late
            QCOMPARE(gpu.emulated()->graphs_made() - before, graphs);
        QCOMPARE(first_difference(here.logits, cut), -1);
        model.reset();
        QVERIFY2(gpu.complaints().empty(), gpu.complaints().c_str());
    }

    // Kernels reach queries and partials in the host's memory: what a recorded step copies, it copies also where the
    // host attends nothing.
    void theHostsPartCostsNoCopies_data()
    {
        QTest::addColumn<bool>("flags");
        QTest::addColumn<int>("graphs");
        QTest::newRow("one graph") << true << 1;
        QTest::newRow("graphs that are cut") << false << 2 + 1;  // in each layer
    }
    void theHostsPartCostsNoCopies()
    {
        QFETCH(bool, flags);
        QFETCH(int, graphs);
        struct Recorded {
            int graphs = 0, copies = 0, late = 0;
            std::int64_t on_host = 0;
        };
        const auto recorded = [](const LoadRequest& request) {
            Gpu gpu;
            const auto model = load(request);
            if (!model)
                return Recorded();
            Recorded all{-gpu.emulated()->graphs_made(), -gpu.emulated()->copies_recorded(), 0, 0};
            const auto look = [&](int token) {
                const auto t = model->placement().telemetry();
                all.on_host += token > kShort.prefill ? t->step_attended_on_host_bytes : 0;
            };
            const Run here = run(*model, look, kShort);
            all.graphs += gpu.emulated()->graphs_made();
            all.copies += gpu.emulated()->copies_recorded();
            all.late = count(here.events, Event::Kind::Warning);
            return all;
        };
        const LoadRequest request = [&] {
            Gpu gpu;
            return flags ? joining_by_flags(leaving_after(96)) : leaving_after(96);
        }();
        static const Recorded resident = recorded(never_leaving());  // the same for each row
        const Recorded merging = recorded(request);
        QCOMPARE(resident.graphs, 1);
        QCOMPARE(resident.on_host, std::int64_t(0));
        QVERIFY(merging.on_host > 0);
        if (merging.late > 0)
            QSKIP("on a busy machine the host may really be late, and then graphs are cut");
        QCOMPARE(merging.graphs, graphs);
        QCOMPARE(merging.copies, resident.copies);
    }

    // Under Windows a graph begins when somebody asks the driver: the host does while it waits for a flag.
    void flagsJoinWhereWorkIsCollected()
    {
        const LoadRequest request = [&] {
            Gpu gpu;
            return leaving_after(96);
        }();
        const auto logits = [&](bool collects) {
            emulator::GpuFacts facts;
            facts.collects_work = collects;
            Gpu gpu(facts);
            const Run here = run(
                *load(collects ? joining_by_flags(request) : request), [](int) {}, kShort);
            return here.status ? here.logits : Logits();
        };
        const Logits at_once = logits(false);
        QVERIFY(!at_once.empty());
        QCOMPARE(first_difference(logits(true), at_once), -1);
    }

    // Page locks and allocations of other threads wait for the device there, and the host's next call for them: they do
    // not come in between while the device waits for the host.
    void memoryIsTakenBetweenStepsThatWait()
    {
        const LoadRequest request = [] {
            Gpu gpu;
            return joining_by_flags(leaving_after(96));
        }();
        const auto run_on = [&](bool waits) {
            emulator::GpuFacts facts;
            facts.memory_calls_wait = waits;
            Gpu gpu(facts);
            const auto model = load(request);
            return model ? run(
                               *model, [](int) {}, kLengths)
                         : Run();
        };
        const Run at_once = run_on(false);
        int late = 0;
        for (int attempt = 0; attempt < 10; ++attempt) {  // on a busy machine the host may really be late
            const Run waiting = run_on(true);
            QVERIFY(at_once.status && waiting.status && !waiting.logits.empty());
            QCOMPARE(first_difference(waiting.logits, at_once.logits), -1);
            late = count(waiting.events, Event::Kind::Warning);
            if (late == 0)
                break;
        }
        QVERIFY2(late == 0, qPrintable(QString("%1 steps were late").arg(late)));
    }

    // Measured while the model talks: from then on it is one graph.
    void ratesThatAreLearnedChangeTheJoin()
    {
#ifdef SPILLWAY_SANITIZED
        QSKIP("the dev build has it: here it takes seconds");
#endif
        Gpu gpu;
        const LoadRequest request = leaving_after(96);
        const Logits cut = run(
                               *load(request), [](int) {}, kShort)
                               .logits;
        const auto model = load(request);
        QVERIFY(model);
        const int before = gpu.emulated()->graphs_made();
        const auto learn = [&](int token) {
            if (token == 160)
                model->placement().set_rates(joining_by_flags(request).placement.rates);
        };
        const Run here = run(*model, learn, kShort);
        QVERIFY(here.status);
        if (count(here.events, Event::Kind::Warning) == 0)
            QCOMPARE(gpu.emulated()->graphs_made() - before, 3 + 1);
        QCOMPARE(first_difference(here.logits, cut), -1);
    }

    // The device does not wait for ever: the step is computed again, and after some of them never waits again.
    void aHostThatIsLateCostsTimeOnly_data()
    {
        QTest::addColumn<int>("steps");
        QTest::newRow("once") << 1;
#ifndef SPILLWAY_SANITIZED
        QTest::newRow("too often") << 3;
#endif
    }
    void aHostThatIsLateCostsTimeOnly()
    {
        QFETCH(int, steps);
        Gpu gpu;
        const LoadRequest request = joining_by_flags(leaving_after(96));
        const Logits in_time = run(
                                   *load(request), [](int) {}, kShort)
                                   .logits;
        const cuda::DriverTable table = tableThatHoldsUp();
        cuda::set_platform({&table, emulator::EmulatedGpu::images(), {}});
        auto model = load(request);
        QVERIFY(model);
        const int before = gpu.emulated()->graphs_made();
        const Run here = run(
            *model,
            [&](int token) {
                if (token == kShort.prefill + 10)
                    stepsToHoldUp = steps;
            },
            kShort);
        QVERIFY(here.status);
        QCOMPARE(stepsToHoldUp.load(), 0);
        const int late = count(here.events, Event::Kind::Warning);
        QVERIFY(late >= steps);  // on a busy machine it may be so by itself
        QCOMPARE(count(here.events, Event::Kind::DeviceLost), 0);
        // After the third, graphs are cut: one ends in each layer, and one is what follows.
        QCOMPARE(gpu.emulated()->graphs_made() - before, late < 3 ? 1 : 1 + 3);
        QCOMPARE(first_difference(here.logits, in_time), -1);
        model.reset();
        QVERIFY2(gpu.complaints().empty(), gpu.complaints().c_str());
    }

    // The step that is computed again is told anew where experts lie, also those that a copy took the place of
    // meanwhile.
    void aHostThatIsLateMixesUpNoExperts()
    {
        Gpu gpu;
        constexpr Lengths kTurn{80, 120};
        LoadRequest request = on_cuda(request_for("qwen3moe"));
        request.placement.host_expert_layers = PlacementOptions::kAllLayers;
        request.placement.expert_cache_bytes = 48 << 10;
        request.placement.kv_policy = KvPolicy::Merge;
        request.placement.kv_offload_share = 0.5;
        const auto cpu = load(request_for("qwen3moe"));
        QVERIFY(cpu);
        const Logits truth = run(*cpu, {}, kTurn).logits;
        const cuda::DriverTable table = tableThatHoldsUp();
        cuda::set_platform({&table, emulator::EmulatedGpu::images(), {}});
        auto model = load(joining_by_flags(request));
        QVERIFY(model);
        const Run here = run(
            *model,
            [&](int token) {
                model->placement().settle();
                if (token == 90 || token == 100)
                    stepsToHoldUp = 1;
            },
            kTurn);
        QVERIFY(here.status);
        QVERIFY(count(here.events, Event::Kind::Warning) >= 2);
        const DeviceTelemetry device = *model->placement().telemetry();
        QVERIFY(device.cached_experts > 0 && device.expert_hits > 0 && device.expert_misses > 0);
        QCOMPARE(here.logits.size(), truth.size());
        for (std::size_t t = 0; t < truth.size(); ++t) {
            double apart = 0, all = 0;
            for (std::size_t i = 0; i < truth[t].size(); ++i) {
                apart += std::pow(double(here.logits[t][i]) - double(truth[t][i]), 2);
                all += std::pow(double(truth[t][i]), 2);
            }
            QVERIFY2(std::sqrt(apart / all) < 1e-2,
                     qPrintable(QString("token %1: %2").arg(t).arg(std::sqrt(apart / all))));
        }
        model.reset();
        QVERIFY2(gpu.complaints().empty(), gpu.complaints().c_str());
    }

    // Each call fails once while device and host wait for each other: neither waits for ever.
    void aFailureAtAnyCallOfAJoinIsNoEnd_data()
    {
        QTest::addColumn<int>("status");
        QTest::addColumn<int>("first");
        QTest::newRow("the device is lost") << int(cuda::Status::LaunchFailed) << 1;
#ifndef SPILLWAY_SANITIZED
        QTest::newRow("no memory is left") << int(cuda::Status::OutOfMemory) << 4;
#endif
    }
    void aFailureAtAnyCallOfAJoinIsNoEnd()
    {
        QFETCH(int, status);
        QFETCH(int, first);
        constexpr Lengths kShorter{150, 156};
        const LoadRequest request = [] {
            Gpu gpu;
            return joining_by_flags(leaving_after(96));
        }();
        const Logits alone = run(
                                 *load(request_for("llama")), [](int) {}, kShorter)
                                 .logits;
        PartOfAll part(2);
        for (int call = first; call < 60; call += 6) {
            if (!part.takes_next())
                continue;
            Gpu gpu;
            auto model = load(request);
            QVERIFY(model);
            const Run here = run(
                *model,
                [&](int token) {
                    if (token == 153)
                        gpu.emulated()->fail_call(call, cuda::Status(status));
                },
                kShorter);
            QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
            QVERIFY2(relative_difference(here.logits, alone) < 0.06, qPrintable(QString::number(call)));
            model.reset();
            QCOMPARE(gpu.emulated()->fault(), std::string());
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestCudaJoins)
#include "tst_cuda_joins.moc"
