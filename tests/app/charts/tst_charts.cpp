// The charts draw the engine's own numbers, at the places where they belong.
#include "app/charts/kv_map_item.h"
#include "app/charts/kv_map_layout.h"
#include "app/charts/occupancy_chart.h"
#include "app/charts/speed_chart.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QQuickWindow>
#include <QSignalSpy>
#include <QTest>

#include <memory>
#include <random>

namespace {

const QColor kWeights("#0072b2"), kKv("#009e73"), kState("#56b4e9"), kScratch("#cc79a7"), kOthers("#999999"),
    kGround("#ffffff");

engine::Telemetry frameAt(double seconds, int contextTokens, std::int64_t kvBytes)
{
    engine::Telemetry frame;
    frame.time_us = std::int64_t(seconds * 1e6);
    frame.context_tokens = contextTokens;
    frame.context_limit = 8192;
    frame.device.emplace();
    frame.device->id = "emulated";
    frame.device->total_bytes = 1000;
    frame.device->budget_bytes = 900;
    frame.device->watermark_bytes = 800;
    frame.device->weight_bytes = 300;
    frame.device->kv_bytes = kvBytes;
    frame.device->scratch_bytes = 100;
    return frame;
}

std::shared_ptr<engine::KvMap> mapOf(int columns, int layers)
{
    auto map = std::make_shared<engine::KvMap>();
    map->block_tokens = 256;
    map->columns = columns;
    map->layers = layers;
    map->cells.assign(size_t(columns) * size_t(layers), std::uint8_t(engine::KvMap::Place::Device));
    return map;
}

void set(engine::KvMap& map, int column, int layer, engine::KvMap::Place place)
{
    map.cells[size_t(column) * size_t(map.layers) + size_t(layer)] = std::uint8_t(place);
}

/// A window that is never seen, with one item that fills it.
template <class Item>
struct Shown {
    Shown()
    {
        window.resize(400, 200);
        window.create();
        item.setParentItem(window.contentItem());
        item.setSize({400, 200});
        item.setMonitor(&monitor);
    }
    QImage picture()
    {
        QTest::qWait(150);  // what the monitor gathers
        item.ensurePolished();
        return item.picture();
    }

    PressureMonitor monitor;
    QQuickWindow window;
    Item item;
};

int pixelsOf(const QImage& picture, const QColor& color)
{
    int count = 0;
    for (int y = 0; y < picture.height(); ++y)
        for (int x = 0; x < picture.width(); ++x)
            count += picture.pixelColor(x, y) == color ? 1 : 0;
    return count;
}

}  // namespace

class TestCharts : public QObject
{
    Q_OBJECT

private:
    static void style(OccupancyChart& chart)
    {
        chart.setProperty("ground", kGround);
        chart.setProperty("colors", QVariant::fromValue(QList<QColor>{kWeights, kKv, kState, kScratch, kOthers}));
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
        QVERIFY(!speed.monitor.showsOpenModel());  // until it has answered
        answer(2, 100, 10);
        QVERIFY(speed.monitor.severalModels() && speed.monitor.showsOpenModel());
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

    void aLayoutFindsItsCells_data()
    {
        QTest::addColumn<int>("columns");
        QTest::addColumn<int>("layers");
        QTest::addRow("one block") << 1 << 1;
        QTest::addRow("a short talk") << 9 << 6;
        QTest::addRow("128K tokens") << 512 << 64;
        QTest::addRow("more than can be shown") << 4096 << 128;
    }
    void aLayoutFindsItsCells()
    {
        QFETCH(int, columns);
        QFETCH(int, layers);
        const KvMapLayout layout(columns, layers, 340, 120, 4);
        QVERIFY(layout.height() > 0);
        QCOMPARE(layout.firstLayer(0), 0);
        QCOMPARE(layout.lastLayer(layout.bands() - 1), layers - 1);
        const unsigned seed = std::random_device()();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        for (int i = 0; i < 200; ++i) {
            const int column = int(random() % unsigned(columns)), band = int(random() % unsigned(layout.bands()));
            const QRectF rect = layout.rect({column, band});
            QVERIFY(rect.right() <= 340.001);
            const auto found = layout.at(rect.center());
            QVERIFY(found);
            QCOMPARE(found->column, column);
            QCOMPARE(found->band, band);
        }
        QVERIFY(!layout.at({-1, 0}));
        QVERIFY(!layout.at({0, layout.height() + 1}));
        QVERIFY(!KvMapLayout(0, 6, 340, 120, 4).at({0, 0}));
    }

    void whatDoesNotGrowHasItsPlace_data() { aLayoutFindsItsCells_data(); }
    void whatDoesNotGrowHasItsPlace()
    {
        QFETCH(int, columns);
        QFETCH(int, layers);
        const KvMapLayout layout(columns, layers, 340, 120, 4, KvMapLayout::States::Shown);
        QVERIFY(layout.height() > 0);
        for (int band = 0; band < layout.bands(); ++band) {
            const QRectF state = layout.rect({KvMapLayout::kState, band});
            const auto found = layout.at(state.center());
            QVERIFY(found);
            QCOMPARE(found->column, KvMapLayout::kState);
            QCOMPARE(found->band, band);
            for (const int column : {0, columns / 2, columns - 1}) {
                const QRectF rect = layout.rect({column, band});
                QVERIFY(rect.left() > state.right() && rect.right() <= 340.001);
                QVERIFY(layout.at(rect.center()) && layout.at(rect.center())->column == column);
            }
        }
        QVERIFY(!layout.at({layout.rect({0, 0}).left() - 1, 1}));  // between the two
        if (const double below = layout.rect({columns - 1, 0}).top(); below > 0)
            QVERIFY(!layout.at({1, below + 1}));  // beside the first line only
    }

    void cellsAreTheMaps()
    {
        using Place = engine::KvMap::Place;
        Shown<KvMapItem> shown;
        shown.item.setProperty("deviceColor", kKv);
        shown.item.setProperty("hostColor", kScratch);
        shown.item.setProperty("mostHeight", 120.0);
        const auto map = mapOf(6, 4);
        for (int column = 1; column < 4; ++column)
            for (int layer = 0; layer < 4; ++layer)
                set(*map, column, layer, Place::Host);
        set(*map, 4, 3, Place::Window);
        map->cells[size_t(5) * 4] |= engine::KvMap::kPinned;
        engine::Telemetry frame = frameAt(0, 1500, 600);
        frame.kv_map = map;
        frame.kv_blocks_device = frame.kv_blocks_host = 12;
        frame.kv_bytes_device = frame.kv_bytes_host = 1200;
        shown.monitor.onFrame(1, frame);
        const QImage picture = shown.picture();
        QCOMPARE(shown.item.columns(), 6);
        const double device = pixelsOf(picture, kKv), host = pixelsOf(picture, kScratch);
        QVERIFY(host > 100);
        QVERIFY2(std::abs(device / host - 11.0 / 12) < 0.1, qPrintable(QString::number(device / host)));

        const QVariantMap cell = shown.item.cell(1, 0);
        QCOMPARE(cell["firstToken"].toInt(), 256);
        QCOMPARE(cell["lastToken"].toInt(), 511);
        QCOMPARE(cell["host"].toInt(), cell["lastLayer"].toInt() - cell["firstLayer"].toInt() + 1);
        QCOMPARE(cell["device"].toInt(), 0);
        QCOMPARE(cell["bytes"].toDouble(), 100.0 * cell["host"].toInt());
        QCOMPARE(shown.item.cell(5, 0)["lastToken"].toInt(), 1499);  // as far as there are tokens
        QVERIFY(shown.item.cell(5, 0)["pinned"].toBool());
        QVERIFY(shown.item.cell(6, 0).isEmpty());
        QVERIFY(shown.item.windowed());
        QCOMPARE(shown.item.nextToLeave(), 4);
    }

    void statesOfRecurrentLayersAreCellsOfTheirOwn()
    {
        using Place = engine::KvMap::Place;
        const QColor line("#345678");
        Shown<KvMapItem> shown;
        shown.item.setProperty("deviceColor", kKv);
        shown.item.setProperty("hostColor", kScratch);
        shown.item.setProperty("stateColor", kState);
        shown.item.setProperty("emptyColor", line);
        engine::Telemetry frame = frameAt(0, 1500, 600);
        frame.kv_map = mapOf(6, 4);
        frame.kv_blocks_device = 24;
        frame.kv_bytes_device = 2400;
        shown.monitor.onFrame(1, frame);
        QCOMPARE(pixelsOf(shown.picture(), kState), 0);
        QCOMPARE(shown.item.statesOnDevice() + shown.item.statesOnHost(), 0);
        QVERIFY(shown.item.cell(-1, 0).isEmpty());

        // Of four layers three are recurrent, the first two on the device.
        const auto map = mapOf(6, 4);
        for (int column = 0; column < 6; ++column)
            for (int layer = 0; layer < 3; ++layer)
                set(*map, column, layer, Place::None);
        map->states = {{1000, engine::Residency::Device}, {1000, engine::Residency::Device}, {1000}, {}};
        frame.kv_map = map;
        frame.kv_blocks_device = 6;
        frame.kv_bytes_device = 600;
        shown.monitor.onFrame(1, frame);
        const QImage picture = shown.picture();
        QCOMPARE(shown.item.statesOnDevice(), 2);
        QCOMPARE(shown.item.statesOnHost(), 1);
        QCOMPARE(shown.item.stateBytes(), 3000.0);
        QVERIFY(pixelsOf(picture, kState) > 50);
        QVERIFY(pixelsOf(picture, line) > 50);
        QVERIFY(pixelsOf(picture, kKv) > 50);
        const QVariantMap there = shown.item.cell(-1, 0), here = shown.item.cell(-1, 2);
        QCOMPARE(there["states"].toInt(), 1);
        QCOMPARE(there["device"].toInt(), 1);
        QCOMPARE(there["bytes"].toDouble(), 1000.0);
        QVERIFY(!there.contains("firstToken"));
        QCOMPARE(here["host"].toInt(), 1);
        QVERIFY(shown.item.cell(-1, 3).isEmpty());
        const QVariantMap none = shown.item.cell(0, 0), kv = shown.item.cell(0, 3);
        QCOMPARE(none["device"].toInt() + none["host"].toInt() + none["moving"].toInt() + none["window"].toInt(), 0);
        QCOMPARE(kv["device"].toInt(), 1);
        QCOMPARE(kv["bytes"].toDouble(), 100.0);  // blocks of recurrent layers are not counted

        // On the device they are filled, on the host hollow.
        const auto all = [&](engine::Residency at) {
            const auto changed = std::make_shared<engine::KvMap>(*map);
            for (engine::KvMap::State& state : changed->states)
                state.at = at;
            frame.kv_map = changed;
            shown.monitor.onFrame(1, frame);
            return pixelsOf(shown.picture(), kState);
        };
        QVERIFY(all(engine::Residency::Device) > all(engine::Residency::Host));
    }

    void aLargeMapIsDrawnAtOnce()
    {
        Shown<KvMapItem> shown;
        engine::Telemetry frame = frameAt(0, 131072, 600);
        frame.kv_map = mapOf(512, 64);
        shown.monitor.onFrame(1, frame);
        shown.picture();
        // The same map again makes no other picture.
        const QSignalSpy changed(&shown.item, &KvMapItem::mapChanged);
        shown.monitor.onFrame(1, frame);
        shown.picture();
        QVERIFY(changed.isEmpty());
        frame.kv_map = mapOf(513, 64);
        shown.monitor.onFrame(1, frame);
        shown.picture();
        QCOMPARE(changed.size(), 1);
        QCOMPARE(shown.item.columns(), 513);
    }
};

SPILLWAY_TEST(QApplication, TestCharts)
#include "tst_charts.moc"
