// Tests that a model stays within what Windows leaves it of a GPU's memory. What is above goes to the host's memory:
// nothing fails, and all becomes slow. The GPU is the emulated one.
#include "engine/device/video_memory.h"
#include "tests/engine/run/cuda_conversations.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cstring>
#include <thread>

using namespace test_support;
using namespace std::chrono_literals;
namespace cuda = kernels::cuda;

namespace {

constexpr std::uint64_t kLuid = 0x5157;
constexpr std::int64_t kBesidesBytes = 1 << 20;  // the program's own beside the engine's: the driver's context

/// The emulator's functions, and that which tells the number that the system knows the GPU by.
const cuda::DriverTable& table_with_luid()
{
    static const cuda::DriverTable table = [] {
        cuda::DriverTable t = emulator::EmulatedGpu::table();
        t.device_luid = [](char* luid, unsigned*, cuda::DeviceId) {
            std::memcpy(luid, &kLuid, sizeof kLuid);
            return cuda::Status::Ok;
        };
        return t;
    }();
    return table;
}

/// The emulated GPU under Windows: only the system knows how much of the memory is left to this program.
class SpillingGpu
{
public:
    explicit SpillingGpu(std::int64_t engine_bytes)
        : m_gpu(table_with_luid(), {.spills = true})
    {
        leave(engine_bytes);
        set_video_memory_finder([](const AdapterName& gpu) -> std::unique_ptr<VideoMemoryProbe> {
            return gpu.luid == kLuid ? std::make_unique<Probe>() : nullptr;
        });
    }
    ~SpillingGpu() { set_video_memory_finder(nullptr); }
    SpillingGpu(const SpillingGpu&) = delete;
    SpillingGpu& operator=(const SpillingGpu&) = delete;

    /// Lets other programs hold all but this, and what the program has besides.
    void leave(std::int64_t engine_bytes)
    {
        s_budget_bytes = engine_bytes + kBesidesBytes;
        s_emulated = m_gpu.emulated();
        s_emulated->hold_memory(emulator::GpuFacts().memory_bytes - std::size_t(engine_bytes));
    }
    emulator::EmulatedGpu& emulated() { return *m_gpu.emulated(); }
    std::string complaints() const { return m_gpu.complaints(); }

private:
    struct Probe : VideoMemoryProbe {
        std::optional<VideoMemory> ask() const override
        {
            const std::int64_t all = std::int64_t(s_emulated->used_bytes()) + kBesidesBytes;
            return VideoMemory{s_budget_bytes, std::min(all, s_budget_bytes)};
        }
    };

    static inline std::int64_t s_budget_bytes = 0;
    static inline emulator::EmulatedGpu* s_emulated = nullptr;
    Gpu m_gpu;
};

/// Returns how much all layers need, and the KV of about so many tokens.
std::int64_t bytes_for(int tokens)
{
    Gpu gpu;
    return with_room_for(request_for("llama"), tokens).placement.vram_budget_bytes;
}

}  // namespace

class TestCudaSpill : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        if (qEnvironmentVariable("SPILLWAY_TEST_DEVICE") == "cuda")
            QSKIP("what other programs hold can be set on the emulated GPU only");
    }

    void nothingIsTakenAboveWhatTheSystemLeaves_data()
    {
        QTest::addColumn<int>("percent");  // of what all layers need with the KV of 96 tokens
        QTest::newRow("all layers, and KV leaves") << 100;
        QTest::newRow("some of the layers") << 88;
    }
    void nothingIsTakenAboveWhatTheSystemLeaves()
    {
        QFETCH(int, percent);
        const std::int64_t left = bytes_for(96) * percent / 100;
        SpillingGpu gpu(left);
        {
            const auto model = load(on_cuda(request_for("llama")));
            QVERIFY(model);
            const int layers = model->placement().layers();
            QVERIFY(percent < 100 ? layers > 0 && layers < model->info().layers : layers == model->info().layers);
            const Run here = run(*model, {}, {150, 250});
            QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
            QVERIFY(percent < 100 || count(here.events, Event::Kind::Offload) > 0);
            QCOMPARE(model->placement().telemetry()->spilled_bytes, std::optional<std::int64_t>(0));
        }
        QVERIFY(std::int64_t(gpu.emulated().peak_bytes()) > left * 3 / 4);  // it is made use of
        QCOMPARE(gpu.emulated().peak_spilled_bytes(), std::size_t(0));
        QCOMPARE(gpu.complaints(), std::string());
    }

    /// In the middle of an answer.
    void kvLeavesWhenAnotherProgramTakesMemory()
    {
        const std::int64_t before = bytes_for(240), after = bytes_for(96);
        SpillingGpu gpu(before);
        const auto model = load(on_cuda(request_for("llama")));
        QVERIFY(model);
        std::size_t spilled = 0, spilled_later = 0;
        std::int64_t known = 0;
        const Run here = run(
            *model,
            [&](int done) {
                if (done == 180) {
                    gpu.leave(after);
                    spilled = gpu.emulated().spilled_bytes();
                    std::this_thread::sleep_for(110ms);  // the engine asks ten times a second
                    known = model->placement().telemetry()->spilled_bytes.value_or(-1);
                } else if (done > 180) {
                    spilled_later = std::max(spilled_later, gpu.emulated().spilled_bytes());
                }
            },
            kLengths);
        QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
        QVERIFY(spilled > 0);
        QVERIFY(known > 0);
        QCOMPARE(spilled_later, std::size_t(0));
        QTRY_COMPARE(model->placement().telemetry()->spilled_bytes, std::optional<std::int64_t>(0));
        QCOMPARE(model->placement().layers(), model->info().layers);
        QVERIFY(std::ranges::any_of(here.events, [](const Event& event) {
            return event.kind == Event::Kind::Offload && event.cause == Event::Cause::OtherProgram;
        }));
    }
};

SPILLWAY_TEST(QCoreApplication, TestCudaSpill)
#include "tst_cuda_spill.moc"
