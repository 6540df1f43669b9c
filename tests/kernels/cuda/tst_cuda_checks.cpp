// Tests every kernel against its scalar reference by kernel_checks(), and that none of them could be wrong without
// being noticed.
#include "kernels/cuda/check.h"
#include "tests/kernels/cuda/on_device.h"
#include "tests/support/cuda/idle_kernels.h"
#include "tests/support/part_of_all.h"
#include "tests/support/test_program.h"

#include <random>
#include <set>

using namespace kernels::cuda;

class TestCudaChecks : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();

private slots:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void kernelsMatchScalar_data()
    {
        QTest::addColumn<int>("index");
        test_support::PartOfAll part(2);
        for (int i = 0; const KernelCheck& check : kernel_checks()) {
            if (part.takes_next())
                QTest::addRow("%s", check.name.c_str()) << i;
            ++i;
        }
    }
    void kernelsMatchScalar()
    {
        QFETCH(int, index);
        OnDevice on;
        const Checked checked = kernel_checks()[std::size_t(index)].run(on.driver(), m_seed);
        on.must(checked.status);
        QVERIFY2(checked.passed(),
                 qPrintable(QString("%1: %2 x the tolerance").arg(checked.where.c_str()).arg(checked.worst)));
    }

    // Each kernel is launched by a check, and where it does nothing that check fails.
    void aKernelThatDoesNothingIsNoticed()
    {
#ifdef SPILLWAY_SANITIZED
        QSKIP("it runs all checks again, and the sanitizers have just watched them");
#endif
        emulator::EmulatedGpu gpu;
        auto opened = Driver::open(emulator::IdleKernels::table(), gpu.images(), 0);
        QVERIFY2(opened.driver, opened.problem.c_str());
        auto& kernels = emulator::IdleKernels::state();
        std::set<std::string> seen;
        for (const KernelCheck& check : kernel_checks()) {
            kernels.launched.clear();
            kernels.idle.clear();
            (void)check.run(*opened.driver, m_seed);
            for (const std::string& kernel : std::set(kernels.launched)) {
                if (!seen.insert(kernel).second)
                    continue;
                kernels.idle = kernel;
                QVERIFY2(!check.run(*opened.driver, m_seed).passed(), kernel.c_str());
            }
        }
        QCOMPARE(int(seen.size()), kKernelCount);
    }

    void aCallThatFailsIsReported()
    {
        emulator::EmulatedGpu gpu;
        OnDevice on(gpu);
        gpu.fail_call(7, Status::OutOfMemory);
        const Checked checked = kernel_checks().front().run(on.driver(), m_seed);
        QVERIFY(!checked.passed());
        QVERIFY(checked.status == Status::OutOfMemory);
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestCudaChecks)
#include "tst_cuda_checks.moc"
