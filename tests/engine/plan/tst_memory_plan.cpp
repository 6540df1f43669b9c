// Tests that the memory which is planned from a model's header is what the engine then takes.
#include "engine/memory_plan.h"
#include "tests/support/models.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <limits>

using namespace engine;

namespace {

constexpr std::int64_t kGiB = std::int64_t(1) << 30;

std::filesystem::path file(const QString& name)
{
    return (test_support::own_models_folder() + '/' + name + ".gguf").toStdString();
}

/// A model of 4 GiB whose KV takes 128 KiB a token in f16.
ModelInfo large_model()
{
    ModelInfo model;
    model.weight_bytes = 4 * kGiB;
    model.context_tokens = 131072;
    model.memory = {.kv_heads = 32 * 8, .key_numbers = 32 * 8 * 128, .value_numbers = 32 * 8 * 128};
    model.memory.scratch_bytes_per_row = 1000;
    return model;
}

LoadRequest request(int context, KvType type = KvType::F16)
{
    LoadRequest r;
    r.context_tokens = context;
    r.k_type = r.v_type = type;
    return r;
}

MachineMemory available(double gib)
{
    return {64 * kGiB, std::int64_t(gib * double(kGiB))};
}

}  // namespace

class TestMemoryPlan : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theBlockThatGuessesAheadHasItsPart()
    {
        ModelInfo model = large_model();
        const MemoryNeed without = memory_need(model, request(8192));
        model.memory.mtp_weight_bytes = 1000;
        model.memory.mtp_numbers = 8 * 256;
        const MemoryNeed with = memory_need(model, request(8192, KvType::Q8_0));  // its own are f16
        QCOMPARE(with.weight_bytes, without.weight_bytes + 1000);
        QCOMPARE(with.kv_bytes, memory_need(large_model(), request(8192, KvType::Q8_0)).kv_bytes + 8192 * 8 * 256 * 2);
        QVERIFY(largest_context(model, request(0), 8 * kGiB) < largest_context(large_model(), request(0), 8 * kGiB));
    }

    void whatIsPlannedIsWhatIsTaken_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("type");
        for (const char* name :
             {"llama", "qwen3moe", "gemma3", "gpt-oss", "phi3", "type-Q4_K", "olmo3", "glm4moe", "muse-glimmer",
              "gemma4", "gemma4-e", "gemma4-moe", "nemotron_h_moe", "gemma3n", "qwen4exp", "deepseek2"})
            for (const int type : {int(KvType::F32), int(KvType::F16), int(KvType::Q8_0)})
                QTest::addRow("%s %d", name, type) << QString(name) << type;
    }

    void whatIsPlannedIsWhatIsTaken()
    {
        QFETCH(QString, name);
        QFETCH(int, type);
        LoadRequest load = request(256, KvType(type));
        load.model = file(name);
        load.kv_block_tokens = 16;
        load.prefill_chunk_tokens = 64;
        const auto model = inspect_model(load.model);
        QVERIFY(model);
        const MemoryNeed planned = memory_need(*model, load);

        auto engine = make_engine();
        QVERIFY(engine->load(load, {}, {}));
        Request ask;
        ask.raw_prompt = std::string(2000, 'x');
        ask.sampling.temperature = 0;
        const auto prompt = engine->count_tokens(ask.raw_prompt, {});
        QVERIFY(prompt);
        while (*engine->count_tokens(ask.raw_prompt, {}) > 200)
            ask.raw_prompt.resize(ask.raw_prompt.size() - 50);
        const auto turn = engine->generate(*engine->create_sequence(), ask, {}, {});
        QVERIFY2(turn, turn ? "" : turn.error().what.c_str());

        const Telemetry& t = turn->telemetry;
        QCOMPARE(planned.weight_bytes, t.weight_bytes_host);
        const int pages = (t.context_tokens + 15) / 16;  // the last token's KV may not be in it yet
        const std::int64_t page = planned.kv_bytes / 16;
        QVERIFY(t.kv_bytes_host == pages * page || t.kv_bytes_host == (pages + 1) * page);
        QVERIFY2(planned.scratch_bytes >= t.scratch_bytes,
                 qPrintable(QString("%1 < %2").arg(planned.scratch_bytes).arg(t.scratch_bytes)));
        QVERIFY2(double(planned.scratch_bytes) <= 2.0 * double(t.scratch_bytes) + 600e3,
                 qPrintable(QString("%1 > %2").arg(planned.scratch_bytes).arg(t.scratch_bytes)));
    }

    // As converters write Mixtral and Granite.
    void expertsAreAsLongAsFeedForwardsWhereTheFileNamesOneLength()
    {
        QFile own(test_support::own_models_folder() + "/granitemoe.gguf");
        QVERIFY(own.open(QIODevice::ReadOnly));
        QByteArray bytes = own.readAll();
        QVERIFY(bytes.contains("granitemoe.expert_feed_forward_length"));
        bytes.replace("granitemoe.expert_feed_forward_length", "granitemoe.expert_feed_forward_lengtx");
        const QTemporaryDir folder;
        QFile copy(folder.filePath("m.gguf"));
        QVERIFY(copy.open(QIODevice::WriteOnly));
        copy.write(bytes);
        copy.close();
        const auto named = inspect_model(file("granitemoe")), unnamed = inspect_model(copy.fileName().toStdString());
        QVERIFY(named && unnamed);
        QCOMPARE(unnamed->memory.scratch_bytes_per_row, named->memory.scratch_bytes_per_row);
    }

    void theVerdictFollowsTheNumbers_data()
    {
        QTest::addColumn<double>("gib");
        QTest::addColumn<int>("context");
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("verdict");
        QTest::addColumn<int>("largest");
        const int f16 = int(KvType::F16), q8 = int(KvType::Q8_0);
        // 131,072 tokens are 16 GiB of KV; 8 GiB of that at 8 bits, and its scales.
        QTest::newRow("all of it") << 22.0 << 0 << f16 << int(Fit::Fits) << 131072;
        QTest::newRow("half the context") << 14.0 << 0 << f16 << int(Fit::FitsWithLessContext) << 73472;
        QTest::newRow("all of it at 8 bits") << 14.0 << 0 << q8 << int(Fit::Fits) << 131072;
        QTest::newRow("a short context fits") << 6.0 << 4096 << f16 << int(Fit::Fits) << 4096;
        QTest::newRow("no margin left") << 4.5 << 4096 << f16 << int(Fit::Tight) << 4096 - 256;
        QTest::newRow("too small") << 4.1 << 4096 << f16 << int(Fit::DoesNotFit) << 768;
        QTest::newRow("far too small") << 1.0 << 0 << f16 << int(Fit::DoesNotFit) << 0;
    }

    void theVerdictFollowsTheNumbers()
    {
        QFETCH(double, gib);
        QFETCH(int, context);
        QFETCH(int, type);
        const FitReport report = fit_in_memory(large_model(), request(context, KvType(type)), available(gib));
        QTEST(int(report.fit), "verdict");
        QTEST(report.largest_context, "largest");
        QCOMPARE(report.context_tokens, context ? context : 131072);
    }

    void whatIsNotKnownIsSaid()
    {
        QCOMPARE(fit_in_memory(large_model(), request(0), {}).fit, Fit::Unknown);
        QCOMPARE(fit_in_memory({}, request(0), available(8)).fit, Fit::Unknown);
    }

    void moreMemoryNeverMakesItWorse()
    {
        int last = 0;
        for (int quarters = 2; quarters < 120; ++quarters) {
            const double gib = quarters / 4.0;
            const int largest = fit_in_memory(large_model(), request(0), available(gib)).largest_context;
            if (gib > 6)  // below, the margin is given up at some point
                QVERIFY(largest >= last);
            last = largest;
        }
    }

    void hostileNumbersDoNotOverflow()
    {
        ModelInfo model = large_model();
        model.memory = {.kv_heads = std::int64_t(1) << 40,
                        .key_numbers = std::int64_t(1) << 60,
                        .value_numbers = std::int64_t(1) << 60,
                        .scratch_bytes_per_row = std::numeric_limits<std::int64_t>::max(),
                        .scratch_bytes_fixed = std::numeric_limits<std::int64_t>::max()};
        model.weight_bytes = std::numeric_limits<std::int64_t>::max();
        model.context_tokens = std::numeric_limits<int>::max();
        const FitReport report = fit_in_memory(model, request(0), available(8));
        QCOMPARE(report.fit, Fit::DoesNotFit);
        QCOMPARE(report.need.total(), std::numeric_limits<std::int64_t>::max());
    }
};

SPILLWAY_TEST(QCoreApplication, TestMemoryPlan)
#include "tst_memory_plan.moc"
