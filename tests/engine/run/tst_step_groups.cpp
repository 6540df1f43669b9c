// Tests a step with rows of several sequences: each row has the bits that it has when its sequence is computed alone,
// whatever else the step computes.
#include "tests/support/placement_run.h"
#include "tests/support/test_program.h"

#include "engine/evaluate.h"

#include <QRandomGenerator>
#include <QtTest>

#include <chrono>
#include <thread>

using namespace test_support;

namespace {

constexpr int kSequences = 5, kLength = 60;

struct Text {
    std::vector<int> ids;
    Logits expected;  // after each of them
    KvSequence kv;
};

/// Makes texts and computes each of them alone, one token after another.
std::vector<Text> texts_of(LoadedModel& model, std::mt19937& random)
{
    std::vector<Text> texts(kSequences);
    for (Text& text : texts) {
        for (int i = 0; i < kLength; ++i)
            text.ids.push_back(int(random() % unsigned(model.info().vocabulary)));
        for (int i = 0; i < kLength; ++i) {
            if (!model.append(text.kv, std::span(text.ids).subspan(std::size_t(i), 1)))
                qFatal("a token could not be computed");
            text.expected.push_back(row_logits(model, text.kv, 0));
        }
        model.cache().truncate(text.kv, 0);
    }
    return texts;
}

}  // namespace

class TestStepGroups : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void rowsAreThoseOfTheSequenceAlone_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("threads");
        const auto files = QDir(own_models_folder()).entryInfoList({"*.gguf"}, QDir::Files, QDir::Name);
        for (const QFileInfo& file : files)
            QTest::newRow(qPrintable(file.completeBaseName())) << file.completeBaseName() << 1;
        for (const char* const name : {"gemma3", "qwen35", "qwen3moe"})
            QTest::addRow("%s, 3 threads", name) << name << 3;
    }

    /// Steps of random sequences with random numbers of rows: chunks of a prompt, answers, drafts of which a part is
    /// taken back.
    void rowsAreThoseOfTheSequenceAlone()
    {
        QFETCH(const QString, name);
        QFETCH(const int, threads);
        const quint32 seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        LoadRequest request = request_for(name);
        request.threads = threads;
        const auto model = load(request);
        QVERIFY(model);
        QVERIFY(model->computes_together());
        std::vector<Text> texts = texts_of(*model, random);

        int compared = 0;
        for (;;) {
            std::vector<RowGroup> groups;
            std::vector<Text*> of;
            int rows = 0;
            std::ranges::shuffle(texts, random);
            bool over = true;
            for (Text& text : texts) {
                const int left = kLength - text.kv.length();
                over = over && left == 0;
                if (left == 0 || random() % 4 == 0)
                    continue;
                const int most = std::min({left, model->max_rows() - rows, random() % 2 ? 1 : 20});
                if (most == 0)
                    continue;
                const int count = 1 + int(random() % unsigned(most));
                RowGroup group{&text.kv,
                               std::span(text.ids).subspan(std::size_t(text.kv.length()), std::size_t(count))};
                group.wanted = int(random() % unsigned(count + 1));
                groups.push_back(group);
                of.push_back(&text);
                rows += count;
            }
            if (over)
                break;
            if (groups.empty())
                continue;
            QVERIFY(model->append(groups));
            for (std::size_t g = 0; g < groups.size(); ++g) {
                // Also a row that was not announced.
                const int first = std::max(0, groups[g].count() - groups[g].wanted - int(random() % 2));
                for (int row = first; row < groups[g].count(); ++row, ++compared)
                    QVERIFY2(same_bits(row_logits(*model, of[g]->kv, row),
                                       of[g]->expected[std::size_t(groups[g].first + row)]),
                             qPrintable(QString("row %1 of %2 in group %3 of %4")
                                            .arg(row)
                                            .arg(groups[g].count())
                                            .arg(g)
                                            .arg(groups.size())));
                if (!model->cache().states().any() && random() % 4 == 0)
                    model->cache().truncate(of[g]->kv, groups[g].first + 1);
            }
        }
        QVERIFY(compared > kSequences * kLength / 4);
    }

    /// A step that finds no room for one of its sequences computes none, and each can be computed later.
    void aStepComputesAllOrNone()
    {
        LoadRequest request = request_for("llama");
        request.context_tokens = 64;
        const auto model = load(request);
        QVERIFY(model);
        std::vector<KvSequence> sequences(kMostRowsTogether + 10);
        const std::vector<int> ids = some_tokens(*model);
        std::size_t full = 0;
        for (; full < sequences.size(); ++full)
            if (!model->append(sequences[full], std::span(ids).first(40)) ||
                !model->append(sequences[full], std::span(ids).first(40)))
                break;
        QVERIFY(full < sequences.size());
        std::vector<RowGroup> groups{{&sequences[0], std::span(ids).first(1)},
                                     {&sequences[1], std::span(ids).first(40)},
                                     {&sequences[2], std::span(ids).first(40)}};
        const Status done = model->append(groups);
        QVERIFY(!done);
        QCOMPARE(done.error().code, Error::Code::ContextFull);
        for (std::size_t i = 0; i < 3; ++i)
            QCOMPARE(sequences[i].length(), 80);
        QVERIFY(model->append(std::span(groups).first(1)));
        QCOMPARE(sequences[0].length(), 81);
        for (KvSequence& sequence : sequences)
            model->cache().truncate(sequence, 0);
        QCOMPARE(model->cache().used_pages(), 0);
    }

    void aStoppedStepCanBeComputedLater_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("device");
        for (const QFileInfo& file : QDir(own_models_folder()).entryInfoList({"*.gguf"}, QDir::Files, QDir::Name))
            for (const bool device : {false, true})
                QTest::addRow("%s, %s", qPrintable(file.completeBaseName()), device ? "emulated" : "cpu")
                    << file.completeBaseName() << device;
    }

    /// Whenever it is stopped: before its first piece, or in its midst. The sequence is as it was, states of recurrent
    /// layers included, and what is computed then has the bits that it has in a conversation that nobody stopped.
    void aStoppedStepCanBeComputedLater()
    {
        QFETCH(const QString, name);
        QFETCH(const bool, device);
        LoadRequest request = device ? emulated(name, 100) : request_for(name);
        request.threads = 2;
        const auto model = load(request);
        QVERIFY(model);
        const int rows = std::min(model->max_rows(), 40), steps = 3;
        const std::vector<int> ids = some_tokens(*model);
        const auto chunk = [&](int step) {
            return std::span(ids).subspan(std::size_t(step * rows), std::size_t(rows));
        };
        KvSequence whole;
        for (int step = 0; step < steps; ++step)
            QVERIFY(model->append(whole, chunk(step), 1));
        const std::vector<float> expected = row_logits(*model, whole, rows - 1);

        KvSequence kv;
        int stopped = 0;
        for (int step = 0; step < steps; ++step)
            for (int delay_us = 0;; delay_us += 50 + delay_us / 4) {
                std::stop_source stop;
                if (delay_us == 0)
                    stop.request_stop();
                std::jthread stopper;
                if (delay_us > 0)
                    stopper = std::jthread([&stop, delay_us] {
                        std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
                        stop.request_stop();
                    });
                RowGroup group{&kv, chunk(step)};
                group.wanted = 1;
                group.stop = stop.get_token();
                if (const Status done = model->append(std::span(&group, 1)); done)
                    break;
                else
                    QCOMPARE(done.error().code, Error::Code::Cancelled);
                ++stopped;
                QCOMPARE(kv.length() + int(kv.lost.size()), step * rows);
            }
        QVERIFY(stopped >= steps);
        QCOMPARE(kv.length(), steps * rows);
        QVERIFY(same_bits(row_logits(*model, kv, rows - 1), expected));
    }

    /// A first step that is stopped in its midst leaves such a state, and no token before it.
    void aSpoiledStateIsNotComputedOn()
    {
        const auto model = load(request_for("qwen35"));
        QVERIFY(model);
        QVERIFY(model->cache().states().any());
        const std::vector<int> ids = some_tokens(*model);
        const auto first = std::span(ids).first(20);
        KvSequence kv;
        QVERIFY(model->append(kv, first, 1));
        const std::vector<float> expected = row_logits(*model, kv, 19);
        kv.ids.clear();
        model->cache().states().spoil(kv);
        QVERIFY(model->append(kv, first, 1));
        QCOMPARE(kv.length(), 20);
        QVERIFY(same_bits(row_logits(*model, kv, 19), expected));
    }

    /// While somebody wants a row of the step, all of it is computed.
    void oneStoppedSequenceStopsNoOther()
    {
        const auto model = load(request_for("llama"));
        QVERIFY(model);
        const std::vector<int> ids = some_tokens(*model);
        std::stop_source stop;
        stop.request_stop();
        std::vector<KvSequence> sequences(2);
        std::vector<RowGroup> groups{{&sequences[0], std::span(ids).first(5)},
                                     {&sequences[1], std::span(ids).first(5)}};
        groups[0].stop = stop.get_token();
        QVERIFY(model->append(groups));
        QCOMPARE(sequences[1].length(), 5);
        groups[1].stop = stop.get_token();
        QCOMPARE(model->append(groups).error().code, Error::Code::Cancelled);
        QCOMPARE(sequences[0].length(), 5);
        QCOMPARE(sequences[1].length(), 5);
    }

    /// Texts of an evaluator: the rows of each come as if it were alone, whether the model lies on a device or not.
    void textsAreEvaluatedTogether_data()
    {
        QTest::addColumn<bool>("device");
        QTest::newRow("cpu") << false;
        QTest::newRow("emulated") << true;
    }

    void textsAreEvaluatedTogether()
    {
        QFETCH(const bool, device);
        auto evaluator = Evaluator::open(device ? emulated("llama", 100) : request_for("llama"), {});
        QVERIFY(evaluator);
        std::mt19937 random(7);
        std::vector<std::vector<int>> texts;
        Logits expected;
        for (const int length : {3, 90, 1, 41}) {
            std::vector<int> ids;
            for (int i = 0; i < length; ++i)
                ids.push_back(int(random() % unsigned(evaluator->info().vocabulary)));
            QVERIFY(evaluator->logits(ids, [&](int, std::span<const float> row) {
                expected.emplace_back(row.begin(), row.end());
                return true;
            }));
            texts.push_back(std::move(ids));
        }
        std::vector<char> seen(expected.size());
        QVERIFY(evaluator->logits_together(texts, [&](int number, std::span<const float> row) {
            seen[std::size_t(number)] += same_bits(row, expected[std::size_t(number)]) ? 1 : 100;
            return true;
        }));
        QVERIFY(std::ranges::all_of(seen, [](char times) { return times == 1; }));
        texts[2] = {evaluator->info().vocabulary};
        QVERIFY(!evaluator->logits_together(texts, [](int, std::span<const float>) { return true; }));
    }
};

SPILLWAY_TEST(QCoreApplication, TestStepGroups)
#include "tst_step_groups.moc"
