// Tests that experiments are kept as files which are read again as they were written, and that a file from elsewhere
// cannot exceed the bounds.
#include "app/experiments/experiment_exports.h"
#include "app/experiments/experiment_json.h"
#include "app/experiments/experiment_store.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

namespace {

ExperimentRun someRun(const QString& id = {})
{
    ExperimentRun run;
    run.id = id;
    run.name = QStringLiteral("Nachts, „alles“");
    run.started = QDateTime(QDate(2026, 7, 1), QTime(12, 30, 5, 250), Qt::UTC);
    run.machine = QStringLiteral("2 cores, avx512");
    run.cores = 2;
    run.kernels = QStringLiteral("avx512");
    run.plan.models = {{"Guide", "/models/guide.gguf", {}}, {"Mixture", {}, "qwen3-30b-a3b:q4_k_m", true}};
    run.plan.contexts = {512, 4096};
    run.plan.strategies = {Strategy::CpuOnly, Strategy::CpuDecode};
    run.plan.device = QStringLiteral("emulated");
    run.plan.memory = QStringLiteral("fit:1024");
    run.plan.expertsInRam = {true};
    run.plan.expertCopies = {"off", "2GiB"};
    const QList<ExperimentCell> cells = run.plan.cells();
    for (int i = 0; i < 4; ++i) {
        ExperimentRow row;
        row.cell = cells[i];
        row.device = QStringLiteral("emulated");
        row.seconds = 1.5 + i;
        if (i == 2) {
            row.outcome = Outcome::Crashed;
            row.sentence = QStringLiteral("The process crashed.");
        } else {
            row.tokensPerSecond = 12.5 + i;
            row.slowest = 12;
            row.fastest = 19.25;
            row.readMs = 1000;
            row.p99Ms = 90.125;
            row.hostBytes = 3e9;
            if (i % 2 == 1) {
                row.deviceBytes = 1e9;
                row.copyBytes = 5e8;
                row.expertHits = 41;
                row.expertMisses = 9;
            }
        }
        run.rows.append(row);
    }
    return run;
}

QByteArray with(QByteArray json, const char* before, const char* after)
{
    return json.contains(before) ? json.replace(before, after) : QByteArray();
}

}  // namespace

class TestExperimentStore : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatIsWrittenIsReadAgain()
    {
        const auto read = ExperimentJson::read(ExperimentJson::write(someRun()));
        QVERIFY(read);
        QVERIFY(*read == someRun());
    }

    /// As programs wrote them that knew nothing of where experts lie.
    void aRunFromBeforeIsRead()
    {
        ExperimentRun before = someRun();
        before.plan.models[1].hasExperts = false;
        before.plan.expertsInRam = {false};
        before.plan.expertCopies = {"off"};
        QStringList lines;
        for (const QByteArray& line : ExperimentJson::write(before).split('\n'))
            if (!line.contains("experts_in_ram\": false") && !line.contains("expert_copies\": \"off") &&
                !line.contains("has_experts"))
                lines.append(QString::fromUtf8(line));
        QByteArray json = lines.join('\n').toUtf8();
        json.replace("\"experts_in_ram\"", "\"unknown\"").replace("\"expert_copies\"", "\"unknown_too\"");
        QVERIFY(!json.contains("experts_in_ram") && !json.contains("has_experts"));
        const auto read = ExperimentJson::read(json);
        QVERIFY(read);
        QVERIFY(*read == before);
    }

    /// Beside the CPU alone stands each place of the experts with its own speed.
    void aRatioIsOneOfTheSamePlace()
    {
        ExperimentRun run;
        run.plan.models = {{"Mixture", "/m.gguf", {}, true}};
        run.plan.contexts = {512};
        run.plan.strategies = {Strategy::CpuOnly, Strategy::Merge, Strategy::Auto};
        run.plan.expertCopies = {"off", "auto"};
        double speed = 1;
        for (const ExperimentCell& cell : run.plan.cells()) {
            ExperimentRow row;
            row.cell = cell;
            row.tokensPerSecond = speed *= 2;  // 2 on the CPU, 4 and 8 by merge, 16 and 32
            run.rows.append(row);
        }
        QCOMPARE(run.rows.size(), 5);
        QCOMPARE(run.ratio(run.rows[4], Strategy::CpuOnly), std::optional(16.0));
        QCOMPARE(run.ratio(run.rows[3], Strategy::Merge), std::optional(4.0));
        QCOMPARE(run.ratio(run.rows[4], Strategy::Merge), std::optional(4.0));
        QCOMPARE(run.ratio(run.rows[0], Strategy::Merge),
                 std::optional(0.5));  // the first place, as nothing else is said
        QVERIFY(!run.rows[0].hitRate());
        run.rows[4].expertHits = 30;
        run.rows[4].expertMisses = 10;
        QCOMPARE(run.rows[4].hitRate(), std::optional(0.75));
    }

    void whatIsNoRunIsNotRead_data()
    {
        QTest::addColumn<QByteArray>("json");
        const QByteArray good = ExperimentJson::write(someRun());
        QTest::addRow("nothing") << QByteArray();
        QTest::addRow("cut off") << good.left(good.size() / 2);
        QTest::addRow("another format") << with(good, "spillway-experiment", "spillway-recording");
        QTest::addRow("another version") << with(good, "\"version\": 1", "\"version\": 2");
        QTest::addRow("a strategy nobody knows") << with(good, "cpu-decode", "cpu-dream");
        QTest::addRow("an outcome nobody knows") << with(good, "crashed", "vanished");
        QTest::addRow("a negative number") << with(good, "90.125", "-90.125");
        QTest::addRow("no number") << with(good, "90.125", "\"fast\"");
        QTest::addRow("beyond reason") << with(good, "90.125", "1e300");
        QTest::addRow("half a repeat") << with(good, "\"repeats\": 3", "\"repeats\": 0.5");
        QTest::addRow("a context that nothing holds") << with(good, "        4096", "        99999999");
        QTest::addRow("rows of another plan") << with(good, "\"model\": 0", "\"model\": 7");
        QTest::addRow("experts of another plan")
            << with(good, "\"expert_copies\": \"off\"", "\"expert_copies\": \"auto\"");
        ExperimentRun more = someRun();
        for (int i = 0; i < 5; ++i)
            more.rows.append(more.rows.first());
        QTest::addRow("more rows than cells") << ExperimentJson::write(more);
        QTest::addRow("too large") << good + QByteArray(ExperimentJson::kMostBytes, ' ');
    }
    void whatIsNoRunIsNotRead()
    {
        QFETCH(QByteArray, json);
        QVERIFY(!ExperimentJson::read(json));
    }

    void namesAreSafeToShow()
    {
        ExperimentRun run = someRun();
        run.name = QStringLiteral("a\u202Eb") + QString(5000, 'x');
        const auto read = ExperimentJson::read(ExperimentJson::write(run));
        QVERIFY(read);
        QVERIFY(!read->name.contains(QChar(0x202E)));
        QVERIFY(read->name.size() < 2000);
    }

    void runsAreKeptListedAndDeleted()
    {
        const QTemporaryDir folder;
        ExperimentStore store(folder.filePath("experiments"));
        QVERIFY(store.runs().isEmpty());
        const ExperimentRun first = someRun("20260701-1"), second = someRun("20260702-1");
        QCOMPARE(store.save(first), QString());
        QCOMPARE(store.save(second), QString());
        QVERIFY(store.runs() == (QList<ExperimentRun>{second, first}));
        ExperimentRun renamed = first;
        renamed.name = QStringLiteral("another name");
        QCOMPARE(store.save(renamed), QString());
        QCOMPARE(store.runs()[1].name, renamed.name);
        QCOMPARE(store.remove(second.id), QString());
        QCOMPARE(store.runs().size(), 1);
        QVERIFY(store.newId() != store.newId());
    }

    void theTableIsCsv()
    {
        ExperimentRun run = someRun();
        run.plan.models[0].title = QStringLiteral("a \"b\", c");
        const QList<QByteArray> lines = ExperimentExports::csv(run, Strategy::CpuOnly).trimmed().split('\n');
        QCOMPARE(lines.size(), 5);
        QCOMPARE(lines[0].count(','), 22);
        QVERIFY2(
            lines[1].startsWith("\"a \"\"b\"\", c\",512,cpu,,,\"emulated\",\"fit:1024\",3,32,measured,12.5,12,19.25,"
                                "90.125,1000,,3000000000,,,,1,cpu,\"\""),
            lines[1].constData());
        QVERIFY2(lines[2].contains(",1000000000,3000000000,500000000,41,9,1.08,cpu,"),
                 lines[2].constData());  // 13.5 of 12.5
        QVERIFY(lines[3].endsWith(",crashed,,,,,,,,,,,,cpu,\"The process crashed.\""));
        QVERIFY(lines[4].contains(",3000000000,500000000,41,9,,cpu,"));  // of nothing there is no ratio
        ExperimentRun before = run;
        before.rows.removeLast();
        before.rows[0].tokensPerSecond = 99;
        const QList<QByteArray> compared =
            ExperimentExports::csv(run, Strategy::CpuDecode, before).trimmed().split('\n');
        QVERIFY(compared[0].endsWith(",compared_tokens_per_s"));
        QVERIFY(compared[1].endsWith(",99"));
        QVERIFY(compared[4].endsWith(","));
    }

    /// A model's name is its author's choice, and a spreadsheet may take it for a formula.
    void noNameInTheTableIsAFormula()
    {
        ExperimentRun run = someRun();
        for (const char* const name : {"=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1"}) {
            run.plan.models[0].title = QString::fromLatin1(name);
            const QByteArray field = QByteArray("\n\"'") + name + "\",";
            QVERIFY2(ExperimentExports::csv(run, Strategy::CpuOnly).contains(field), field.constData());
        }
    }

    void otherFilesAreLeftAlone()
    {
        const QTemporaryDir folder;
        ExperimentStore store(folder.path());
        QCOMPARE(store.save(someRun("good")), QString());
        QFile other(folder.filePath("other.json"));
        QVERIFY(other.open(QIODevice::WriteOnly) && other.write("{}") == 2);
        other.close();
        QCOMPARE(store.runs().size(), 1);
        QCOMPARE(store.unreadable(), 1);
        QVERIFY(QFile::exists(other.fileName()));
        // An id is no way out of the folder.
        QVERIFY(!store.save(someRun("../escaped")).isEmpty());
        QVERIFY(!store.remove("../other").isEmpty());
    }

    void aFolderThatCannotBeWrittenIsSaid()
    {
        const QTemporaryDir folder;
        QFile file(folder.filePath("file"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        const ExperimentStore store(file.fileName() + "/experiments");
        QVERIFY(store.save(someRun("a")).contains("cannot be kept"));
    }
};

SPILLWAY_TEST(QCoreApplication, TestExperimentStore)
#include "tst_experiment_store.moc"
