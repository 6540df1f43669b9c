// PagerOnGpu gives tests a conversation that the pager keeps on the emulated GPU, without a model.
#pragma once

#include "engine/device/cuda_device.h"
#include "engine/kv/kv_pager.h"
#include "tests/support/cuda/emulated_gpu.h"

#include <memory>
#include <optional>
#include <vector>

namespace test_support {

constexpr int kTokens = 16, kLayers = 4, kHeads = 2;
constexpr kernels::KvBlockLayout kBlock{kernels::KvType::F16, kernels::KvType::F16, 8, 8, kTokens};
constexpr std::int64_t kBlockBytes = std::int64_t(kHeads * kBlock.bytes());
constexpr std::int64_t kColumnBytes = kLayers * kBlockBytes;

emulator::GpuFacts gpu_of(std::size_t mebibytes, std::size_t granularity = 1);

/// Returns layers that all see everything, each with the same blocks.
std::vector<engine::KvLayerShape> all_alike();

/// A conversation on the emulated GPU. In place of computed values its KV has bytes that tell page, layer and token.
class PagerOnGpu
{
public:
    explicit PagerOnGpu(const emulator::GpuFacts& facts, int pages, int longest_step = 1,
                        const std::vector<engine::KvLayerShape>& layers = all_alike());
    ~PagerOnGpu();

    /// Waits until the threads beside this one have done their work.
    void settle();

    engine::Status step(int tokens = 1);

    /// Begins another conversation; this one stays.
    void begin_another();

    bool steps(int count, int tokens = 1);

    /// Does steps of so many tokens until there are `length`. Each has reached the mirror before the next one begins,
    /// so that what is taken does not depend on how fast which thread is. Returns how many columns left meanwhile.
    std::optional<int> grow_to(int length, int tokens);

    /// Says whether all values are where they belong, on the device and in the mirror.
    bool intact();

    int columns_here() const;

    emulator::EmulatedGpu gpu;
    engine::KvCache cache;
    std::unique_ptr<engine::CudaDevice> device;
    std::unique_ptr<engine::Vram> vram;
    std::unique_ptr<engine::DeviceKv> kv;
    std::unique_ptr<engine::KvStream> stream;
    std::unique_ptr<engine::KvPager> pager;
    engine::KvSequence sequence, earlier;

private:
    /// Returns where the token's values begin in its block, in bytes.
    std::size_t offset(int token, int l, int head) const;

    /// Writes the values of tokens [first, last), those of a block at once.
    void write(int first, int last, int l);
    bool holds_block(const std::byte* block, int b, int l) const;
    bool holds(const std::byte* block, int token, int l) const;

    std::vector<std::byte> rows_;  // on their way to the device
};

}  // namespace test_support
