// Tests that pages of KV are locked ahead of the steps that need them, beside them and never in their way.
#include "engine/device/cuda_device.h"
#include "engine/device/page_locks.h"
#include "tests/engine/kv/pager_on_gpu.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <atomic>
#include <optional>
#include <thread>

using namespace engine;
using namespace test_support;
using namespace std::chrono_literals;

class TestPageLocks : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// Where the driver takes its time, nobody waits for it; where it refuses, all goes on.
    void pagesAreLockedAhead()
    {
        PagerOnGpu here(gpu_of(2), 100);
        QVERIFY(here.steps(3));
        here.settle();
        here.gpu.delay_page_locks(1500ms);
        const int locks = here.gpu.memory_calls().page_locks;
        QElapsedTimer timer;
        timer.start();
        QVERIFY(here.steps(kTokens));  // a page is begun, and the next one made
        QVERIFY(timer.elapsed() < 1500);
        here.settle();
        QCOMPARE(here.gpu.memory_calls().page_locks, locks);
        QCOMPARE(here.gpu.locked_bytes(), 3 * here.cache.page_bytes());
        here.gpu.refuse_page_locks();
        here.gpu.delay_page_locks(0us);
        QVERIFY(here.steps(10 * kTokens));
        here.settle();
        QCOMPARE(here.gpu.locked_bytes(), 3 * here.cache.page_bytes());
        QVERIFY(here.intact());
    }

    /// A step in which the device waits for the host is not disturbed: neither by this model's threads nor by another
    /// one's, nor by one that is opened meanwhile.
    void memoryIsNotTakenWhileTheDeviceWaits()
    {
        PagerOnGpu here(gpu_of(2), 100);
        auto other = CudaDevice::open(0);
        QVERIFY(other);
        DriverGate& gate = here.device->gate();
        std::optional<DriverGate::Step> step(std::in_place, gate);
        QVERIFY(*step);
        std::atomic<int> done = 0;
        std::vector<std::thread> threads;
        threads.emplace_back([&] {
            const auto memory = (*other)->allocate(1024);
            ++done;
            if (memory)
                (*other)->release(*memory, 1024);
        });
        threads.emplace_back([&] { done += CudaDevice::open(0) ? 1 : 100; });
        std::vector<std::byte> page(4096);
        here.device->pin(page.data(), page.size());
        std::this_thread::sleep_for(50ms);
        const int early = done;
        const std::size_t locked = here.gpu.locked_bytes();
        step.reset();
        for (std::thread& thread : threads)
            thread.join();
        QCOMPARE(early, 0);
        QCOMPARE(locked, here.cache.page_bytes());
        here.settle();
        QCOMPARE(done.load(), 2);
        QCOMPARE(here.gpu.locked_bytes(), here.cache.page_bytes() + page.size());
        here.device->unpin(page.data(), page.size());
        QVERIFY(DriverGate::Step(gate));
    }

    void aSmallMachineKeepsThreeQuartersOfItsMemory()
    {
        constexpr std::int64_t kGiB = std::int64_t(1) << 30;
        QCOMPARE(most_page_locked(0), std::int64_t(0));
        QCOMPARE(most_page_locked(8 * kGiB), 2 * kGiB);
        QCOMPARE(most_page_locked(12 * kGiB), 4 * kGiB);
        QCOMPARE(most_page_locked(64 * kGiB), 32 * kGiB);
    }

    void aPageIsFreedWhileItIsBeingLocked()
    {
        PagerOnGpu here(gpu_of(2), 100);
        here.gpu.delay_page_locks(5ms);
        for (int i = 0; i < 4; ++i) {
            std::vector<std::byte> page(4096);
            here.device->pin(page.data(), page.size());
            if (i % 2 == 0)
                std::this_thread::sleep_for(1ms);
            here.device->unpin(page.data(), page.size());
        }
        here.settle();
        QCOMPARE(here.gpu.locked_bytes(), here.cache.page_bytes());
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestPageLocks)
#include "tst_page_locks.moc"
