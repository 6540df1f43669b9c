// Tests that the hit rate is drawn where it was measured, and only where copies of experts were read.
#include "app/charts/hit_rate_chart.h"
#include "tests/app/charts/charts_case.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QSignalSpy>
#include <QTest>

using namespace charts_case;

namespace {

engine::Telemetry frameOf(int generated, std::int64_t hits, std::int64_t misses)
{
    engine::Telemetry frame = frameAt(generated, 1000 + generated, 200);
    frame.generated_tokens = generated;
    frame.device->cached_experts = 4;
    frame.device->expert_hits = hits;
    frame.device->expert_misses = misses;
    return frame;
}

}  // namespace

class TestHitRateChart : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void pointsAreWhatWasMeasured()
    {
        Shown<HitRateChart> shown;
        shown.item.setProperty("ground", kGround);
        shown.item.setProperty("hitColor", kExperts);
        QSignalSpy told(&shown.item, &HitRateChart::measuredChanged);
        QVERIFY(!shown.item.measured());
        QVERIFY(shown.item.at(0).isEmpty());
        QVERIFY(shown.item.newest().isEmpty());
        shown.monitor.onFrame(1, frameOf(1, 400, 400));
        QCOMPARE(pixelsOf(shown.picture(), kExperts), 0);  // of before the answer
        QVERIFY(told.isEmpty());

        shown.monitor.onFrame(1, frameOf(11, 430, 410));
        shown.monitor.onFrame(1, frameOf(21, 440, 440));
        QVERIFY(pixelsOf(shown.picture(), kExperts) > 0);
        QCOMPARE(told.size(), 1);
        QVERIFY(shown.item.measured());
        QVariantMap at = shown.item.at(0);
        QCOMPARE(at["contextTokens"].toInt(), 1011);
        QCOMPARE(at["share"].toDouble(), 0.75);
        QCOMPARE(at["hits"].toInt(), 30);
        QCOMPARE(at["misses"].toInt(), 10);
        QCOMPARE(at["earlier"].toBool(), false);
        at = shown.item.newest();
        QCOMPARE(at["contextTokens"].toInt(), 1021);
        QCOMPARE(at["share"].toDouble(), 0.25);

        // With the next answer the curve of the one before is from earlier, and may be hidden.
        shown.monitor.onFrame(2, frameOf(1, 440, 440));
        shown.monitor.onFrame(2, frameOf(9, 448, 440));
        QCOMPARE(shown.item.newest()["share"].toDouble(), 1.0);
        QCOMPARE(shown.item.at(1021)["earlier"].toBool(), true);
        shown.item.setProperty("hidden", QStringList{"earlier"});
        QCOMPARE(shown.item.at(1021)["share"].toDouble(), 1.0);
    }

    void withoutCopiesThereIsNothing()
    {
        Shown<HitRateChart> shown;
        for (int i = 0; i < 40; ++i)
            shown.monitor.onFrame(1, frameAt(i, 100 + i, 200));
        shown.picture();
        QVERIFY(!shown.item.measured());
    }
};

SPILLWAY_TEST(QApplication, TestHitRateChart)
#include "tst_hit_rate_chart.moc"
