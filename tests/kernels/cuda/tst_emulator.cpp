// The emulator that runs CUDA kernels without a GPU: threads meet at barriers, warps exchange values, and what a GPU
// would punish only sometimes is found always.
#include "kernels/cuda/device.h"
#include "kernels/cuda/reduce.cuh"
#include "tests/support/cuda/grid.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <numeric>

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

class TestEmulator : public QObject
{
    Q_OBJECT

    template <class... Args>
    static std::string run(const char* kernel, emulator::GridDim grid, emulator::GridDim block, std::size_t shared,
                           Args... args)
    {
        void* arguments[] = {static_cast<void*>(&args)...};
        return emulator::run_grid(*emulator::find_kernel(kernel), arguments, grid, block, shared);
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
