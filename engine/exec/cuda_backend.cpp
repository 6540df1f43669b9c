#include "engine/exec/cuda_backend.h"

#include "engine/exec/cuda_address.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace engine {

namespace cuda = kernels::cuda;
using CudaStatus = cuda::Status;

std::int64_t CudaBackend::scratch_bytes(const Hyperparameters& h, const KvCache& cache, int max_rows, int max_tokens)
{
    return std::int64_t(CudaSizes(h, cache, max_rows, max_tokens).device());
}

Status CudaBackend::supports(const Hyperparameters& h, std::span<const KvLayerShape> kv)
{
    for (const KvLayerShape& shape : kv) {
        const cuda::Attention attention{.kv = {shape.block, shape.kv_heads, 0}};
        if (shape.block.k_type == kernels::KvType::F32 || shape.block.v_type == kernels::KvType::F32)
            return fail(Error::Code::Unsupported, "an f32 KV cache is computed on the cpu only");
        if (!cuda::attend_many_can(attention))
            return fail(Error::Code::Unsupported, "heads of " + std::to_string(h.key_length) + " and " +
                                                      std::to_string(h.value_length) +
                                                      " values are not computed on CUDA devices");
    }
    return {};
}

Result<std::unique_ptr<CudaBackend>> CudaBackend::make(CudaDevice& device, Vram& vram, CpuBackend& cpu,
                                                       const Hyperparameters& h, const KvCache& cache, int max_rows,
                                                       int max_tokens)
{
    constexpr int kMostPairs = 65535;  // rows of a grid
    if (h.experts > 0 && max_rows > kMostPairs / h.experts_used)
        return fail(Error::Code::Unsupported, "a prefill step of " + std::to_string(max_rows) +
                                                  " tokens is too large for this model's experts on a CUDA device");
    std::unique_ptr<CudaBackend> backend(new CudaBackend(device, vram, cpu, CudaSizes(h, cache, max_rows, max_tokens)));
    if (const Status ok = backend->allocate(h); !ok)
        return tl::unexpected(ok.error());
    return backend;
}

CudaBackend::CudaBackend(CudaDevice& device, Vram& vram, CpuBackend& cpu, const CudaSizes& sizes)
    : device_(device)
    , vram_(vram)
    , cpu_(cpu)
    , driver_(device.driver())
    , queue_(device.compute())
    , sizes_(sizes)
    , elsewhere_layers_(std::size_t(sizes.layers))
{
}

Status CudaBackend::allocate(const Hyperparameters& h)
{
    const auto memory = vram_.take(Vram::Use::Scratch, sizes_.device());
    if (!memory)
        return tl::unexpected(memory.error());
    scratch_ = *memory;
    arena_ = std::make_unique<CudaArena>(scratch_, sizes_.device());
    activations_ = std::make_unique<Activations>(h, sizes_.max_rows, *arena_);
    activations_->take_rounded(sizes_.sixteen_bits);
    if (h.experts > 0)
        experts_ = std::make_unique<CudaExperts>(h, sizes_.max_rows, *arena_);
    positions_ = arena_->take(sizes_.positions);
    block_tables_ = arena_->take(sizes_.block_tables);
    partials_ = arena_->take(sizes_.partials);
    elsewhere_ = arena_->take(sizes_.elsewhere);
    carried_ = arena_->take(sizes_.carried);
    rank_scratch_ = arena_->take(sizes_.rank_scratch);
    ranked_ = arena_->take(sizes_.ranked);
    largest_.reserve(std::size_t(sizes_.most_ranked));

    const std::size_t row_bytes = activations_->hidden.value_capacity_bytes();
    const std::size_t query_bytes = std::size_t(sizes_.heads) * std::size_t(h.key_length) * sizeof(float);
    Status status = inputs_.allocate(device_, cuda_aligned(sizes_.positions) + cuda_aligned(sizes_.block_tables) +
                                                  cuda_aligned(activations_->tables.bytes()) + row_bytes);
    if (status)
        status = rows_.allocate(device_, std::max(row_bytes, activations_->logits.value_capacity_bytes()));
    if (status)
        status = host_part_.allocate(device_, cuda_aligned(query_bytes * kFewRows) + sizes_.elsewhere);
    if (status)
        status = flags_.allocate(device_, sizes_.layers);
    for (cuda::Event* event : {&inputs_taken_, &queries_there_, &graph_done_}) {
        if (!status)
            return status;
        const auto made = driver_.make_event();
        status = device_.checked(made.status);
        *event = made.value;
    }
    return status;
}

CudaBackend::~CudaBackend()
{
    (void)driver_.make_current();
    (void)device_.finish_work();
    recordings_.clear();
    for (const cuda::Event event : {inputs_taken_, queries_there_, graph_done_})
        if (event)
            (void)driver_.destroy(event);
    if (scratch_)
        vram_.give_back(Vram::Use::Scratch, scratch_, sizes_.device());
}

// ---- between the host and the device ----

Status CudaBackend::take_status()
{
    return device_.checked(std::exchange(failed_, CudaStatus::Ok));
}

std::uint64_t* CudaBackend::block_table(int l) const
{
    return reinterpret_cast<std::uint64_t*>(inputs_.data() + cuda_aligned(sizes_.positions)) +
           std::size_t(l) * std::size_t(sizes_.max_blocks);
}

/// Where the blocks of every layer that is computed here are, or will be when they are read.
void CudaBackend::fill_block_tables(const Step& step, int rows)
{
    const int blocks = (step.first + rows - 1) / step.cache.block_tokens() + 1;
    for (int l = 0; l < sizes_.layers; ++l)
        for (int b = 0; b < blocks; ++b)
            block_table(l)[b] = cuda_address(step.cache.device_block(step.sequence.pages[std::size_t(b)], l));
    const KvStream& stream = *step.cache.stream();
    for (std::size_t i = 0; i < stream.blocks().size(); ++i)
        block_table(stream.blocks()[i].layer)[stream.blocks()[i].number] = cuda_address(stream.slot_of(i));
}

void CudaBackend::enter(const Step& step, const Activations& host)
{
    host_ = &host;
    step_ = &step;
    const int rows = host.hidden.count(), cols = host.hidden.cols();
    activations_->hidden.set_shape(rows, cols);
    activations_->tables.set_rows(host.tables.count());
    run([&] { return driver_.make_current(); });
    run([&] { return driver_.synchronize(inputs_taken_); });  // the last step's inputs have left the staging memory
    if (failed_ != CudaStatus::Ok)
        return;

    std::byte* from = inputs_.data();
    for (int r = 0; r < rows; ++r)
        reinterpret_cast<int*>(from)[r] = step.first + r;
    reinterpret_cast<int*>(from)[sizes_.max_rows] = ++step_number_;
    fill_block_tables(step, rows);
    device_.note_work();
    // Positions and block tables are neighbours on both sides.
    const std::size_t lists = cuda_aligned(sizes_.positions) + sizes_.block_tables;
    run([&] { return driver_.copy_to_device(cuda_address(positions_), from, lists, queue_); });
    from += cuda_aligned(sizes_.positions) + cuda_aligned(sizes_.block_tables);
    const auto send = [&](const float* values, std::size_t count, float* to) {
        std::memcpy(from, values, count * sizeof(float));
        run([&] { return driver_.copy_to_device(cuda_address(to), from, count * sizeof(float), queue_); });
        from += cuda_aligned(count * sizeof(float));
    };
    send(host.tables.data(), std::size_t(host.tables.floats()), activations_->tables.data());
    send(host.hidden.row(0), std::size_t(rows) * std::size_t(cols), activations_->hidden.row(0));
    run([&] { return driver_.record(inputs_taken_, queue_); });
}

void CudaBackend::fetch(const Rows& from, Rows& host)
{
    host.set_shape(from.count(), from.cols());
    const std::size_t bytes = std::size_t(from.count()) * std::size_t(from.cols()) * sizeof(float);
    run([&] { return driver_.make_current(); });
    run([&] { return driver_.copy_to_host(rows_.data(), cuda_address(from.row(0)), bytes, queue_); });
    run([&] { return driver_.synchronize(queue_); });
    if (failed_ == CudaStatus::Ok)
        std::memcpy(host.row(0), rows_.data(), bytes);
    else
        std::fill_n(host.row(0), bytes / sizeof(float), 0.0f);  // nobody uses it, but somebody may look at it
}

RowLogits CudaBackend::fetch_largest(const Rows& logits, int count)
{
    if (count > sizes_.most_ranked)
        return {};
    const auto n = std::size_t(count);
    const cuda::DevicePtr found = cuda_address(ranked_);
    const cuda::Ranked to{found, found + n * sizeof(float), found + 2 * n * sizeof(float)};
    const std::size_t bytes = (2 * n + 1) * sizeof(float);
    run([&] { return driver_.make_current(); });
    run([&] {
        return cuda::rank(driver_, queue_, cuda_address(logits.row(0)), logits.cols(), count,
                          cuda_address(rank_scratch_), to);
    });
    run([&] { return driver_.copy_to_host(rows_.data(), found, bytes, queue_); });
    run([&] { return driver_.synchronize(queue_); });
    if (failed_ != CudaStatus::Ok)
        std::fill_n(rows_.data(), bytes, std::byte(0));  // nobody uses it, but somebody may look at it
    const auto* values = reinterpret_cast<const float*>(rows_.data());
    const auto* ids = reinterpret_cast<const int*>(values + n);
    largest_.clear();
    for (std::size_t i = 0; i < n; ++i)
        largest_.push_back({ids[i], values[i]});
    return {.all = {}, .largest = largest_, .log_sum = values[2 * n]};
}

// ---- operations ----

void CudaBackend::rms_norm(Rows& x, Vector weight, float epsilon, Rows& out)
{
    out.set_shape(x.count(), x.cols());
    run([&] {
        return cuda::rms_norm(driver_, queue_, cuda_rows(x), cuda_address(weight), epsilon, x.count(), x.cols(),
                              cuda_rows(out));
    });
}

void CudaBackend::norm_heads(Rows& x, int col, int heads, int length, Vector weight, float epsilon)
{
    x.changed();
    run([&] {
        return cuda::norm_heads(driver_, queue_, cuda_rows(x, col), heads, length, cuda_address(weight), epsilon,
                                x.count());
    });
}

void CudaBackend::rope_heads(Rows& x, int col, int heads, int length, const Rotation& rotation)
{
    x.changed();
    const auto order = rotation.neox ? cuda::RopePairs::Halves : cuda::RopePairs::Neighbours;
    run([&] {
        return cuda::rope(driver_, queue_, cuda_rows(x, col), heads, length, cuda_address(rotation.cos),
                          cuda_address(rotation.sin), rotation.pairs, order, x.count());
    });
}

void CudaBackend::add(const Rows& y, Rows& x)
{
    x.changed();
    run([&] { return cuda::add(driver_, queue_, cuda_rows(y), x.count(), x.cols(), cuda_rows(x)); });
}

void CudaBackend::copy_row(const Rows& from, int row, Rows& to)
{
    to.set_shape(1, from.cols());
    const std::size_t bytes = std::size_t(from.cols()) * sizeof(float);
    run([&] { return driver_.copy_on_device(cuda_address(to.row(0)), cuda_address(from.row(row)), bytes, queue_); });
}

void CudaBackend::soft_cap(float cap, Rows& x)
{
    x.changed();
    run([&] { return cuda::soft_cap(driver_, queue_, cap, x.count(), x.cols(), cuda_rows(x)); });
}

}  // namespace engine
