// Tests that a long conversation asks the driver for no memory while it decodes, evicts or reads a prompt: the pager,
// without a model, on the emulated driver, which counts what it is asked for. A driver's allocations, frees and page
// locks take milliseconds or wait for all that is computed.
#include "tests/engine/kv/pager_on_gpu.h"
#include "tests/support/test_program.h"

#include <QtTest>

#ifdef Q_OS_LINUX
#include <malloc.h>
#endif

#include <algorithm>
#include <cstring>
#include <optional>
#include <thread>

using namespace engine;
using namespace test_support;
using namespace std::chrono_literals;

namespace {

constexpr int kMostHeads = 6;

/// A driver that gives 2.5 KiB for the 2 KiB of two blocks: a fifth of the 256 KiB is lost, and nobody knows that
/// before it is full.
emulator::GpuFacts rounding_gpu()
{
    emulator::GpuFacts facts = gpu_of(0, 5 << 9);
    facts.memory_bytes = std::size_t(256) << 10;
    return facts;
}

/// Two layers that see everything, with large blocks, and two with small ones and windows.
std::vector<KvLayerShape> large_and_small()
{
    const KvLayerShape large{kMostHeads, kBlock}, small{1, kBlock, 2 * kTokens};
    return {large, small, large, small};
}

/// One layer that sees everything, and one with a window; of each token there is as little as can be.
std::vector<KvLayerShape> as_little_as_can_be()
{
    kernels::KvBlockLayout block = kBlock;
    block.tokens = 2 * kTokens;
    return {KvLayerShape{1, block}, KvLayerShape{1, block, 2 * block.tokens}};
}

/// Returns the bytes of the heap that are in use; empty where nobody counts them.
std::optional<std::int64_t> heap_bytes()
{
#if defined(Q_OS_LINUX) && defined(__GLIBC__) && !defined(SPILLWAY_SANITIZED)
    const struct mallinfo2 all = mallinfo2();
    return std::int64_t(all.uordblks + all.hblkhd);
#else
    return {};
#endif
}

}  // namespace

class TestCudaMemory : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// Nobody asks for what has ended, and the same events serve again and again: there are as many as steps are on
    /// their way to the mirror, which on a busy machine may lag.
    void aLongAnswerTakesNothingOfTheDriver()
    {
        PagerOnGpu here(gpu_of(2), 260);
        QVERIFY(here.steps(100));
        here.settle();
        const int events = here.gpu.events(), slabs = here.gpu.allocations();
        const emulator::MemoryCalls calls = here.gpu.memory_calls();
        QVERIFY(here.steps(4000));
        QVERIFY2(here.gpu.events() <= events + 1000, qPrintable(QString::number(here.gpu.events())));
        QVERIFY(here.gpu.allocations() > slabs + 8);  // it grew
        QVERIFY(here.gpu.memory_calls() == calls);    // elsewhere
        QCOMPARE(here.columns_here(), int(here.sequence.pages.size()));
        QVERIFY(here.intact());
    }

    /// Blocks leave, windows move on, and the mirror grows: between the tokens 20,000 and 100,000 nothing else does.
    void aVeryLongAnswerGrowsByItsKvAlone()
    {
        constexpr int kThen = 20'000, kNow = 100'000;
#ifdef SPILLWAY_SANITIZED
        const char* const usual = "32";
#else
        const char* const usual = "8";
#endif
        const int tokens = qEnvironmentVariable("SPILLWAY_TOKENS_OF_A_STEP", usual).toInt();
        const std::vector<KvLayerShape> layers = as_little_as_can_be();
        const int pages = kNow / layers.front().block.tokens + 2;  // one is begun, and one made ahead
        emulator::GpuFacts facts;
        facts.memory_bytes = std::size_t(512) << 10;  // for the keys and values of 15,000 tokens
        PagerOnGpu here(facts, pages, tokens, layers);
        here.sequence.ids.reserve(kNow);
        here.sequence.pages.reserve(std::size_t(pages));
        QVERIFY(here.grow_to(kThen, tokens).value_or(0) > 0);

        const int events = here.gpu.events(), slabs = here.gpu.allocations(), pages_then = here.cache.used_pages();
        const std::size_t device_bytes = here.gpu.used_bytes();
        const emulator::MemoryCalls calls = here.gpu.memory_calls_of_all();
        const std::int64_t arrays = HugeArray::held_bytes();
        const std::optional<std::int64_t> heap = heap_bytes();
        QVERIFY(here.grow_to(kNow, tokens).value_or(0) > 1000);
        QCOMPARE(here.sequence.length(), kNow);

        QCOMPARE(here.gpu.events(), events);
        QCOMPARE(here.gpu.allocations(), slabs);
        QCOMPARE(here.gpu.used_bytes(), device_bytes);
        const int more_pages = here.cache.used_pages() - pages_then;
        const auto page_bytes = std::int64_t(here.cache.page_bytes());
        const emulator::MemoryCalls calls_now = here.gpu.memory_calls_of_all();
        QCOMPARE(calls_now.allocations, calls.allocations);
        QCOMPARE(calls_now.frees, calls.frees);
        QCOMPARE(calls_now.fills, calls.fills);
        QCOMPARE(calls_now.page_locks, calls.page_locks + more_pages);
        QCOMPARE(HugeArray::held_bytes(), arrays + more_pages * page_bytes);
        QCOMPARE(here.cache.allocated_bytes(), (here.cache.used_pages() + 1) * page_bytes);  // one is made ahead
        QCOMPARE(std::int64_t(here.gpu.locked_bytes()), here.cache.allocated_bytes());
        if (heap) {
            // What a page needs beside its bytes, and what threads keep of memory that was freed. It is less than the
            // smallest piece of the heap for each step.
            constexpr std::int64_t kBesidePage = 160, kKept = 64 << 10;
            const std::int64_t grown = *heap_bytes() - *heap - more_pages * page_bytes;
            QVERIFY2(grown <= more_pages * kBesidePage + kKept, qPrintable(QString::number(grown)));
        }
        QVERIFY(here.intact());
    }

    /// Blocks that leave make room for those that come.
    void evictionTakesNothingOfTheDriver()
    {
        PagerOnGpu here(gpu_of(2), 200);
        here.vram->set_limit(40 * kColumnBytes);
        QVERIFY(here.steps(60 * kTokens));
        QVERIFY(here.columns_here() <= 38);
        here.settle();
        const emulator::MemoryCalls calls = here.gpu.memory_calls();
        const int events = here.gpu.events();
        QVERIFY(here.steps(100 * kTokens));
        QVERIFY(here.gpu.memory_calls() == calls);
        QVERIFY(here.gpu.events() <= events + 1000);
        QVERIFY(here.columns_here() >= 35);
        QVERIFY(here.vram->held() <= here.vram->budget());
        QVERIFY(here.intact());
    }

    void aPromptTakesNothingOfTheDriver()
    {
        PagerOnGpu here(gpu_of(4), 200, 4 * kTokens);
        QVERIFY(here.steps(2, 4 * kTokens));
        here.settle();
        const emulator::MemoryCalls calls = here.gpu.memory_calls();
        for (int chunk = 0; chunk < 40; ++chunk) {
            QVERIFY(here.steps(1, 4 * kTokens));
            here.settle();  // it computes for long
        }
        QVERIFY(here.gpu.memory_calls() == calls);
        QVERIFY(here.intact());
    }

    /// Each chunk of the prompt drives out as many columns as it brings.
    void evictionByAPromptTakesNothingOfTheDriver_data()
    {
        QTest::addColumn<bool>("windows");
        QTest::newRow("all alike") << false;
        QTest::newRow("every other layer has a window") << true;
    }
    void evictionByAPromptTakesNothingOfTheDriver()
    {
        QFETCH(bool, windows);
        std::vector<KvLayerShape> layers = all_alike();
        for (std::size_t l = 1; windows && l < layers.size(); l += 2)
            layers[l].window = 2 * kTokens;
        constexpr int kChunk = 4 * kTokens, kThen = 160 * kChunk, kNow = 320 * kChunk;
        PagerOnGpu here(gpu_of(1), kNow / kTokens + kChunk / kTokens + 2, kChunk, layers);
        QVERIFY(here.grow_to(kThen, kChunk).value_or(0) > 0);
        const emulator::MemoryCalls calls = here.gpu.memory_calls_of_all();
        QVERIFY(here.grow_to(kNow, kChunk).value_or(0) > 600);
        const emulator::MemoryCalls now = here.gpu.memory_calls_of_all();
        QCOMPARE(now.allocations, calls.allocations);
        QCOMPARE(now.frees, calls.frees);
        QCOMPARE(now.fills, calls.fills);
        QVERIFY(here.intact());
    }

    /// Drivers round allocations up: what is lost by that would seem to be other programs'.
    void littleIsLostToRounding()
    {
        PagerOnGpu here(gpu_of(2048, std::size_t(2) << 20), 300);
        QVERIFY(here.steps(50, 5 * kTokens));
        here.settle();
        QVERIFY(here.kv->blocks() >= 50 * 5 * kLayers);
        QCOMPARE(std::int64_t(here.gpu.used_bytes()), here.vram->held());
    }

    /// Where a layer or a copy of an expert needs memory, it gets what was taken ahead for blocks, and blocks move
    /// together.
    void othersHaveWhatWasTakenAhead()
    {
        PagerOnGpu here(gpu_of(2), 200, 8 * kTokens);
        QVERIFY(here.steps(20, 8 * kTokens));
        here.settle();
        QVERIFY(here.vram->used(Vram::Use::KvAhead) > 0);
        const std::int64_t budget = here.vram->budget();
        // Most of each slab's blocks go.
        here.cache.truncate(here.sequence, 100 * kTokens);
        const std::int64_t left = budget - here.vram->used() - budget / 50;
        const auto memory = here.vram->take(Vram::Use::Weights, std::size_t(left));
        QVERIFY2(memory, memory ? "" : memory.error().what.c_str());
        QVERIFY(here.vram->held() <= budget);
        QVERIFY(here.intact());
        here.vram->give_back(Vram::Use::Weights, *memory, std::size_t(left));
        QVERIFY(here.steps(40, kTokens));
        QVERIFY(here.intact());
    }

    void lessIsHeldWhenOtherProgramsHoldMore()
    {
        PagerOnGpu here(gpu_of(2), 200, 8 * kTokens);
        QVERIFY(here.steps(15, 8 * kTokens));
        here.settle();
        here.gpu.hold_memory(std::size_t(2 << 20) - here.gpu.used_bytes());
        std::this_thread::sleep_for(110ms);  // it is asked ten times a second
        const std::int64_t before = here.vram->held();
        QVERIFY(here.steps(1));
        QVERIFY(here.vram->held() < before);
        QVERIFY(here.vram->held() <= here.vram->budget());
        QVERIFY(here.steps(100));
        QVERIFY(here.vram->held() <= here.vram->budget());
        QVERIFY(here.intact());
    }

    /// The budget says that there is room up to its last byte, and there is none: the oldest columns leave.
    void columnsLeaveWhereTheDriverIsFull()
    {
        PagerOnGpu here(rounding_gpu(), 100);
        here.vram->set_watermark(1.0);
        QVERIFY(here.steps(80, kTokens));
        QVERIFY2(here.columns_here() >= 40, qPrintable(QString::number(here.columns_here())));
        QVERIFY(here.intact());
        // It is known from then on.
        const int columns = here.columns_here();
        QVERIFY(here.pager->take_events().size() > 20);
        const int calls = here.gpu.memory_calls().allocations;
        QVERIFY(here.steps(10, kTokens));
        QVERIFY(here.gpu.memory_calls().allocations - calls <= 8);
        QVERIFY(std::abs(here.columns_here() - columns) <= 2);
    }

    /// Under `resident` nothing of this conversation leaves, but all of another one.
    void anotherConversationLeavesWhereTheDriverIsFull()
    {
        PagerOnGpu here(rounding_gpu(), 120);
        here.pager->set_policy(KvPolicy::Resident);
        QVERIFY(here.steps(30, kTokens));
        here.begin_another();
        QVERIFY(here.steps(40, kTokens));
        QCOMPARE(here.columns_here(), 40);
        QVERIFY(here.intact());
        Status full;
        while (full && here.sequence.pages.size() < 80)
            full = here.step(kTokens);
        QVERIFY(!full);
        QVERIFY2(here.sequence.pages.size() >= 48, qPrintable(QString::number(here.sequence.pages.size())));
    }

    /// Blocks of windows come and go between those that stay; what they leave is room for larger ones, too.
    void holesOfSmallBlocksAreRoomForLargeOnes()
    {
        PagerOnGpu here(gpu_of(1), 700, 8 * kTokens, large_and_small());
        here.vram->set_watermark(1.0);
        here.vram->set_limit(512 << 10);
        QVERIFY(here.steps(20, 8 * kTokens));
        QVERIFY(here.steps(20, kTokens));
        QVERIFY(here.intact());
        const std::int64_t used = here.vram->used(), held = here.vram->held();
        QVERIFY2(10 * used >= 9 * held, qPrintable(QString("%1 of %2").arg(used).arg(held)));
        QVERIFY(held <= here.vram->budget());
    }

    /// A block that is streamed is one call of the driver's; what else there is to do is done once for each run. What
    /// is computed sees all blocks of its run.
    void streamingIsOneCallForEachBlock()
    {
        emulator::GpuFacts facts = gpu_of(2);
        facts.delay = 200us;
        PagerOnGpu here(facts, 100);
        constexpr int kColumns = 40, kSlots = 24;
        QVERIFY(here.steps(kColumns, kTokens));
        QVERIFY(here.pager->leave(0) && here.pager->leave(1));
        QCOMPARE(here.stream->set_slots(kSlots, std::size_t(kBlockBytes)), kSlots);
        here.settle();
        const auto& driver = here.device->driver();
        std::vector<std::byte> seen(std::size_t(kColumns) * std::size_t(kBlockBytes));
        here.stream->clear();
        for (int l : {0, 1})
            for (int b = 0; b < kColumns; ++b)
                here.stream->add(
                    {l, b, here.cache.host_block(here.sequence.pages[std::size_t(b)], l), std::size_t(kBlockBytes)});
        int calls = -here.gpu.calls(), runs = 0, copies = 0;
        here.stream->start();
        for (int l : {0, 1}) {
            KvBlocks blocks = here.cache.open(here.sequence, l, LayerOn::Device, 0, kColumns);
            for (; blocks.next(); ++runs)
                for (int b = blocks.first(); b < blocks.last(); ++b, ++copies)
                    QVERIFY(driver.copy_to_host(&seen[std::size_t(b) * std::size_t(kBlockBytes)],
                                                std::uint64_t(reinterpret_cast<std::uintptr_t>(blocks.block(b))),
                                                std::size_t(kBlockBytes),
                                                here.device->compute()) == kernels::cuda::Status::Ok);
            QVERIFY(driver.synchronize(here.device->compute()) == kernels::cuda::Status::Ok);
            for (int b = 0; b < kColumns; ++b)
                QVERIFY(std::memcmp(&seen[std::size_t(b) * std::size_t(kBlockBytes)],
                                    here.cache.host_block(here.sequence.pages[std::size_t(b)], l),
                                    std::size_t(kBlockBytes)) == 0);
        }
        calls += here.gpu.calls();
        QCOMPARE(copies, 2 * kColumns);
        QVERIFY2(runs <= 8, qPrintable(QString::number(runs)));
        const int others = calls - 2 * copies;  // a block's copy, and this test's
        QVERIFY2(others <= 24 * runs, qPrintable(QString("%1 calls for %2 runs").arg(others).arg(runs)));
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestCudaMemory)
#include "tst_cuda_memory.moc"
