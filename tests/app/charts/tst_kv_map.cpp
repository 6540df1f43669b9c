// Tests that the KV map draws each block, and each state of a recurrent layer, where the engine says that it lies.
#include "app/charts/kv_map_item.h"
#include "app/charts/kv_map_layout.h"
#include "tests/app/charts/charts_case.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QSignalSpy>
#include <QTest>

#include <memory>
#include <random>

using namespace charts_case;

namespace {

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

}  // namespace

class TestKvMap : public QObject
{
    Q_OBJECT

private Q_SLOTS:
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

SPILLWAY_TEST(QApplication, TestKvMap)
#include "tst_kv_map.moc"
