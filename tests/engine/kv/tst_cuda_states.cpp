// Tests that a recurrent state comes to the device whole and at the right moment, on the emulated driver.
#include "engine/device/cuda_device.h"
#include "engine/kv/device_states.h"
#include "tests/support/cuda/emulated_gpu.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <array>

using namespace engine;

namespace {

emulator::GpuFacts of_16_mib()
{
    emulator::GpuFacts facts;
    facts.memory_bytes = 16 << 20;
    return facts;
}

}  // namespace

class TestCudaStates : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// What a stopped step still computes is not written over the state that comes in place of its own.
    void aStateComesBehindWhatIsComputed()
    {
        const emulator::EmulatedGpu gpu(of_16_mib());
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
            emulator::EmulatedGpu gpu(of_16_mib());
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
};

SPILLWAY_TEST(test_support::NoApplication, TestCudaStates)
#include "tst_cuda_states.moc"
