#include "engine/exec/cuda_step_inputs.h"

#include "engine/exec/cuda_address.h"
#include "engine/model/expert_cache.h"

#include <algorithm>
#include <cstring>

namespace engine {

namespace cuda = kernels::cuda;

CudaStepInputs::CudaStepInputs(CudaCalls& calls, const CudaSizes& sizes, CudaArena& memory)
    : calls_(calls)
    , sizes_(sizes)
    , positions_(memory.take(sizes.positions))
    , block_tables_(memory.take(sizes.block_tables))
    , expert_places_(memory.take(sizes.expert_places))
    , cached_experts_(std::size_t(sizes.layers))
{
}

Status CudaStepInputs::allocate(const Activations& like)
{
    const std::size_t bytes = lists_bytes() + cuda_aligned(like.tables.bytes()) +
                              cuda_aligned(like.carried().value_capacity_bytes()) + like.side.value_capacity_bytes();
    if (Status ok = staging_.allocate(calls_.device(), bytes); !ok)
        return ok;
    return taken_.make(calls_.device());
}

cuda::DevicePtr CudaStepInputs::positions() const
{
    return cuda_address(positions_);
}

cuda::DevicePtr CudaStepInputs::number_there() const
{
    return positions() + std::size_t(sizes_.max_rows) * sizeof(int);
}

cuda::KvBlocks CudaStepInputs::kv_blocks(int l, const KvLayerShape& shape) const
{
    const std::size_t table = std::size_t(l) * std::size_t(sizes_.max_blocks) * sizeof(std::uint64_t);
    return {shape.block, shape.kv_heads, cuda_address(block_tables_ + table)};
}

std::uint64_t* CudaStepInputs::block_table(int l) const
{
    return reinterpret_cast<std::uint64_t*>(staging_.data() + cuda_aligned(sizes_.positions)) +
           std::size_t(l) * std::size_t(sizes_.max_blocks);
}

cuda::DevicePtr CudaStepInputs::expert_places(int l) const
{
    return cuda_address(expert_places_) + std::size_t(l) * std::size_t(sizes_.experts) * sizeof(std::uint64_t);
}

std::uint64_t* CudaStepInputs::expert_table(int l) const
{
    return reinterpret_cast<std::uint64_t*>(staging_.data() + cuda_aligned(sizes_.positions) +
                                            cuda_aligned(sizes_.block_tables)) +
           std::size_t(l) * std::size_t(sizes_.experts);
}

/// Returns the bytes of positions, block tables and places of experts, which are neighbours on both sides.
std::size_t CudaStepInputs::lists_bytes() const
{
    return cuda_aligned(sizes_.positions) + cuda_aligned(sizes_.block_tables) + cuda_aligned(sizes_.expert_places);
}

bool CudaStepInputs::any_on_host(int l, int row, int rows) const
{
    const std::uint64_t* table = block_table(l);
    const int first = step_->cache.layer(l).first_block(step_->one().first + row);
    const int last = (step_->one().first + row + rows - 1) / step_->cache.block_tokens() + 1;
    return std::find(table + first, table + last, 0u) != table + last;
}

/// Writes the addresses of the blocks of every layer that the device computes, or where they will be when they are
/// read.
void CudaStepInputs::fill_block_tables(const Step& step, int rows)
{
    const int blocks = (step.one().first + rows - 1) / step.cache.block_tokens() + 1;
    for (int l = 0; l < sizes_.layers; ++l)
        for (int b = 0; b < blocks; ++b)
            block_table(l)[b] =
                step.layer_on(l) == LayerOn::Device
                    ? cuda_address(step.cache.device_block(step.one().sequence->pages[std::size_t(b)], l))
                    : 0;
    const KvStream& stream = *step.cache.stream();
    for (std::size_t i = 0; i < stream.blocks().size(); ++i)
        block_table(stream.blocks()[i].layer)[stream.blocks()[i].number] = cuda_address(stream.slot_of(i));
}

/// Notes which copies of experts have arrived until now; nothing changes before the next step.
void CudaStepInputs::fill_expert_places()
{
    for (int l = 0; l < sizes_.layers; ++l) {
        ExpertCache* const cache = cached_experts(l).cache;
        if (cache)
            cache->take_arrived();
        for (int e = 0; e < sizes_.experts; ++e)
            expert_table(l)[e] = cache ? cuda_address(cache->place_of(e)) : 0;
    }
}

void CudaStepInputs::send(const Step& step, const Activations& host, Activations& to)
{
    host_ = &host;
    step_ = &step;
    const cuda::Driver& driver = calls_.driver();
    const cuda::Queue queue = calls_.queue();
    const int rows = host.hidden.count(), cols = host.carried().cols();
    to.hidden.set_shape(rows, host.hidden.cols());
    to.carried().set_shape(rows, cols);
    to.tables.set_rows(host.tables.count());
    to.side.set_shape(host.side.count(), host.side.cols());
    calls_.run([&] { return driver.make_current(); });
    calls_.run([&] { return driver.synchronize(taken_.get()); });  // the last step's inputs are gone from here
    if (!calls_.ok())
        return;

    std::byte* from = staging_.data();
    for (int r = 0; r < rows; ++r)
        reinterpret_cast<int*>(from)[r] = step.one().first + r;
    reinterpret_cast<int*>(from)[sizes_.max_rows] = ++number_;
    fill_block_tables(step, rows);
    calls_.device().note_work();
    const bool copies =
        std::ranges::any_of(cached_experts_, [](const CachedExperts& of) { return of.cache != nullptr; });
    if (copies)
        fill_expert_places();
    const std::size_t bytes = lists_bytes() - (copies ? 0 : cuda_aligned(sizes_.expert_places));
    calls_.run([&] { return driver.copy_to_device(positions(), from, bytes, queue); });
    from += lists_bytes();
    const auto copy = [&](const float* values, std::size_t count, float* there) {
        std::memcpy(from, values, count * sizeof(float));
        calls_.run([&] { return driver.copy_to_device(cuda_address(there), from, count * sizeof(float), queue); });
        from += cuda_aligned(count * sizeof(float));
    };
    copy(host.tables.data(), std::size_t(host.tables.floats()), to.tables.data());
    copy(host.carried().row(0), std::size_t(rows) * std::size_t(cols), to.carried().row(0));
    if (host.side.count() > 0)
        copy(host.side.row(0), std::size_t(rows) * std::size_t(host.side.cols()), to.side.row(0));
    calls_.run([&] { return driver.record(taken_.get(), queue); });
}

}  // namespace engine
