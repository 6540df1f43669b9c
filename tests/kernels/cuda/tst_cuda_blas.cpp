// Tests products by cuBLAS, on the emulated GPU with a twin of cuBLAS, or on a real one where both are.
#include "kernels/cuda/check.h"
#include "kernels/cuda/checks/products.h"
#include "tests/kernels/cuda/on_device.h"
#include "tests/support/test_program.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>

using namespace kernels::cuda;

namespace {

std::set<std::string>& asked_for()
{
    static std::set<std::string> names;
    return names;
}

/// A library that has everything but one function.
void* symbol_of_old_library(void* /*library*/, const char* name)
{
    asked_for().insert(name);
    static int something;
    return std::string(name) == "cublasSetWorkspace_v2" ? nullptr : &something;
}

}  // namespace

class TestCudaBlas : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();

private slots:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void productsAreRight()
    {
        OnDevice on;
        const bool real = qEnvironmentVariable("SPILLWAY_TEST_DEVICE") == "cuda";
        const BlasLibrary& library = real ? blas_library() : emulator::EmulatedGpu::blas();
        if (!library.table)
            QSKIP(library.problem.c_str());
        const BlasChecked all = check_blas(on.driver(), *library.table, m_seed);
        on.must(all.checked.status);
        QVERIFY2(all.passed(), qPrintable(QString("%1: %2 x the tolerance, cuBLAS says %3")
                                              .arg(all.checked.where.c_str())
                                              .arg(all.checked.worst)
                                              .arg(int(all.blas_status))));
    }

    // Rows that were multiplied before the failure have their results; all others are as they were, also where results
    // are added to them.
    void whatFailsLeavesTheRestAlone()
    {
        constexpr int kTokens = 17, kRows = 9, kAtOnce = 2, kLength = 32, kDone = 4;
        emulator::EmulatedGpu gpu;
        OnDevice on(gpu);
        const auto blas = Blas::open(*emulator::EmulatedGpu::blas().table, on.queue(), on.room(256), 256);
        QVERIFY(blas);
        std::mt19937 random(m_seed);
        const auto weights = weight_rows(kernels::TensorType::Q8_0, kLength, kRows, kernel_rows::Fill::AllOnes, random);
        const std::vector<float> x(std::size_t(kTokens * kLength), 1.0f);
        const HalfRows halves{on.room(x.size() * 2), on.room(sizeof(HalfScalars))};
        on.must(rows_to_halves(on.driver(), on.queue(), {on.put(x), kLength}, kTokens, kLength, halves));
        const DevicePtr out = on.put(std::vector<float>(std::size_t(kTokens * kRows), 1000.0f));
        constexpr std::size_t kRoomBytes = kAtOnce * kLength * 2;
        gpu.fail_blas_call(kDone / kAtOnce + 1);
        const BlasProgress done = matmul_by_blas(on.driver(), on.queue(), *blas,
                                                 {.type = kernels::TensorType::Q8_0,
                                                  .n = kLength,
                                                  .rows = kRows,
                                                  .weights = on.put(weights),
                                                  .tokens = kTokens,
                                                  .out = {out, kRows},
                                                  .into = Into::Sum},
                                                 halves, {on.room(kRoomBytes), kRoomBytes});
        on.must(done.status);
        QVERIFY(done.blas_status == BlasStatus::ExecutionFailed);
        QCOMPARE(done.rows, kDone);
        const std::vector<float> result = on.get<float>(out, std::size_t(kTokens * kRows));
        for (int i = 0; i < kTokens * kRows; ++i)
            QCOMPARE(result[std::size_t(i)] != 1000.0f, i % kRows < kDone);
    }

    // A slice of whole tiles begins where cuBLAS can write it aligned.
    void slicesAreWholeTiles()
    {
        constexpr int kTokens = 17, kRows = 300, kLength = 32;
        static std::vector<int> rows_of_slices;
        rows_of_slices.clear();
        BlasTable table = *emulator::EmulatedGpu::blas().table;
        table.multiply = [](BlasHandle, BlasOp, BlasOp, int m, int, int, const void*, const void*, BlasType, int,
                            const void*, BlasType, int, const void*, void*, BlasType, int, int, int) {
            rows_of_slices.push_back(m);
            return BlasStatus::Ok;
        };
        OnDevice on;
        const auto blas = Blas::open(table, on.queue(), on.room(256), 256);
        QVERIFY(blas);
        const Product product{.type = kernels::TensorType::Q8_0,
                              .n = kLength,
                              .rows = kRows,
                              .weights = on.room(kRows * kernels::row_bytes(kernels::TensorType::Q8_0, kLength)),
                              .tokens = kTokens,
                              .out = {on.room(std::size_t(kTokens * kRows) * sizeof(float)), kRows}};
        const HalfRows halves{0, on.room(sizeof(HalfScalars))};
        for (const std::size_t most : {200, 270, 300}) {
            const HalfRoom room{on.room(most * kLength * 2), most * kLength * 2};
            QCOMPARE(matmul_by_blas(on.driver(), on.queue(), *blas, product, halves, room).rows, kRows);
        }
        QCOMPARE(rows_of_slices, (std::vector<int>{128, 128, 44, 256, 44, 300}));
    }

    void whatDoesNotStartIsNotUsed_data()
    {
        QTest::addColumn<int>("call");
        for (int call = 1; call <= 4; ++call)
            QTest::addRow("call %d", call) << call;
    }
    void whatDoesNotStartIsNotUsed()
    {
        QFETCH(int, call);
        emulator::EmulatedGpu gpu;
        OnDevice on(gpu);
        gpu.fail_blas_call(call);
        QVERIFY(!Blas::open(*emulator::EmulatedGpu::blas().table, on.queue(), on.room(256), 256));
        QCOMPARE(gpu.leaks().find("cuBLAS"), std::string::npos);
    }

    void anOldLibraryIsNamed()
    {
        BlasTable table;
        QCOMPARE(std::string(fill_table(table, symbol_of_old_library, nullptr)), std::string("cublasSetWorkspace_v2"));
        QCOMPARE(int(asked_for().size()), 6);
    }

    // Where cuBLAS is installed its names are those that are asked for; that needs no GPU.
    void theInstalledLibraryHasThem()
    {
        const OpenedLibrary opened = open_blas_library();
        if (!opened.library) {
            QVERIFY(!opened.problem.empty());
            QSKIP(opened.problem.c_str());
        }
        BlasTable table;
        const char* missing = fill_table(table, opened.symbol, opened.library);
        QVERIFY2(!missing, missing);
        QVERIFY(blas_library().table);
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestCudaBlas)
#include "tst_cuda_blas.moc"
