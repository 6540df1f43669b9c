// Tests that Ctrl+C stops work that asks whether it was pressed, however rarely that work reports anything.
#include "app/cli/interrupt.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QtTest>

#include <csignal>

class TestInterrupt : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void isSeenByWhatTellsNobodyHowFarItIs()
    {
        cli::catch_interrupts();
        const cli::StopOnInterrupt stop;
        QTest::qWait(50);
        QVERIFY(!stop.token().stop_requested());
        std::raise(SIGINT);
        QElapsedTimer since;
        since.start();
        QTRY_VERIFY(stop.token().stop_requested());
        QVERIFY2(since.elapsed() < 2000, qPrintable(QString::number(since.elapsed())));  // 20 ms on an idle machine
        cli::clear_interrupts();
        const cli::StopOnInterrupt next;
        QTest::qWait(50);
        QVERIFY(!next.token().stop_requested());  // it was for the one before
    }

    void countsThoughItCameBefore()
    {
        cli::catch_interrupts();
        std::raise(SIGINT);
        const cli::StopOnInterrupt stop;
        QVERIFY(stop.token().stop_requested());
        cli::clear_interrupts();
    }

    void nobodyWaitsForItsEnd()
    {
        cli::catch_interrupts();
        QElapsedTimer since;
        since.start();
        for (int i = 0; i < 100; ++i)
            const cli::StopOnInterrupt stop;
        QVERIFY2(since.elapsed() < 1500, qPrintable(QString::number(since.elapsed())));  // 2 s would be its naps
    }
};

SPILLWAY_TEST(QCoreApplication, TestInterrupt)
#include "tst_interrupt.moc"
