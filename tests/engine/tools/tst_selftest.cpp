// The self-test as a user starts it, on the emulated GPU: it passes there, and notices what goes wrong.
#include "engine/selftest.h"
#include "tests/support/cuda/idle_kernels.h"
#include "tests/support/cuda_run.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>

using namespace test_support;

namespace {

struct Outcome {
    SelftestReport report;
    std::vector<SelftestCheck> failed;
    int of_the_gpu = 0;
};

Outcome selftest_with_gpu(const std::filesystem::path& goldens = {})
{
    Outcome out;
    out.report = selftest({goldens, 1, 0}, [&](const SelftestCheck& check) {
        out.of_the_gpu += check.name.starts_with("cuda:0");
        if (check.outcome == SelftestCheck::Outcome::Failed)
            out.failed.push_back(check);
    });
    return out;
}

QString text(const Outcome& outcome)
{
    QString all;
    for (const SelftestCheck& check : outcome.failed)
        all += QString("%1: %2\n").arg(check.name.c_str(), check.detail.c_str());
    return all;
}

}  // namespace

class TestSelftest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aGpuThatIsRightPasses()
    {
        Gpu gpu;
        const Outcome outcome = selftest_with_gpu();
        QVERIFY2(outcome.report.ok(), qPrintable(text(outcome)));
        QVERIFY(outcome.of_the_gpu > 60);
        QCOMPARE(gpu.complaints(), std::string());
    }

    void goldensAreComputedOnTheGpuToo()
    {
        if (test_support::golden_folder().isEmpty())
            QSKIP("no goldens at hand: SPILLWAY_GOLDEN names their folder");
        // A few: the emulated GPU takes its time.
        const std::filesystem::path from = (test_support::golden_folder() + "/logits").toStdString();
        QTemporaryDir copies;
        const std::filesystem::path folder = copies.path().toStdString();
        for (const char* const name : {"Q4_K_M", "tiny-qwen3-q8_0"})
            for (const char* const suffix : {".gguf", ".json", ".f32"})
                std::filesystem::copy_file(from / (std::string(name) + suffix), folder / (std::string(name) + suffix));
        Gpu gpu;
        int goldens = 0;
        const SelftestReport report = selftest({folder, 1, 0}, [&](const SelftestCheck& check) {
            goldens += check.name.starts_with("cuda:0 golden") && check.outcome == SelftestCheck::Outcome::Passed;
            if (check.outcome == SelftestCheck::Outcome::Failed)
                qWarning("%s: %s", check.name.c_str(), check.detail.c_str());
        });
        QVERIFY(report.ok());
        QCOMPARE(goldens, 2);
    }

    // Where a kernel does nothing, its own check fails, and so do the models that it is a part of.
    void aKernelThatDoesNothingIsNoticed()
    {
        Gpu gpu(emulator::IdleKernels::table());
        if (!gpu.emulated())
            QSKIP("a real device does what it is told");
        emulator::IdleKernels::state() = {.idle = "rope", .launched = {}};
        const Outcome outcome = selftest_with_gpu();
        emulator::IdleKernels::state().idle.clear();
        QVERIFY(!outcome.report.ok());
        const auto has = [&](std::string_view part) {
            return std::ranges::any_of(outcome.failed,
                                       [&](const SelftestCheck& c) { return c.name.find(part) != std::string::npos; });
        };
        QVERIFY(has("rotation of halves"));
        QVERIFY(has("tiny-llama:q4_k_m, all on the device"));
        QVERIFY(has("tiny-gemma3:q8_0, all on the device"));
        QVERIFY(!has("norm of rows"));
    }

    void aLostDeviceIsNoticed()
    {
        Gpu gpu;
        if (!gpu.emulated())
            QSKIP("a real device does not fail at will");
        gpu.emulated()->fail_call(6000, cuda::Status::LaunchFailed);
        const Outcome outcome = selftest_with_gpu();
        QVERIFY(!outcome.report.ok());
        QVERIFY(!outcome.failed.empty());
        QVERIFY2(outcome.failed.front().detail.find("719") != std::string::npos, qPrintable(text(outcome)));
    }

    void withoutThatGpuTheCpuIsCheckedAllTheSame()
    {
        Gpu gpu;
        const SelftestReport report = selftest({{}, 1, 99}, {});
        QVERIFY(!report.ok());
        QVERIFY(report.no_cuda.find("99") != std::string::npos);
        QVERIFY(report.passed > 0);
        QCOMPARE(report.failed, 0);
    }
};

QTEST_GUILESS_MAIN(TestSelftest)
#include "tst_selftest.moc"
