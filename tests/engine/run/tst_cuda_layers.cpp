// Tests that a dense layer takes few kernels on a GPU, and that shapes which no model of the project's own has are
// computed.
#include "engine/tools/selftest_cuda.h"
#include "tests/engine/run/cuda_conversations.h"
#include "tests/support/chain_model.h"
#include "tests/support/cuda/idle_kernels.h"
#include "tests/support/dense_model.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <set>

using namespace test_support;

class TestCudaLayers : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;

    LoadRequest request(const support::DenseModel& model) const
    {
        const std::filesystem::path path = m_folder.filePath("dense.gguf").toStdString();
        model.save(path);
        LoadRequest request = request_for("llama");
        request.model = path.string();
        return request;
    }

private Q_SLOTS:
    void initTestCase()
    {
        if (qEnvironmentVariable("SPILLWAY_TEST_DEVICE") == "cuda")
            QSKIP("a real driver does not count");
    }

    // What a GPU has failed at may show only when the rows are fetched.
    void anEmbeddingThatFailedIsNoZero()
    {
        LoadRequest request = on_cuda({});
        request.model = m_folder.filePath("chain.gguf").toStdString();
        request.threads = 1;
        support::ChainModel({}).embeds(1).save(request.model);
        const auto embedded = [&]() -> Result<Embedding> {
            const auto engine = make_engine();
            if (const auto info = engine->load(request, {}, {}); !info)
                return tl::unexpected(info.error());
            return engine->embed({"abc"}, {});
        };
        std::vector<float> whole;
        int calls = 0;
        {
            Gpu gpu;
            const auto made = embedded();
            QVERIFY2(made, made ? "" : made.error().what.c_str());
            whole = made->values;
            calls = gpu.emulated()->calls();
        }
        // Those before open the model, those behind close it.
        for (int call = calls / 2; call < calls * 3 / 4; ++call) {
            Gpu gpu;
            gpu.emulated()->fail_call(call, cuda::Status::LaunchFailed);
            const auto made = embedded();
            QCOMPARE(made ? made->values.size() : whole.size(), whole.size());
            for (std::size_t i = 0; made && i < whole.size(); ++i)
                QVERIFY2(std::abs(made->values[i] - whole[i]) < 1e-3F, qPrintable(QString::number(call)));
        }
    }

    // Each launch costs a decode step more than its arithmetic does. What grew here by one costs 1 us a layer and
    // token.
    void aLayerTakesFewLaunches_data()
    {
        using enum kernels::TensorType;
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("vType");
        QTest::addColumn<int>("launches");
        // The first norm; of each layer q + k + v with their heads, attention and its merge, output and norm, gate + up
        // and rounding, down and the next layer's norm.
        QTest::newRow("Q4_K_M") << int(Q4_K) << int(Q6_K) << 1 + 2 * 5;
        QTest::newRow("Q5_K_M") << int(Q5_K) << int(Q6_K) << 1 + 2 * 5;
        QTest::newRow("Q8_0") << int(Q8_0) << int(Q8_0) << 1 + 2 * 5;
        QTest::newRow("F16, which rounds nothing") << int(F16) << int(F16) << 1 + 2 * 5;
        QTest::newRow("types that are not multiplied together") << int(Q8_0) << int(Q4_K) << 1 + 2 * 6;
    }
    void aLayerTakesFewLaunches()
    {
        QFETCH(int, type);
        QFETCH(int, vType);
        QFETCH(int, launches);
        Gpu gpu;
        support::DenseModel dense;
        dense.layers = 3;
        dense.type = kernels::TensorType(type);
        dense.v_type = kernels::TensorType(vType);
        const auto model = load(on_cuda(request(dense), 2));  // the other layer and the head are the host's
        QVERIFY(model);
        std::set<int> taken;
        int before = 0;
        const Run here = run(*model,
                             [&](int token) {
                                 const int now = gpu.emulated()->kernels_run();
                                 if (token > 18)
                                     taken.insert(now - before);
                                 before = now;
                             },
                             {16, 24});
        QVERIFY(here.status);
        QCOMPARE(taken, std::set<int>{launches});
    }

    // Windows ends a launch that runs too long, and with it the device. So on a slow one attention of many tokens is
    // divided; what is slow here is the clock.
    void aLongPromptIsAttendedInLaunchesThatEndSoon()
    {
        constexpr Lengths kPrompt{320, 321};
        const auto read = [&](const emulator::GpuFacts& facts, std::uint64_t& longest, std::string& fault) {
            Gpu gpu(facts);
            const auto model = load(never_leaving());
            const Run here = model ? run(*model, {}, kPrompt) : Run();
            longest = gpu.emulated()->longest_launch();
            fault = gpu.emulated()->fault();
            return here;
        };
        std::uint64_t longest = 0, longest_part = 0, until_lost = 0;
        std::string fault;
        const Run whole = read({}, longest, fault);
        QVERIFY(whole.status);
        QCOMPARE(fault, std::string());
        const Run parts = read({.clock_khz = 1}, longest_part, fault);
        QVERIFY(parts.status);
        QCOMPARE(fault, std::string());
        QVERIFY2(2 * longest_part < longest, qPrintable(QString("%1, %2").arg(longest_part).arg(longest)));
        const double apart = relative_difference(parts.logits, whole.logits);
        QVERIFY2(apart < kCpuAndCudaApart, qPrintable(QString::number(apart)));

        // What is not divided does not come through.
        const Run ended = read({.most_stops = 2 * longest_part}, until_lost, fault);
        QVERIFY(ended.status);  // the CPU goes on
        QCOMPARE(count(ended.events, Event::Kind::DeviceLost), 1);
        QVERIFY2(fault.starts_with("attend_many"), fault.c_str());
    }

    // Only the next product reads a prompt's gated values, in 8 bits: floats of them would be written for nobody.
    void aPromptsGatedValuesAreWrittenRounded()
    {
        emulator::IdleKernels::state() = {};
        Gpu gpu(emulator::IdleKernels::table());
        const auto model = load(on_cuda(request(support::DenseModel())));
        QVERIFY(model);
        const Run here = run(*model, {}, {20, 21});
        QVERIFY(here.status);
        const std::set<std::string>& launched = emulator::IdleKernels::state().launched;
        QVERIFY(launched.contains("gated_q8"));
        QVERIFY(!launched.contains("gated"));
    }

    // SmolLM has 9 and 15 query heads: what the host attends of a sequence lies behind as many numbers.
    void oddHeadCountsAreSharedWithTheHost()
    {
        Gpu gpu;
        support::DenseModel dense;
        dense.heads = 9;
        dense.kv_heads = 3;
        dense.layers = 2;
        dense.type = dense.v_type = kernels::TensorType::Q8_0;
        LoadRequest placed = on_cuda(request(dense));
        const auto cpu = load(request(dense));
        QVERIFY(cpu);
        const Logits truth = run(*cpu, {}, kShort).logits;
        placed.placement.kv_policy = KvPolicy::Merge;
        placed.placement.kv_offload_share = 0.5;
        auto model = load(placed);
        QVERIFY(model);
        std::int64_t on_cpu = 0;
        const Run here = run(
            *model,
            [&](int) {
                const auto t = model->placement().telemetry();
                on_cpu += t ? t->step_attended_on_host_bytes : 0;
            },
            kShort);
        QVERIFY(here.status);
        QVERIFY(on_cpu > 0);
        QVERIFY2(relative_difference(here.logits, truth) < 0.02,
                 qPrintable(QString::number(relative_difference(here.logits, truth))));
        model.reset();
        QVERIFY2(gpu.complaints().empty(), gpu.complaints().c_str());
    }
};

SPILLWAY_TEST(QCoreApplication, TestCudaLayers)
#include "tst_cuda_layers.moc"
