// Tests the emulator that runs CUDA kernels without a GPU: threads meet at barriers, warps exchange values, and a fault
// that a GPU would punish only sometimes is always found.
#include "kernels/cuda/device.h"
#include "kernels/cuda/reduce.cuh"
#include "tests/support/cuda/grid.h"
#include "tests/support/cuda/static_shared.h"
#include "tests/support/test_program.h"

#include <QRandomGenerator>
#include <QTest>

#include <algorithm>
#include <atomic>
#include <bit>
#include <future>
#include <numeric>
#include <random>
#include <thread>

using namespace kernels::cuda;

// ---- kernels ----

static void reverse(int* values)
{
    int* shared = reinterpret_cast<int*>(dynamic_shared());
    const int last = int(blockDim.x) - 1;
    values += std::size_t(blockIdx.x) * blockDim.x;
    shared[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = shared[last - int(threadIdx.x)];
}
EMULATED(reverse);

static void reverse_without_barrier(int* values)
{
    int* shared = reinterpret_cast<int*>(dynamic_shared());
    shared[threadIdx.x] = values[threadIdx.x];
    values[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}
EMULATED(reverse_without_barrier);

static void sum_of_places(float* sums)
{
    const float sum = block_sum(float(threadIdx.x));
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum + block_sum(1.0f);
}
EMULATED(sum_of_places);

// Leaves in each lane's three floats its value, and what both ways of adding the warp's values give.
static void sum_both_ways(float* values)
{
    float* const mine = values + std::size_t(3) * threadIdx.x;
    mine[1] = warp_sum(mine[0]);
    mine[2] = butterfly(mine[0], [](float a, float b) { return a + b; });
}
EMULATED(sum_both_ways);

static void barrier_of_a_half(int* values)
{
    if (threadIdx.x < 32)
        __syncthreads();
    values[threadIdx.x] = 1;
}
EMULATED(barrier_of_a_half);

static void two_barriers_at_once(int* values)
{
    if (threadIdx.x < 32)
        __syncthreads();
    values[threadIdx.x] = 1;
    if (threadIdx.x >= 32)
        __syncthreads();
}
EMULATED(two_barriers_at_once);

static void exchange_of_a_few(int* values)
{
    if (threadIdx.x % 32 < 7)
        values[threadIdx.x] = __shfl_xor_sync(kWholeWarp, 1, 1);
}
EMULATED(exchange_of_a_few);

static void copy_and_wait(const int* from, int* to, int groups_left)
{
    int* shared = reinterpret_cast<int*>(dynamic_shared());
    host::copy_async(&shared[threadIdx.x], &from[threadIdx.x], sizeof(int));
    host::commit_copies();
    host::wait_for_copies(groups_left);
    to[threadIdx.x] = shared[threadIdx.x];
}
EMULATED(copy_and_wait);

// ---- kernels with accesses that a GPU does not take ----

static void load_four_words(const std::byte* from, unsigned* to)
{
    const uint4 words = *reinterpret_cast<const uint4*>(from);
    to[threadIdx.x] = words.x + words.w;
}
EMULATED(load_four_words);

static void load_by_a_function(const std::byte* from, float* to)
{
    const auto part = [&](int i) { return reinterpret_cast<const float4*>(from) + i; };
    to[threadIdx.x] = part(1)[0].y;
}
EMULATED(load_by_a_function);

static void store_two_words(std::byte* to)
{
    reinterpret_cast<uint2*>(to)[threadIdx.x] = make_uint2(1, 2);
}
EMULATED(store_two_words);

static void load_half(const std::byte* from, unsigned* to)
{
    to[threadIdx.x] = *reinterpret_cast<const std::uint16_t*>(from);
}
EMULATED(load_half);

static void copy_sixteen_bytes(const std::byte* from, unsigned*)
{
    host::copy_async(dynamic_shared(), from, 16);
}
EMULATED(copy_sixteen_bytes);

static void ask_for_a_line(const std::byte* at, unsigned*)
{
    ask_for(at, 128);
}
EMULATED(ask_for_a_line);

static void load_rows_of_halves(const std::byte* from, unsigned* to)
{
    std::uint32_t columns[2][2];
    load_columns(columns, reinterpret_cast<const std::uint16_t*>(from));
    to[threadIdx.x] = columns[0][0];
}
EMULATED(load_rows_of_halves);

static void load_rows_of_bytes(const std::byte* from, unsigned* to)
{
    std::uint32_t words[4];
    load_matrices(words, from);
    to[threadIdx.x] = words[0];
}
EMULATED(load_rows_of_bytes);

// ---- kernels whose blocks are not by themselves ----

static void count_up_from_the_block_before(int* values)
{
    if (threadIdx.x == 0)
        values[blockIdx.x + 1] = values[blockIdx.x] + 1;
}
EMULATED(count_up_from_the_block_before);

static void note_block(int* runs)
{
    if (threadIdx.x == 0)
        ++std::atomic_ref(runs[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)]);
}
EMULATED(note_block);

static void wait_for_another_block(int* arrived, int* met)
{
    if (threadIdx.x != 0)
        return;
    ++std::atomic_ref(*arrived);
    const std::uint64_t start = host::now_ns();
    while (std::atomic_ref(*arrived).load() < 2 && host::now_ns() - start < 60'000'000'000)
        host::yield();
    met[blockIdx.x] = std::atomic_ref(*arrived).load() >= 2;
}
EMULATED(wait_for_another_block);

namespace kernels::cuda {

// What one block wrote is there for the others only by chance.
static void keep_for_other_blocks(int* values)
{
    __shared__ int kept[32];
    if (blockIdx.x == 5)
        kept[threadIdx.x] = 7;
    values[blockIdx.x * 32 + threadIdx.x] = kept[threadIdx.x];
}
EMULATED(keep_for_other_blocks);

static void keep_for_the_next_launch(int* values)
{
    __shared__ int kept[32];
    values[threadIdx.x] = kept[threadIdx.x];
    kept[threadIdx.x] = 7;
}
EMULATED(keep_for_the_next_launch);

}  // namespace kernels::cuda

class TestEmulator : public QObject
{
    Q_OBJECT

    template <class... Args>
    static std::string run(const char* kernel, emulator::GridDim grid, emulator::GridDim block, std::size_t shared,
                           Args... args)
    {
        void* arguments[] = {static_cast<void*>(&args)...};
        return emulator::run_grid(*emulator::find_kernel(kernel), arguments, grid, block, shared).fault;
    }

private slots:
    void threadsMeetAtABarrier()
    {
        std::vector<int> values(3 * 128);
        std::iota(values.begin(), values.end(), 0);
        QCOMPARE(run("reverse", {3}, {128}, 512, values.data()), std::string());
        for (int i = 0; i < 3 * 128; ++i)
            QCOMPARE(values[std::size_t(i)], i / 128 * 128 + 127 - i % 128);
    }

    void aMissingBarrierShows()
    {
        std::vector<int> values(128);
        std::iota(values.begin(), values.end(), 0);
        QCOMPARE(run("reverse_without_barrier", {1}, {128}, 512, values.data()), std::string());
        bool reversed = true;
        for (int i = 0; i < 128; ++i)
            reversed &= values[std::size_t(i)] == 127 - i;
        QVERIFY(!reversed);
    }

    void warpsAndBlocksSum()
    {
        for (unsigned threads : {32u, 96u, 1024u}) {
            std::vector<float> sums(std::size_t(2) * threads);
            QCOMPARE(run("sum_of_places", {2}, {threads}, 0, sums.data()), std::string());
            for (float sum : sums)
                QCOMPARE(sum, float(threads) * float(threads + 1) / 2);
        }
    }

    // The emulated GPU adds in another way than the compiled kernel does.
    void bothWaysOfSummingGiveTheSameBits()
    {
        constexpr unsigned kThreads = 256;
        const quint32 seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        std::normal_distribution<float> normal(0, 1000);
        std::vector<float> values(std::size_t(3) * kThreads);
        for (float& value : values)
            value = normal(random);
        QCOMPARE(run("sum_both_ways", {1}, {kThreads}, 0, values.data()), std::string());
        for (unsigned thread = 0; thread < kThreads; ++thread) {
            const float* const mine = &values[std::size_t(3) * thread];
            QCOMPARE(std::bit_cast<std::uint32_t>(mine[1]), std::bit_cast<std::uint32_t>(mine[2]));
        }
    }

    void faultsAreNamed_data()
    {
        QTest::addColumn<QByteArray>("kernel");
        QTest::addColumn<QByteArray>("words");
        QTest::newRow("half of the block") << QByteArray("barrier_of_a_half") << QByteArray("thread 32 has ended");
        QTest::newRow("two barriers") << QByteArray("two_barriers_at_once") << QByteArray("thread 32 at tst_emulator");
        QTest::newRow("few lanes") << QByteArray("exchange_of_a_few") << QByteArray("a warp's lanes part ways");
    }
    void faultsAreNamed()
    {
        QFETCH(QByteArray, kernel);
        QFETCH(QByteArray, words);
        std::vector<int> values(64);
        const std::string fault = run(kernel, {1}, {64}, 0, values.data());
        QVERIFY2(QByteArray::fromStdString(fault).contains(words), fault.c_str());
        std::vector<float> sums(64);  // the fibers were left where they stood
        QCOMPARE(run("sum_of_places", {1}, {64}, 0, sums.data()), std::string());
    }

    void misalignedAccessesAreNamed_data()
    {
        QTest::addColumn<QByteArray>("kernel");
        QTest::addColumn<int>("alignment");
        QTest::addColumn<QByteArray>("words");
        QTest::newRow("four words") << QByteArray("load_four_words") << 16 << QByteArray("uint4");
        QTest::newRow("by a function") << QByteArray("load_by_a_function") << 16 << QByteArray("float4");
        QTest::newRow("store") << QByteArray("store_two_words") << 8 << QByteArray("store");
        QTest::newRow("half") << QByteArray("load_half") << 2 << QByteArray("multiple of 2");
        QTest::newRow("copy") << QByteArray("copy_sixteen_bytes") << 16 << QByteArray("multiple of 16");
        QTest::newRow("asked for") << QByteArray("ask_for_a_line") << 16 << QByteArray("multiple of 16");
        QTest::newRow("rows of halves") << QByteArray("load_rows_of_halves") << 16 << QByteArray("multiple of 16");
        QTest::newRow("rows of bytes") << QByteArray("load_rows_of_bytes") << 16 << QByteArray("multiple of 16");
    }
    void misalignedAccessesAreNamed()
    {
        QFETCH(QByteArray, kernel);
        QFETCH(int, alignment);
        QFETCH(QByteArray, words);
        alignas(16) static std::byte bytes[1024];
        std::vector<unsigned> out(32);
        QCOMPARE(run(kernel, {1}, {32}, 64, &bytes[0], out.data()), std::string());
        const std::string fault = run(kernel, {1}, {32}, 64, &bytes[alignment / 2], out.data());
        QVERIFY2(QByteArray::fromStdString(fault).startsWith(kernel + ", block (0, 0, 0)"), fault.c_str());
        QVERIFY2(QByteArray::fromStdString(fault).contains(words), fault.c_str());
        QCOMPARE(run(kernel, {1}, {32}, 64, &bytes[0], out.data()), std::string());
    }

    void aBlockThatNeedsTheOneBeforeShows()
    {
#ifdef __SANITIZE_THREAD__
        QSKIP("the race that it is about would end the program");
#endif
        std::vector<int> values(257);
        QCOMPARE(run("count_up_from_the_block_before", {256}, {32}, 0, values.data()), std::string());
        QVERIFY(values[256] != 256);
    }

    void blocksRunAtOnce()
    {
        int arrived = 0;
        std::vector<int> met(2);
        QCOMPARE(run("wait_for_another_block", {2}, {32}, 0, &arrived, met.data()), std::string());
        QCOMPARE(met, std::vector<int>(2, 1));
    }

    // All blocks run, in every shape of grid, each once.
    void everyBlockRunsOnce()
    {
        for (const emulator::GridDim grid : {emulator::GridDim{5, 3, 2}, emulator::GridDim{1000}}) {
            std::vector<int> runs(std::size_t(grid.x) * grid.y * grid.z);
            QCOMPARE(run("note_block", grid, {32}, 0, runs.data()), std::string());
            QCOMPARE(runs, std::vector<int>(runs.size(), 1));
        }
    }

    void sharedVariablesBeginUnwritten()
    {
        QVERIFY(emulator::StaticShared::count() >= 20);  // of the program's own kernels
        std::vector<int> values(std::size_t(64) * 32);
        QCOMPARE(run("keep_for_other_blocks", {64}, {32}, 0, values.data()), std::string());
        QCOMPARE(std::count(values.begin(), values.end(), 7), 32);
        QCOMPARE(std::count(values.begin(), values.end(), -1), 63 * 32);
    }

    /// What a thread leaves behind when it ends serves the next one, whose variables lie elsewhere.
    void sharedVariablesBeginUnwrittenOnALaterThread()
    {
        const auto launch = [] {
            std::vector<int> values(32);
            return run("keep_for_the_next_launch", {1}, {32}, 0, values.data()).empty() &&
                   values == std::vector<int>(32, -1);
        };
        std::promise<void> first_has_ended;
        auto later = std::async(std::launch::async, [&] {
            first_has_ended.get_future().wait();
            bool unwritten = launch();
            for (int again = 0; again < 2; ++again)
                unwritten = launch() && unwritten;
            return unwritten;
        });
        std::thread([&] { (void)launch(); }).join();
        first_has_ended.set_value();
        QVERIFY(later.get());
    }

    void wrongShapesAreRefused()
    {
        std::vector<float> sums(2048);
        QVERIFY(!run("sum_of_places", {1}, {48}, 0, sums.data()).empty());
        QVERIFY(!run("sum_of_places", {1}, {2048}, 0, sums.data()).empty());
        QVERIFY(!run("sum_of_places", {1}, {32}, std::size_t(64) << 10, sums.data()).empty());
    }

    void copiesArriveWhenTheyAreWaitedFor()
    {
        std::vector<int> from(32, 7);
        std::vector<int> to(32);
        QCOMPARE(run("copy_and_wait", {1}, {32}, 128, from.data(), to.data(), 0), std::string());
        QCOMPARE(to, from);
        QCOMPARE(run("copy_and_wait", {1}, {32}, 128, from.data(), to.data(), 1), std::string());
        QCOMPARE(to, std::vector<int>(32, -1));  // shared memory as it began
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestEmulator)
#include "tst_emulator.moc"
