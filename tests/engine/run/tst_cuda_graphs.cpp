// Decode steps that a GPU is given as graphs: what makes a new one, what does not, and that they give the same bits.
#include "engine/exec/cuda_flags.h"
#include "engine/machine_rates.h"
#include "engine/plan/measure_device.h"
#include "tests/support/cuda_run.h"

#include <QtTest>

#include <atomic>
#include <thread>

using namespace test_support;

namespace {

constexpr Lengths kLengths{150, 214}, kShort{150, 172};

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
LoadRequest leaving_after(int tokens, KvPolicy policy = KvPolicy::Merge)
{
    LoadRequest request = with_room_for(request_for("llama"), tokens);
    request.placement.kv_policy = policy;
    return request;
}

/// Rates by which the link and the CPU take as much each.
std::shared_ptr<const MachineRates> evenRates()
{
    MachineRates rates;
    rates.dram_read_bytes_per_s = 1e12;
    rates.attention.push_back({KvType::F16, KvType::F16, 64, 64, RateCurve({{1e6, 1e9}})});
    DeviceRates device;
    device.name = name_with_driver(**CudaDevice::open(0));
    device.weights_bytes_per_s = device.attention_bytes_per_s = 1e12;
    device.to_device_bytes_per_s = device.to_host_bytes_per_s = 1e9;
    device.hand_off_s = 0;
    rates.devices["cuda:0"] = device;
    return std::make_shared<const MachineRates>(std::move(rates));
}

/// Rates by which device and host wait for each other in the middle of a graph.
LoadRequest joining_by_flags(LoadRequest request)
{
    MachineRates rates = *evenRates();
    rates.devices["cuda:0"].hand_off_s = 2e-5;
    rates.devices["cuda:0"].flag_hand_off_s = 1e-5;
    request.placement.rates = std::make_shared<const MachineRates>(std::move(rates));
    return request;
}

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

    // Under `auto`, with rates: a part is resident, a part streamed, and a part attended by the CPU.
    void threeWaysAtOnce()
    {
        const Logits alone = run(
                                 *load(request_for("llama")), [](int) {}, kLengths)
                                 .logits;
        Logits first;
        for (int time = 0; time < 2; ++time) {
            Gpu gpu;
            LoadRequest request = leaving_after(96, KvPolicy::Auto);
            request.placement.rates = evenRates();
            auto model = load(request);
            QVERIFY(model);
            int shared = 0;
            const int before = gpu.emulated()->graphs_made();
            const Run here = run(
                *model,
                [&](int) {
                    const auto t = model->placement().telemetry();
                    const std::int64_t there = t->step_streamed_bytes, on_cpu = t->step_attended_on_host_bytes;
                    if (there > 0 && on_cpu > 0) {
                        ++shared;
                        QVERIFY(std::abs(there - on_cpu) <= std::int64_t(2 * 2 * model->cache().layer(0).bytes()));
                    }
                },
                kLengths);
            QVERIFY(here.status);
            QVERIFY(shared > 40);
            // The first layer's cut and the second's, and what is after them.
            QCOMPARE(gpu.emulated()->graphs_made() - before, 3);
            QVERIFY(relative_difference(here.logits, alone) < 0.06);
            if (time == 0)
                first = here.logits;
            QCOMPARE(first_difference(here.logits, first), -1);
            model.reset();
            QVERIFY2(gpu.complaints().empty(), gpu.complaints().c_str());
        }
    }

    // Rates of another GPU, or of another driver, say nothing.
    void ratesOfAnotherGpuDivideNothing()
    {
        Gpu gpu;
        LoadRequest request = leaving_after(96, KvPolicy::Auto);
        MachineRates rates = *evenRates();
        rates.devices["cuda:0"].name = "another one";
        request.placement.rates = std::make_shared<const MachineRates>(std::move(rates));
        const auto model = load(request);
        QVERIFY(model);
        std::int64_t streamed = 0, on_cpu = 0;  // while decoding
        const auto add = [&](int token) {
            const auto t = model->placement().telemetry();
            streamed += token > kLengths.prefill ? t->step_streamed_bytes : 0;
            on_cpu += token > kLengths.prefill ? t->step_attended_on_host_bytes : 0;
        };
        QVERIFY(run(*model, add, kLengths).status);
        QCOMPARE(streamed, 0);
        QVERIFY(on_cpu > 0);
    }

    // They are measured while the model is open, and hold from the next step on.
    void ratesThatComeLaterDivideTheWork()
    {
        Gpu gpu;
        const auto model = load(leaving_after(96, KvPolicy::Auto));
        QVERIFY(model);
        constexpr int kKnown = 180;
        std::int64_t before = 0, after = 0;  // streamed while decoding
        const Run here = run(
            *model,
            [&](int token) {
                if (token == kKnown)
                    QVERIFY(model->placement().set_rates(evenRates()));
                if (token > kLengths.prefill + 1)
                    (token <= kKnown ? before : after) += model->placement().telemetry()->step_streamed_bytes;
            },
            kLengths);
        QVERIFY(here.status);
        QCOMPARE(before, 0);
        QVERIFY(after > 0);
    }

    // What of a step the host can see: the GPU's layers, and what it attends itself; not the link.
    void theHostsPartOfAStepIsToldApart()
    {
        using Part = StepClock::Part;
        for (const bool leaving : {false, true}) {
            Gpu gpu;
            const auto model = load(leaving ? leaving_after(96) : never_leaving());
            QVERIFY(model);
            QVERIFY(!model->placement().host_waits_for_link());
            StepClock& clock = model->cpu().clock();
            const Run here = run(
                *model,
                [&](int token) {
                    if (token == kLengths.prefill)
                        clock.start();
                },
                kLengths);
            QVERIFY(here.status);
            QVERIFY(clock.seconds(Part::DeviceLayers) > 0);
            QCOMPARE(clock.seconds(Part::HostAttention) > 0, leaving);
            QCOMPARE(clock.seconds(Part::HostLayers), 0.0);
            QCOMPARE(clock.seconds(Part::KvLink), 0.0);
        }
    }

    // Where the CPU attends a part, a step is one graph again.
    void flagsJoinWithinOneGraph_data()
    {
        QTest::addColumn<int>("room");
        QTest::addColumn<int>("graphs");
        QTest::newRow("blocks leave during the prefill") << 96 << 1;
        QTest::newRow("blocks leave during the answer") << 190 << 2;
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

    // Measured while the model talks: from then on it is one graph.
    void ratesThatAreLearnedChangeTheJoin()
    {
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
                QVERIFY(model->placement().set_rates(joining_by_flags(request).placement.rates));
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
        QTest::newRow("too often") << 3;
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

    // Each call fails once while device and host wait for each other: neither waits for ever.
    void aFailureAtAnyCallOfAJoinIsNoEnd_data()
    {
        QTest::addColumn<int>("status");
        QTest::newRow("the device is lost") << int(cuda::Status::LaunchFailed);
        QTest::newRow("no memory is left") << int(cuda::Status::OutOfMemory);
    }
    void aFailureAtAnyCallOfAJoinIsNoEnd()
    {
        QFETCH(int, status);
        constexpr Lengths kShorter{150, 156};
        const LoadRequest request = [] {
            Gpu gpu;
            return joining_by_flags(leaving_after(96));
        }();
        const Logits alone = run(
                                 *load(request_for("llama")), [](int) {}, kShorter)
                                 .logits;
        for (int call = 1; call < 60; call += 3) {
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
            QCOMPARE(count(here.events, Event::Kind::Warning), 1);  // that it is slower
            direct = here.logits;
            QCOMPARE(gpu.emulated()->graphs_made(), 0);
        }
        QCOMPARE(first_difference(recorded, direct), -1);
    }
};

QTEST_GUILESS_MAIN(TestCudaGraphs)
#include "tst_cuda_graphs.moc"
