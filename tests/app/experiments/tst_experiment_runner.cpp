// Tests that experiments measure one cell after another in processes of their own, and that each cell becomes a row,
// also one that fails.
#include "app/experiments/experiment_runner.h"
#include "app/translation.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

namespace {

ExperimentPlan planOf(const QStringList& models, const QList<int>& contexts,
                      const QList<Strategy::Name>& strategies = {Strategy::Merge})
{
    ExperimentPlan plan;
    for (const QString& model : models)
        plan.models.append({model, model, {}});
    plan.contexts = contexts;
    plan.strategies = strategies;
    plan.device = QStringLiteral("emulated");
    plan.memory = QStringLiteral("fit:1024");
    return plan;
}

/// Runs a plan to its end.
QList<ExperimentRow> rowsOf(const ExperimentPlan& plan, const QString& program = QStringLiteral(FAKE_BENCH))
{
    ExperimentRunner runner(program);
    QList<ExperimentRow> rows;
    QObject::connect(&runner, &ExperimentRunner::rowFinished, &runner,
                     [&](const ExperimentRow& row) { rows.append(row); });
    QSignalSpy finished(&runner, &ExperimentRunner::finished);
    if (!runner.start(plan) || !(finished.size() == 1 || finished.wait(60'000)))
        return {};
    return rows;
}

/// Files of this process that no folder has any more; where that cannot be known, none.
qsizetype filesWithoutName()
{
    qsizetype count = 0;
    const QDir files(QStringLiteral("/proc/self/fd"));
    for (const QString& fd : files.entryList(QDir::Files | QDir::System))
        count += QFile::symLinkTarget(files.filePath(fd)).endsWith(QLatin1String(" (deleted)")) ? 1 : 0;
    return count;
}

}  // namespace

class TestExperimentRunner : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyCellIsARow()
    {
        const ExperimentPlan plan =
            planOf({"a.gguf", "b.gguf"}, {2048, 512}, {Strategy::CpuOnly, Strategy::Resident, Strategy::Merge});
        const QList<ExperimentRow> rows = rowsOf(plan);
        QCOMPARE(rows.size(), 12);
        for (qsizetype i = 0; i < rows.size(); ++i) {
            const ExperimentRow& row = rows[i];
            QCOMPARE(row.cell, plan.cells()[i]);
            QCOMPARE(row.cell.contextTokens, i % 6 < 3 ? 512 : 2048);  // the short ones first
            if (row.cell.strategy == Strategy::Resident && row.cell.contextTokens == 2048) {
                QCOMPARE(row.outcome, Outcome::Refused);
                QCOMPARE(row.sentence,
                         QStringLiteral("The memory of the device is full, and the policy 'resident' lets "
                                        "nothing leave it."));
                QVERIFY(!row.tokensPerSecond);
                continue;
            }
            QCOMPARE(row.outcome, Outcome::Measured);
            const bool onCpu = row.cell.strategy == Strategy::CpuOnly;
            const double policy = onCpu ? 0 : row.cell.strategy == Strategy::Resident ? 8 : 5;  // letters
            QVERIFY(qFuzzyCompare(*row.tokensPerSecond, 1e6 / row.cell.contextTokens + policy));
            QVERIFY(*row.slowest < *row.tokensPerSecond && *row.tokensPerSecond < *row.fastest);
            QCOMPARE(*row.readMs, double(row.cell.contextTokens));
            QCOMPARE(*row.hostBytes, 1000.0 * row.cell.contextTokens);
            QCOMPARE(row.deviceBytes.has_value(), !onCpu);
            QCOMPARE(row.copyBytes.value_or(0), onCpu ? 0.0 : 7000.0);
            QCOMPARE(row.expertHits, std::optional(30.0));
            QCOMPARE(row.expertMisses, std::optional(10.0));
            QCOMPARE(row.device, QString(onCpu ? "cpu" : "emulated"));
        }
    }

    /// Such a row is refused when the model is open, however long it would have taken.
    void aRowBeyondTheModelsContextIsLittleWork()
    {
        const auto firstRowsThatAreLeft = [](int contextTokens) {
            ExperimentPlan plan = planOf({"a.gguf"}, {512, 131072});
            plan.models[0].contextTokens = contextTokens;
            ExperimentRunner runner(QStringLiteral(FAKE_BENCH));
            std::optional<double> left;
            QObject::connect(&runner, &ExperimentRunner::rowFinished, &runner, [&](const ExperimentRow& row) {
                if (runner.done() == 1)
                    left = runner.remainingSeconds().value_or(-1) / row.seconds;
            });
            QSignalSpy finished(&runner, &ExperimentRunner::finished);
            if (!runner.start(plan) || !(finished.size() == 1 || finished.wait(60'000)))
                return -1.0;
            return left.value_or(-1);
        };
        QVERIFY(firstRowsThatAreLeft(0) > 100);
        QVERIFY(firstRowsThatAreLeft(131072) > 100);
        const double beyond = firstRowsThatAreLeft(4096);
        QVERIFY2(beyond > 0 && beyond < 2, qPrintable(QString::number(beyond)));
    }

    void aKnownRefusalIsSaidInTheUsersLanguage()
    {
        const Translation german("de");
        const QList<ExperimentRow> rows = rowsOf(planOf({"a.gguf"}, {2048}, {Strategy::Resident}));
        QCOMPARE(rows.size(), 1);
        QCOMPARE(rows[0].outcome, Outcome::Refused);
        QCOMPARE(rows[0].sentence, QStringLiteral("Der Speicher des Geräts ist voll, und die Strategie „Resident“ "
                                                  "lässt nichts von dort weg."));
    }

    void theChildIsAskedForItsCell()
    {
        ExperimentPlan plan = planOf({"-odd name.gguf"}, {4096, 100}, {Strategy::CpuOnly, Strategy::CpuDecode});
        const QString file =
            ExperimentRunner::arguments(plan, {0, 4096, Strategy::CpuDecode}, "-odd name.gguf").join(' ');
        QVERIFY2(file.contains("--model=-odd name.gguf -c 4096 -p 0 -n 32 -d 4064 -r 3"), qPrintable(file));
        QVERIFY2(file.endsWith("--device emulated --kv-policy cpu-decode --vram fit:1024"), qPrintable(file));
        const QString short_one = ExperimentRunner::arguments(plan, {0, 64, Strategy::CpuOnly}, "/m").join(' ');
        QVERIFY2(short_one.contains("--model=/m -c 64 -p 0 -n 32 -d 32"), qPrintable(short_one));
        QVERIFY2(short_one.endsWith("--device cpu"), qPrintable(short_one));
        const QString experts =
            ExperimentRunner::arguments(plan, {0, 4096, Strategy::Merge, {true, "2GiB"}}, "/m").join(' ');
        QVERIFY2(experts.endsWith("--kv-policy merge --vram fit:1024 --cpu-moe --expert-cache 2GiB"),
                 qPrintable(experts));
        const QString as_they_fit =
            ExperimentRunner::arguments(plan, {0, 4096, Strategy::Merge, {false, "auto"}}, "/m").join(' ');
        QVERIFY2(as_they_fit.endsWith("--vram fit:1024 --expert-cache auto"), qPrintable(as_they_fit));
        plan.device = "cuda:0";
        QVERIFY(ExperimentRunner::arguments(plan, {0, 4096, Strategy::Auto}, "/m")
                    .join(' ')
                    .endsWith("--vram-budget fit:1024"));
    }

    void whatGoesWrongIsARow_data()
    {
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("outcome");
        QTest::addColumn<QString>("sentence");
        QTest::addRow("a crash") << "crash" << int(Outcome::Crashed) << "The process crashed.";
        QTest::addRow("no JSON") << "garbage" << int(Outcome::Garbled)
                                 << "It printed something that is no measurement.";
        QTest::addRow("no end of it") << "flood" << int(Outcome::Garbled)
                                      << "It printed more than a measurement can be.";
        QTest::addRow("no reason") << "silent" << int(Outcome::Garbled)
                                   << "It ended with the code 7 and gave no reason.";
    }
    void whatGoesWrongIsARow()
    {
        QFETCH(QString, model);
        QFETCH(int, outcome);
        QFETCH(QString, sentence);
        const QList<ExperimentRow> rows = rowsOf(planOf({model, "good"}, {512}));
        QCOMPARE(rows.size(), 2);
        QCOMPARE(int(rows[0].outcome), outcome);
        QCOMPARE(rows[0].sentence, sentence);
        QVERIFY(!rows[0].tokensPerSecond);
        QCOMPARE(rows[1].outcome, Outcome::Measured);  // the next one is measured all the same
    }

    void aShapeIsMadeOnceForAllItsRows()
    {
        const auto plan = [] {
            ExperimentPlan made = planOf({"a.gguf"}, {512, 1024}, {Strategy::CpuOnly, Strategy::Merge});
            made.models.prepend({"second", {}, "tiny-llama:q4_k_m"});
            made.models.prepend({"first", {}, "tiny-llama:q8_0"});
            return made;
        }();
        const qsizetype filesBefore = filesWithoutName();
        ExperimentRunner runner(QStringLiteral(FAKE_BENCH));
        QList<ExperimentRow> rows;
        QStringList made;
        connect(&runner, &ExperimentRunner::rowFinished, this, [&](const ExperimentRow& row) { rows.append(row); });
        connect(&runner, &ExperimentRunner::rowStarted, this, [&] {
            if (runner.madeShare())
                made.append(plan.models[runner.current()->model].title);
        });
        const QSignalSpy finished(&runner, &ExperimentRunner::finished);
        QVERIFY(runner.start(plan));
        QTRY_COMPARE_WITH_TIMEOUT(finished.size(), 1, 60'000);
        QCOMPARE(made, (QStringList{"first", "second"}));
        QCOMPARE(rows.size(), 12);
        for (const ExperimentRow& row : rows) {
            QCOMPARE(row.outcome, Outcome::Measured);
            // The child has read it; of the file that does not exist the stand-in knows no more than the name.
            QCOMPARE(row.device.endsWith(", from a file"), row.cell.model < 2);
        }
        QVERIFY(!runner.madeShare());
        QCOMPARE(filesWithoutName(), filesBefore);
    }

    void aShapeThatCannotBeMadeIsARow()
    {
        ExperimentPlan plan = planOf({"a.gguf"}, {512, 1024});
        plan.models.prepend({"unknown", {}, "gpt-9:q8_0"});
        const QList<ExperimentRow> rows = rowsOf(plan);
        QCOMPARE(rows.size(), 4);
        for (int i : {0, 1}) {
            QCOMPARE(rows[i].outcome, Outcome::Refused);
            QVERIFY2(rows[i].sentence.contains("gpt-9"), qPrintable(rows[i].sentence));
            QCOMPARE(rows[i + 2].outcome, Outcome::Measured);
        }
    }

    void makingAShapeCanBeCancelled()
    {
        ExperimentPlan plan = planOf({"a.gguf"}, {512});
        plan.models.prepend({"large", {}, "mistral-7b:q8_0"});  // it would take minutes and gigabytes
        const qsizetype filesBefore = filesWithoutName();
        ExperimentRunner runner(QStringLiteral(FAKE_BENCH));
        QList<ExperimentRow> rows;
        connect(&runner, &ExperimentRunner::rowFinished, this, [&](const ExperimentRow& row) { rows.append(row); });
        const QSignalSpy finished(&runner, &ExperimentRunner::finished);
        QVERIFY(runner.start(plan));
        QVERIFY(runner.madeShare());
        QTRY_VERIFY_WITH_TIMEOUT(!runner.madeShare() || *runner.madeShare() > 0, 60'000);
        if (!runner.madeShare())
            QSKIP("there is no room for a shape of that size");
        runner.cancel();
        QCOMPARE(finished.size(), 1);
        QVERIFY(finished[0][0].toBool());
        QCOMPARE(rows.size(), 1);
        QCOMPARE(rows[0].outcome, Outcome::Cancelled);
        QVERIFY(!runner.running() && !runner.madeShare());
        QTRY_COMPARE(filesWithoutName(), filesBefore);
        QCOMPARE(rows.size(), 1);  // nothing more came of it
        QVERIFY(runner.start(planOf({"good"}, {512})));
        QTRY_COMPARE(finished.size(), 2);
    }

    void withoutTheProgramEveryRowSaysSo()
    {
        const QList<ExperimentRow> rows = rowsOf(planOf({"a"}, {512, 1024}), QStringLiteral("/nowhere/spillway-cli"));
        QCOMPARE(rows.size(), 2);
        QCOMPARE(rows[1].outcome, Outcome::Crashed);
        QCOMPARE(rows[1].sentence, QStringLiteral("spillway-cli could not be started."));
    }

    void cancelEndsTheChildAndKeepsTheRows()
    {
        const QTemporaryDir folder;
        const QString hang = folder.filePath("hang");
        ExperimentRunner runner(QStringLiteral(FAKE_BENCH));
        QList<ExperimentRow> rows;
        connect(&runner, &ExperimentRunner::rowFinished, this, [&](const ExperimentRow& row) { rows.append(row); });
        const QSignalSpy finished(&runner, &ExperimentRunner::finished);
        QVERIFY(!runner.remainingSeconds());
        QVERIFY(runner.start(planOf({"good", hang, "never"}, {512})));
        QVERIFY(!runner.start(planOf({"good"}, {512})));  // one at a time
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(hang + ".running"), 20'000);
        QCOMPARE(runner.done(), 1);
        QCOMPARE(runner.total(), 3);
        QCOMPARE(runner.current()->model, 1);
        QVERIFY(runner.remainingSeconds() && *runner.remainingSeconds() > 0);
        runner.cancel();
        runner.cancel();
        QTRY_COMPARE(finished.size(), 1);
        QVERIFY(finished[0][0].toBool());
        QCOMPARE(rows.size(), 2);
        QCOMPARE(rows[0].outcome, Outcome::Measured);
        QCOMPARE(rows[1].outcome, Outcome::Cancelled);
        QVERIFY(!runner.running());
        QVERIFY(runner.start(planOf({"good"}, {512})));  // and another may begin
        QTRY_COMPARE(finished.size(), 2);
    }

    void theChildEndsWithTheWindow()
    {
        const QTemporaryDir folder;
        const QString hang = folder.filePath("hang");
        QElapsedTimer clock;
        {
            ExperimentRunner runner(QStringLiteral(FAKE_BENCH));
            QVERIFY(runner.start(planOf({hang}, {512})));
            QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(hang + ".running"), 20'000);
            clock.start();
        }
        // It was waited for: had it lived on, that would have taken the whole of QProcess's 30 seconds.
        QVERIFY(clock.elapsed() < 20'000);
    }
};

SPILLWAY_TEST(QCoreApplication, TestExperimentRunner)
#include "tst_experiment_runner.moc"
