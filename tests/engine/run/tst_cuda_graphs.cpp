// Tests that decode steps which a GPU is given as graphs have the same bits, and that a new graph is made only where it
// has to be.
#include "engine/gguf/gguf_file.h"
#include "kernels/cuda/device.h"
#include "tests/engine/run/cuda_conversations.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <new>

using namespace test_support;

namespace {

/// As the emulated one, but no graph is ever made.
cuda::DriverTable tableWithoutGraphs()
{
    cuda::DriverTable table = emulator::EmulatedGpu::table();
    table.graph_instantiate = [](cuda::GraphExec*, cuda::Graph, unsigned long long) {
        return cuda::Status::OutOfMemory;
    };
    return table;
}

int g_launches_to_throw = 0;  // the launch at which it becomes 0 throws
bool g_lacks_memory = false;  // since then, and until it is set again

void countLaunch()
{
    if (--g_launches_to_throw != 0)
        return;
    g_lacks_memory = true;
    throw std::bad_alloc();
}

/// As the emulated one, but a launch may throw, and no graph is made then.
cuda::DriverTable tableThatThrows()
{
    cuda::DriverTable table = emulator::EmulatedGpu::table();
    table.launch_kernel = [](cuda::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                             unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                             cuda::Queue queue, void** arguments, void** extra) {
        countLaunch();
        return emulator::EmulatedGpu::table().launch_kernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                                            shared_bytes, queue, arguments, extra);
    };
    table.launch_kernel_ex = [](const cuda::LaunchConfig* config, cuda::Function function, void** arguments,
                                void** extra) {
        countLaunch();
        return emulator::EmulatedGpu::table().launch_kernel_ex(config, function, arguments, extra);
    };
    table.graph_instantiate = [](cuda::GraphExec* made, cuda::Graph graph, unsigned long long flags) {
        return g_lacks_memory ? cuda::Status::OutOfMemory
                              : emulator::EmulatedGpu::table().graph_instantiate(made, graph, flags);
    };
    return table;
}

/// A prompt and some tokens. Of each step that has this many launches one throws, and it is computed again.
Logits logitsOfStepsThatThrow(LoadedModel& model, int launch, int& thrown)
{
    constexpr int kPrompt = 20, kAnswer = 4;
    const std::vector<int> ids = some_tokens(model);
    Logits all;
    KvSequence kv;
    model.placement().begin_turn();
    for (int done = 0; done < kPrompt + kAnswer;) {
        const int count = done == 0 ? kPrompt : 1;
        const auto step = std::span(ids).subspan(std::size_t(done), std::size_t(count));
        Status status;
        g_launches_to_throw = launch;
        try {
            status = model.append(kv, step);
        } catch (const std::bad_alloc&) {
            ++thrown;
            g_lacks_memory = false;
            status = model.append(kv, step);
        }
        g_launches_to_throw = 0;
        if (!status)
            break;
        all.push_back(row_logits(model, kv, count - 1));
        done += count;
    }
    model.cache().truncate(kv, 0);
    return all;
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
#ifndef SPILLWAY_SANITIZED  // minutes for all of them
        QTest::newRow("all resident") << 0 << 1;
        // Cut where the host attends, in each layer.
        QTest::newRow("blocks leave during the prefill") << 96 << kLayers + 1;
#endif
        QTest::newRow("blocks leave during the answer") << kRoomUntilAnswer << 1 + kLayers + 1;
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

    // Once an answer is in its stride, nothing of the driver's is taken or given back, also where blocks leave.
    void anAnswerTakesNothingOfTheDriver_data()
    {
        QTest::addColumn<int>("room");
#ifndef SPILLWAY_SANITIZED
        QTest::newRow("all resident") << 0;
#endif
        QTest::newRow("blocks leave") << 96;
    }
    void anAnswerTakesNothingOfTheDriver()
    {
        QFETCH(int, room);
        Gpu gpu;
        const auto model = load(room ? leaving_after(room) : never_leaving());
        QVERIFY(model);
        emulator::MemoryCalls calls;
        int events = 0;
        const auto between = [&](int token) {
            if (token != kLengths.prefill + 5)
                return;
            calls = gpu.emulated()->memory_calls();
            events = gpu.emulated()->events();
        };
        QVERIFY(run(*model, between, kLengths).status);
        QVERIFY(events > 0);
        QVERIFY(gpu.emulated()->memory_calls() == calls);
        QVERIFY(gpu.emulated()->events() <= events + 8);
    }

    // A prompt's chunks take nothing either once the first ones were computed; nor does any thread for a second prompt
    // of that length.
    void aPromptTakesNothingOfTheDriver_data()
    {
        anAnswerTakesNothingOfTheDriver_data();
    }
    void aPromptTakesNothingOfTheDriver()
    {
        QFETCH(int, room);
        constexpr Lengths kPrompt{320, 320};
        Gpu gpu;
        const auto model = load(room ? leaving_after(room) : never_leaving());
        QVERIFY(model);
        QVERIFY(kPrompt.prefill >= 8 * model->max_rows());
        emulator::MemoryCalls calls;
        const auto between = [&](int token) {
            if (token == 4 * model->max_rows())
                calls = gpu.emulated()->memory_calls();
        };
        const Run first = run(*model, between, kPrompt);
        QVERIFY(first.status);
        QVERIFY(calls.allocations > 0);
        QVERIFY(gpu.emulated()->memory_calls() == calls);
        QCOMPARE(count(first.events, Event::Kind::Offload) > 0, room > 0);

        calls = gpu.emulated()->memory_calls_of_all();
        const int events = gpu.emulated()->events();
        QVERIFY(run(*model, {}, kPrompt).status);
        QVERIFY(gpu.emulated()->memory_calls_of_all() == calls);
        QVERIFY(gpu.emulated()->events() <= events + 8);
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
            request.placement.rates = even_rates();
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
            QVERIFY(shared > kAnswerSteps * 5 / 8);
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
#ifdef SPILLWAY_SANITIZED
        QSKIP("the dev build has it: here it takes seconds");
#endif
        Gpu gpu;
        LoadRequest request = leaving_after(96, KvPolicy::Auto);
        MachineRates rates = *even_rates();
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
#ifdef SPILLWAY_SANITIZED
        QSKIP("the dev build has it: here it takes seconds");
#endif
        Gpu gpu;
        const auto model = load(leaving_after(96, KvPolicy::Auto));
        QVERIFY(model);
        constexpr int kKnown = 180;
        std::int64_t before = 0, after = 0;  // streamed while decoding
        const Run here = run(
            *model,
            [&](int token) {
                if (token == kKnown)
                    model->placement().set_rates(even_rates());
                const auto t = model->placement().telemetry();
                QVERIFY(t);  // else the device is lost
                if (token > kLengths.prefill + 1)
                    (token <= kKnown ? before : after) += t->step_streamed_bytes;
            },
            kLengths);
        QVERIFY(here.status);
        QCOMPARE(before, 0);
        QVERIFY(after > 0);
    }

    // What of a step the host can see: the GPU's layers, and what it attends itself; not the link.
    void theHostsPartOfAStepIsToldApart()
    {
#ifdef SPILLWAY_SANITIZED
        QSKIP("the dev build has it: here it takes seconds");
#endif
        using Part = StepClock::Part;
        for (const bool leaving : {false, true}) {
            Gpu gpu;
            const auto model = load(leaving ? leaving_after(96) : never_leaving());
            QVERIFY(model);
            QVERIFY(!model->placement().host_waits_for_link());
            StepClock& clock = model->clock();
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

    // Attention, gated products and products that a norm follows ask for the weights behind them: never for the first
    // of the device's layers, nor for experts before they are chosen.
    void launchesAskForTheNextWeights_data()
    {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QStringList>("tensors");
        const QStringList dense{"blk.0.attn_output", "blk.0.ffn_gate", "blk.0.ffn_down", "blk.1.attn_q",
                                "blk.1.attn_output"};
        QTest::newRow("dense") << "llama" << dense + QStringList{"blk.1.ffn_gate", "blk.1.ffn_down"};
        QTest::newRow("experts") << "qwen3moe" << QStringList{"blk.0.attn_output", "blk.0.ffn_gate_inp"};
        QTest::newRow("experts and a shared one")
            << "ernie4_5-moe" << dense + QStringList{"blk.1.ffn_gate_inp", "blk.1.ffn_down_shexp"};
    }
    void launchesAskForTheNextWeights()
    {
        QFETCH(QString, model);
        QFETCH(QStringList, tensors);
        const LoadRequest request = on_cuda(request_for(model));
        const auto file = GgufFile::open(request.model);
        QVERIFY(file);
        std::uint64_t of_step = 0;
        for (const QString& name : tensors) {
            const GgufTensor* const tensor = file->tensor(name.toStdString() + ".weight");
            QVERIFY2(tensor, qPrintable(name));
            of_step += tensor->bytes.size();
        }
        Gpu gpu;
        const auto loaded = load(request);
        QVERIFY(loaded);
        std::vector<std::uint64_t> asked;
        const auto note = [&](int) { asked.push_back(cuda::host::asked_bytes); };
        QVERIFY(run(*loaded, note, {20, 30}).status);
        QVERIFY(asked.size() > 8);
        for (std::size_t i = asked.size() - 5; i < asked.size(); ++i)
            QCOMPARE(asked[i] - asked[i - 1], of_step);
    }

    void aLayerThatMovesIsRecordedAgain()
    {
        Gpu gpu;
        const auto model = load(never_leaving());
        QVERIFY(model);
        const auto move = [&](int token) {
            if (token == kLengths.prefill + kAnswerSteps * 5 / 16)
                QVERIFY(model->placement().apply(SetDeviceLayers{1}));
            if (token == kLengths.prefill + kAnswerSteps * 5 / 8)
                QVERIFY(model->placement().apply(SetDeviceLayers{2}));
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
#ifndef SPILLWAY_SANITIZED
        QTest::newRow("all resident") << 0;
#endif
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

    // Another program had the memory that a graph needed, for a moment.
    void graphsAreTriedAgainWhereMemoryWasLacking()
    {
        Gpu gpu;
#ifdef SPILLWAY_SANITIZED  // where a step takes many times as long
        constexpr int kFailures = 1, kSteps = 48;
#else
        constexpr int kFailures = 2, kSteps = 112;
#endif
        static int failures;
        failures = kFailures;
        cuda::DriverTable table = emulator::EmulatedGpu::table();
        static const auto instantiate = table.graph_instantiate;
        table.graph_instantiate = [](cuda::GraphExec* made, cuda::Graph graph, unsigned long long flags) {
            return failures-- > 0 ? cuda::Status::OutOfMemory : instantiate(made, graph, flags);
        };
        cuda::set_platform({&table, emulator::EmulatedGpu::images(), {}});
        const auto model = load(never_leaving());
        QVERIFY(model);
        const Run here = run(*model, [](int) {}, {.prefill = 8, .all = 8 + kSteps});
        QVERIFY(here.status);
        QCOMPARE(count(here.events, Event::Kind::Warning), 1);
        QVERIFY(failures < 0);
        QVERIFY(gpu.emulated()->graphs_made() > 0);
    }

    // Memory of the host's lacks inside a prompt's step and while a step is recorded, where no graph is made of what
    // there is. Both steps are computed once more, with the bits that they always have.
    void aStepThatThrowsIsComputedAgain()
    {
        Logits truth;
        for (const int at : {0, 1, 6, 11}) {  // launches of a step; 0: never
            const cuda::DriverTable table = tableThatThrows();
            Gpu gpu(table);
            auto model = load(never_leaving());
            QVERIFY(model);
            const int before = gpu.emulated()->graphs_made();
            int thrown = 0;
            const Logits here = logitsOfStepsThatThrow(*model, at, thrown);
            QCOMPARE(thrown, at > 0 ? 2 : 0);
            if (at == 0)
                truth = here;
            QCOMPARE(first_difference(here, truth), -1);
            QCOMPARE(model->placement().layers(), model->info().layers);
            QCOMPARE(count(model->placement().take_events(), Event::Kind::Warning), 0);
            QCOMPARE(gpu.emulated()->graphs_made() - before, 1);
            model.reset();
            QCOMPARE(gpu.complaints(), std::string());
        }
    }

    // Memory of the host's lacks while drafted rows are taken back: the states of some layers have gone back by then.
    // What stands is computed again, from the checkpoint before.
    void statesThatAreTakenBackHalfWayAreComputedAgain()
    {
        std::vector<float> truth;
        for (const int at : {0, 1, 3}) {  // launches of taking back; 0: never
            const cuda::DriverTable table = tableThatThrows();
            Gpu gpu(table);
            const auto model = load(on_cuda(request_for("qwen35")));
            QVERIFY(model);
            const std::vector<int> ids = some_tokens(*model);
            KvSequence kv;
            model->placement().begin_turn();
            QVERIFY(model->append(kv, std::span(ids).first(20)));
            model->cache().states().keep(kv);
            RowGroup group{&kv, std::span(ids).subspan(20, 4)};
            group.wanted = group.count();
            group.drafted = true;
            QVERIFY(model->append(std::span(&group, 1)));
            bool thrown = false;
            g_launches_to_throw = at;
            try {
                model->take_back(kv, 22);
            } catch (const std::bad_alloc&) {
                thrown = true;
            }
            g_launches_to_throw = 0;
            g_lacks_memory = false;
            QCOMPARE(thrown, at > 0);
            QCOMPARE(kv.length(), 22);
            QVERIFY(model->append(kv, std::span(ids).subspan(22, 1)));
            QCOMPARE(kv.length(), 23);
            const std::vector<float> here = row_logits(*model, kv, 0);
            if (at == 0)
                truth = here;
            QVERIFY(same_bits(here, truth));
            model->cache().truncate(kv, 0);
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestCudaGraphs)
#include "tst_cuda_graphs.moc"
