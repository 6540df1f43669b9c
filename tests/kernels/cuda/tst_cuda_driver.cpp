// Tests the driver's front door on the emulated GPU: what is refused and how it is said, the order of queues, events,
// graphs, memory, and that every call may fail.
#include "kernels/cuda/ops.h"
#include "tests/kernels/cuda/on_device.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <chrono>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

using namespace kernels::cuda;
using emulator::EmulatedGpu;
using namespace std::chrono_literals;

class TestCudaDriver : public QObject
{
    Q_OBJECT

    static std::unique_ptr<Driver> open()
    {
        Driver::Opened opened = Driver::open(EmulatedGpu::table(), EmulatedGpu::images(), 0);
        if (!opened.driver)
            qFatal("%s", opened.problem.c_str());
        return std::move(opened.driver);
    }
    static std::string problem(const KernelImages& images, int ordinal = 0)
    {
        return Driver::open(EmulatedGpu::table(), images, ordinal).problem;
    }

    // A norm of one row of ones, 64 long, from `x` to `out`.
    static Status norm(const Driver& driver, Queue queue, DevicePtr x, DevicePtr out)
    {
        return rms_norm(driver, queue, {x, 64}, x, 0.0f, 1, 64, {out, 64});
    }

    // A session as a backend has one, that stops at the first failure and gives everything back.
    static Status session(const Driver& driver, std::vector<float>& out)
    {
        std::vector<std::function<void()>> undo;
        const auto use = [&] {
            std::vector<float> ones(64, 1.0f);
            const auto x = driver.alloc(256);
            if (x.status != Status::Ok)
                return x.status;
            undo.emplace_back([&driver, x] { (void)driver.free(x.value); });
            const auto pinned = driver.alloc_pinned(256);
            if (pinned.status != Status::Ok)
                return pinned.status;
            undo.emplace_back([&driver, pinned] { (void)driver.free_pinned(pinned.value); });
            const auto queue = driver.make_queue();
            if (queue.status != Status::Ok)
                return queue.status;
            undo.emplace_back([&driver, queue] { (void)driver.destroy(queue.value); });
            if (const Status s = driver.copy_to_device(x.value, ones.data(), 256, queue.value); s != Status::Ok)
                return s;
            if (const Status s = norm(driver, queue.value, x.value, x.value); s != Status::Ok)
                return s;
            if (const Status s = driver.copy_to_host(pinned.value, x.value, 256, queue.value); s != Status::Ok)
                return s;
            if (const Status s = driver.synchronize(queue.value); s != Status::Ok)
                return s;
            std::memcpy(out.data(), pinned.value, 256);
            return Status::Ok;
        };
        const Status status = use();
        while (!undo.empty()) {
            undo.back()();
            undo.pop_back();
        }
        return status;
    }

private slots:
    void aDeviceIsDescribed()
    {
        const EmulatedGpu gpu({.name = "Card", .multiprocessors = 7});
        const auto driver = open();
        QCOMPARE(driver->info().name, std::string("Card"));
        QCOMPARE(driver->info().multiprocessors, 7);
        QCOMPARE(driver->info().compute_major, 9);
        QCOMPARE(driver->info().clock_khz, 1'500'000);
        QVERIFY(driver->info().memory_bytes > 0);
    }

    void whatCannotBeUsedIsRefusedInASentence()
    {
        const auto says = [](const std::string& sentence, const char* words) {
            QVERIFY2(sentence.find(words) != std::string::npos, sentence.c_str());
        };
        {
            const EmulatedGpu gpu({.driver_version = 12040});
            says(problem(gpu.images()), "NVIDIA driver 580 or newer is needed, which supports CUDA 13.0; the one here "
                                        "supports CUDA 12.4: please update it");
        }
        {
            const EmulatedGpu gpu({.name = "Old", .compute_major = 7, .compute_minor = 0});
            says(problem(gpu.images()), "Old has compute capability 7.0, and 7.5 or higher is needed");
        }
        const EmulatedGpu gpu;
        says(problem(gpu.images(), 1), "there is no CUDA device 1");
        says(problem({}), "no CUDA kernels");
        const KernelImage other[] = {{"other", "other"}};
        says(problem({other, 13000}), "lacks the kernel");
        QCOMPARE(gpu.leaks(), std::string());
    }

    /// Whoever is to update the driver wants to know for which of the GPUs.
    void whatCannotBeUsedIsListedByItsName()
    {
        const EmulatedGpu gpu(
            {.name = "Card", .count = 2, .compute_major = 8, .compute_minor = 6, .driver_version = 12040});
        const Platform platform{&EmulatedGpu::table(), gpu.images(), {}};
        const std::vector<ListedDevice> listed = list_devices(platform);
        QCOMPARE(listed.size(), std::size_t(2));
        for (int ordinal = 0; ordinal < 2; ++ordinal) {
            const ListedDevice& device = listed[std::size_t(ordinal)];
            QCOMPARE(device.info.ordinal, ordinal);
            QCOMPARE(device.info.name, std::string("Card"));
            QCOMPARE(device.info.compute_major * 10 + device.info.compute_minor, 86);
            QVERIFY(device.info.memory_bytes > 0);
            QVERIFY2(device.problem.starts_with("NVIDIA driver 580 or newer is needed"), device.problem.c_str());
        }
    }

    void whereNoneIsListedItIsSaidWhy()
    {
        Platform platform{nullptr, {}, "no driver is installed"};
        QCOMPARE(why_no_device(platform), std::string("no driver is installed"));
        QVERIFY(list_devices(platform).empty());
        EmulatedGpu gpu;
        platform = {&EmulatedGpu::table(), gpu.images(), {}};
        QCOMPARE(why_no_device(platform), std::string());
        gpu.fail_call(1, Status::NoDevice);
        QCOMPARE(why_no_device(platform),
                 std::string("the NVIDIA driver does not start: an emulated error (CUDA error 100)"));
    }

    // The real library is not here, or there is none of its kind: either way it says so and nothing happens.
    void theLibraryIsThereOrSaysWhyNot()
    {
        QVERIFY((driver_library().table != nullptr) == driver_library().problem.empty());
    }

    void aTableWithoutAFunctionIsRefused()
    {
        DriverTable table{};
        const auto all = [](void* library, const char*) { return library; };
        QVERIFY(!fill_table(table, all, &table));
        const auto allButOne = [](void* library, const char* name) {
            return std::string_view(name) == "cuGraphLaunch" ? nullptr : library;
        };
        QCOMPARE(std::string(fill_table(table, allButOne, &table)), std::string("cuGraphLaunch"));
    }

    void aSessionLeavesNothing()
    {
        const EmulatedGpu gpu;
        std::vector<float> out(64);
        {
            const auto driver = open();
            QVERIFY(session(*driver, out) == Status::Ok);
        }
        QCOMPARE(out, std::vector<float>(64, 1.0f));
        QCOMPARE(gpu.leaks(), std::string());
    }

    // A kernel that reads memory which was never written gets no numbers, whatever has been there before.
    void memoryBeginsUnwritten()
    {
        EmulatedGpu gpu;
        for (int round = 0; round < 3; ++round) {
            OnDevice on(gpu);
            std::vector<float> weights(64, 1.0f);
            const DevicePtr written = on.put(weights);
            const DevicePtr unwritten = on.room(256);
            on.must(rms_norm(on.driver(), on.queue(), {unwritten, 64}, written, 0.0f, 1, 64, {written, 64}));
            for (float value : on.get<float>(written, 64))
                QVERIFY(std::isnan(value));
        }
    }

    // Each call once with each kind of failure: the session says so, and nothing hangs or is lost.
    void everyCallMayFail()
    {
        for (const Status status : {Status::OutOfMemory, Status::LaunchFailed})
            for (int n = 1;; ++n) {
                EmulatedGpu gpu;
                const auto driver = open();
                const int before = gpu.calls();
                gpu.fail_call(n, status);
                std::vector<float> out(64);
                const Status ended = session(*driver, out);
                QVERIFY(ended == Status::Ok || ended == status);
                if (ended == Status::Ok)
                    QCOMPARE(out, std::vector<float>(64, 1.0f));
                if (gpu.calls() - before < n) {  // all have had their turn
                    QVERIFY(n > 8);
                    break;
                }
            }
    }

    // Where it is only not known how fast the clock is, or whether launches begin early, the device can be used.
    void openingMayFailAtEveryCall()
    {
        int without_clock = 0;
        for (int n = 1;; ++n) {
            EmulatedGpu gpu;
            gpu.fail_call(n, Status::InvalidValue);
            const Driver::Opened opened = Driver::open(gpu.table(), gpu.images(), 0);
            if (opened.driver && gpu.calls() < n)
                break;
            QCOMPARE(opened.driver == nullptr, !opened.problem.empty());
            without_clock += opened.driver && opened.driver->info().clock_khz == 0;
            QVERIFY(n < 1000);
        }
        QCOMPARE(without_clock, 1);
    }

    void memoryHasABudget()
    {
        EmulatedGpu gpu({.memory_bytes = 1 << 20});
        const auto driver = open();
        QVERIFY(driver->alloc((1 << 20) + 1).status == Status::OutOfMemory);
        gpu.hold_memory(1 << 19);
        QCOMPARE(driver->memory().value.free_bytes, std::size_t(1 << 19));
        QVERIFY(driver->alloc((1 << 19) + 1).status == Status::OutOfMemory);
        const auto half = driver->alloc(1 << 19);
        QVERIFY(half.status == Status::Ok);
        QCOMPARE(driver->memory().value.free_bytes, std::size_t(0));
        QVERIFY(driver->free(half.value) == Status::Ok);
        QVERIFY(driver->free(half.value) == Status::InvalidValue);
    }

    void copiesStayInsideTheirMemory()
    {
        const EmulatedGpu gpu;
        const auto driver = open();
        const Queue queue = driver->make_queue().value;
        const DevicePtr at = driver->alloc(64).value;
        std::vector<std::byte> host(65);
        QVERIFY(driver->copy_to_device(at, host.data(), 65, queue) == Status::InvalidValue);
        QVERIFY(driver->copy_to_device(at + 1, host.data(), 64, queue) == Status::InvalidValue);
        QVERIFY(driver->copy_to_device(at, host.data(), 64, queue) == Status::Ok);
        QVERIFY(driver->fill(at + 60, 1, 4, queue) == Status::Ok);
        QVERIFY(driver->copy_to_host(host.data(), at, 64, queue) == Status::Ok);
        QCOMPARE(int(host[59]), 0);
        QCOMPARE(int(host[60]), 1);
    }

    void queuesWaitForEvents()
    {
        const EmulatedGpu gpu;
        const auto driver = open();
        const Queue first = driver->make_queue().value;
        const Queue second = driver->make_queue().value;
        const Event event = driver->make_event(Timing::On).value;
        const Event later = driver->make_event(Timing::On).value;
        QVERIFY(driver->query(event) == Status::Ok);  // never recorded
        const DevicePtr x = driver->alloc(256).value;
        const DevicePtr y = driver->alloc(256).value;
        const std::vector<float> ones(64, 1.0f);
        for (int i = 0; i < 20; ++i) {
            QVERIFY(driver->fill(x, 0, 256, first) == Status::Ok);
            QVERIFY(driver->copy_to_device(x, ones.data(), 256, first) == Status::Ok);
            QVERIFY(driver->record(event, first) == Status::Ok);
            QVERIFY(driver->wait(second, event) == Status::Ok);
            QVERIFY(norm(*driver, second, x, y) == Status::Ok);
            QVERIFY(driver->record(later, second) == Status::Ok);
            QVERIFY(driver->wait(first, later) == Status::Ok);
        }
        std::vector<float> out(64);
        QVERIFY(driver->copy_to_host(out.data(), y, 256, first) == Status::Ok);
        QCOMPARE(out, ones);
        QVERIFY(driver->synchronize(later) == Status::Ok);
        QVERIFY(driver->elapsed_ms(event, later).value >= 0.0f);
    }

    void aGraphRepeatsWhatWasCaptured()
    {
        const EmulatedGpu gpu;
        const auto driver = open();
        const Queue queue = driver->make_queue().value;
        const Queue aside = driver->make_queue().value;
        const Event fork = driver->make_event().value;
        const Event join = driver->make_event().value;
        const DevicePtr x = driver->alloc(256).value;
        const DevicePtr y = driver->alloc(256).value;
        const DevicePtr z = driver->alloc(256).value;

        QVERIFY(driver->begin_capture(queue) == Status::Ok);
        QVERIFY(norm(*driver, queue, x, y) == Status::Ok);
        QVERIFY(driver->record(fork, queue) == Status::Ok);
        QVERIFY(driver->wait(aside, fork) == Status::Ok);
        QVERIFY(driver->copy_on_device(z, y, 256, aside) == Status::Ok);
        QVERIFY(driver->record(join, aside) == Status::Ok);
        QVERIFY(driver->wait(queue, join) == Status::Ok);
        const auto graph = driver->end_capture(queue);
        QVERIFY(graph.status == Status::Ok);
        QCOMPARE(gpu.kernels_run(), 0);

        for (float value : {1.0f, 3.0f}) {  // the weight is x too: the result is x
            const std::vector<float> same(64, value);
            QVERIFY(driver->copy_to_device(x, same.data(), 256, queue) == Status::Ok);
            QVERIFY(driver->launch(graph.value, queue) == Status::Ok);
            std::vector<float> out(64);
            QVERIFY(driver->copy_to_host(out.data(), z, 256, queue) == Status::Ok);
            QCOMPARE(out, same);
        }
        QCOMPARE(gpu.kernels_run(), 2);
        QVERIFY(driver->destroy(graph.value) == Status::Ok);
    }

    // All heads of a long prompt's rows, in a graph that is not launched: the emulated GPU takes seconds for so many.
    void moreRowsAreRoundedThanAGridHasInItsSecondDirection()
    {
        const EmulatedGpu gpu;
        const auto driver = open();
        const Queue queue = driver->make_queue().value;
        const DevicePtr memory = driver->alloc(4096).value;
        QVERIFY(driver->begin_capture(queue) == Status::Ok);
        QVERIFY(quantize_q8(*driver, queue, {memory, 32}, 128 * 512, 32, {memory + 2048, 64}) == Status::Ok);
        const auto graph = driver->end_capture(queue);
        QVERIFY(graph.status == Status::Ok);
        QVERIFY(driver->destroy(graph.value) == Status::Ok);
    }

    // A kernel is allowed to begin while the one before it ends only where the device, the driver and the compiled
    // kernels can do that. Everywhere else it waits.
    void kernelsBeginEarlyWhereTheyCan_data()
    {
        QTest::addColumn<int>("major");
        QTest::addColumn<int>("driver");
        QTest::addColumn<int>("compiledFor");
        QTest::addColumn<bool>("hasCall");
        QTest::addColumn<int>("early");
        QTest::newRow("they can") << 9 << 13000 << 90 << true << 1;
        QTest::newRow("the kernels are older than the device") << 10 << 13000 << 80 << true << 0;
        QTest::newRow("the device is older") << 8 << 13000 << 86 << true << 0;
        QTest::newRow("the driver makes no such graphs") << 9 << 12020 << 90 << true << 0;
        QTest::newRow("the driver has no such call") << 9 << 13000 << 90 << false << 0;
    }
    void kernelsBeginEarlyWhereTheyCan()
    {
        QFETCH(int, major);
        QFETCH(int, driver);
        QFETCH(int, compiledFor);
        QFETCH(bool, hasCall);
        QFETCH(int, early);
        static int launchedEarly, compiled;
        launchedEarly = 0;
        compiled = compiledFor;
        const EmulatedGpu gpu({.compute_major = major, .driver_version = driver});
        DriverTable table = EmulatedGpu::table();
        table.function_attribute = [](int* value, int, Function) {
            *value = compiled;
            return Status::Ok;
        };
        table.launch_kernel_ex = [](const LaunchConfig* config, Function function, void** arguments, void** extra) {
            ++launchedEarly;
            return EmulatedGpu::table().launch_kernel_ex(config, function, arguments, extra);
        };
        if (!hasCall)
            table.launch_kernel_ex = nullptr;
        KernelImages images = EmulatedGpu::images();
        images.cuda_version = 12000;
        const Driver::Opened opened = Driver::open(table, images, 0);
        QVERIFY2(opened.driver, opened.problem.c_str());
        std::vector<float> out(64);
        QVERIFY(session(*opened.driver, out) == Status::Ok);
        QCOMPARE(launchedEarly, early);
    }

    // A kernel that begins early and does not wait for the one before it would read what is not there yet.
    void aKernelThatBeginsEarlyHasToWait()
    {
        const EmulatedGpu gpu;
        const auto driver = open();
        const Queue queue = driver->make_queue().value;
        const DevicePtr x = driver->alloc(256).value;
        QVERIFY(driver->launch_early(Kernel::keep_above, {1}, {64}, 0, queue, 2.0f, 64, x, 64) == Status::Ok);
        QVERIFY(driver->synchronize(queue) == Status::LaunchFailed);
        QVERIFY2(gpu.fault().find("begins early") != std::string::npos, gpu.fault().c_str());
    }

    void waitingSpoilsACapture()
    {
        const EmulatedGpu gpu;
        const auto driver = open();
        const Queue queue = driver->make_queue().value;
        QVERIFY(driver->begin_capture(queue) == Status::Ok);
        QVERIFY(driver->synchronize(queue) == Status::CaptureUnsupported);
        QVERIFY(driver->end_capture(queue).status == Status::CaptureInvalidated);
        QVERIFY(driver->synchronize(queue) == Status::Ok);
    }

    // What a thread may not call while it captures, others may.
    void onlyTheCapturingThreadIsHeldBack()
    {
        EmulatedGpu gpu;
        const auto driver = open();
        const Queue queue = driver->make_queue().value;
        const Event event = driver->make_event().value;
        QVERIFY(driver->begin_capture(queue) == Status::Ok);
        std::thread([&] {
            QVERIFY(driver->make_current() == Status::Ok);
            const auto memory = driver->alloc(256);
            QVERIFY(memory.status == Status::Ok);
            QVERIFY(driver->query(event) == Status::Ok);
            QVERIFY(driver->free(memory.value) == Status::Ok);
        }).join();
        const auto graph = driver->end_capture(queue);
        QVERIFY(graph.status == Status::Ok);
        QVERIFY(driver->destroy(graph.value) == Status::Ok);
        std::vector<std::byte> memory(64);
        const std::vector<std::function<Status()>> calls = {
            [&] { return driver->alloc(256).status; },
            [&] { return driver->alloc_pinned(256).status; },
            [&] { return driver->pin(memory.data(), memory.size()); },
            [&] { return driver->query(event); },
            [&] { return driver->synchronize(event); },
        };
        for (const auto& call : calls) {
            QVERIFY(driver->begin_capture(queue) == Status::Ok);
            QVERIFY(call() == Status::CaptureUnsupported);
            QVERIFY(driver->end_capture(queue).status == Status::CaptureInvalidated);
        }
    }

    // As under Windows: a launch that nobody asks after does not begin.
    void whatIsCollectedBeginsWhenItIsAskedAfter()
    {
        EmulatedGpu gpu({.collects_work = true});
        const auto driver = open();
        const Queue queue = driver->make_queue().value;
        const Event event = driver->make_event().value;
        const DevicePtr x = driver->alloc(256).value;
        QVERIFY(norm(*driver, queue, x, x) == Status::Ok);
        QVERIFY(driver->record(event, queue) == Status::Ok);
        std::this_thread::sleep_for(20ms);
        QCOMPARE(gpu.kernels_run(), 0);
        while (driver->query(event) == Status::NotReady)
            std::this_thread::yield();
        QCOMPARE(gpu.kernels_run(), 1);
    }

    // As under Windows, which ends it after two seconds.
    void aLaunchThatTakesTooLongIsTheDevicesEnd()
    {
        std::uint64_t stops = 0;
        for (const bool enough : {true, false}) {
            EmulatedGpu gpu({.most_stops = enough ? stops : stops - 1});
            const auto driver = open();
            const Queue queue = driver->make_queue().value;
            const DevicePtr x = driver->alloc(256).value;
            QVERIFY(norm(*driver, queue, x, x) == Status::Ok);
            const Status ended = driver->synchronize(queue);
            QVERIFY(ended == (enough ? Status::Ok : Status::LaunchTimeout));
            QCOMPARE(is_device_lost(ended), !enough);
            QCOMPARE(gpu.fault().starts_with("rms_norm"), !enough);
            stops = gpu.longest_launch();
            QVERIFY(stops > 1);
        }
    }

    void workBeginsLate()
    {
        EmulatedGpu gpu({.delay = 30ms});
        const auto driver = open();
        const Queue queue = driver->make_queue().value;
        const DevicePtr x = driver->alloc(256).value;
        const auto begin = std::chrono::steady_clock::now();
        QVERIFY(norm(*driver, queue, x, x) == Status::Ok);
        QVERIFY(driver->synchronize(queue) == Status::Ok);
        QVERIFY(std::chrono::steady_clock::now() - begin >= 30ms);
    }

    void memoryIsTakenInPieces()
    {
        EmulatedGpu gpu({.memory_bytes = 8 << 20, .granularity_bytes = 2 << 20});
        const auto driver = open();
        const auto first = driver->alloc(1);
        QVERIFY(first.status == Status::Ok);
        QCOMPARE(gpu.used_bytes(), std::size_t(2 << 20));
        QVERIFY(driver->alloc((6 << 20) + 1).status == Status::OutOfMemory);
        QVERIFY(driver->free(first.value) == Status::Ok);
        QCOMPARE(gpu.used_bytes(), std::size_t(0));
    }

    // Some errors go with the context; after others the driver wants another process.
    void aLostDeviceComesBackByResetOrNotAtAll()
    {
        for (const bool by_reset : {true, false}) {
            EmulatedGpu gpu({.returns_by_reset = by_reset});
            auto driver = open();
            gpu.fail_call(1, Status::IllegalAddress);
            QVERIFY(driver->alloc(1).status == Status::IllegalAddress);
            driver.reset();
            Driver::Opened again = Driver::open(gpu.table(), gpu.images(), 0);
            QCOMPARE(again.driver != nullptr, by_reset);
            QCOMPARE(again.problem.find("a program that is started again") != std::string::npos, !by_reset);
            again.driver.reset();
            QVERIFY(gpu.leaks().find("context") == std::string::npos);
        }
    }

    // Its context is one for all of the process: as long as another has memory there, it is not taken away.
    void aLostDeviceComesBackWhenAllHaveLetItGo()
    {
        EmulatedGpu gpu({.returns_by_reset = true});
        auto driver = open(), other = open();
        const DevicePtr memory = other->alloc(256).value;
        gpu.fail_call(1, Status::IllegalAddress);
        QVERIFY(driver->alloc(1).status == Status::IllegalAddress);
        driver.reset();
        Driver::Opened again = Driver::open(gpu.table(), gpu.images(), 0);
        QVERIFY(!again.driver);
        QVERIFY2(again.problem.find("still holds it") != std::string::npos, again.problem.c_str());
        QVERIFY(other->free(memory) == Status::IllegalAddress);
        other.reset();
        again = Driver::open(gpu.table(), gpu.images(), 0);
        QVERIFY2(again.driver, again.problem.c_str());
        QVERIFY(again.driver->alloc(1).status == Status::Ok);
        QVERIFY2(gpu.fault().empty(), gpu.fault().c_str());
    }

    void aLostDeviceStaysLost()
    {
        EmulatedGpu gpu;
        const auto driver = open();
        const Queue queue = driver->make_queue().value;
        const DevicePtr at = driver->alloc(256).value;
        gpu.fail_call(1, Status::IllegalAddress);
        QVERIFY(driver->fill(at, 0, 256, queue) == Status::IllegalAddress);
        QVERIFY(driver->synchronize(queue) == Status::IllegalAddress);
        QVERIFY(driver->alloc(1).status == Status::IllegalAddress);
        QVERIFY(is_device_lost(Status::IllegalAddress));
        QVERIFY(!is_device_lost(Status::OutOfMemory));
        QVERIFY(QByteArray::fromStdString(driver->error_text(Status::OutOfMemory)).contains("(CUDA error 2)"));
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestCudaDriver)
#include "tst_cuda_driver.moc"
