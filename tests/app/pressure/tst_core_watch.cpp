// Tests that the time for which an answer's tokens waited for a core, and what they read from the disk, are measured.
#include "app/pressure/core_watch.h"
#include "engine/disk_reads.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

class TestCoreWatch : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void waitingForACoreIsWhatWasNotSlept()
    {
        engine::StepShares shares{.steps = 10, .device_layers_s = 0.6, .kv_link_s = 0.1, .rest_s = 0.1};
        QVERIFY(std::abs(*waitedForCores({5, 1}, {5.3, 1.4}, shares) - 0.2) < 1e-9);
        QCOMPARE(*waitedForCores({5, 1}, {5.3, 1.1}, shares), 0.0);
        QVERIFY(std::abs(*waitedForCores({5, 1}, {5, 9}, shares) - 0.6) < 1e-9);  // no more than was computed
        shares.kv_link_s.reset();                                                 // a GPU
        QVERIFY(!waitedForCores({5, 1}, {5.3, 1.4}, shares));
        const auto here = engine::this_threads_times();
        QVERIFY(!here || (here->ran_s > 0 && here->waited_s >= 0));
    }

    /// What the thread waited before an answer, between two answers and after them counts for none.
    void onlyWhatAnAnswerWaitedIsCounted()
    {
        if (!engine::this_threads_times())
            QSKIP("this system does not say how long a thread waited");
        engine::Telemetry reading, decoding, last;
        reading.phase = engine::Phase::Prefill;
        decoding.phase = engine::Phase::Decode;
        last.shares = engine::StepShares{.steps = 10, .device_layers_s = 0.02, .kv_link_s = 0};
        CoreWatch watch;
        watch.onFrame(decoding);
        watch.onFrame(last);
        QVERIFY(watch.onEnd(last));
        QCOMPARE(watch.diskBytes().has_value(), engine::disk_read_bytes().has_value());
        QVERIFY(watch.diskBytes().value_or(0) >= 0);
        QVERIFY(!watch.onEnd(last));  // nobody saw its first token
        QVERIFY(!watch.diskBytes());
        watch.onFrame(reading);
        QVERIFY(!watch.onEnd(last));
        watch.onFrame(decoding);
        QVERIFY(watch.onEnd(last));
    }
};

SPILLWAY_TEST(QCoreApplication, TestCoreWatch)
#include "tst_core_watch.moc"
