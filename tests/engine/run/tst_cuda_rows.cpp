// Guesses that a GPU checks change nothing: up to sixteen rows of a step have the bits of rows computed one after
// another, and those that are taken back leave no trace.
#include "tests/engine/run/cuda_conversations.h"
#include "tests/support/test_program.h"

#include <QRandomGenerator>
#include <QtTest>

#include <algorithm>

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
        QTest::newRow("llama") << "llama" << 0 << int(KvPolicy::Merge);
        QTest::newRow("llama, blocks leave") << "llama" << 48 << int(KvPolicy::Merge);
        QTest::newRow("llama, blocks are streamed") << "llama" << 80 << int(KvPolicy::Stream);
        QTest::newRow("softcaps and windows") << "gemma2" << 0 << int(KvPolicy::Merge);
        QTest::newRow("experts") << "qwen3moe" << 0 << int(KvPolicy::Merge);
        QTest::newRow("latent attention") << "deepseek2" << 0 << int(KvPolicy::Merge);
        QTest::newRow("delta net") << "qwen35" << 0 << int(KvPolicy::Merge);
        QTest::newRow("delta net, blocks leave") << "qwen35" << 48 << int(KvPolicy::Merge);
        QTest::newRow("mamba") << "nemotron_h" << 0 << int(KvPolicy::Merge);
        QTest::newRow("mamba beside attention") << "falcon-h1" << 0 << int(KvPolicy::Merge);
        QTest::newRow("short convolution") << "lfm2" << 0 << int(KvPolicy::Merge);
        QTest::newRow("n-grams") << "qwen4exp" << 0 << int(KvPolicy::Merge);
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
        const std::size_t before = streams ? 330 : 30, all = before + 66;

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
};

SPILLWAY_TEST(QCoreApplication, TestCudaRows)
#include "tst_cuda_rows.moc"
