// Tests that a loaded model takes of a GPU what was planned, and that the GPU's rates are measured and used, on the
// emulated GPU.
#include "engine/exec/cuda_backend.h"
#include "engine/exec/cuda_memory.h"
#include "engine/gguf/gguf_file.h"
#include "engine/plan/device_bytes.h"
#include "engine/plan/measure_joins.h"
#include "engine/plan/model_costs.h"
#include "engine/plan/prefill_chunk.h"
#include "engine/planner.h"
#include "engine/tools/selftest_cuda.h"
#include "tests/support/cuda/idle_kernels.h"
#include "tests/support/cuda_run.h"

#include <QRandomGenerator>
#include <QtTest>

#include <algorithm>
#include <array>

using namespace test_support;

namespace {

constexpr std::array kContexts = {0, 16, 100, 140};

Result<Plan> plan_of(const LoadRequest& request, const MachineRates* rates = nullptr)
{
    const auto planner = Planner::open(request.model);
    if (!planner)
        return tl::unexpected(planner.error());
    return planner->plan(request, kContexts, rates);
}

bool within_a_percent(std::int64_t planned, std::int64_t taken)
{
    return std::abs(double(planned - taken)) <= 0.01 * double(taken);
}

/// Little memory, since the emulated GPU takes its time.
emulator::GpuFacts small_gpu(int mebibytes)
{
    emulator::GpuFacts facts;
    facts.memory_bytes = std::size_t(mebibytes) << 20;
    return facts;
}

/// Everything a decode step could ask for, made up.
MachineRates some_rates(const std::string& gpu)
{
    MachineRates rates;
    rates.dram_read_bytes_per_s = 50e9;
    rates.values_per_s = 1e9;
    rates.wake_s = 1e-6;
    rates.token_s = rates.copy_start_s = 1e-6;
    rates.choice_s_per_value = 1e-9;
    for (const KvType type : {KvType::F16, KvType::Q8_0})
        rates.attention.push_back({type, type, 64, 1, RateCurve({{1e6, 20e9}})});
    rates.devices["cuda:0"] = {.name = gpu,
                               .copy_bytes_per_s = 2000e9,
                               .weights_bytes_per_s = 1000e9,
                               .small_kernels_s = 2e-6,
                               .attention_bytes_per_s = 800e9,
                               .attention_q8_0_bytes_per_s = 400e9,
                               .to_device_bytes_per_s = 25e9,
                               .to_host_bytes_per_s = 25e9,
                               .hand_off_s = 2e-5};
    return rates;
}

}  // namespace

class TestCudaPlan : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theDeviceTakesWhatWasPlanned_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("layers");  // -1: as many as fit
        QTest::addColumn<int>("room");    // tokens; 0: for all
        const int f16 = int(KvType::F16), q8 = int(KvType::Q8_0);
        for (const char* const name : {"llama", "gemma3", "qwen3moe", "deepseek2"}) {
            QTest::addRow("%s, all of it", name) << QString(name) << f16 << -1 << 0;
            QTest::addRow("%s, spilled", name) << QString(name) << q8 << -1 << 80;
            QTest::addRow("%s, one layer", name) << QString(name) << f16 << 1 << 0;
        }
    }
    void theDeviceTakesWhatWasPlanned()
    {
        QFETCH(QString, name);
        QFETCH(int, type);
        QFETCH(int, layers);
        QFETCH(int, room);
        emulator::IdleKernels::state() = {};
        emulator::IdleKernels::state().all_idle = true;  // what counts here is the memory that is taken
        Gpu gpu(emulator::IdleKernels::table());
        LoadRequest request = on_cuda(request_for(name));
        request.k_type = request.v_type = KvType(type);
        request.placement.budget_fit_tokens = room;
        if (layers >= 0)
            request.placement.device_layers = layers;
        const auto plan = plan_of(request);
        QVERIFY2(plan, plan ? "" : plan.error().what.c_str());

        const auto model = load(request);
        QVERIFY(model);
        QVERIFY2(model->info().warnings.empty(), qPrintable(QString::number(model->info().warnings.size())));
        const auto empty = *model->placement().telemetry();
        QCOMPARE(plan->device_layers, empty.layers);
        const MemoryUse& planned = *plan->rows.front().device;
        QVERIFY(within_a_percent(planned.weight_bytes, empty.weight_bytes));
        QCOMPARE(planned.ring_bytes, empty.ring_bytes);
        QCOMPARE(planned.scratch_bytes, empty.scratch_bytes);
        QVERIFY(within_a_percent(plan->device_budget_bytes, empty.budget_bytes));
        if (gpu.emulated())  // what is said to be taken is taken
            QVERIFY(within_a_percent(planned.total(), std::int64_t(gpu.emulated()->used_bytes())));

        std::vector<int> ids(std::size_t(kContexts.back()), 1);
        KvSequence kv;
        model->placement().begin_turn();
        for (std::size_t i = 1; i < kContexts.size(); ++i) {
            while (kv.length() < kContexts[i]) {
                model->placement().advance();
                QVERIFY(model->append(kv, std::span(ids).first(1)));
            }
            const std::int64_t taken = model->placement().telemetry()->kv_bytes;
            const std::int64_t expected = plan->rows[i].device->kv_bytes;
            QVERIFY2(within_a_percent(expected, taken),
                     qPrintable(QString("%1 tokens: %2 planned, %3 taken").arg(kContexts[i]).arg(expected).arg(taken)));
        }
        QVERIFY(room == 0 || plan->spill_tokens);
        model->cache().truncate(kv, 0);
    }

    // Steps of a prompt are as long as a GPU is large, where there is memory.
    void aLargeGpuHasLongPrefillSteps_data()
    {
        QTest::addColumn<int>("multiprocessors");
        QTest::addColumn<int>("mebibytes");
        QTest::addColumn<int>("asked");
        QTest::addColumn<int>("context");
        QTest::addColumn<int>("tokens");
        QTest::addRow("small") << 28 << 4096 << 0 << 32768 << 512;
        QTest::addRow("middling") << 70 << 4096 << 0 << 32768 << 1024;
        QTest::addRow("large") << 132 << 4096 << 0 << 32768 << 2048;
        QTest::addRow("large, with little memory") << 132 << 16 << 0 << 32768 << 512;
        QTest::addRow("large, short conversations") << 132 << 4096 << 0 << 300 << 512;
        QTest::addRow("as the user wants") << 132 << 4096 << 300 << 32768 << 300;
    }
    void aLargeGpuHasLongPrefillSteps()
    {
        QFETCH(int, multiprocessors);
        QFETCH(int, mebibytes);
        QFETCH(int, asked);
        QFETCH(int, context);
        QFETCH(int, tokens);
        emulator::GpuFacts facts = small_gpu(mebibytes);
        facts.multiprocessors = multiprocessors;
        const Gpu gpu(facts);
        LoadRequest request = on_cuda(request_for("llama"));
        request.prefill_chunk_tokens = asked;
        const auto file = GgufFile::open(request.model);
        QVERIFY(file);
        const auto h = read_hyperparameters(*file);
        QVERIFY(h);
        if (qEnvironmentVariable("SPILLWAY_TEST_DEVICE") != "cuda" || asked > 0)
            QCOMPARE(with_prefill_chunk(request, *h, context, Weights{}, {}).prefill_chunk_tokens, tokens);
        request.placement.device = PlacementOptions::Device::Cpu;
        QCOMPARE(with_prefill_chunk(request, *h, context, Weights{}, {}).prefill_chunk_tokens, asked > 0 ? asked : 512);
    }

    // Windows ends a launch that runs for two seconds. The numbers are those of a GTX 1650, an RTX 3050 and an H100.
    void aSlowGpuHasShortPrefillStepsForWideModels_data()
    {
        QTest::addColumn<int>("major");
        QTest::addColumn<int>("multiprocessors");
        QTest::addColumn<int>("megahertz");
        QTest::addColumn<int>("width");
        QTest::addColumn<int>("feedForward");
        QTest::addColumn<int>("tokens");
        QTest::addRow("slow, 7B") << 7 << 14 << 1665 << 4096 << 14336 << 512;
        QTest::addRow("slow, 70B") << 7 << 14 << 1665 << 8192 << 28672 << 256;
        QTest::addRow("slow, and its clock is not known, 70B") << 7 << 14 << 0 << 8192 << 28672 << 128;
        QTest::addRow("slow, wider than anything") << 7 << 14 << 1 << 8192 << 28672 << 64;
        QTest::addRow("small, 70B") << 8 << 20 << 1777 << 8192 << 28672 << 512;
        QTest::addRow("large, 70B") << 9 << 132 << 1755 << 8192 << 28672 << 2048;
    }
    void aSlowGpuHasShortPrefillStepsForWideModels()
    {
        if (qEnvironmentVariable("SPILLWAY_TEST_DEVICE") == "cuda")
            QSKIP("the GPU has a speed of its own");
        QFETCH(int, major);
        QFETCH(int, multiprocessors);
        QFETCH(int, megahertz);
        QFETCH(int, width);
        QFETCH(int, feedForward);
        QFETCH(int, tokens);
        emulator::GpuFacts facts;
        facts.memory_bytes = std::size_t(64) << 30;  // nothing of it is taken
        facts.compute_major = major;
        facts.compute_minor = major == 7 ? 5 : 0;
        facts.multiprocessors = multiprocessors;
        facts.clock_khz = 1000 * megahertz;
        const Gpu gpu(facts);
        LoadRequest request = on_cuda(request_for("llama"));
        request.prefill_chunk_tokens = 0;
        const auto file = GgufFile::open(request.model);
        QVERIFY(file);
        auto h = read_hyperparameters(*file);
        QVERIFY(h);
        h->embedding_length = width;
        for (LayerParameters& layer : h->layers)
            layer.ffn_length = feedForward;
        const auto chunk = [&](int context) {
            return with_prefill_chunk(request, *h, context, Weights{}, {}).prefill_chunk_tokens;
        };
        QCOMPARE(chunk(131072), tokens);
        QCOMPARE(chunk(512), std::min(tokens, 512));  // a short conversation's only step is as wide
    }

    // Each step brings experts over the link again.
    void stepsThatBringExpertsAreLong()
    {
        if (qEnvironmentVariable("SPILLWAY_TEST_DEVICE") == "cuda")
            QSKIP("the GPU has another number of multiprocessors");
        constexpr std::int64_t kMebibyte = 1 << 20;
        emulator::GpuFacts facts = small_gpu(4096);
        facts.multiprocessors = 28;
        const Gpu gpu(facts);
        LoadRequest request = on_cuda(request_for("qwen3moe"));
        request.prefill_chunk_tokens = 0;
        const auto file = GgufFile::open(request.model);
        QVERIFY(file);
        auto h = read_hyperparameters(*file);
        QVERIFY(h);
        h->vocabulary = int(file->array_length("tokenizer.ggml.tokens").value_or(0));
        auto weights = Weights::read(*file, *h);
        QVERIFY(weights);
        const auto tokens = [&](std::int64_t mebibytes, std::optional<std::int64_t> host_bytes = {}) {
            weights->bytes = mebibytes * kMebibyte;
            return with_prefill_chunk(request, *h, 32768, *weights, host_bytes).prefill_chunk_tokens;
        };
        QCOMPARE(tokens(3072), 512);
        QCOMPARE(tokens(3073), 2048);
        QCOMPARE(tokens(3073, 1), 512);  // the host has no room for the file's pages: nothing comes
        request.placement.vram_budget_bytes = 2048 * kMebibyte;
        QCOMPARE(tokens(1537), 2048);
        request.placement.vram_budget_bytes = 0;
        request.placement.host_expert_layers = 1;
        QCOMPARE(tokens(1), 2048);
    }

    // All heads of a step's rows may be more than a grid has in its second direction.
    void aStepHasRoomForManyLatentHeads_data()
    {
        QTest::addColumn<int>("multiprocessors");
        QTest::newRow("small") << 28;
        QTest::newRow("large") << 132;
    }
    void aStepHasRoomForManyLatentHeads()
    {
        QFETCH(int, multiprocessors);
        constexpr int kHeads = 128, kContext = 4096;  // of DeepSeek V3
        emulator::GpuFacts facts;
        facts.multiprocessors = multiprocessors;
        const Gpu gpu(facts);
        LoadRequest request = on_cuda(request_for("deepseek2"));
        request.prefill_chunk_tokens = 0;
        const auto file = GgufFile::open(request.model);
        QVERIFY(file);
        auto h = read_hyperparameters(*file);
        QVERIFY(h && h->latent);
        for (LayerParameters& layer : h->layers)
            layer.heads = kHeads;
        const int rows = with_prefill_chunk(request, *h, kContext, Weights{}, {}).prefill_chunk_tokens;
        QVERIFY(rows * kHeads > 65535);
        const auto device = CudaDevice::open(0);
        QVERIFY(device);
        Vram vram(**device);
        CpuBackend cpu(*h, rows, kBlockTokens, 1);
        const KvCache cache(kv_shapes(*h, request), kBlockTokens, 1);
        const auto backend = CudaBackend::make(**device, vram, cpu, *h, cache, rows, kContext);
        QVERIFY2(backend, backend ? "" : backend.error().what.c_str());
    }

    void aBudgetThatFitsTokensSpillsThere()
    {
        Gpu gpu;
        LoadRequest request = on_cuda(request_for("llama"));
        request.placement.budget_fit_tokens = 96;
        const auto plan = plan_of(request);
        QVERIFY(plan);
        QCOMPARE(plan->spill_tokens, std::optional(96));
        QCOMPARE(plan->device_layers, plan->layers);
    }

    // A ring for a link is larger than one that the host's cores fill, and what is streamed goes round in it.
    void whatIsStreamedGoesRoundTheRing()
    {
        constexpr Lengths kLong{kTokens - 6, kTokens};
        const auto shape = [] { return request_for("llama"); };
        const Logits alone = run(
                                 *load(shape()), [](int) {}, kLong)
                                 .logits;
        Gpu gpu;
        LoadRequest request = on_cuda(shape());
        request.placement.budget_fit_tokens = 80;
        request.placement.kv_policy = KvPolicy::Stream;
        const auto model = load(request);
        QVERIFY(model);
        const auto block = std::int64_t(model->cache().layer(0).bytes());
        const std::int64_t ring = model->placement().telemetry()->ring_bytes;
        QVERIFY(ring > DeviceLayout::kFewestRingSlots * block);
        std::int64_t most = 0;
        const Run here = run(
            *model, [&](int) { most = std::max(most, model->placement().telemetry()->step_streamed_bytes); }, kLong);
        QVERIFY(here.status);
        QVERIFY(most > ring);
        QVERIFY(relative_difference(here.logits, alone) < kCpuAndCudaApart);
    }

    // Of attention's partials fewer rows are kept at a time where they are many and large.
    void partialsOfALongContextAreBounded_data()
    {
        QTest::addColumn<int>("heads");
        QTest::addColumn<int>("valueLength");
        QTest::addColumn<int>("tokens");
        QTest::addColumn<int>("rows");
        QTest::addColumn<int>("mebibytes");
        QTest::newRow("7B") << 32 << 128 << 32768 << 16 << 36;
        QTest::newRow("7B, 128K") << 32 << 128 << 131072 << 7 << 62;
        QTest::newRow("DeepSeek, 128K") << 128 << 512 << 131072 << 1 << 132;
        QTest::newRow("one row is more than all may be") << 128 << 512 << (1 << 20) << 1 << 1040;
    }
    void partialsOfALongContextAreBounded()
    {
        QFETCH(int, heads);
        QFETCH(int, valueLength);
        QFETCH(int, tokens);
        QFETCH(int, rows);
        QFETCH(int, mebibytes);
        const auto file = GgufFile::open(request_for("llama").model);
        QVERIFY(file);
        auto read = read_hyperparameters(*file);
        QVERIFY(read);
        Hyperparameters& h = *read;
        for (LayerParameters& layer : h.layers) {
            layer.heads = heads;
            layer.value_length = valueLength;
        }
        const KvLayerShape kv{1, {kernels::KvType::F16, kernels::KvType::F16, valueLength, valueLength, 256}};
        const KvCache cache(std::vector<KvLayerShape>(h.layers.size(), kv), 256, 1);
        const CudaSizes sizes(h, cache, 16, tokens);
        QCOMPARE(sizes.few_rows, rows);
        QVERIFY2(sizes.partials >> 20 <= std::size_t(mebibytes), qPrintable(QString::number(sizes.partials >> 20)));
        QVERIFY(sizes.partials >> 20 >= std::size_t(mebibytes) * 9 / 10);
    }

    void aDeviceIsMeasured()
    {
        Gpu gpu(small_gpu(16));
        const auto rates = measure_cuda_rates(0);
        QVERIFY2(rates, rates ? "" : rates.error().what.c_str());
        QVERIFY(!rates->name.empty());
        for (const auto rate :
             {rates->copy_bytes_per_s, rates->weights_bytes_per_s, rates->small_kernels_s, rates->attention_bytes_per_s,
              rates->attention_q8_0_bytes_per_s, rates->to_device_bytes_per_s, rates->to_host_bytes_per_s,
              rates->unlocked_to_device_bytes_per_s, rates->stream_bytes_per_s, rates->hand_off_s,
              rates->flag_hand_off_s})
            QVERIFY(rate && *rate > 0);
        QVERIFY(*rates->hand_off_s < 1);
        QCOMPARE(gpu.complaints(), std::string());
        MachineRates all;
        all.devices["cuda:0"] = *rates;
        all.threads = 1;
        const auto again = parse_machine_rates(to_json(all));
        QVERIFY2(again, again ? "" : again.error().what.c_str());
        QCOMPARE(again->devices.at("cuda:0").name, rates->name);
        QCOMPARE(again->devices.at("cuda:0").attention_q8_0_bytes_per_s, rates->attention_q8_0_bytes_per_s);
        QCOMPARE(again->devices.at("cuda:0").copy_bytes_per_s, rates->copy_bytes_per_s);
        QCOMPARE(again->devices.at("cuda:0").small_kernels_s, rates->small_kernels_s);
        QCOMPARE(again->devices.at("cuda:0").flag_hand_off_s, rates->flag_hand_off_s);
        QCOMPARE(again->devices.at("cuda:0").stream_bytes_per_s, rates->stream_bytes_per_s);
    }

    // Under Windows nothing of a launch begins before somebody asks the driver.
    void flagsAreSeenWhereWorkIsCollected()
    {
        emulator::GpuFacts facts = small_gpu(16);
        facts.collects_work = true;
        Gpu gpu(facts);
        const auto device = CudaDevice::open(0);
        QVERIFY(device);
        const auto meter = DeviceMeter::make(**device);
        QVERIFY(meter);
        const auto hand_off_s = measure_flag_hand_off_s(*meter);
        QVERIFY2(hand_off_s, hand_off_s ? "" : hand_off_s.error().what.c_str());
        QVERIFY(*hand_off_s > 0);
    }

    void aModelsOwnRatesAreMeasured()
    {
        Gpu gpu(small_gpu(16));
        const LoadRequest request = on_cuda(request_for("llama"));
        const auto planner = Planner::open(request.model);
        QVERIFY(planner);
        const auto rates = planner->measure_rates(request);
        QVERIFY2(rates, rates ? "" : rates.error().what.c_str());
        const auto plan = planner->plan(request, kContexts, &*rates);
        QVERIFY(plan);
        for (const PlanRow& row : plan->rows)
            QVERIFY(row.tok_s && *row.tok_s > 0);
        QCOMPARE(gpu.complaints(), std::string());
    }

    // Calls of the driver fail, each in a run of its own.
    void aDeviceThatFailsWhileItIsMeasuredIsNoEnd()
    {
        int all = 0;
        {
            Gpu gpu(small_gpu(8));
            if (!gpu.emulated())
                QSKIP("a real device does not fail at will");
            const auto rates = measure_cuda_rates(0);
            QVERIFY2(rates, rates ? "" : rates.error().what.c_str());
            all = gpu.emulated()->calls();
        }
        // Six of them, others each time: measuring takes seconds.
        const int apart = std::max(1, all / 6);
        const int first = 1 + int(QRandomGenerator::global()->bounded(apart));
        qInfo("from call %d of %d on, each %d", first, all, apart);
        for (int call = first; call < all; call += apart) {
            Gpu gpu(small_gpu(8));
            gpu.emulated()->fail_call(call, cuda::Status::LaunchFailed);
            const auto rates = measure_cuda_rates(0);
            QVERIFY(rates || !rates.error().what.empty());
            QCOMPARE(gpu.emulated()->leaks(), std::string());
        }
    }

    void ratesOfAnotherGpuSayNothing()
    {
        Gpu gpu(small_gpu(16));
        const LoadRequest request = on_cuda(request_for("llama"));
        const auto here = measure_cuda_rates(0);
        QVERIFY(here);
        const MachineRates right = some_rates(here->name), wrong = some_rates("another one");
        const auto known = plan_of(request, &right), unknown = plan_of(request, &wrong);
        QVERIFY(known && unknown);
        for (std::size_t i = 0; i < kContexts.size(); ++i) {
            QVERIFY(known->rows[i].tok_s);
            QVERIFY(!unknown->rows[i].tok_s);
        }
        // More context is never faster, and q8_0 reads half the bytes at half the rate that was said of it.
        for (std::size_t i = 1; i < kContexts.size(); ++i)
            QVERIFY(*known->rows[i].tok_s <= *known->rows[i - 1].tok_s);
    }

    void whatCannotBePlannedIsSaid()
    {
        Gpu gpu;
        LoadRequest request = on_cuda(request_for("llama"));
        request.placement.cuda_ordinal = 99;
        const auto other = plan_of(request);
        QVERIFY(!other);
        QVERIFY(other.error().what.find("99") != std::string::npos);
        request.placement.cuda_ordinal = 0;
        request.k_type = request.v_type = KvType::F32;
        const auto floats = plan_of(request);
        QVERIFY(!floats);
        QCOMPARE(floats.error().code, Error::Code::Unsupported);
    }
};

QTEST_GUILESS_MAIN(TestCudaPlan)
#include "tst_cuda_plan.moc"
