// Tests the self-test as a user starts it, on the emulated GPU: it passes there, and notices what goes wrong.
#include "engine/selftest.h"
#include "kernels/cpu.h"
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
    int goldens = 0;  // that passed on the GPU
};

Outcome selftest_with_gpu(const SelftestRequest& request = {.goldens = {}, .threads = 1, .cuda = 0})
{
    Outcome out;
    out.report = selftest(request, [&](const SelftestCheck& check) {
        out.of_the_gpu += check.name.starts_with("cuda:0");
        out.goldens += check.name.starts_with("cuda:0 golden") && check.outcome == SelftestCheck::Outcome::Passed;
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
    /// With a few goldens, where they are at hand, and each placement with one of the two models: the emulated GPU
    /// takes its time.
    void aGpuThatIsRightPasses()
    {
        QTemporaryDir copies;
        SelftestRequest request{.goldens = {}, .threads = 1, .cuda = 0, .wanted = [](const std::string& name) {
                                    const bool streamed = name.find("streamed") != std::string::npos;
                                    const char* const left_out = streamed ? "tiny-llama" : "tiny-gemma3";
                                    return name.find(left_out) == std::string::npos;
                                }};
        if (!test_support::golden_folder().isEmpty()) {
            const std::filesystem::path from = (test_support::golden_folder() + "/logits").toStdString();
            request.goldens = copies.path().toStdString();
            for (const char* const name : {"Q4_K_M", "tiny-qwen3-q8_0"})
                for (const char* const suffix : {".gguf", ".json", ".f32"})
                    std::filesystem::copy_file(from / (std::string(name) + suffix),
                                               request.goldens / (std::string(name) + suffix));
        }
        Gpu gpu;
        const Outcome outcome = selftest_with_gpu(request);
        QVERIFY2(outcome.report.ok(), qPrintable(text(outcome)));
        QVERIFY(outcome.of_the_gpu > 60);
        QCOMPARE(gpu.complaints(), std::string());
        if (request.goldens.empty())
            QSKIP("no goldens at hand: SPILLWAY_GOLDEN names their folder");
        QCOMPARE(outcome.goldens, 2);
    }

    void onlyWhatIsWantedIsChecked()
    {
        std::vector<std::string> names;
        const SelftestReport report =
            selftest({.goldens = {},
                      .threads = 1,
                      .cuda = {},
                      .wanted = [](const std::string& name) { return name.find("product Q8_0") != std::string::npos; }},
                     [&](const SelftestCheck& check) { names.push_back(check.name); });
        QVERIFY(report.ok());
        QCOMPARE(names.size(), kernels::all_cpu_kernels().size() - 1);
        QCOMPARE(report.passed, int(names.size()));
    }

    // Where a kernel does nothing, its own check fails, and so do the models that it is a part of.
    void aKernelThatDoesNothingIsNoticed()
    {
        Gpu gpu(emulator::IdleKernels::table());
        if (!gpu.emulated())
            QSKIP("a real device does what it is told");
        emulator::IdleKernels::state() = {.idle = "prepare_heads", .launched = {}};
        const Outcome outcome = selftest_with_gpu(
            {.goldens = {}, .threads = 1, .cuda = 0, .wanted = [](const std::string& name) {
                 const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
                 return has("heads before attention") || has("norm of rows") || has("all on the device");
             }});
        emulator::IdleKernels::state().idle.clear();
        QVERIFY(!outcome.report.ok());
        const auto has = [&](std::string_view part) {
            return std::ranges::any_of(outcome.failed,
                                       [&](const SelftestCheck& c) { return c.name.find(part) != std::string::npos; });
        };
        QVERIFY(has("heads before attention"));
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
