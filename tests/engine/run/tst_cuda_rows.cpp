// Tests that guesses which a GPU checks change nothing: up to sixteen rows of a step have the bits of rows computed one
// after another, and those that are taken back leave no trace.
#include "tests/engine/run/cuda_conversations.h"
#include "tests/engine/run/one_turn.h"
#include "tests/support/test_program.h"

#include <QRandomGenerator>
#include <QtTest>

#include <algorithm>
#include <cmath>

using namespace test_support;

class TestCudaRows : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void rowsOfAStepAreThoseOfManySteps_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("room");  // tokens; 0: all
        QTest::addColumn<int>("policy");
        QTest::newRow("experts") << "qwen3moe" << 0 << int(KvPolicy::Merge);
        QTest::newRow("delta net") << "qwen35" << 0 << int(KvPolicy::Merge);
#ifndef SPILLWAY_SANITIZED  // minutes for all of them
        QTest::newRow("llama") << "llama" << 0 << int(KvPolicy::Merge);
        QTest::newRow("llama, blocks leave") << "llama" << 48 << int(KvPolicy::Merge);
        QTest::newRow("llama, blocks are streamed") << "llama" << 80 << int(KvPolicy::Stream);
        QTest::newRow("softcaps and windows") << "gemma2" << 0 << int(KvPolicy::Merge);
        QTest::newRow("latent attention") << "deepseek2" << 0 << int(KvPolicy::Merge);
        QTest::newRow("delta net, blocks leave") << "qwen35" << 48 << int(KvPolicy::Merge);
        QTest::newRow("mamba") << "nemotron_h" << 0 << int(KvPolicy::Merge);
        QTest::newRow("mamba beside attention") << "falcon-h1" << 0 << int(KvPolicy::Merge);
        QTest::newRow("short convolution") << "lfm2" << 0 << int(KvPolicy::Merge);
        QTest::newRow("n-grams") << "qwen4exp" << 0 << int(KvPolicy::Merge);
#endif
    }

    void rowsOfAStepAreThoseOfManySteps()
    {
        QFETCH(const QString, name);
        QFETCH(const int, room);
        QFETCH(const int, policy);
        const quint32 seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        Gpu gpu;
        const bool streams = KvPolicy(policy) == KvPolicy::Stream;
        LoadRequest request = room && !streams ? with_room_for(request_for(name), room) : on_cuda(request_for(name));
        request.placement.kv_policy = KvPolicy(policy);
        if (streams)
            request.placement.budget_fit_tokens = room;
        const auto model = load(request);
        QVERIFY(model);
        const std::vector<int> ids = some_tokens(*model);
#ifdef SPILLWAY_SANITIZED  // where a step takes many times as long
        constexpr std::size_t kRows = 36;
#else
        constexpr std::size_t kRows = 66;
#endif
        const std::size_t before = streams ? 330 : 30, all = before + (model->cache().states().any() ? 36 : kRows);

        KvSequence one;
        const auto read_prompt = [&](KvSequence& kv) {
            constexpr std::size_t kChunk = 20;
            Status ok;
            for (std::size_t at = 0; at < before && ok; at += kChunk)
                ok = model->append(kv, std::span(ids).subspan(at, std::min(kChunk, before - at)));
            return bool(ok);
        };
        QVERIFY(read_prompt(one));
        std::vector<std::vector<float>> expected;
        for (std::size_t at = before; at < all; ++at) {
            QVERIFY(model->append(one, std::span(ids).subspan(at, 1)));
            expected.push_back(row_logits(*model, one, 0));
        }
        model->cache().truncate(one, 0);

        std::int64_t most = 0;  // streamed in a step
        KvSequence many;
        QVERIFY(read_prompt(many));
        for (std::size_t at = before; at < all;) {
            const std::size_t rows = std::min<std::size_t>(2 + random() % 15, all - at);
            const std::size_t right = 1 + random() % rows;
            std::vector<int> step(ids.begin() + std::ptrdiff_t(at), ids.begin() + std::ptrdiff_t(at + rows));
            std::fill(step.begin() + std::ptrdiff_t(right), step.end(), 3);
            RowGroup group{&many, step};
            group.wanted = group.count();
            group.drafted = true;
            QVERIFY(model->append(std::span(&group, 1)));
            most = std::max(most, model->placement().telemetry()->step_streamed_bytes);
            for (std::size_t row = 0; row < right; ++row) {
                const std::vector<float> here = row_logits(*model, many, int(row));
                const std::vector<float>& alone = expected[at + row - before];
                QVERIFY2(same_bits(here, alone), qPrintable(QString("row %1 of %2 at %3").arg(row).arg(rows).arg(at)));
            }
            at += right;
            if (right < rows)
                model->take_back(many, int(at));
            QVERIFY(many.lost.empty());
        }
        if (streams)  // what has been read is overwritten
            QVERIFY(most > model->placement().telemetry()->ring_bytes);
    }

    // Of a large vocabulary the head is a tenth of what a step reads.
    void rowsShareOneReadingOfTheHead()
    {
        if (qEnvironmentVariable("SPILLWAY_TEST_DEVICE") == "cuda")
            QSKIP("a real driver does not count");
        Gpu gpu;
        const auto model = load(on_cuda(request_for("llama")));
        QVERIFY(model);
        const std::vector<int> ids = some_tokens(*model);
        KvSequence kv;
        RowGroup group{&kv, std::span(ids).first(9)};
        group.wanted = group.count();
        QVERIFY(model->append(std::span(&group, 1)));
        const auto kernels_for = [&](int row) {
            const int before = gpu.emulated()->kernels_run();
            row_logits(*model, kv, row);
            return gpu.emulated()->kernels_run() - before;
        };
        QVERIFY(kernels_for(0) > 0);
        for (int row = 1; row < 8; ++row)
            QCOMPARE(kernels_for(row), 0);
        QVERIFY(kernels_for(8) > 0);  // eight at a time
        model->cache().truncate(kv, 0);
    }

    void whatTheModelHasMadeComesHome()
    {
        const Gpu gpu;
        const auto made_by = [](LoadedModel& model) {
            KvSequence kv;
            std::vector<float> made(10 * std::size_t(model.info().embedding_length)), again(made.size());
            const std::vector<int> ids = some_tokens(model);
            if (!model.append(kv, std::span(ids).first(20)) || !model.made_of(kv, {3, 10}, made) ||
                !model.made_of(kv, {3, 10}, again) || !same_bits(made, again))
                made.clear();
            model.cache().truncate(kv, 0);
            return made;
        };
        const auto device = load(on_cuda(request_for("qwen35-mtp"))), host = load(request_for("qwen35-mtp"));
        QVERIFY(device && host);
        QCOMPARE(device->placement().layers(), 2);
        const std::vector<float> there = made_by(*device), here = made_by(*host);
        QVERIFY(!there.empty() && there.size() == here.size());
        double wrong = 0, size = 0;
        for (std::size_t i = 0; i < here.size(); ++i) {
            wrong += std::pow(there[i] - here[i], 2);
            size += std::pow(here[i], 2);
        }
        QVERIFY2(std::sqrt(wrong / size) < 0.01, qPrintable(QString::number(std::sqrt(wrong / size))));
    }

    /// The block is computed on the host, where that has layers of its own to compute.
    void aBlockGuessesBesideAGpu_data()
    {
        QTest::addColumn<int>("layers");
        QTest::newRow("half of the layers") << 1;
        QTest::newRow("all") << 2;
    }

    void aBlockGuessesBesideAGpu()
    {
        QFETCH(const int, layers);
        const Gpu gpu;
        const auto model = load(on_cuda(request_for("qwen35-mtp"), layers));
        QVERIFY(model);
        const auto mtp = MtpModel::make(*model);
        QVERIFY(mtp && *mtp);
        Request request;
        request.raw_prompt = "the cat sat on the mat and the dog sat on the cat";
        request.sampling.temperature = 0.5f;
        request.max_tokens = 30;
        Conversation without, with;
        const Turn alone = one_turn(*model, nullptr, without, request, -1);
        request.most_drafted = 3;
        request.drafters = Drafters::Mtp;
        request.draft_depth = DraftDepth::Fixed;
        const Turn guessed = one_turn(*model, nullptr, with, request, -1, mtp->get());
        QCOMPARE(guessed.text, alone.text);
        QCOMPARE(with.kv.ids, without.kv.ids);
        QCOMPARE(guessed.telemetry.drafted_tokens > 0, layers < 2);
        for (Conversation* const conversation : {&without, &with})
            model->cache().truncate(conversation->kv, 0);
    }
};

SPILLWAY_TEST(QCoreApplication, TestCudaRows)
#include "tst_cuda_rows.moc"
