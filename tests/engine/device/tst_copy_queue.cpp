// Tests that the queue of copies keeps their order, takes the time that its link would take, and saves up no time while
// it is idle.
#include "engine/device/copy_queue.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBytes = 4096;

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

class TestCopyQueue : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void copiesInOrder()
    {
        std::vector<std::byte> a(kBytes, std::byte(1)), b(kBytes), c(kBytes);
        engine::CopyQueue queue(0);
        queue.give(a.data(), b.data(), kBytes);
        queue.wait(queue.give(b.data(), c.data(), kBytes));
        QVERIFY(c == a);
        QCOMPARE(queue.bytes_moved(), std::int64_t(2 * kBytes));
    }

    // Each copy is one to sleep for: if waking up late counted, it would count a hundred times.
    void takesWhatTheLinkTakes()
    {
        constexpr int kCopies = 100;
        constexpr double kEach_s = 300e-6;
        std::vector<std::byte> from(kBytes), to(kBytes);
        engine::CopyQueue queue(kBytes / kEach_s);
        double best = 1e9;
        for (int attempt = 0; attempt < 20 && best > 1.05 * kCopies * kEach_s; ++attempt) {
            const auto start = Clock::now();
            std::uint64_t last = 0;
            for (int i = 0; i < kCopies; ++i)
                last = queue.give(from.data(), to.data(), kBytes);
            queue.wait(last);
            const double took = secondsSince(start);
            // Below what is worth a sleep, the last copy ends early.
            QVERIFY2(took >= kCopies * kEach_s - 100e-6, qPrintable(QString::number(took)));
            best = std::min(best, took);
        }
        QVERIFY2(best <= 1.05 * kCopies * kEach_s, qPrintable(QString::number(best)));
    }

    // Time that the link was idle is not saved up for the copies that come then.
    void anIdleLinkSavesNothingUp()
    {
        constexpr double kEach_s = 10e-3;
        std::vector<std::byte> from(kBytes), to(kBytes);
        engine::CopyQueue queue(kBytes / kEach_s);
        queue.wait(queue.give(from.data(), to.data(), kBytes));
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        const auto start = Clock::now();
        queue.wait(queue.give(from.data(), to.data(), kBytes));
        QVERIFY(secondsSince(start) >= kEach_s - 100e-6);
    }
};

SPILLWAY_TEST(QCoreApplication, TestCopyQueue)
#include "tst_copy_queue.moc"
