// The pool of CPU workers: every piece done once, by any number of threads, spinning or parked.
#include "engine/exec/thread_pool.h"

#include <QtTest>

#include <chrono>
#include <thread>

using namespace engine;

class TestThreadPool : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyPieceIsDoneOnce_data()
    {
        QTest::addColumn<int>("threads");
        QTest::addColumn<int>("count");
        QTest::addColumn<int>("grain");
        for (const int threads : {1, 2, 5})
            for (const int count : {0, 1, 7, 1000})
                for (const int grain : {1, 16, 2000})
                    QTest::addRow("%d threads, %d by %d", threads, count, grain) << threads << count << grain;
    }

    void everyPieceIsDoneOnce()
    {
        QFETCH(int, threads);
        QFETCH(int, count);
        QFETCH(int, grain);
        ThreadPool pool(threads);
        std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
        for (int round = 0; round < 50; ++round) {
            if (round == 10)
                pool.begin_step();
            if (round == 40)
                pool.end_step();
            pool.for_each(count, grain, [&](int begin, int end, int worker) {
                QVERIFY(worker >= 0 && worker < threads);
                for (int i = begin; i < end; ++i)
                    ++done[std::size_t(i)];
            });
            for (const auto& times : done)
                QCOMPARE(times.load(), round + 1);
        }
    }

    void everyWorkerRuns()
    {
        ThreadPool pool(4);
        std::vector<std::atomic<int>> ran(4);
        pool.run([&](int worker) { ++ran[std::size_t(worker)]; });
        for (const auto& times : ran)
            QCOMPARE(times.load(), 1);
    }

    void parkedWorkersWakeAndEnd()
    {
        ThreadPool pool(3);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));  // long enough to park
        std::atomic<int> ran = 0;
        pool.run([&](int) { ++ran; });
        QCOMPARE(ran.load(), 3);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
};

QTEST_GUILESS_MAIN(TestThreadPool)
#include "tst_thread_pool.moc"
