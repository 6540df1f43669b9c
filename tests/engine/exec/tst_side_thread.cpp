// Tests that one piece of work goes on beside the engine's thread, and that what it throws reaches who waits for it.
#include "engine/exec/side_thread.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

using namespace engine;

class TestSideThread : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void bothGoOnAtTheSameTime()
    {
        SideThread side;
        std::atomic<int> turn = 0;
        const std::function<void()> work = [&] {
            while (turn != 1)
                std::this_thread::yield();
            turn = 2;
        };
        for (int i = 0; i < 100; ++i) {
            turn = 0;
            side.begin(work);
            turn = 1;  // it waits for this
            side.wait();
            QCOMPARE(turn.load(), 2);
        }
    }

    void whatItThrowsIsThrownByWaiting()
    {
        SideThread side;
        const std::function<void()> fails = [] { throw std::runtime_error("no"); };
        side.begin(fails);
        QVERIFY_EXCEPTION_THROWN(side.wait(), std::runtime_error);
        bool done = false;
        const std::function<void()> works = [&] { done = true; };
        side.begin(works);
        side.wait();
        QVERIFY(done);
    }

    void withoutWorkThereIsNothingToWaitFor()
    {
        SideThread().wait();
        SideThread().end();
    }

    void endWaitsAndForgetsWhatWasThrown()
    {
        SideThread side;
        std::atomic<bool> ended = false;
        const std::function<void()> fails = [&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            ended = true;
            throw std::runtime_error("no");
        };
        side.begin(fails);
        side.end();
        QVERIFY(ended);
        side.wait();
    }
};

SPILLWAY_TEST(QCoreApplication, TestSideThread)
#include "tst_side_thread.moc"
