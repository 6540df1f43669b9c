// Tests that the figures of an experiment draw its own numbers at the contexts where they were measured.
#include "app/charts/experiment_chart.h"
#include "app/charts/experiment_sheet.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QJSEngine>
#include <QQuickWindow>
#include <QSignalSpy>
#include <QTest>

#include <cmath>

namespace {

const QColor kPaper("#ffffff"), kCpu("#ff0000"), kMerge("#00ff00");

ExperimentRow rowAt(int context, Strategy::Name strategy, double speed)
{
    ExperimentRow row;
    row.cell = {0, context, strategy};
    row.tokensPerSecond = speed;
    row.p99Ms = 2000 / speed;
    row.hostBytes = 1e9 * context;
    if (strategy != Strategy::CpuOnly)
        row.deviceBytes = 3e9;
    return row;
}

ExperimentRun someRun(double merge)
{
    ExperimentRun run;
    run.plan.models = {{"m", "/m.gguf", {}}};
    run.plan.contexts = {1024, 4096};
    run.plan.strategies = {Strategy::CpuOnly, Strategy::Merge};
    run.plan.device = QStringLiteral("emulated");
    run.rows = {rowAt(1024, Strategy::CpuOnly, 10), rowAt(1024, Strategy::Merge, merge),
                rowAt(4096, Strategy::CpuOnly, 5), rowAt(4096, Strategy::Merge, merge / 2)};
    return run;
}

struct ShownExperiment {
    ShownExperiment()
    {
        window.resize(400, 200);
        window.create();
        chart.setParentItem(window.contentItem());
        chart.setSize({400, 200});
        chart.setRows(&rows);
        chart.setProperty("ground", kPaper);
        QList<QColor> colors(kStrategies, kCpu);
        colors[Strategy::Merge] = kMerge;
        chart.setProperty("colors", QVariant::fromValue(colors));
    }
    QImage picture()
    {
        chart.ensurePolished();
        return chart.picture();
    }
    ExperimentRowModel rows;
    QQuickWindow window;
    ExperimentChart chart;
};

/// Returns the middle of what has a colour within a few columns around `x`, in pixels from the top; negative: nothing
/// has.
double heightOf(const QImage& picture, const QColor& color, int fromX, int toX)
{
    double sum = 0;
    int count = 0;
    for (int x = fromX; x < toX; ++x)
        for (int y = 0; y < picture.height(); ++y)
            if (picture.pixelColor(x, y) == color) {
                sum += y;
                ++count;
            }
    return count > 0 ? sum / count : -1;
}

/// Returns the first and the last column that have the colour.
std::pair<int, int> widthOf(const QImage& picture, const QColor& color)
{
    int first = -1, last = -1;
    for (int x = 0; x < picture.width(); ++x)
        for (int y = 0; y < picture.height(); ++y)
            if (picture.pixelColor(x, y) == color) {
                first = first < 0 ? x : first;
                last = x;
            }
    return {first, last};
}

}  // namespace

class TestExperimentChart : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void curvesAreAsHighAsTheirNumbers()
    {
        ShownExperiment shown;
        shown.rows.setRun(someRun(20));
        const QImage picture = shown.picture();
        const auto [first, last] = widthOf(picture, kCpu);
        QVERIFY(first > 0 && last > first + 100);
        // The dots at both ends: 20 and 10 for one, 10 and 5 for the other.
        const double mergeLeft = heightOf(picture, kMerge, first, first + 7);
        const double mergeRight = heightOf(picture, kMerge, last - 6, last + 1);
        const double cpuLeft = heightOf(picture, kCpu, first, first + 7);
        const double cpuRight = heightOf(picture, kCpu, last - 6, last + 1);
        QVERIFY(mergeLeft > 0 && mergeLeft < cpuLeft && cpuLeft < cpuRight);
        QVERIFY(std::abs(mergeRight - cpuLeft) < 4);                                // 10 is 10
        QVERIFY(std::abs((cpuLeft - mergeLeft) / (cpuRight - cpuLeft) - 2) < 0.3);  // 10 apart, and 5
    }

    /// A chart of what was not measured has no numbers at its axis, as that of the device where only the CPU was
    /// measured: ones from 0 to 1 would mean nothing.
    void whatWasNotMeasuredHasNoNumbers()
    {
        ShownExperiment shown;
        shown.chart.setProperty("quantity", ExperimentChart::DeviceMemory);
        const auto beside = [&] {  // what is drawn where the numbers of the y axis stand
            const QImage strip = shown.picture().copy(0, 0, 12, 150);
            int count = 0;
            for (int y = 0; y < strip.height(); ++y)
                for (int x = 0; x < strip.width(); ++x)
                    count += strip.pixelColor(x, y) != kPaper ? 1 : 0;
            return count;
        };
        ExperimentRun run = someRun(20);
        shown.rows.setRun(run);
        QVERIFY(beside() > 0);
        QVERIFY(!shown.chart.empty());
        run.rows.removeIf([](const ExperimentRow& row) { return row.cell.strategy != Strategy::CpuOnly; });
        shown.rows.setRun(run);
        QCOMPARE(beside(), 0);
        QVERIFY(shown.chart.empty());
    }

    void valuesAreTheRows()
    {
        ShownExperiment shown;
        shown.rows.setRun(someRun(20));
        QVariantList at = shown.chart.at(10.9);  // nearer to 2^10 than to 2^12
        QCOMPARE(at.size(), 2);
        QCOMPARE(at[0].toMap()["contextTokens"].toInt(), 1024);
        QCOMPARE(at[1].toMap()["value"].toDouble(), 20.0);
        QVERIFY(!at[1].toMap().contains("earlier"));
        shown.rows.setEarlier(someRun(40));
        at = shown.chart.at(12);
        QCOMPARE(at[1].toMap()["value"].toDouble(), 10.0);
        QCOMPARE(at[1].toMap()["earlier"].toDouble(), 20.0);
        shown.chart.setProperty("quantity", ExperimentChart::DeviceMemory);
        QCOMPARE(shown.chart.at(12).size(), 1);  // the CPU has none
        shown.chart.setProperty("quantity", ExperimentChart::HostMemoryPerSpeed);
        QCOMPARE(shown.chart.at(10)[0].toMap()["value"].toDouble(), 1e9 * 1024 / 10);
        shown.chart.setProperty("hidden", QStringList{QString::number(Strategy::CpuOnly)});
        QCOMPARE(shown.chart.at(10).size(), 1);
    }

    void speedIsARatioToOneStrategy()
    {
        ShownExperiment shown;
        shown.rows.setRun(someRun(20));
        shown.rows.setEarlier(someRun(40));
        shown.chart.setProperty("quantity", ExperimentChart::SpeedRatio);
        QCOMPARE(shown.rows.base(), int(Strategy::CpuOnly));  // the plan's first
        QVariantList at = shown.chart.at(12);
        QCOMPARE(at[0].toMap()["value"].toDouble(), 1.0);
        QCOMPARE(at[1].toMap()["value"].toDouble(), 2.0);
        QCOMPARE(at[1].toMap()["earlier"].toDouble(), 4.0);  // within that run
        QCOMPARE(shown.rows.data(shown.rows.index(3), ExperimentRowModel::RatioRole).toDouble(), 2.0);

        const QSignalSpy changed(&shown.rows, &ExperimentRowModel::dataChanged);
        shown.rows.setBase(Strategy::Merge);
        shown.rows.setBase(Strategy::Stream);  // it was not measured
        QCOMPARE(changed.size(), 1);
        QCOMPARE(shown.chart.at(12)[0].toMap()["value"].toDouble(), 0.5);
        QCOMPARE(shown.rows.data(shown.rows.index(0), ExperimentRowModel::RatioRole).toDouble(), 0.5);

        // There is no ratio to what could not be measured.
        ExperimentRun run = someRun(20);
        run.rows[2].outcome = Outcome::Crashed;
        run.rows[2].tokensPerSecond.reset();
        shown.rows.setRun(run);
        QCOMPARE(shown.rows.base(), int(Strategy::CpuOnly));
        QVERIFY(!shown.rows.data(shown.rows.index(3), ExperimentRowModel::RatioRole).isValid());
        QVERIFY(shown.rows.data(shown.rows.index(1), ExperimentRowModel::RatioRole).isValid());
        // A base that comes after a row gives that one its ratio.
        run.rows.removeLast();
        run.rows[2] = rowAt(4096, Strategy::CpuOnly, 5);
        shown.rows.setRun(run);
        shown.rows.setBase(Strategy::Merge);
        QVERIFY(!shown.rows.data(shown.rows.index(2), ExperimentRowModel::RatioRole).isValid());
        const QSignalSpy added(&shown.rows, &ExperimentRowModel::dataChanged);
        shown.rows.addRow(rowAt(4096, Strategy::Merge, 10));
        QCOMPARE(added.size(), 1);
        QCOMPARE(shown.rows.data(shown.rows.index(2), ExperimentRowModel::RatioRole).toDouble(), 0.5);
    }

    void anEarlierRunIsDashed()
    {
        ShownExperiment shown;
        shown.rows.setRun(someRun(20));
        shown.chart.setProperty("hidden", QStringList{"0"});
        const auto count = [](const QImage& picture) {
            int pixels = 0;
            for (int y = 0; y < picture.height(); ++y)
                for (int x = 0; x < picture.width(); ++x)
                    pixels += picture.pixelColor(x, y) != kPaper ? 1 : 0;
            return pixels;
        };
        const int alone = count(shown.picture());
        shown.rows.setEarlier(someRun(15));
        const int both = count(shown.picture());
        QVERIFY2(both > alone + 50, qPrintable(QString("%1 and %2").arg(alone).arg(both)));
        shown.chart.setProperty("hidden", QStringList{"0", "earlier"});
        QCOMPARE(count(shown.picture()), alone);
        // A model that the earlier run did not have has no earlier speed.
        ExperimentRun other = someRun(15);
        other.plan.models[0].title = QStringLiteral("another");
        shown.rows.setEarlier(other);
        shown.chart.setProperty("hidden", QStringList{"0"});
        QCOMPARE(count(shown.picture()), alone);
    }

    void whatOnlyTheEarlierRunHasIsThereToo()
    {
        ShownExperiment shown;
        shown.rows.setRun(someRun(20));
        const auto names = [&] {
            QStringList all;
            for (const auto& [name, color] : shown.chart.legend())
                all.append(name);
            return all;
        };
        const QStringList own = names();
        const int alone = widthOf(shown.picture(), kMerge).second;

        ExperimentRun other = someRun(15);
        other.name = QStringLiteral("Monday's");
        other.plan.contexts = {1024, 16384};
        other.plan.strategies = {Strategy::CpuOnly, Strategy::Stream};
        for (ExperimentRow& row : other.rows) {
            row.cell.contextTokens = row.cell.contextTokens == 1024 ? 1024 : 16384;
            row.cell.strategy = row.cell.strategy == Strategy::Merge ? Strategy::Stream : row.cell.strategy;
        }
        shown.rows.setEarlier(other);
        QCOMPARE(shown.rows.chartedStrategies(), (QList<int>{Strategy::CpuOnly, Strategy::Merge, Strategy::Stream}));
        QCOMPARE(names(), own + QStringList({strategyName(Strategy::Stream), QStringLiteral("dashed: Monday's")}));
        shown.chart.setProperty("hidden", QStringList{QString::number(Strategy::Stream)});
        // Its curve goes on to the right of this run's, which ends sooner than it does alone.
        const int ours = widthOf(shown.picture(), kMerge).second, theirs = widthOf(shown.picture(), kCpu).second;
        QVERIFY2(ours < alone - 50 && theirs > ours + 50,
                 qPrintable(QString("%1 and %2, alone %3").arg(ours).arg(theirs).arg(alone)));
        shown.chart.setProperty("hidden", QStringList{"earlier"});
        QCOMPARE(widthOf(shown.picture(), kMerge).second, alone);
    }

    void theAxisHasTheContextsThatWereMeasured()
    {
        ShownExperiment shown;
        ExperimentRun run = someRun(20);
        for (ExperimentRow& row : run.rows)
            row.cell.contextTokens = row.cell.contextTokens == 1024 ? 700 : 3000;
        run.plan.contexts = {3000, 700};
        shown.rows.setRun(run);
        QJSEngine pages;
        shown.chart.setXText(pages.evaluate("(function(x) { return 'at ' + Math.round(Math.pow(2, x)); })"));
        ExperimentSheet sheet;
        auto figures = sheet.figures();
        figures.append(&figures, &shown.chart);
        const QByteArray drawn = sheet.svg();
        QVERIFY(drawn.contains(">at 700<"));
        QVERIFY(drawn.contains(">at 3000<"));
        QCOMPARE(drawn.count(">at "), 2);
    }

    void nothingMeasuredIsAnEmptyChart()
    {
        ShownExperiment shown;
        shown.picture();
        QVERIFY(shown.chart.at(10).isEmpty());
        ExperimentRun run = someRun(20);
        run.rows.clear();
        ExperimentRow crashed;
        crashed.cell = {0, 1024, Strategy::CpuOnly};
        crashed.outcome = Outcome::Crashed;
        run.rows.append(crashed);
        shown.rows.setRun(run);
        shown.picture();
        QVERIFY(shown.chart.at(10).isEmpty());
        QCOMPARE(heightOf(shown.picture(), kCpu, 0, 400), -1.0);
    }
};

SPILLWAY_TEST(QApplication, TestExperimentChart)
#include "tst_experiment_chart.moc"
