// Runs one conversation on a model that lies on a GPU: the emulated one, or a real one where SPILLWAY_TEST_DEVICE is
// "cuda".
#pragma once

#include "tests/support/cuda/emulated_gpu.h"
#include "tests/support/placement_run.h"

#include <cmath>
#include <memory>

namespace test_support {

namespace cuda = kernels::cuda;

/// The machine's GPU for as long as the object lives.
class Gpu
{
public:
    /// Opens the emulated GPU; `table` may have other functions in place of the emulator's.
    explicit Gpu(const cuda::DriverTable& table = emulator::EmulatedGpu::table(), const emulator::GpuFacts& facts = {})
    {
        if (qEnvironmentVariable("SPILLWAY_TEST_DEVICE") == "cuda")
            return;
        m_emulated = std::make_unique<emulator::EmulatedGpu>(facts);
        cuda::set_platform({&table, emulator::EmulatedGpu::images(), {}});
    }
    /// Lets cuBLAS's twin be installed from now on, where the GPU is the emulated one.
    void install_blas()
    {
        if (!m_emulated)
            return;
        cuda::Platform platform = cuda::platform();
        platform.blas = &emulator::EmulatedGpu::blas;
        cuda::set_platform(platform);
    }
    explicit Gpu(const emulator::GpuFacts& facts)
        : Gpu(emulator::EmulatedGpu::table(), facts)
    {
    }
    ~Gpu() { cuda::set_platform({}); }
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;

    emulator::EmulatedGpu* emulated() { return m_emulated.get(); }  // null: a real one

    /// Returns what kernels did wrong, or what was not given back; else empty.
    std::string complaints() const { return m_emulated ? m_emulated->fault() + m_emulated->leaks() : std::string(); }

private:
    std::unique_ptr<emulator::EmulatedGpu> m_emulated;
};

inline LoadRequest on_cuda(LoadRequest request, std::optional<int> layers = {})
{
    request.placement.device = PlacementOptions::Device::Cuda;
    request.placement.device_layers = layers;
    return request;
}

/// With a budget that leaves room for about this many tokens beside all layers.
inline LoadRequest with_room_for(LoadRequest request, int tokens)
{
    const auto model = load(on_cuda(request));
    const auto device = model ? model->placement().telemetry() : std::nullopt;
    if (!device)
        return request;
    std::int64_t kv_bytes = 0;
    for (const KvLayerShape& layer : model->cache().layers())
        kv_bytes +=
            std::int64_t(layer.bytes()) * (layer.window > 0 ? layer.window / kBlockTokens + 2 : tokens / kBlockTokens);
    request.placement.vram_budget_bytes = std::int64_t(std::ceil(double(device->used_bytes() + kv_bytes) / 0.95));
    return on_cuda(request);
}

}  // namespace test_support
