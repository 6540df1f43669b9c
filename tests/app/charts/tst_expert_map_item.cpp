// Tests that the expert map shows where the experts lie and which ones tokens chose, as the engine says it.
#include "app/charts/expert_map_item.h"
#include "tests/app/charts/charts_case.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTest>

using namespace charts_case;

namespace {

using Place = engine::ExpertMap::Place;

std::shared_ptr<engine::ExpertMap> expertsOf(int layers, int experts)
{
    auto map = std::make_shared<engine::ExpertMap>();
    map->layers = layers;
    map->experts = experts;
    map->places.assign(map->at(layers, 0), Place::Host);
    map->in_answer.assign(map->places.size(), 0);
    map->in_conversation.assign(map->places.size(), 0);
    return map;
}

void style(ExpertMapItem& item)
{
    item.setProperty("ground", kGround);
    item.setProperty("hostColor", kWeights);
    item.setProperty("deviceColor", kKv);
    item.setProperty("copyColor", kExperts);
    item.setProperty("markColor", QColor(Qt::black));
    item.setProperty("unit", 10);
    item.setProperty("mostHeight", 200);
}

engine::Telemetry frameWith(std::shared_ptr<const engine::ExpertMap> map)
{
    engine::Telemetry frame = frameAt(0, 100, 200);
    frame.expert_map = std::move(map);
    return frame;
}

/// The window is never seen, so nothing but this moves a pointer over it.
void hover(ExpertMapItem& item, QPointF at)
{
    QHoverEvent event(QEvent::HoverMove, at, at, QPointF());
    QCoreApplication::sendEvent(&item, &event);
}

}  // namespace

class TestExpertMapItem : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void cellsAreTheMaps()
    {
        Shown<ExpertMapItem> shown;
        style(shown.item);
        const auto map = expertsOf(4, 8);
        for (int expert = 0; expert < 8; ++expert) {
            map->places[map->at(0, expert)] = Place::None;
            map->places[map->at(3, expert)] = Place::Device;
        }
        map->places[map->at(1, 2)] = Place::Copy;
        // The strongest of each colour: those chosen most.
        for (const auto at : {map->at(1, 2), map->at(2, 5), map->at(3, 7)})
            map->in_answer[at] = 9;
        map->in_answer[map->at(2, 0)] = 1;
        map->in_conversation[map->at(2, 1)] = 5;
        shown.monitor.onFrame(1, frameWith(map));
        const QImage picture = shown.picture();
        QCOMPARE(shown.item.layers(), 3);  // the first has none
        QCOMPARE(shown.item.onHost(), 15);
        QCOMPARE(shown.item.copies(), 1);
        QCOMPARE(shown.item.onDevice(), 8);

        // 50 x 20 pixels for each, and a gap beside it.
        const auto cell = [&](const QImage& of, int line, int expert) {
            return of.pixelColor(50 * expert + 20, 20 * line + 8);
        };
        QCOMPARE(cell(picture, 0, 2), kExperts);
        QCOMPARE(cell(picture, 1, 5), kWeights);
        QCOMPARE(cell(picture, 2, 7), kKv);
        QCOMPARE(picture.pixelColor(49, 8), QColor(Qt::transparent));
        const double unused = cell(picture, 1, 1).lightnessF(), once = cell(picture, 1, 0).lightnessF();
        QVERIFY(unused < 1);  // where it lies is seen all the same
        QVERIFY(once < unused);
        QVERIFY(kWeights.lightnessF() < once);

        shown.item.setProperty("span", QVariant::fromValue(ExpertMapItem::Conversation));
        const QImage other = shown.picture();
        QCOMPARE(cell(other, 1, 1), kWeights);
        QCOMPARE(cell(other, 1, 5).lightnessF(), unused);
    }

    void aCellIsPointedAt()
    {
        Shown<ExpertMapItem> shown;
        style(shown.item);
        const auto map = expertsOf(4, 8);
        for (int expert = 0; expert < 8; ++expert)
            map->places[map->at(0, expert)] = Place::None;
        map->places[map->at(2, 6)] = Place::Copy;
        map->in_answer[map->at(2, 6)] = 3;
        map->in_answer[map->at(2, 0)] = 9;
        map->in_conversation[map->at(2, 6)] = 30;
        shown.monitor.onFrame(1, frameWith(map));
        shown.picture();
        QVERIFY(shown.item.pointed().isEmpty());
        hover(shown.item, {50 * 6 + 10, 20 + 5});
        const QVariantMap pointed = shown.item.pointed();
        QCOMPARE(pointed["layer"].toInt(), 2);
        QCOMPARE(pointed["expert"].toInt(), 6);
        QCOMPARE(pointed["place"].toString(), "copy");
        QCOMPARE(pointed["counted"].toBool(), true);
        QCOMPARE(pointed["inAnswer"].toInt(), 3);
        QCOMPARE(pointed["shareOfAnswer"].toDouble(), 0.25);
        QCOMPARE(pointed["inConversation"].toInt(), 30);
        QCOMPARE(pointed["shareOfConversation"].toDouble(), 1.0);
        hover(shown.item, {10, 150});  // below the last line
        QVERIFY(shown.item.pointed().isEmpty());

        // Nothing was chosen there: no share of it.
        shown.item.step(0, 0);
        QCOMPARE(shown.item.pointed()["layer"].toInt(), 1);
        QCOMPARE(shown.item.pointed()["expert"].toInt(), 0);
        QVERIFY(!shown.item.pointed().contains("shareOfAnswer"));
        shown.item.step(1, 3);
        QCOMPARE(shown.item.pointed()["layer"].toInt(), 2);
        QCOMPARE(shown.item.pointed()["expert"].toInt(), 3);
        shown.item.step(100, 100);  // never beyond the last
        QCOMPARE(shown.item.pointed()["layer"].toInt(), 3);
        QCOMPARE(shown.item.pointed()["expert"].toInt(), 7);

        // A smaller model has no such expert.
        shown.monitor.onFrame(1, frameWith(expertsOf(2, 4)));
        shown.picture();
        QVERIFY(shown.item.pointed().isEmpty());
    }

    void aGpuDoesNotCountWhatLiesThere()
    {
        Shown<ExpertMapItem> shown;
        style(shown.item);
        const auto map = expertsOf(2, 4);
        map->counted_on_device = false;
        map->places[map->at(1, 0)] = Place::Device;
        shown.monitor.onFrame(1, frameWith(map));
        shown.picture();
        QVERIFY(!shown.item.countedOnDevice());
        shown.item.step(0, 0);
        QVERIFY(shown.item.pointed()["counted"].toBool());
        shown.item.step(1, 0);
        QVERIFY(!shown.item.pointed()["counted"].toBool());
    }

    void withoutExpertsThereIsNothing()
    {
        Shown<ExpertMapItem> shown;
        style(shown.item);
        shown.monitor.onFrame(1, frameWith(expertsOf(4, 8)));
        shown.picture();
        QCOMPARE(shown.item.layers(), 4);
        shown.item.step(0, 0);
        shown.monitor.onFrame(1, frameAt(1, 100, 200));  // another model's
        QTest::qWait(150);
        QCOMPARE(shown.item.layers(), 0);
        QCOMPARE(shown.item.implicitHeight(), 0.0);
        QVERIFY(shown.item.pointed().isEmpty());
        shown.item.step(1, 1);
        QVERIFY(shown.item.pointed().isEmpty());
        // Layers without experts, however many of them there are said to be.
        const auto dense = expertsOf(4, 8);
        dense->places.assign(dense->places.size(), Place::None);
        shown.monitor.onFrame(1, frameWith(dense));
        shown.monitor.onFrame(1, frameWith(expertsOf(3, 0)));
        QTest::qWait(150);
        QCOMPARE(shown.item.layers(), 0);
    }

    /// The item takes the map also while it is hidden: its page asks it whether there is something to show.
    void itIsKnownWhileItIsHidden()
    {
        Shown<ExpertMapItem> shown;
        shown.item.setVisible(false);
        shown.monitor.onFrame(1, frameWith(expertsOf(4, 8)));
        QTRY_COMPARE(shown.item.layers(), 4);
    }

    void itIsNotMadeAnewWithEveryFrame()
    {
        Shown<ExpertMapItem> shown;
        style(shown.item);
        const QSignalSpy changed(&shown.item, &ExpertMapItem::mapChanged);
        QElapsedTimer clock;
        clock.start();
        std::shared_ptr<engine::ExpertMap> last;
        while (clock.elapsed() < 1000) {
            last = expertsOf(4, 8);
            last->in_answer[0] = std::uint32_t(clock.elapsed());
            shown.monitor.onFrame(1, frameWith(last));
            QTest::qWait(10);
        }
        QVERIFY2(changed.size() <= 1 + clock.elapsed() / 200, qPrintable(QString::number(changed.size())));
        QVERIFY(changed.size() >= 2);
        shown.item.step(0, 0);
        QTRY_COMPARE(shown.item.pointed()["inAnswer"].toUInt(), last->in_answer[0]);  // the last one is not lost
    }

    /// As large as models are: its picture is made between two frames of the screen.
    void aLargeMapDoesNotStutter()
    {
        Shown<ExpertMapItem> shown;
        style(shown.item);
        shown.item.setSize({340, 200});
        const auto map = expertsOf(64, 512);
        for (std::size_t i = 0; i < map->places.size(); ++i) {
            map->places[i] = Place(i % 3);
            map->in_answer[i] = std::uint32_t(i * 7919 % 1000);
        }
        shown.monitor.onFrame(1, frameWith(map));
        shown.picture();
        QCOMPARE(shown.item.implicitHeight(), 64.0 * 3);
        QCOMPARE(shown.item.layers() * shown.item.experts(), 64 * 512);
        double best = 1e9;
        for (int i = 0; i < 5; ++i) {
            QElapsedTimer clock;
            clock.start();
            shown.item.setProperty("unit", 4 + i % 2);
            shown.item.ensurePolished();
            best = std::min(best, double(clock.nsecsElapsed()) / 1e6);
        }
        double withUpdate = 1e9;
        for (int i = 0; i < 5; ++i) {
            shown.item.setMonitor(nullptr);
            shown.item.ensurePolished();
            QElapsedTimer clock;
            clock.start();
            shown.item.setMonitor(&shown.monitor);  // takes the map anew
            shown.item.ensurePolished();
            withUpdate = std::min(withUpdate, double(clock.nsecsElapsed()) / 1e6);
        }
        QCOMPARE(shown.item.layers() * shown.item.experts(), 64 * 512);
        qInfo("a map of 64 x 512 is drawn in %.2f ms, taken and drawn in %.2f ms", best, withUpdate);
        QVERIFY2(best < 16, qPrintable(QString::number(best)));
        QVERIFY2(withUpdate < 16, qPrintable(QString::number(withUpdate)));

        // Each one can be found, by the keyboard too, although several share a pixel.
        hover(shown.item, {339, 64 * 3 - 1});
        QCOMPARE(shown.item.pointed()["layer"].toInt(), 63);
        QVERIFY(shown.item.pointed()["expert"].toInt() >= 510);
        shown.item.step(0, 1);
        QCOMPARE(shown.item.pointed()["expert"].toInt(), 511);
    }
};

SPILLWAY_TEST(QApplication, TestExpertMapItem)
#include "tst_expert_map_item.moc"
