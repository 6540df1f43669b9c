// Tests that prompts which cuBLAS multiplies stay close to the CPU's, repeat exactly, take the bytes that were planned,
// and do not fail with cuBLAS: whole models, with its twin on the emulated GPU, or a real one where there is one.
#include "engine/machine_rates.h"
#include "engine/plan/measure_device.h"
#include "engine/planner.h"
#include "engine/tools/selftest_cuda.h"
#include "tests/support/cuda_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace test_support;

namespace {

constexpr Lengths kThreeChunks{90, 96};  // in chunks of 40, 40 and 10: the last one is of few rows

/// Makes up rates of the GPU that is there, by which cuBLAS is this many times as fast as our own kernels.
std::shared_ptr<const MachineRates> rates_with_blas(double times)
{
    MachineRates rates;
    rates.devices["cuda:0"].name = name_with_driver(**CudaDevice::open(0));
    rates.devices["cuda:0"].matmul_ops_per_s = 1e12;
    rates.devices["cuda:0"].blas_ops_per_s = times * 1e12;
    return std::make_shared<const MachineRates>(std::move(rates));
}

LoadRequest by_blas(const QString& model, double times = 2)
{
    LoadRequest request = on_cuda(request_for(model));
    request.placement.rates = rates_with_blas(times);
    return request;
}

Run run_once(const LoadRequest& request)
{
    const auto model = load(request);
    return model ? run(*model, {}, kThreeChunks) : Run();
}

int warnings(const Run& r)
{
    return count(r.events, Event::Kind::Warning);
}

}  // namespace

class TestCudaBlasPrefill : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void promptsAreRead_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* const name : {"llama", "qwen2", "gemma3", "type-Q4_K", "type-Q8_0", "type-F16"})
            QTest::addRow("%s", name) << QString(name);
    }
    void promptsAreRead()
    {
        QFETCH(QString, name);
        const Run on_cpu = run_once(request_for(name));
        QVERIFY(on_cpu.status);
        Gpu gpu;
        gpu.install_blas();
        const auto model = load(by_blas(name));
        QVERIFY(model);
        QVERIFY(model->info().warnings.empty());
        const Run here = run(*model, {}, kThreeChunks);
        QVERIFY(here.status);
        QCOMPARE(warnings(here), 0);
        const double apart = relative_difference(here.logits, on_cpu.logits);
        QVERIFY2(apart < kCpuAndCudaApart, qPrintable(QString::number(apart)));
        QVERIFY(!gpu.emulated() || gpu.emulated()->blas_products() > 0);
        QCOMPARE(first_difference(run_once(by_blas(name)).logits, here.logits), -1);
        if (!gpu.emulated())
            return;
        QVERIFY(first_difference(run_once(on_cuda(request_for(name))).logits, here.logits) == 0);  // other roundings
    }

    // One row at a time reads packed weights, which is what it is limited by.
    void answersAreNotMultipliedByIt()
    {
        Gpu gpu;
        if (!gpu.emulated())
            QSKIP("a real driver does not count");
        gpu.install_blas();
        const auto model = load(by_blas("llama"));
        QVERIFY(model);
        std::vector<int> products;
        QVERIFY(run(
                    *model, [&](int) { products.push_back(gpu.emulated()->blas_products()); }, kThreeChunks)
                    .status);
        QVERIFY(products.size() > 3);
        QVERIFY(products[1] > products[0] && products[2] > products[1]);  // two chunks of many rows
        QCOMPARE(products.back(), products[2]);
    }

    void itIsUsedWhereItIsFasterAndFits_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<double>("times");
        QTest::addColumn<bool>("installed");
        QTest::addColumn<bool>("warns");
        QTest::newRow("slower") << "llama" << 0.9 << true << false;
        QTest::newRow("a model with experts") << "qwen3moe" << 2.0 << true << false;
        QTest::newRow("gone since it was measured") << "llama" << 2.0 << false << true;
    }
    void itIsUsedWhereItIsFasterAndFits()
    {
        QFETCH(QString, name);
        QFETCH(double, times);
        QFETCH(bool, installed);
        QFETCH(bool, warns);
        Gpu gpu;
        if (!gpu.emulated())
            QSKIP("what is installed on a real machine stays");
        if (installed)
            gpu.install_blas();
        const Run here = run_once(by_blas(name, times));
        QVERIFY(here.status);
        QCOMPARE(gpu.emulated()->blas_products(), 0);
        QCOMPARE(warnings(here), int(warns));
        QCOMPARE(first_difference(run_once(on_cuda(request_for(name))).logits, here.logits), -1);
    }

    // Each call of it fails in a run of its own: the answer comes, from our own kernels, and it is said once.
    void whatItDoesNotDoOursDo()
    {
        const Run on_cpu = run_once(request_for("qwen2"));
        int tried = 0;
        for (int call = 1;; call += 5) {
            Gpu gpu;
            if (!gpu.emulated())
                QSKIP("a real one does not fail at will");
            gpu.install_blas();
            gpu.emulated()->fail_blas_call(call);
            const Run here = run_once(by_blas("qwen2"));
            QVERIFY(here.status);
            QVERIFY(relative_difference(here.logits, on_cpu.logits) < kCpuAndCudaApart);
            QCOMPARE(gpu.complaints(), std::string());
            if (warnings(here) == 0)
                break;  // beyond its last call
            QCOMPARE(warnings(here), 1);
            QCOMPARE(count(here.events, Event::Kind::DeviceLost), 0);
            ++tried;
        }
        QVERIFY(tried > 3);
    }

    // Calls of the driver fail, those between cuBLAS's among them.
    void aDeviceThatIsLostIsNoEnd()
    {
        const Run on_cpu = run_once(request_for("llama"));
        for (int call = 60; call < 1200; call += 197) {
            Gpu gpu;
            if (!gpu.emulated())
                QSKIP("a real one does not fail at will");
            gpu.install_blas();
            const auto model = load(by_blas("llama"));
            QVERIFY(model);
            gpu.emulated()->fail_call(call, cuda::Status::LaunchFailed);
            const Run here = run(*model, {}, kThreeChunks);
            QVERIFY(here.status);
            QVERIFY(relative_difference(here.logits, on_cpu.logits) < kCpuAndCudaApart);
        }
    }

    void itTakesWhatWasPlanned()
    {
        Gpu gpu;
        gpu.install_blas();
        const LoadRequest with = by_blas("llama"), without = on_cuda(request_for("llama"));
        const auto planner = Planner::open(with.model);
        QVERIFY(planner);
        constexpr int kContexts[] = {0};
        const auto plan = planner->plan(with, kContexts, with.placement.rates.get());
        QVERIFY2(plan, plan ? "" : plan.error().what.c_str());
        const auto model = load(with);
        QVERIFY(model);
        const std::int64_t taken = model->placement().telemetry()->scratch_bytes;
        QCOMPARE(plan->rows.front().device->scratch_bytes, taken);
        QVERIFY(taken > load(without)->placement().telemetry()->scratch_bytes);
        if (gpu.emulated()) {
            const std::int64_t all = plan->rows.front().device->total();
            const auto used = double(gpu.emulated()->used_bytes());
            QVERIFY(std::abs(double(all) - used) <= 0.01 * used);
        }
    }

    void itIsMeasured()
    {
        emulator::GpuFacts facts;
        facts.memory_bytes = std::size_t(16) << 20;
        Gpu gpu(facts);
        const auto without = measure_cuda_rates(0);
        QVERIFY2(without, without ? "" : without.error().what.c_str());
        QVERIFY(without->matmul_ops_per_s && *without->matmul_ops_per_s > 0);
        if (gpu.emulated())
            QVERIFY(!without->blas_ops_per_s && !without->multiplies_by_blas());
        gpu.install_blas();
        const auto with = measure_cuda_rates(0);
        QVERIFY2(with, with ? "" : with.error().what.c_str());
        if (gpu.emulated()) {
            QVERIFY(with->blas_ops_per_s && *with->blas_ops_per_s > 0);
            gpu.emulated()->fail_blas_call(5);  // the first product
            const auto failed = measure_cuda_rates(0);
            QVERIFY(failed && !failed->blas_ops_per_s);
        }
        QCOMPARE(gpu.complaints(), std::string());
        MachineRates all;
        all.devices["cuda:0"] = *with;
        all.threads = 1;
        const auto again = parse_machine_rates(to_json(all));
        QVERIFY2(again, again ? "" : again.error().what.c_str());
        QCOMPARE(again->devices.at("cuda:0").matmul_ops_per_s, with->matmul_ops_per_s);
        QCOMPARE(again->devices.at("cuda:0").blas_ops_per_s, with->blas_ops_per_s);
    }
};

SPILLWAY_TEST(QCoreApplication, TestCudaBlasPrefill)
#include "tst_cuda_blas_prefill.moc"
