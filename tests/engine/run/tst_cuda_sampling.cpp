// Tests that a GPU finds the largest logits itself where a sampler looks at no others: the answer is the same, and
// fewer bytes travel over the link.
#include "engine/engine.h"
#include "tests/support/cuda_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <atomic>

using namespace test_support;

namespace {

constexpr int kAnswerTokens = 40;

std::size_t rowBytes = 0;         // of all logits
std::atomic<int> rowsFetched{0};  // as the driver sees it

/// As the emulated one, and it counts the rows of logits that go to the host.
cuda::DriverTable tableThatCounts()
{
    cuda::DriverTable table = emulator::EmulatedGpu::table();
    table.copy_to_host = [](void* to, cuda::DevicePtr from, std::size_t bytes, cuda::Queue queue) {
        rowsFetched += bytes == rowBytes;
        return emulator::EmulatedGpu::table().copy_to_host(to, from, bytes, queue);
    };
    return table;
}

struct SampledAnswer {
    std::string text;
    int tokens = 0;
    int rows_fetched = 0;
};

SampledAnswer sampledAnswer(const SamplingOptions& sampling)
{
    const std::unique_ptr<Engine> engine = make_engine();
    const auto info = engine->load(on_cuda(request_for("llama")), {}, {});
    if (!info)
        qFatal("%s", info.error().what.c_str());
    Request request;
    request.raw_prompt = "the quick brown fox";
    request.sampling = sampling;
    request.max_tokens = kAnswerTokens;
    rowsFetched = 0;
    const auto turn = engine->generate(engine->create_sequence().value(), request, {}, {});
    if (!turn)
        qFatal("%s", turn.error().what.c_str());
    return {turn->text, turn->answer.count(), rowsFetched};
}

/// Changes no logit, but the sampler cannot know that: it takes all of them.
SamplingOptions withAllLogits(SamplingOptions sampling)
{
    sampling.presence_penalty = 1e-30f;
    return sampling;
}

}  // namespace

class TestCudaSampling : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        if (qEnvironmentVariable("SPILLWAY_TEST_DEVICE") == "cuda")
            QSKIP("a real driver does not count");
        rowBytes = std::size_t(load(request_for("llama"))->info().vocabulary) * sizeof(float);
    }

    // A GPU computes behind the host's back: a prompt's time is over when it was computed, not when it was queued.
    void aPromptsTimeIsTheDevices()
    {
        emulator::GpuFacts facts;
        facts.delay = std::chrono::milliseconds(300);
        Gpu gpu(facts);
        const std::unique_ptr<Engine> engine = make_engine();
        QVERIFY(engine->load(on_cuda(request_for("llama")), {}, {}));
        Request request;
        request.raw_prompt = "the quick brown fox";
        request.max_tokens = 1;
        const auto turn = engine->generate(engine->create_sequence().value(), request, {}, {});
        QVERIFY(turn && turn->telemetry.shares);
        QVERIFY2(turn->telemetry.shares->prefill_s >= 0.3,
                 qPrintable(QString::number(turn->telemetry.shares->prefill_s)));
    }

    void theLargestLogitsGiveTheSameAnswer_data()
    {
        QTest::addColumn<float>("temperature");
        QTest::addColumn<int>("topK");
        QTest::addColumn<float>("xtc");
        QTest::addColumn<float>("typical");
        QTest::newRow("greedy") << 0.0f << 40 << 0.0f << 1.0f;
        QTest::newRow("of 40") << 1.5f << 40 << 0.0f << 1.0f;
        QTest::newRow("of one") << 1.5f << 1 << 0.0f << 1.0f;
        QTest::newRow("xtc and typical") << 1.5f << 100 << 0.5f << 0.9f;
    }
    void theLargestLogitsGiveTheSameAnswer()
    {
        QFETCH(float, temperature);
        QFETCH(int, topK);
        QFETCH(float, xtc);
        QFETCH(float, typical);
        const cuda::DriverTable table = tableThatCounts();
        for (const std::uint64_t seed :
             temperature == 0 ? std::vector<std::uint64_t>{1} : std::vector<std::uint64_t>{2, 3}) {
            SamplingOptions sampling;
            sampling.temperature = temperature;
            sampling.top_k = topK;
            sampling.xtc_probability = xtc;
            sampling.typical_p = typical;
            sampling.min_p = 0.01f;
            sampling.seed = seed;
            Gpu gpu(table);
            const SampledAnswer few = sampledAnswer(sampling);
            const SampledAnswer all = sampledAnswer(withAllLogits(sampling));
            QVERIFY(few.tokens > 1);
            QCOMPARE(few.text, all.text);
            QCOMPARE(few.tokens, all.tokens);
            QVERIFY(all.rows_fetched >= all.tokens);
            QCOMPARE(few.rows_fetched, 0);
            QCOMPARE(gpu.complaints(), std::string());
        }
    }

    // Filters that look at the whole vocabulary get it.
    void withoutTopKAllLogitsAreTaken()
    {
        const cuda::DriverTable table = tableThatCounts();
        Gpu gpu(table);
        SamplingOptions sampling;
        sampling.top_k = 0;
        sampling.seed = 1;
        const SampledAnswer all = sampledAnswer(sampling);
        QVERIFY(all.rows_fetched >= all.tokens);
    }
};

SPILLWAY_TEST(QCoreApplication, TestCudaSampling)
#include "tst_cuda_sampling.moc"
