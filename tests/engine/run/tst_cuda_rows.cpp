// Guesses that a GPU checks change nothing: up to sixteen rows of a step have the bits of rows computed one after
// another.
#include "tests/engine/run/cuda_conversations.h"
#include "tests/support/test_program.h"

#include <QRandomGenerator>
#include <QtTest>

using namespace test_support;

class TestCudaRows : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void rowsOfAStepAreThoseOfManySteps_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("room");  // tokens; 0: all
        QTest::newRow("llama") << "llama" << 0;
        QTest::newRow("llama, blocks leave") << "llama" << 48;
        QTest::newRow("softcaps and windows") << "gemma2" << 0;
        QTest::newRow("experts") << "qwen3moe" << 0;
        QTest::newRow("latent attention") << "deepseek2" << 0;
    }

    void rowsOfAStepAreThoseOfManySteps()
    {
        QFETCH(const QString, name);
        QFETCH(const int, room);
        const quint32 seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        Gpu gpu;
        LoadRequest request = request_for(name);
        request.placement.kv_policy = KvPolicy::Merge;
        const auto model = load(room ? with_room_for(request, room) : on_cuda(request));
        QVERIFY(model);
        const std::vector<int> ids = some_tokens(*model);
        constexpr std::size_t kBefore = 30, kAll = 96;

        KvSequence one;
        QVERIFY(model->append(one, std::span(ids).first(kBefore)));
        std::vector<std::vector<float>> expected;
        for (std::size_t at = kBefore; at < kAll; ++at) {
            QVERIFY(model->append(one, std::span(ids).subspan(at, 1)));
            expected.push_back(row_logits(*model, one, 0));
        }
        model->cache().truncate(one, 0);

        KvSequence many;
        QVERIFY(model->append(many, std::span(ids).first(kBefore)));
        for (std::size_t at = kBefore; at < kAll;) {
            const std::size_t rows = std::min<std::size_t>(2 + random() % 15, kAll - at);
            QVERIFY(model->append(many, std::span(ids).subspan(at, rows)));
            for (std::size_t row = 0; row < rows; ++row)
                QVERIFY2(same_bits(row_logits(*model, many, int(row)), expected[at + row - kBefore]),
                         qPrintable(QString("row %1 of %2 at %3").arg(row).arg(rows).arg(at)));
            at += rows;
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestCudaRows)
#include "tst_cuda_rows.moc"
