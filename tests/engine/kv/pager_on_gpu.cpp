#include "tests/engine/kv/pager_on_gpu.h"

#include <QtTest>

#include <algorithm>
#include <cstdint>
#include <utility>

using namespace engine;

namespace test_support {
namespace {

kernels::cuda::DevicePtr address(DevicePtr at)
{
    return reinterpret_cast<std::uintptr_t>(at);
}

std::byte value(int token, int l, int head)
{
    return std::byte(1 + (token * 31 + l * 7 + head) % 250);
}

constexpr std::size_t kRowBytes = 2 * kBlock.v_dim;

}  // namespace

emulator::GpuFacts gpu_of(std::size_t mebibytes, std::size_t granularity)
{
    emulator::GpuFacts facts;
    facts.memory_bytes = mebibytes << 20;
    facts.granularity_bytes = granularity;
    return facts;
}

std::vector<KvLayerShape> all_alike()
{
    return std::vector<KvLayerShape>(kLayers, KvLayerShape{kHeads, kBlock});
}

PagerOnGpu::PagerOnGpu(const emulator::GpuFacts& facts, int pages, int longest_step,
                       const std::vector<KvLayerShape>& layers)
    : gpu(facts)
    , cache(layers, layers.front().block.tokens, pages)
{
    kernels::cuda::set_platform({&emulator::EmulatedGpu::table(), emulator::EmulatedGpu::images(), {}});
    auto opened = CudaDevice::open(0);
    if (!opened)
        qFatal("%s", opened.error().what.c_str());
    device = std::move(*opened);
    vram = std::make_unique<Vram>(*device);
    kv = std::make_unique<DeviceKv>(*vram, cache.layers(), pages, KvSlabs::slab_bytes_for(*vram));
    stream = std::make_unique<KvStream>(*vram, std::size_t(pages) * layers.size());
    pager = std::make_unique<KvPager>(cache, *vram, *kv, *stream);
    pager->set_longest_step(longest_step);
    pager->set_layers(cache.num_layers());
    cache.set_device(kv.get(), stream.get());
    cache.make_ahead(longest_step / cache.block_tokens() + 1);
    pager->bring_back(Event::Cause::User);
    settle();
}

PagerOnGpu::~PagerOnGpu()
{
    cache.truncate(sequence, 0);
    cache.truncate(earlier, 0);
    cache.set_device(nullptr, nullptr);
    pager.reset();
    stream.reset();
    kv.reset();
    vram.reset();
    device.reset();
    kernels::cuda::set_platform({});
}

void PagerOnGpu::settle()
{
    pager->settle();
    device->settle_pins();
}

Status PagerOnGpu::step(int tokens)
{
    const int first = sequence.length();
    if (Status ok = cache.reserve(sequence, first + tokens); !ok)
        return ok;
    if (Status ok = pager->prepare(sequence, first, tokens); !ok)
        return ok;
    for (int l = 0; l < cache.num_layers(); ++l)
        write(first, first + tokens, l);
    sequence.ids.resize(std::size_t(first + tokens));
    if (Status ok = pager->finish(sequence, first, tokens); !ok)
        return ok;
    return device->finish_work();  // its logits are read
}

void PagerOnGpu::begin_another()
{
    earlier = std::exchange(sequence, KvSequence());
    pager->begin_turn({});
}

bool PagerOnGpu::steps(int count, int tokens)
{
    for (int i = 0; i < count; ++i)
        if (const Status done = step(tokens); !done) {
            qWarning("%s", done.error().what.c_str());
            return false;
        }
    return true;
}

std::optional<int> PagerOnGpu::grow_to(int length, int tokens)
{
    int left = 0;
    while (sequence.length() < length) {
        if (!steps(1, tokens) || !cache.wait_mirrored(sequence))
            return std::nullopt;
        left += int(std::ranges::count(pager->take_events(), Event::Kind::Offload, &Event::kind));
    }
    settle();
    return left;
}

bool PagerOnGpu::intact()
{
    bool whole = cache.wait_mirrored(sequence).has_value();
    std::vector<std::byte> there;
    for (int b = 0; b < int(sequence.pages.size()); ++b)
        for (int l = 0; l < cache.num_layers(); ++l) {
            const PageId page = sequence.pages[std::size_t(b)];
            whole = whole && holds_block(cache.host_block(page, l), b, l);
            const DevicePtr block = cache.device_block(page, l);
            if (!block)
                continue;
            there.resize(cache.layer(l).bytes());
            const auto& driver = device->driver();
            whole = whole && driver.copy_to_host(there.data(), address(block), there.size(), device->compute()) ==
                                 kernels::cuda::Status::Ok;
            whole = whole && holds_block(there.data(), b, l);
        }
    return whole;
}

int PagerOnGpu::columns_here() const
{
    return int(std::ranges::count_if(sequence.pages, [&](PageId page) { return kv->holds(page, 0); }));
}

std::size_t PagerOnGpu::offset(int token, int l, int head) const
{
    const kernels::KvBlockLayout& layout = cache.layer(l).block;
    return std::size_t(head) * layout.bytes() + layout.v_offset() +
           std::size_t(token % cache.block_tokens()) * kRowBytes;
}

void PagerOnGpu::write(int first, int last, int l)
{
    for (int end = first; first < last; first = end) {
        end = std::min(last, (first / cache.block_tokens() + 1) * cache.block_tokens());
        const DevicePtr block = cache.device_block(sequence.pages[std::size_t(first / cache.block_tokens())], l);
        for (int head = 0; head < cache.layer(l).kv_heads; ++head) {
            rows_.resize(std::size_t(end - first) * kRowBytes);
            for (int token = first; token < end; ++token)
                std::fill_n(rows_.begin() + std::ptrdiff_t(std::size_t(token - first) * kRowBytes), kRowBytes,
                            value(token, l, head));
            if (device->driver().copy_to_device(address(block) + offset(first, l, head), rows_.data(), rows_.size(),
                                                device->compute()) != kernels::cuda::Status::Ok)
                qFatal("rows_ were not written");
        }
    }
}

bool PagerOnGpu::holds_block(const std::byte* block, int b, int l) const
{
    const int last = std::min((b + 1) * cache.block_tokens(), sequence.length());
    for (int token = b * cache.block_tokens(); token < last; ++token)
        if (!holds(block, token, l))
            return false;
    return true;
}

bool PagerOnGpu::holds(const std::byte* block, int token, int l) const
{
    for (int head = 0; head < cache.layer(l).kv_heads; ++head) {
        const std::byte* const row = block + offset(token, l, head);
        if (std::any_of(row, row + kRowBytes, [&](std::byte b) { return b != value(token, l, head); }))
            return false;
    }
    return true;
}

}  // namespace test_support
