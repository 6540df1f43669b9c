// kernel_checks(): every kernel against its scalar reference; and that none of them could be wrong without being
// noticed.
#include "kernels/cuda/check.h"
#include "tests/kernels/cuda/on_device.h"

#include <map>
#include <set>

using namespace kernels::cuda;

namespace {

// A driver on which chosen kernels do nothing: the emulated one's table, with what follows between.
const DriverTable& whole = emulator::EmulatedGpu::table();
std::map<Function, std::string> names;
std::set<std::string> launched;
std::string idle;  // this kernel does nothing

Status named(Function* function, Module module, const char* name)
{
    const Status status = whole.module_function(function, module, name);
    if (status == Status::Ok)
        names[*function] = name;
    return status;
}

Status unlessIdle(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                  unsigned shared, Queue queue, void** arguments, void** extra)
{
    launched.insert(names[function]);
    if (names[function] == idle)
        return Status::Ok;
    return whole.launch_kernel(function, gx, gy, gz, bx, by, bz, shared, queue, arguments, extra);
}

DriverTable tableWithIdleKernels()
{
    DriverTable table = whole;
    table.module_function = named;
    table.launch_kernel = unlessIdle;
    return table;
}

}  // namespace

class TestCudaChecks : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();

private slots:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void kernelsMatchScalar_data()
    {
        QTest::addColumn<int>("index");
        for (int i = 0; const KernelCheck& check : kernel_checks())
            QTest::addRow("%s", check.name.c_str()) << i++;
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
        emulator::EmulatedGpu gpu;
        auto opened = Driver::open(tableWithIdleKernels(), gpu.images(), 0);
        QVERIFY2(opened.driver, opened.problem.c_str());
        std::set<std::string> seen;
        for (const KernelCheck& check : kernel_checks()) {
            launched.clear();
            idle.clear();
            (void)check.run(*opened.driver, m_seed);
            for (const std::string& kernel : std::set(launched)) {
                if (!seen.insert(kernel).second)
                    continue;
                idle = kernel;
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

QTEST_APPLESS_MAIN(TestCudaChecks)
#include "tst_cuda_checks.moc"
