// Tests that the pool of CPU workers does every piece of work once, with any number of threads, spinning or parked.
#include "engine/exec/thread_pool.h"

#include "engine/metrics/host_probe.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QtTest>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <new>
#include <string>
#include <thread>
#include <vector>

using namespace engine;

namespace {

std::atomic<bool> held = false;
std::atomic<int> are_held = 0;

// Returns the CPUs that the calling thread may run on, as Linux writes them: "0-3".
std::string allowed_cpus()
{
    QFile status("/proc/thread-self/status");
    if (status.open(QIODevice::ReadOnly))
        for (const QByteArray& line : status.readAll().split('\n'))
            if (line.startsWith("Cpus_allowed_list:"))
                return line.mid(line.indexOf(':') + 1).trimmed().toStdString();
    return {};
}

}  // namespace

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
            std::optional<ThreadPool::Step> step;
            if (round >= 10 && round < 40)
                step.emplace(pool);
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

#ifdef Q_OS_UNIX
    /// One worker is late, as where another program has its core. The others do all that there is to do.
    void aWorkerThatDoesNotComeIsNotWaitedFor()
    {
        ThreadPool pool(3);
        std::array<pthread_t, 3> threads = {};
        pool.run([&](int worker) { threads[std::size_t(worker)] = pthread_self(); });
        held = true;
        are_held = 0;
        std::signal(SIGUSR1, [](int) {
            ++are_held;
            while (held)
                std::this_thread::yield();
        });
        for (const int worker : {1, 2})
            pthread_kill(threads[std::size_t(worker)], SIGUSR1);
        QTRY_COMPARE(are_held.load(), 2);
        std::vector<int> done(1000);
        for (int round = 0; round < 10; ++round)
            pool.for_each(1000, 7, [&](int begin, int end, int worker) {
                QCOMPARE(worker, 0);
                for (int i = begin; i < end; ++i)
                    ++done[std::size_t(i)];
            });
        QCOMPARE(done, std::vector<int>(1000, 10));
        held = false;
        std::atomic<int> ran = 0;
        pool.run([&](int) { ++ran; });  // they have missed what was over, and are there again
        QCOMPARE(ran.load(), 3);
        std::signal(SIGUSR1, SIG_DFL);
    }
#endif

    /// As when there is no memory for what a kernel needs: the caller hears of it, and the pool goes on.
    void whatAWorkerThrowsReachesTheCaller()
    {
        ThreadPool pool(3);
        for (int failing = 0; failing < 3; ++failing) {
            std::atomic<int> ended = 0;
            const auto work = [&](int worker) {
                ++ended;
                if (worker == failing)
                    throw std::bad_alloc();
            };
            QVERIFY_EXCEPTION_THROWN(pool.run(work), std::bad_alloc);
            QCOMPARE(ended.load(), 3);
        }
        const auto all_fail = [](int, int, int) { throw std::bad_alloc(); };
        QVERIFY_EXCEPTION_THROWN(pool.for_each(1000, 1, all_fail), std::bad_alloc);
        std::atomic<int> ran = 0;
        pool.run([&](int) { ++ran; });
        QCOMPARE(ran.load(), 3);
    }

    void aStepThatIsGivenUpLeavesItsPiecesOut_data()
    {
        QTest::addColumn<int>("threads");
        QTest::newRow("alone") << 1;
        QTest::newRow("three") << 3;
    }

    void aStepThatIsGivenUpLeavesItsPiecesOut()
    {
        QFETCH(int, threads);
        ThreadPool pool(threads);
        std::atomic<int> done = 0;
        const auto work = [&](int begin, int end, int) { done += end - begin; };
        {
            const ThreadPool::Step step(pool, [&] { return done >= 100; });
            QVERIFY(!pool.given_up());
            pool.for_each(1000, 1, work);
            QVERIFY(done >= 100);
            QVERIFY(done < 100 + threads);
            QVERIFY(pool.given_up());
            const int before = done;
            pool.for_each(1000, 7, work);
            pool.for_each(3, 7, work);
            QCOMPARE(done.load(), before);
        }
        done = 0;
        pool.for_each(1000, 7, work);  // the next one is whole
        QCOMPARE(done.load(), 1000);
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

    void pinnedWorkersStayOnTheirCores()
    {
        const std::string callers = allowed_cpus();
        if (callers.empty())
            QSKIP("this system does not tell where a thread may run");
        const std::vector<int> cpus = core_cpus();
        constexpr int kThreads = 5;  // more than some machines have cores
        ThreadPool pool(kThreads, true);
        std::array<std::string, kThreads> allowed;
        pool.run([&](int worker) { allowed[std::size_t(worker)] = allowed_cpus(); });
        QCOMPARE(allowed[0], callers);
        for (std::size_t worker = 1; worker < kThreads; ++worker)
            QCOMPARE(allowed[worker], worker < cpus.size() ? std::to_string(cpus[worker]) : callers);
    }
};

SPILLWAY_TEST(QCoreApplication, TestThreadPool)
#include "tst_thread_pool.moc"
