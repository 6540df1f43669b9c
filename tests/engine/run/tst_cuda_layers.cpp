// Tests that a dense layer takes few kernels on a GPU, and that shapes which no model of the project's own has are
// computed.
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
