// Tests that a long conversation asks the driver for no memory while it decodes, evicts or reads a prompt: the pager,
// without a model, on the emulated driver, which counts what it is asked for. A driver's allocations, frees and page
// locks take milliseconds or wait for all that is computed.
#include "engine/device/cuda_device.h"
#include "engine/device/huge_array.h"
#include "engine/kv/device_states.h"
#include "engine/kv/kv_pager.h"
#include "tests/support/cuda/emulated_gpu.h"
#include "tests/support/test_program.h"

#include <QtTest>

#ifdef Q_OS_LINUX
#include <malloc.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <thread>

using namespace engine;
using namespace std::chrono_literals;

namespace {

constexpr int kTokens = 16, kLayers = 4, kHeads = 2;
constexpr kernels::KvBlockLayout kBlock{kernels::KvType::F16, kernels::KvType::F16, 8, 8, kTokens};
constexpr int kMostHeads = 6;
constexpr std::int64_t kBlockBytes = std::int64_t(kHeads * kBlock.bytes());
constexpr std::int64_t kColumnBytes = kLayers * kBlockBytes;

emulator::GpuFacts gpu_of(std::size_t mebibytes, std::size_t granularity = 1)
{
    emulator::GpuFacts facts;
    facts.memory_bytes = mebibytes << 20;
    facts.granularity_bytes = granularity;
    return facts;
}

/// A driver that gives 2.5 KiB for the 2 KiB of two blocks: a fifth of the 256 KiB is lost, and nobody knows that
/// before it is full.
emulator::GpuFacts rounding_gpu()
{
    emulator::GpuFacts facts = gpu_of(0, 5 << 9);
    facts.memory_bytes = std::size_t(256) << 10;
    return facts;
}

std::vector<KvLayerShape> all_alike()
{
    return std::vector<KvLayerShape>(kLayers, KvLayerShape{kHeads, kBlock});
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

/// A conversation on the emulated GPU. In place of computed values its KV has bytes that tell page, layer and token.
class OnGpu
{
public:
    explicit OnGpu(const emulator::GpuFacts& facts, int pages, int longest_step = 1,
                   const std::vector<KvLayerShape>& layers = all_alike())
        : gpu(facts)
        , cache(layers, layers.front().block.tokens, pages)
    {
        kernels::cuda::set_platform({&emulator::EmulatedGpu::table(), emulator::EmulatedGpu::images(), {}});
        auto opened = CudaDevice::open(0);
        if (!opened)
            qFatal("%s", opened.error().what.c_str());
        device = std::move(*opened);
        vram = std::make_unique<Vram>(*device);
        kv = std::make_unique<DeviceKv>(*vram, cache.layers(), pages, KvSlabs::slab_bytes_for(*vram));
        stream = std::make_unique<KvStream>(*vram, std::size_t(pages) * layers.size());
        pager = std::make_unique<KvPager>(cache, *vram, *kv, *stream);
        pager->set_longest_step(longest_step);
        pager->set_layers(cache.num_layers());
        cache.set_device(kv.get(), stream.get());
        cache.make_ahead(longest_step / cache.block_tokens() + 1);
        pager->bring_back(Event::Cause::User);
        settle();
    }
    ~OnGpu()
    {
        cache.truncate(sequence, 0);
        cache.truncate(earlier, 0);
        cache.set_device(nullptr, nullptr);
        pager.reset();
        stream.reset();
        kv.reset();
        vram.reset();
        device.reset();
        kernels::cuda::set_platform({});
    }

    /// Waits until the threads beside this one have done their work.
    void settle()
    {
        pager->settle();
        device->settle_pins();
    }

    Status step(int tokens = 1)
    {
        const int first = sequence.length();
        if (Status ok = cache.reserve(sequence, first + tokens); !ok)
            return ok;
        if (Status ok = pager->prepare(sequence, first, tokens); !ok)
            return ok;
        for (int l = 0; l < cache.num_layers(); ++l)
            write(first, first + tokens, l);
        sequence.ids.resize(std::size_t(first + tokens));
        if (Status ok = pager->finish(sequence, first, tokens); !ok)
            return ok;
        return device->finish_work();  // its logits are read
    }
    /// Another conversation is begun; this one stays.
    void begin_another()
    {
        earlier = std::exchange(sequence, KvSequence());
        pager->begin_turn({});
    }
    bool steps(int count, int tokens = 1)
    {
        for (int i = 0; i < count; ++i)
            if (const Status done = step(tokens); !done) {
                qWarning("%s", done.error().what.c_str());
                return false;
            }
        return true;
    }

    /// Does steps of so many tokens until there are `length`. Each has reached the mirror before the next one begins,
    /// so that what is taken does not depend on how fast which thread is. Answers how many columns left meanwhile.
    std::optional<int> grow_to(int length, int tokens)
    {
        int left = 0;
        while (sequence.length() < length) {
            if (!steps(1, tokens) || !cache.wait_mirrored(sequence))
                return std::nullopt;
            left += int(std::ranges::count(pager->take_events(), Event::Kind::Offload, &Event::kind));
        }
        settle();
        return left;
    }

    /// Says whether all values are where they belong, on the device and in the mirror.
    bool intact()
    {
        bool whole = cache.wait_mirrored(sequence).has_value();
        std::vector<std::byte> there;
        for (int b = 0; b < int(sequence.pages.size()); ++b)
            for (int l = 0; l < cache.num_layers(); ++l) {
                const PageId page = sequence.pages[std::size_t(b)];
                whole = whole && holds_block(cache.host_block(page, l), b, l);
                const DevicePtr block = cache.device_block(page, l);
                if (!block)
                    continue;
                there.resize(cache.layer(l).bytes());
                const auto& driver = device->driver();
                whole = whole && driver.copy_to_host(there.data(), address(block), there.size(), device->compute()) ==
                                     kernels::cuda::Status::Ok;
                whole = whole && holds_block(there.data(), b, l);
            }
        return whole;
    }
    int columns_here() const
    {
        return int(std::ranges::count_if(sequence.pages, [&](PageId page) { return kv->holds(page, 0); }));
    }

    emulator::EmulatedGpu gpu;
    KvCache cache;
    std::unique_ptr<CudaDevice> device;
    std::unique_ptr<Vram> vram;
    std::unique_ptr<DeviceKv> kv;
    std::unique_ptr<KvStream> stream;
    std::unique_ptr<KvPager> pager;
    KvSequence sequence, earlier;

private:
    static kernels::cuda::DevicePtr address(DevicePtr at) { return reinterpret_cast<std::uintptr_t>(at); }
    static std::byte value(int token, int l, int head) { return std::byte(1 + (token * 31 + l * 7 + head) % 250); }
    static constexpr std::size_t kRowBytes = 2 * kBlock.v_dim;

    /// Returns where the token's values begin in its block.
    std::size_t offset(int token, int l, int head) const
    {
        const kernels::KvBlockLayout& layout = cache.layer(l).block;
        return std::size_t(head) * layout.bytes() + layout.v_offset() +
               std::size_t(token % cache.block_tokens()) * kRowBytes;
    }

    /// Writes the values of tokens [first, last), those of a block at once.
    void write(int first, int last, int l)
    {
        for (int end = first; first < last; first = end) {
            end = std::min(last, (first / cache.block_tokens() + 1) * cache.block_tokens());
            const DevicePtr block = cache.device_block(sequence.pages[std::size_t(first / cache.block_tokens())], l);
            for (int head = 0; head < cache.layer(l).kv_heads; ++head) {
                rows.resize(std::size_t(end - first) * kRowBytes);
                for (int token = first; token < end; ++token)
                    std::fill_n(rows.begin() + std::ptrdiff_t(std::size_t(token - first) * kRowBytes), kRowBytes,
                                value(token, l, head));
                if (device->driver().copy_to_device(address(block) + offset(first, l, head), rows.data(), rows.size(),
                                                    device->compute()) != kernels::cuda::Status::Ok)
                    qFatal("rows were not written");
            }
        }
    }
    bool holds_block(const std::byte* block, int b, int l) const
    {
        const int last = std::min((b + 1) * cache.block_tokens(), sequence.length());
        for (int token = b * cache.block_tokens(); token < last; ++token)
            if (!holds(block, token, l))
                return false;
        return true;
    }
    bool holds(const std::byte* block, int token, int l) const
    {
        for (int head = 0; head < cache.layer(l).kv_heads; ++head) {
            const std::byte* const row = block + offset(token, l, head);
            if (std::any_of(row, row + kRowBytes, [&](std::byte b) { return b != value(token, l, head); }))
                return false;
        }
        return true;
    }

    std::vector<std::byte> rows;  // on their way to the device
};

}  // namespace

class TestCudaMemory : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// Nobody asks for what has ended, and the same events serve again and again: there are as many as steps are on
    /// their way to the mirror, which on a busy machine may lag.
    void aLongAnswerTakesNothingOfTheDriver()
    {
        OnGpu here(gpu_of(2), 260);
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
        OnGpu here(facts, pages, tokens, layers);
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
        OnGpu here(gpu_of(2), 200);
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
        OnGpu here(gpu_of(4), 200, 4 * kTokens);
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
        OnGpu here(gpu_of(1), kNow / kTokens + kChunk / kTokens + 2, kChunk, layers);
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
        OnGpu here(gpu_of(2048, std::size_t(2) << 20), 300);
        QVERIFY(here.steps(50, 5 * kTokens));
        here.settle();
        QVERIFY(here.kv->blocks() >= 50 * 5 * kLayers);
        QCOMPARE(std::int64_t(here.gpu.used_bytes()), here.vram->held());
    }

    /// Where a layer or a copy of an expert needs memory, it gets what was taken ahead for blocks, and blocks move
    /// together.
    void othersHaveWhatWasTakenAhead()
    {
        OnGpu here(gpu_of(2), 200, 8 * kTokens);
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
        OnGpu here(gpu_of(2), 200, 8 * kTokens);
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
        OnGpu here(rounding_gpu(), 100);
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
        OnGpu here(rounding_gpu(), 120);
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
        OnGpu here(gpu_of(1), 700, 8 * kTokens, large_and_small());
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
        OnGpu here(facts, 100);
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

    /// Where the driver takes its time, nobody waits for it; where it refuses, all goes on.
    void pagesAreLockedAhead()
    {
        OnGpu here(gpu_of(2), 100);
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
        OnGpu here(gpu_of(2), 100);
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

    /// What a stopped step still computes is not written over the state that comes in place of its own.
    void aStateComesBehindWhatIsComputed()
    {
        const emulator::EmulatedGpu gpu(gpu_of(16));
        kernels::cuda::set_platform({&emulator::EmulatedGpu::table(), emulator::EmulatedGpu::images(), {}});
        {
            constexpr int kFloats = 64;
            constexpr std::size_t kLongWork = 6 << 20;
            const auto device = CudaDevice::open(0);
            QVERIFY(device);
            Vram vram(**device);
            RecurrentStates states({kFloats}, 4);
            DeviceStates there(states, vram);
            states.set_device(&there);
            QVERIFY(there.join(0));
            const auto work = vram.take(Vram::Use::Scratch, kLongWork);
            QVERIFY(work);
            KvSequence sequence;
            QVERIFY(states.prepare(sequence));
            std::fill_n(states.host_layer(sequence.state, 0), kFloats, 7.0f);
            sequence.ids = {1};
            states.keep(sequence);

            const auto address = [](const void* at) { return std::uint64_t(reinterpret_cast<std::uintptr_t>(at)); };
            const auto& driver = (*device)->driver();
            const auto compute = (*device)->compute();
            const auto enter = [&] {
                return states.prepare(sequence) && there.enter(sequence.state) ? states.layer(sequence.state, 0)
                                                                               : nullptr;
            };
            const float* const state = enter();
            QVERIFY(state);
            for (int i = 0; i < 50; ++i)
                (void)driver.copy_on_device(address(*work), address(*work + kLongWork / 2), kLongWork / 2, compute);
            (void)driver.copy_on_device(address(state), address(*work), kFloats * sizeof(float), compute);
            states.spoil(sequence);
            QCOMPARE(states.cut(sequence, 1), 1);
            QCOMPARE(enter(), state);

            std::array<float, kFloats> seen{};
            (void)driver.copy_to_host(seen.data(), address(state), sizeof seen, compute);
            QVERIFY((*device)->finish_work());
            QVERIFY(std::ranges::all_of(seen, [](float value) { return value == 7.0f; }));
            states.cut(sequence, 0);
            states.set_device(nullptr);
            vram.give_back(Vram::Use::Scratch, *work, kLongWork);
        }
        kernels::cuda::set_platform({});
    }

    /// Whichever call of bringing a state fails: it is brought once more, whole.
    void aStateThatCameInPartIsNotThere()
    {
        constexpr int kFloats = 64, kLayers = 2, kNever = 1 << 20;
        int calls = 1;  // of the driver, for all of it; the first round, in which none fails, counts them
        for (int n = 0; n <= calls; ++n) {
            emulator::EmulatedGpu gpu(gpu_of(16));
            kernels::cuda::set_platform({&emulator::EmulatedGpu::table(), emulator::EmulatedGpu::images(), {}});
            {
                const auto device = CudaDevice::open(0);
                QVERIFY(device);
                Vram vram(**device);
                RecurrentStates states(std::vector<int>(kLayers, kFloats), 4);
                DeviceStates there(states, vram);
                states.set_device(&there);
                KvSequence sequence;
                QVERIFY(states.prepare(sequence));
                for (int l = 0; l < kLayers; ++l) {
                    QVERIFY(there.join(l));
                    std::fill_n(states.host_layer(sequence.state, l), kFloats, float(l + 1));
                }
                const int before = gpu.calls();
                gpu.fail_call(n > 0 ? n : kNever, kernels::cuda::Status::OutOfMemory);
                const bool came = bool(there.enter(sequence.state));
                if (n == 0)
                    calls = gpu.calls() - before;
                QVERIFY(came || n > 0);
                gpu.fail_call(kNever, kernels::cuda::Status::OutOfMemory);
                QVERIFY(there.enter(sequence.state));
                for (int l = 0; l < kLayers; ++l) {
                    std::array<float, kFloats> seen{};
                    const auto at = reinterpret_cast<std::uintptr_t>(states.layer(sequence.state, l));
                    (void)(*device)->driver().copy_to_host(seen.data(), std::uint64_t(at), sizeof seen,
                                                           (*device)->compute());
                    QVERIFY((*device)->finish_work());
                    QVERIFY2(std::ranges::all_of(seen, [&](float value) { return value == float(l + 1); }),
                             qPrintable(QString("call %1, layer %2").arg(n).arg(l)));
                }
                states.cut(sequence, 0);
                states.set_device(nullptr);
                QVERIFY(calls >= 2 * kLayers);  // a copy and a wait each
            }
            kernels::cuda::set_platform({});
        }
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
        OnGpu here(gpu_of(2), 100);
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

SPILLWAY_TEST(test_support::NoApplication, TestCudaMemory)
#include "tst_cuda_memory.moc"
