// Tests that the charts draw the engine's own numbers at the places where they belong.
#include "app/charts/guess_chart.h"
#include "app/charts/occupancy_chart.h"
#include "app/charts/speed_chart.h"
#include "tests/app/charts/charts_case.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QSignalSpy>
#include <QTest>

using namespace charts_case;

class TestCharts : public QObject
{
    Q_OBJECT

private:
    static void style(OccupancyChart& chart)
    {
        chart.setProperty("ground", kGround);
        chart.setProperty("colors",
                          QVariant::fromValue(QList<QColor>{kWeights, kExperts, kKv, kState, kScratch, kOthers}));
        chart.setProperty("budgetColor", QColor(Qt::black));
        chart.setProperty("watermarkColor", QColor(Qt::red));
        chart.setProperty("draggable", true);
    }

private Q_SLOTS:
    void areasAreAsLargeAsTheirBytes()
    {
        Shown<OccupancyChart> shown;
        style(shown.item);
        for (int i = 0; i <= 10; ++i)
            shown.monitor.onFrame(1, frameAt(i, 100 * i, 200));
        const QImage picture = shown.picture();
        const double weights = pixelsOf(picture, kWeights);
        QVERIFY(weights > 1000);
        // 300 bytes of weights, 200 of KV, 100 of scratch.
        QVERIFY(std::abs(pixelsOf(picture, kKv) / weights - 200.0 / 300) < 0.05);
        QVERIFY(std::abs(pixelsOf(picture, kScratch) / weights - 100.0 / 300) < 0.05);

        QCOMPARE(pixelsOf(picture, kState), 0);  // not even a line: the model has no recurrent layer

        // A series that is hidden makes room for those above it.
        shown.item.setProperty("hidden", QStringList{"weights"});
        const QImage without = shown.picture();
        QCOMPARE(pixelsOf(without, kWeights), 0);
        QVERIFY(pixelsOf(without, kKv) > 1000);
    }

    void statesOfRecurrentLayersAreAnAreaOfTheirOwn()
    {
        Shown<OccupancyChart> shown;
        style(shown.item);
        engine::Telemetry frame = frameAt(0, 0, 200);
        frame.device->state_bytes = 150;
        for (int i = 0; i <= 10; ++i) {
            frame.time_us = std::int64_t(i) * 1'000'000;
            frame.context_tokens = 100 * i;
            shown.monitor.onFrame(1, frame);
        }
        const QImage picture = shown.picture();
        const double weights = pixelsOf(picture, kWeights);
        QVERIFY(std::abs(pixelsOf(picture, kState) / weights - 150.0 / 300) < 0.05);
        QVERIFY(std::abs(pixelsOf(picture, kKv) / weights - 200.0 / 300) < 0.05);
        QCOMPARE(shown.item.at(500)["state"].toDouble(), 150.0);
        QCOMPARE(shown.item.at(500)["free"].toDouble(), 900.0 - 300 - 200 - 150 - 100);
        shown.item.setProperty("hidden", QStringList{"state"});
        QCOMPARE(pixelsOf(shown.picture(), kState), 0);
    }

    void copiesOfExpertsAreNoneOfTheWeights()
    {
        Shown<OccupancyChart> shown;
        style(shown.item);
        shown.monitor.onFrame(1, frameAt(0, 0, 200));
        QCOMPARE(pixelsOf(shown.picture(), kExperts), 0);  // not even a line
        engine::Telemetry frame = frameAt(0, 0, 200);
        frame.device->weight_bytes = 450;  // as the engine counts them, with the copies
        frame.device->expert_cache_bytes = 150;
        for (int i = 1; i <= 10; ++i) {
            frame.time_us = std::int64_t(i) * 1'000'000;
            frame.context_tokens = 100 * i;
            shown.monitor.onFrame(1, frame);
        }
        QCOMPARE(shown.item.at(500)["weights"].toDouble(), 300.0);
        QCOMPARE(shown.item.at(500)["experts"].toDouble(), 150.0);
        QCOMPARE(shown.item.at(500)["free"].toDouble(), 900.0 - 300 - 150 - 200 - 100);
        const QImage picture = shown.picture();
        const double weights = pixelsOf(picture, kWeights);
        QVERIFY(weights > 1000);
        QVERIFY(std::abs(pixelsOf(picture, kExperts) / weights - 150.0 / 300) < 0.08);
        shown.item.setProperty("hidden", QStringList{"experts"});
        QCOMPARE(pixelsOf(shown.picture(), kExperts), 0);
    }

    void valuesAreTheEngines()
    {
        Shown<OccupancyChart> shown;
        for (int i = 0; i <= 10; ++i)
            shown.monitor.onFrame(1, frameAt(i, 100 * i, 20 * i));
        QVariantMap at = shown.item.at(350);
        QCOMPARE(at["x"].toInt(), 300);
        QCOMPARE(at["kv"].toDouble(), 60.0);
        QCOMPARE(at["weights"].toDouble(), 300.0);
        QCOMPARE(at["free"].toDouble(), 900.0 - 300 - 60 - 100);
        shown.item.setProperty("axis", QVariant::fromValue(OccupancyChart::Time));
        at = shown.item.at(7.5);
        QCOMPARE(at["kv"].toDouble(), 140.0);
        QVERIFY(shown.item.at(-1).isEmpty());
    }

    void linesAreDragged()
    {
        Shown<OccupancyChart> shown;
        style(shown.item);
        shown.monitor.onFrame(1, frameAt(0, 10, 100));
        shown.monitor.onFrame(1, frameAt(1, 1000, 100));
        const QImage picture = shown.picture();
        const auto rowOf = [&](const QColor& color) {
            for (int y = 0; y < picture.height(); ++y)
                if (picture.pixelColor(200, y) == color)
                    return y;
            return -1;
        };
        QSignalSpy budget(&shown.item, &OccupancyChart::budgetChosen);
        QSignalSpy watermark(&shown.item, &OccupancyChart::watermarkChosen);
        const int top = rowOf(Qt::black);
        QVERIFY(top > 0);
        const int weightsTop = rowOf(kWeights);  // 300 bytes
        QTest::mousePress(&shown.window, Qt::LeftButton, {}, {200, top});
        QTest::mouseMove(&shown.window, {200, (top + weightsTop) / 2});
        QVERIFY(shown.item.draggedBytes().isValid());
        QCOMPARE(shown.item.draggedBudget(), shown.item.draggedBytes());
        QTest::mouseRelease(&shown.window, Qt::LeftButton, {}, {200, (top + weightsTop) / 2});
        QCOMPARE(budget.size(), 1);
        QVERIFY(std::abs(budget[0][0].toDouble() - 600) < 20);  // half way between 900 and 300
        QVERIFY(watermark.isEmpty());
        QVERIFY(!shown.item.draggedBytes().isValid());

        // Away from the lines it is the chart that moves, and nothing is chosen.
        QTest::mousePress(&shown.window, Qt::LeftButton, {}, {200, weightsTop + 10});
        QTest::mouseMove(&shown.window, {150, weightsTop + 10});
        QTest::mouseRelease(&shown.window, Qt::LeftButton, {}, {150, weightsTop + 10});
        QCOMPARE(budget.size(), 1);
    }

    void zoomsWithinWhatThereIs()
    {
        Shown<OccupancyChart> shown;
        shown.monitor.onFrame(1, frameAt(0, 0, 100));
        shown.monitor.onFrame(1, frameAt(1, 1000, 100));
        shown.picture();
        QVERIFY(!shown.item.zoomed());
        shown.item.zoom(2);
        QVERIFY(shown.item.zoomed());
        shown.item.pan(100);
        QVERIFY(shown.item.zoomed());
        shown.item.zoom(1e-9);
        QVERIFY(!shown.item.zoomed());
        shown.item.zoom(1e12);
        shown.picture();
        shown.item.resetZoom();
        QVERIFY(!shown.item.zoomed());
        shown.item.zoom(2);
        shown.item.setAxis(OccupancyChart::Time);  // a range of tokens means nothing as a range of time
        QVERIFY(!shown.item.zoomed());
    }

    void theSpeedIsTheMeasuredOne()
    {
        Shown<SpeedChart> shown;
        const QColor measured("#123456");
        shown.item.setProperty("ground", kGround);
        shown.item.setProperty("measuredColor", measured);
        engine::Telemetry frame = frameAt(1, 1000, 0);
        for (int i = 1; i <= 20; ++i) {
            frame.time_us = 1'000'000 * i;
            frame.generated_tokens = 10 * i;
            frame.context_tokens = 1000 + 10 * i;
            shown.monitor.onFrame(1, frame);
        }
        const QVariantMap at = shown.item.at(1101);
        QCOMPARE(at["contextTokens"].toInt(), 1100);
        QCOMPARE(at["measured"].toDouble(), 10.0);
        QVERIFY(!at.contains("predicted"));  // no planner, no prediction
        shown.monitor.onFrame(2, frame);
        shown.picture();
    }

    void aMemoryOfWhichNothingIsKnownHasNoNumbers()
    {
        Shown<OccupancyChart> shown;
        shown.item.setProperty("ground", kGround);
        const auto beside = [&] {
            const QImage strip = shown.picture().copy(0, 0, 12, 150);
            return strip.width() * strip.height() - pixelsOf(strip, kGround);
        };
        QCOMPARE(beside(), 0);
        QVERIFY(shown.item.empty());
        shown.monitor.onFrame(1, frameAt(1, 100, 50));
        QVERIFY(beside() > 0);
        QVERIFY(!shown.item.empty());
    }

    /// Where there is no speed the axis has no numbers: ones from 0 to 1 would mean nothing.
    void withoutASpeedThereAreNoNumbersOfOne()
    {
        Shown<SpeedChart> shown;
        shown.item.setProperty("ground", kGround);
        const auto beside = [&] {  // what is drawn where the numbers of the y axis stand
            const QImage strip = shown.picture().copy(0, 0, 12, 150);
            return strip.width() * strip.height() - pixelsOf(strip, kGround);
        };
        QCOMPARE(beside(), 0);
        QVERIFY(shown.item.empty());
        engine::Telemetry frame = frameAt(1, 1000, 0);
        for (int i = 1; i <= 20; ++i) {
            frame.time_us = 1'000'000 * i;
            frame.generated_tokens = 10 * i;
            frame.context_tokens = 1000 + 10 * i;
            shown.monitor.onFrame(1, frame);
        }
        QVERIFY(beside() > 0);
        QVERIFY(!shown.item.empty());
        shown.item.setProperty("hidden", QStringList{"measured"});
        QCOMPARE(beside(), 0);
        QVERIFY(shown.item.empty());
    }

    void eachKindOfTickIsASeries()
    {
        Shown<SpeedChart> shown;
        const QColor offload("#aa0000"), fetch("#00aa00"), layer("#0000aa");
        shown.item.setProperty("ground", kGround);
        shown.item.setProperty("offloadColor", offload);
        shown.item.setProperty("fetchColor", fetch);
        shown.item.setProperty("moveColor", layer);
        shown.monitor.onFrame(1, frameAt(1, 400, 0));
        shown.picture();
        QVERIFY(shown.item.marks().isEmpty());
        for (const auto kind : {engine::Event::Kind::Offload, engine::Event::Kind::LayerMove}) {
            engine::Event event;
            event.kind = kind;
            event.time_us = 1'000'000;
            shown.monitor.onEvent(event);
        }
        const QImage both = shown.picture();
        QCOMPARE(shown.item.marks(), (QStringList{"offloads", "layers"}));
        QVERIFY(pixelsOf(both, offload) > 0 && pixelsOf(both, layer) > 0);
        QCOMPARE(pixelsOf(both, fetch), 0);
        shown.item.setProperty("hidden", QStringList{"offloads"});
        const QImage one = shown.picture();
        QVERIFY(pixelsOf(one, offload) == 0 && pixelsOf(one, layer) > 0);
        QCOMPARE(shown.item.marks().size(), 2);  // so that it can be brought back
    }

    /// The card is of the point beside the pointer, whichever answer it is of.
    void theNearestPointOfAnySeriesIsRead()
    {
        Shown<SpeedChart> shown;
        const auto answer = [&](quint64 turn, int from, double perSecond) {
            engine::Telemetry frame = frameAt(double(turn) * 1000, from, 0);
            for (int i = 1; i <= 3; ++i) {
                frame.time_us += std::int64_t(1e6 * 10 / perSecond);
                frame.generated_tokens = 10 * i;
                frame.context_tokens = from + 10 * i;
                shown.monitor.onFrame(turn, frame);
            }
        };
        answer(1, 2170, 20);
        answer(2, 4640, 5);
        const QVariantMap early = shown.item.at(2200), late = shown.item.at(4600);
        QCOMPARE(early["contextTokens"].toInt(), 2200);
        QCOMPARE(early["measured"].toDouble(), 20.0);
        QCOMPARE(early["earlier"].toBool(), true);
        QCOMPARE(late["contextTokens"].toInt(), 4660);
        QCOMPARE(late["measured"].toDouble(), 5.0);
        QCOMPARE(late["earlier"].toBool(), false);
        shown.item.setProperty("hidden", QStringList{"earlier"});
        QCOMPARE(shown.item.at(2200)["contextTokens"].toInt(), 4660);  // what is not drawn is not read
    }

    void anotherModelBeginsAnotherChart()
    {
        Shown<SpeedChart> speed;
        Shown<OccupancyChart> memory;
        memory.item.setMonitor(&speed.monitor);
        const auto model = [&](const char* name) {
            speed.monitor.onModelGone();
            engine::ModelInfo info;
            info.name = name;
            info.path = std::string(name) + ".gguf";
            info.context_in_use = 8192;
            speed.monitor.onModelReady(info);
        };
        speed.monitor.recorder().show("talk");
        const auto answer = [&](quint64 turn, int from, std::int64_t kvBytes) {
            speed.monitor.recorder().begin(turn, "talk");
            engine::Telemetry frame = frameAt(double(turn), from, kvBytes);
            for (int i = 1; i <= 3; ++i) {
                frame.time_us += 1'000'000;
                frame.generated_tokens = 10 * i;
                frame.context_tokens = from + 10 * i;
                speed.monitor.onFrame(turn, frame);
            }
        };
        model("large");
        answer(1, 6000, 500);
        QVERIFY(!speed.monitor.severalModels());
        QVERIFY(memory.item.at(6030).contains("kv"));
        model("small");
        QVERIFY(memory.item.at(6030).isEmpty());  // its numbers stand beside no areas of the other
        QVERIFY(speed.item.at(6030)["measured"].isNull());
        engine::Telemetry loaded = frameAt(1.5, 0, 0);
        loaded.device->weight_bytes = 20;
        speed.monitor.onPlacement(loaded);
        QCOMPARE(memory.item.at(0)["weights"].toDouble(), 20.0);
        QCOMPARE(speed.monitor.recordingModel(), "small");
        QVERIFY(speed.monitor.severalModels() && !speed.monitor.earlier());
        QCOMPARE(speed.monitor.recorder().shown().history.runs().size(), std::size_t(1));  // the other's are kept
        answer(2, 100, 10);
        QVERIFY(speed.monitor.severalModels());
        QCOMPARE(speed.monitor.recordingModel(), "small");
        QCOMPARE(speed.item.at(6000)["contextTokens"].toInt(), 130);  // the nearest of this model
        QCOMPARE(memory.item.at(6000)["kv"].toDouble(), 10.0);
        const auto again = Recording::parse(speed.monitor.recording().toJson());
        QVERIFY(again);
        QCOMPARE(again->history.firstRun(), speed.monitor.history().firstRun());
        QCOMPARE(again->history.modelSince(), speed.monitor.history().modelSince());
        QCOMPARE(again->history.runs().size(), std::size_t(2));  // the other's are kept
        model("small");
        answer(3, 200, 10);
        QCOMPARE(speed.monitor.history().firstRun(), std::size_t(1));  // it is the same
    }

    void guessesThatStoodAreDrawn()
    {
        Shown<GuessChart> shown;
        const QColor dots("#123456");
        shown.item.setProperty("ground", kGround);
        shown.item.setProperty("guessedColor", dots);
        engine::Telemetry frame = frameAt(1, 100, 0);
        frame.generated_tokens = 10;
        shown.monitor.onFrame(1, frame);
        QCOMPARE(pixelsOf(shown.picture(), dots), 0);
        QVERIFY(shown.item.empty());
        QCOMPARE(shown.item.drafted(), 0);
        QVERIFY(shown.item.at(100).isEmpty());

        frame.decode_tokens_per_s = 30;
        frame.plain_steps = {20, 2};
        for (const auto& [context, drafted, accepted] : {std::tuple(200, 40, 10), {300, 80, 50}}) {
            frame.time_us += 1'000'000;
            frame.context_tokens = context;
            frame.generated_tokens += 100;
            frame.drafted_tokens = drafted;
            frame.accepted_tokens = accepted;
            frame.draft_model = engine::DraftModelTelemetry{drafted / 2, accepted / 2, 1000, 200, 30};
            frame.mtp = engine::DraftModelTelemetry{drafted / 4, accepted / 5, 500, 60, 7};
            shown.monitor.onFrame(1, frame);
        }
        QVERIFY(pixelsOf(shown.picture(), dots) > 0);
        QVERIFY(!shown.item.empty());
        QCOMPARE(shown.item.drafted(), 80);
        QCOMPARE(shown.item.accepted(), 50);
        QCOMPARE(shown.item.byModel().drafted, 40);
        QCOMPARE(shown.item.byModel().accepted, 25);
        QCOMPARE(shown.item.byModel().bytes, 1230.0);
        QCOMPARE(shown.item.byBlock().drafted, 20);
        QCOMPARE(shown.item.byBlock().accepted, 10);
        QCOMPARE(shown.item.byBlock().bytes, 567.0);
        QCOMPARE(shown.item.gain().toDouble(), 3.0);  // 30 tokens a second, and 10 steps without drafts
        const QVariantMap at = shown.item.at(290);
        QCOMPARE(at["contextTokens"].toInt(), 300);
        QCOMPARE(at["drafted"].toInt(), 40);
        QCOMPARE(at["accepted"].toInt(), 40);
        QCOMPARE(at["earlier"].toBool(), false);
        shown.item.setProperty("hidden", QStringList{"guessed"});
        QCOMPARE(pixelsOf(shown.picture(), dots), 0);
        QVERIFY(shown.item.at(290).isEmpty());  // what is not drawn is not read
    }

    /// Over the older part of the chart the line is where the budget was then.
    void theBudgetIsAsHighAsItWas()
    {
        Shown<OccupancyChart> shown;
        style(shown.item);
        const QColor line("#fe0102");
        shown.item.setProperty("budgetColor", line);
        shown.item.setProperty("axis", OccupancyChart::Time);
        engine::Telemetry frame = frameAt(0, 100, 0);
        for (int i = 0; i <= 20; ++i) {
            frame.time_us = std::int64_t(i) * 1'000'000;
            frame.device->budget_bytes = i < 10 ? 950 : 500;
            shown.monitor.onFrame(1, frame);
        }
        const QImage picture = shown.picture();
        const auto heightAt = [&](int x) {
            for (int y = 0; y < picture.height(); ++y)
                if (picture.pixelColor(x, y) == line)
                    return y;
            return -1;
        };
        const int early = heightAt(picture.width() / 3), late = heightAt(picture.width() * 9 / 10);
        QVERIFY2(early > 0 && late > early + picture.height() / 5, qPrintable(QString("%1, %2").arg(early).arg(late)));
        QCOMPARE(shown.item.at(20)["free"].toDouble(), 100.0);  // of the budget, beside weights and scratch
    }
};

SPILLWAY_TEST(QApplication, TestCharts)
#include "tst_charts.moc"
