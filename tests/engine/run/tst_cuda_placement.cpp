// Tests that models run on a GPU through the CUDA driver. Wherever layers and KV lie, logits stay close to those of the
// reference, and two runs with the same placement give the same bits. The GPU is the emulated one, or a real one where
// SPILLWAY_TEST_DEVICE is "cuda".
#include "engine/machine.h"
#include "engine/placement_text.h"
#include "engine/tools/selftest_cuda.h"
#include "tests/engine/run/cuda_conversations.h"
#include "tests/support/reference_logits.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <array>
#include <atomic>

using namespace test_support;
namespace cuda = kernels::cuda;

namespace {

constexpr int kFewTokens = 12;  // of an answer: the prompt of 150 ends in one block, and it in the next

/// The prompt, and the ids that follow it, of a reference.
std::vector<int> tokens_of(const Reference& r)
{
    std::vector<int> tokens = r.tokens;
    tokens.insert(tokens.end(), r.greedy.begin(), r.greedy.end() - 1);
    return tokens;
}

/// Lets another program hold this many bytes of the emulated GPU, and waits until the engine knows, which asks ten
/// times a second. Where it never does, the test ends.
void let_program_hold(Gpu& gpu, const ModelPlacement& placement, std::int64_t bytes)
{
    gpu.emulated()->hold_memory(std::size_t(bytes));
    const Device& device = placement.device()->device();
    const std::int64_t left = device.total_bytes() - std::int64_t(gpu.emulated()->used_bytes());
    if (!QTest::qWaitFor([&] { return device.other_programs_bytes() == std::min(bytes, left); }))
        qFatal("the engine does not notice what another program holds");
}

/// Waits until all has moved that has to, and returns how many layers are on the device then.
int layers_when_settled(ModelPlacement& placement)
{
    for (int i = 0; i < 10'000 && placement.advance(); ++i) {
    }
    return placement.layers();
}

int layers_beside_program(Gpu& gpu, ModelPlacement& placement, std::int64_t held_bytes)
{
    let_program_hold(gpu, placement, held_bytes);
    (void)layers_when_settled(placement);
    let_program_hold(gpu, placement, held_bytes);  // it may have taken what was given up for it only now
    return layers_when_settled(placement);
}

std::atomic<bool> g_full = false;

/// The driver has no memory to give while g_full is set, whatever it says of what is free.
cuda::DriverTable table_of_full_gpu()
{
    cuda::DriverTable table = emulator::EmulatedGpu::table();
    table.memory_alloc = [](cuda::DevicePtr* memory, std::size_t bytes) {
        return g_full ? cuda::Status::OutOfMemory : emulator::EmulatedGpu::table().memory_alloc(memory, bytes);
    };
    return table;
}

}  // namespace

class TestCudaPlacement : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void theGpuIsListed()
    {
        Gpu gpu;
        const auto all = devices();
        QCOMPARE(all.front().id, std::string("cpu"));
        QVERIFY(all.size() >= 2);
        QCOMPARE(all[1].id, std::string("cuda:0"));
        QVERIFY(*all[1].memory_total_bytes > 0);
        QVERIFY(all[1].description.find("cannot") == std::string::npos);
    }

    // As when the machine is measured, or another split is predicted, while a conversation's KV comes and goes.
    void anotherMayOpenAndCloseTheGpuMeanwhile()
    {
        const auto logits = [](const std::function<void(int)>& between) {
            Gpu gpu;
            const auto model = load(leaving_after(96, KvPolicy::Stream));
            if (!model)
                return Logits();
            const Run here = run(*model, between, kLengths);
            return here.status && model->placement().has_device() ? here.logits : Logits();
        };
        const Logits alone = logits({});
        QVERIFY(!alone.empty());
        QCOMPARE(first_difference(logits([](int) { QVERIFY(CudaDevice::open(0)); }), alone), -1);
    }

    /// Another program takes so much of the GPU that not even a block of tokens would find room beside the layers.
    void aPromptIsReadManyRowsAtATimeBesideAnotherProgram()
    {
        for (const char* const name : {"llama", "gemma3"}) {
            Gpu gpu;
            if (!gpu.emulated())
                QSKIP("what other programs hold can be set on the emulated GPU only");
            const auto model = load(on_cuda(request_for(name)));
            QVERIFY(model);
            ModelPlacement& placement = model->placement();
            const int layers = placement.layers();
            QVERIFY(layers > 1);
            const auto device = *placement.telemetry();
            const std::int64_t budget = std::int64_t(double(device.used_bytes() - device.kv_ahead_bytes + 1000) / 0.95);
            let_program_hold(gpu, placement, device.total_bytes - budget);
            QCOMPARE(model->max_rows(), 1);
            QVERIFY(layers_when_settled(placement) < layers);
            QVERIFY(model->max_rows() >= kBlockTokens);
            int moved = 0;
            for (const Event& event : placement.take_events())
                moved += event.kind == Event::Kind::LayerMove && event.cause == Event::Cause::OtherProgram;
            QCOMPARE(moved, layers - placement.layers());

            QCOMPARE(layers_beside_program(gpu, placement, 0), layers);
        }
    }

    /// A step finds no memory that another program has just taken, and gives a layer up for it. It comes back with the
    /// memory.
    void aLayerThatLeftForWantOfMemoryComesBack()
    {
        Gpu gpu;
        if (!gpu.emulated())
            QSKIP("a real device does not fail at will");
        const auto model = load(on_cuda(request_for("llama")));
        QVERIFY(model);
        ModelPlacement& placement = model->placement();
        const int layers = placement.layers();
        const std::vector<int> ids = some_tokens(*model);
        KvSequence kv;
        placement.begin_turn();
        while (placement.layers() == layers && kv.length() < kTokens) {  // what fails may be something dispensable
            gpu.emulated()->fail_call(20, cuda::Status::OutOfMemory);
            QVERIFY(model->append(kv, std::span(ids).subspan(std::size_t(kv.length()), 40)));
        }
        QCOMPARE(placement.layers(), layers - 1);
        const auto device = *placement.telemetry();
        const std::int64_t room = device.watermark_bytes - device.used_bytes();
        QVERIFY(room > 4 * device.weight_bytes);
        QCOMPARE(layers_beside_program(gpu, placement, 0), layers - 1);
        QCOMPARE(layers_beside_program(gpu, placement, room / 2), layers - 1);
        QCOMPARE(layers_beside_program(gpu, placement, 0), layers);
        model->cache().truncate(kv, 0);
    }

    /// Answers side by side find no memory, and give a layer up for it. When they end another program has the room: the
    /// layer comes back when that one ends, too.
    void aLayerThatLeftForOtherAnswersComesBackAfterAProgram()
    {
        Gpu gpu;
        if (!gpu.emulated())
            QSKIP("a real device does not fail at will");
        const auto model = load(on_cuda(request_for("llama")));
        QVERIFY(model);
        ModelPlacement& placement = model->placement();
        const int layers = placement.layers();
        const std::vector<int> ids = some_tokens(*model);
        std::array<KvSequence, 2> answers;
        placement.begin_turn();
        for (int i = 0; placement.layers() == layers && i < 16; ++i) {
            KvSequence& kv = answers[std::size_t(i % 2)];
            if (i >= 2)  // both are in use; what fails may be something dispensable
                gpu.emulated()->fail_call(20 + i, cuda::Status::OutOfMemory);
            QVERIFY(model->append(kv, std::span(ids).subspan(std::size_t(kv.length()), 40)));
        }
        QCOMPARE(placement.layers(), layers - 1);
        const auto device = *placement.telemetry();
        const std::int64_t held_bytes = device.total_bytes - device.weight_bytes;
        for (int i = 0; i < 2; ++i)  // what leaves first makes the room smaller
            QVERIFY(layers_beside_program(gpu, placement, held_bytes) < layers);
        for (KvSequence& kv : answers)
            model->cache().truncate(kv, 0);
        QVERIFY(layers_beside_program(gpu, placement, held_bytes) < layers);
        QCOMPARE(layers_beside_program(gpu, placement, 0), layers);
    }

    /// Layers are on their way back when the next program takes the memory, of which nothing is known yet.
    void layersWhoseReturnFailsComeBackLater()
    {
        const cuda::DriverTable table = table_of_full_gpu();
        Gpu gpu(table);
        if (!gpu.emulated())
            QSKIP("what other programs hold can be set on the emulated GPU only");
        const auto model = load(on_cuda(request_for("llama")));
        QVERIFY(model);
        ModelPlacement& placement = model->placement();
        const int layers = placement.layers();
        const auto device = *placement.telemetry();
        const std::int64_t budget = std::int64_t(double(device.used_bytes() - device.kv_ahead_bytes + 1000) / 0.95);
        QVERIFY(layers_beside_program(gpu, placement, device.total_bytes - budget) < layers);

        let_program_hold(gpu, placement, 0);
        g_full = true;
        QVERIFY(layers_when_settled(placement) < layers);
        g_full = false;
        QVERIFY(layers_beside_program(gpu, placement, device.total_bytes) < layers);
        QCOMPARE(layers_beside_program(gpu, placement, 0), layers);
    }

    /// Experts that left for another program come back when it has ended, though no layer has left.
    void expertsThatLeftForAnotherProgramComeBack()
    {
        for (const bool copies : {false, true}) {
            Gpu gpu;
            if (!gpu.emulated())
                QSKIP("what other programs hold can be set on the emulated GPU only");
            LoadRequest request = on_cuda(request_for("qwen3moe"));
            if (copies)
                request.placement.expert_cache_bytes.reset();
            const auto model = load(request);
            QVERIFY(model);
            const auto beside_programs = [&](std::int64_t held_bytes) {
                (void)layers_beside_program(gpu, model->placement(), held_bytes);
                return *model->placement().telemetry();
            };
            const DeviceTelemetry before = beside_programs(0);
            QCOMPARE(before.layers, model->info().layers);
            const std::int64_t budget = std::int64_t(double(before.used_bytes() - before.kv_ahead_bytes + 1000) / 0.95);
            const DeviceTelemetry beside = beside_programs(before.total_bytes - budget);
            QCOMPARE(beside.layers, before.layers);
            QVERIFY(beside.weight_bytes < before.weight_bytes);
            const DeviceTelemetry after = beside_programs(0);
            QCOMPARE(after.layers, before.layers);
            QCOMPARE(after.weight_bytes, before.weight_bytes);
        }
    }

    /// What conversations may have of the host's memory is what the weights leave that lie there now.
    void layersThatComeHomeTakeTheMemoryOfConversations()
    {
        Gpu gpu;
        const auto model = load(on_cuda(request_for("llama")));
        QVERIFY(model);
        ModelPlacement& placement = model->placement();
        const auto limit = [&] { return model->cache().memory_limit().bytes; };
        const auto on_gpu = [&] { return placement.telemetry()->weight_bytes; };
        const std::int64_t most = limit(), weights = on_gpu();
        if (most == KvMemoryLimit().bytes)
            QSKIP("this machine does not tell how much memory is free");
        for (const int layers : {1, 0, model->info().layers}) {
            QVERIFY(placement.apply(SetDeviceLayers{layers}));
            while (placement.advance()) {
            }
            QCOMPARE(placement.layers(), layers);
            QCOMPARE(most - limit(), weights - on_gpu());
        }
        QVERIFY(weights > 0);
        QCOMPARE(limit(), most);
    }

    void everyArchitectureAgreesWithTheReference_data()
    {
        QTest::addColumn<QString>("base");
        QStringList bases = models_with_results(own_models_folder());
        if (!golden_folder().isEmpty() && qEnvironmentVariable("SPILLWAY_TEST_DEVICE") == "cuda")
            bases += models_with_results(golden_folder() + "/logits");
        for (const QString& base : std::as_const(bases))
            QTest::addRow("%s", qPrintable(base.section('/', -2))) << base;
    }
    void everyArchitectureAgreesWithTheReference()
    {
        QFETCH(QString, base);
        Gpu gpu;
        const Reference r = read_reference(base);
        const std::vector<int> tokens = tokens_of(r);
        LoadRequest request = on_cuda({});
        request.threads = 1;
        request.kv_block_tokens = 16;
        request.prefill_chunk_tokens = int(r.tokens.size()) - 7;  // many rows, then a few
        const auto rows = run(base, r, tokens, request);
        const std::size_t n = r.logits.size() / r.positions.size();
        QCOMPARE(rows.size(), tokens.size() * n);
        const double error = relative_error(rows, r);
        const double bound = kHalvesBesideKv * r.bound;
        QVERIFY2(error <= bound, qPrintable(QString("error %1, bound %2").arg(error).arg(bound)));
        const auto row = [&](std::size_t t) { return std::span(rows).subspan(t * n, n); };
        for (std::size_t t = 0; t < r.tokens.size(); ++t)
            if (r.gap[t] > 6 * r.error)
                QCOMPARE(argmax(row(t)), r.argmax[t]);
        for (std::size_t i = 0; i < r.greedy.size() && r.greedy_gap[i] > 6 * r.error; ++i)
            QCOMPARE(argmax(row(r.tokens.size() - 1 + i)), r.greedy[i]);
        QCOMPARE(gpu.complaints(), std::string());
    }

    void everyPlacementKeepsCloseAndItsBits_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("policy");
        QTest::addColumn<int>("layers");  // -1: as many as fit
        for (const char* const name : {"llama", "gemma2", "gemma4-e", "deepseek2"})
            for (const KvPolicy policy : {KvPolicy::Stream, KvPolicy::Merge, KvPolicy::Auto, KvPolicy::CpuDecode})
                for (const int layers : {-1, 1})
                    if (layers < 0 || policy == KvPolicy::Stream || policy == KvPolicy::CpuDecode)
                        QTest::addRow("%s, %s, %d layers", name, std::string(name_of(policy)).c_str(), layers)
                            << QString(name) << int(policy) << layers;
    }
    void everyPlacementKeepsCloseAndItsBits()
    {
        QFETCH(QString, name);
        QFETCH(int, policy);
        QFETCH(int, layers);
        Gpu gpu;
        const Logits alone = shortRun(*load(request_for(name))).logits;
        LoadRequest request = with_room_for(request_for(name), 96);
        request.placement.kv_policy = KvPolicy(policy);
        request.placement.host_expert_layers = 0;  // they would give way to KV
        if (layers >= 0)
            request.placement.device_layers = layers;
        Logits first;
        const int times = layers < 0 && name == "llama" ? 2 : 1;
        for (int time = 0; time < times; ++time) {
            const auto model = load(request);
            QVERIFY(model);
            const Run here = shortRun(*model);
            QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
            const auto device = model->placement().telemetry();
            QVERIFY(device);
            QVERIFY(device->layers > 0);
            QVERIFY(device->used_bytes() <= device->budget_bytes);
            if (layers < 0 && KvPolicy(policy) != KvPolicy::CpuDecode)
                QVERIFY(count(here.events, Event::Kind::Offload) > 0);
            const double apart = relative_difference(here.logits, alone);
            QVERIFY2(apart < kCpuAndCudaApart, qPrintable(QString::number(apart)));
            if (time == 0)
                first = here.logits;
            QCOMPARE(first_difference(here.logits, first), -1);
        }
        QCOMPARE(gpu.complaints(), std::string());
    }

    // Each call of the driver fails once, as far as that can be waited for: other ones with every seed.
    void aFailureAtAnyCallIsNoEnd_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("status");
        QTest::newRow("the device is lost") << "gemma3" << int(cuda::Status::LaunchFailed);
        QTest::newRow("no memory is left") << "llama" << int(cuda::Status::OutOfMemory);
    }
    void aFailureAtAnyCallIsNoEnd()
    {
        QFETCH(QString, name);
        QFETCH(int, status);
        constexpr Lengths kShort{50, 58};
        const Logits alone = shortRun(*load(request_for(name)), kShort).logits;
        int opening = 0, all = 0;  // calls
        {
            Gpu gpu;
            if (!gpu.emulated())
                QSKIP("a real device does not fail at will");
            {
                const auto device = CudaDevice::open(0);
                QVERIFY(device);
                opening = gpu.emulated()->calls();
            }
            all = -gpu.emulated()->calls();
            const auto model = load(on_cuda(request_for(name)));
            (void)shortRun(*model, kShort);
            all += gpu.emulated()->calls();
        }
        // The first ones one by one, then further and further apart.
        std::mt19937 random(m_seed);
        int noted = 0, tried = 0;
        for (int call = opening + 1; call < all; ++tried) {
            Gpu gpu;
            gpu.emulated()->fail_call(call, cuda::Status(status));
            {
                const auto model = load(on_cuda(request_for(name)));
                QVERIFY(model);
                const Run here = shortRun(*model, kShort);
                QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
                QVERIFY2(relative_difference(here.logits, alone) < kCpuAndCudaApart, qPrintable(QString::number(call)));
                noted += !here.events.empty() || !model->info().warnings.empty();
            }
            QCOMPARE(gpu.emulated()->fault(), std::string());
            if (cuda::is_device_lost(cuda::Status(status)))  // else the call that fails may be one that gives back
                QCOMPARE(gpu.emulated()->leaks(), std::string());
            call += 1 + int(random() % unsigned(1 + (call - opening) / 2));
        }
        // Some calls fail without consequence, those that page-lock memory or give something back; how many of them are
        // tried is chance.
        QVERIFY2(noted > 0, qPrintable(QString("%1 of %2").arg(noted).arg(tried)));
    }

    void whatCannotBeIsRefusedWithASentence()
    {
        Gpu gpu;
        const auto refused = [](const LoadRequest& request) {
            const auto model = LoadedModel::load(
                request, {[](const LoadProgress&) {}, [] { return false; }, [](const std::string&) {}});
            return model ? std::string() : model.error().what;
        };
        LoadRequest floats = on_cuda(request_for("llama"));
        floats.k_type = floats.v_type = KvType::F32;
        QVERIFY(refused(floats).find("f32") != std::string::npos);
        LoadRequest other = on_cuda(request_for("llama"));
        other.placement.cuda_ordinal = 99;
        QVERIFY(refused(other).find("no CUDA device 99") != std::string::npos);
    }

private:
    static Run shortRun(LoadedModel& model, const Lengths& tokens = {kPrefillTokens, kPrefillTokens + kFewTokens})
    {
        const auto nothing = [](int) {};
        return test_support::run(model, nothing, tokens);
    }

    const unsigned m_seed = std::random_device{}();
};

SPILLWAY_TEST(QCoreApplication, TestCudaPlacement)
#include "tst_cuda_placement.moc"
