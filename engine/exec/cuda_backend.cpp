#include "engine/exec/cuda_backend.h"

#include "engine/exec/cuda_address.h"

#include <string>
#include <utility>

namespace engine {

namespace cuda = kernels::cuda;

std::int64_t CudaBackend::scratch_bytes(const Hyperparameters& h, const KvCache& cache, int max_rows, int max_tokens)
{
    return std::int64_t(CudaSizes(h, cache, max_rows, max_tokens).device());
}

Status CudaBackend::supports(const Hyperparameters& h, std::span<const KvLayerShape> kv)
{
    if (Status ok = CudaRecurrent::supports(h.state_space); !ok)
        return ok;
    if (Status ok = CudaStreams::supports(h.ngrams); !ok)
        return ok;
    if (h.expert_groups > cuda::kMostExpertGroups)
        return fail(Error::Code::Unsupported,
                    "experts in " + std::to_string(h.expert_groups) + " groups are not chosen on CUDA devices");
    for (const KvLayerShape& shape : kv) {
        const cuda::Attention attention{.kv = {shape.block, shape.kv_heads, 0}};
        if (shape.block.k_type == kernels::KvType::F32 || shape.block.v_type == kernels::KvType::F32)
            return fail(Error::Code::Unsupported, "an f32 KV cache is computed on the cpu only");
        if (!cuda::attend_many_can(attention))
            return fail(Error::Code::Unsupported, "heads of " + std::to_string(shape.block.k_dim) + " and " +
                                                      std::to_string(shape.block.v_dim) +
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
    const CudaSizes sizes(h, cache, max_rows, max_tokens);
    const auto memory = vram.take(Vram::Use::Scratch, sizes.device());
    if (!memory)
        return tl::unexpected(memory.error());
    Scratch scratch(*memory, GiveBackScratch{&vram, sizes.device()});
    std::unique_ptr<CudaBackend> backend(new CudaBackend(device, vram, cpu, h, sizes, std::move(scratch)));
    if (const Status ok = backend->allocate(h); !ok)
        return tl::unexpected(ok.error());
    return backend;
}

CudaBackend::CudaBackend(CudaDevice& device, Vram& vram, CpuBackend& cpu, const Hyperparameters& h,
                         const CudaSizes& sizes, Scratch scratch)
    : sizes_(sizes)
    , scratch_(std::move(scratch))
    , arena_(scratch_.get(), sizes_.device())
    , calls_(device)
    , activations_(h, sizes_.max_rows, arena_, sizes_.head_rows)
    , inputs_(calls_, sizes_, arena_)
    , outputs_(calls_, sizes_, arena_)
    , products_(calls_, vram, sizes_, arena_)
    , heads_(calls_, h, sizes_, arena_)
    , recurrent_(calls_)
    , streams_(calls_)
    , experts_(h.experts > 0 ? std::make_unique<CudaExperts>(calls_, products_, h, sizes_.max_rows, arena_) : nullptr)
    , host_part_(calls_, inputs_, cpu, sizes_)
    , joins_(calls_, inputs_, host_part_)
    , recorder_(calls_)
    , host_experts_(h.experts > 0 ? std::make_unique<CudaHostExperts>(calls_, inputs_, cpu, *experts_, recorder_, h,
                                                                      sizes_.max_rows)
                                  : nullptr)
    , attention_(calls_, inputs_, products_, host_part_, joins_, recorder_, sizes_, arena_)
    , graphs_(calls_, inputs_, activations_, attention_, host_experts_.get(), joins_, recorder_, sizes_.layers)
{
    activations_.take_rounded(sizes_.sixteen_bits);
}

/// Allocates the page-locked memory and the events that the parts need, and clears what has to begin as zeros.
Status CudaBackend::allocate(const Hyperparameters& h)
{
    if (Status ok = products_.clear_counters(); !ok)
        return ok;
    if (Status ok = inputs_.allocate(activations_); !ok)
        return ok;
    if (Status ok = outputs_.allocate(activations_); !ok)
        return ok;
    if (Status ok = host_part_.allocate(h.longest_key()); !ok)
        return ok;
    if (Status ok = host_experts_ ? host_experts_->allocate() : Status(); !ok)
        return ok;
    return joins_.allocate(sizes_.layers);
}

CudaBackend::~CudaBackend()
{
    (void)calls_.driver().make_current();
    (void)calls_.device().finish_work();
}

void CudaBackend::use(ExpertRing* ring)
{
    if (host_experts_)
        host_experts_->use(ring);
}

void CudaBackend::rms_norm(Rows& x, Vector weight, float epsilon, Rows& out)
{
    out.set_shape(x.count(), x.cols());
    calls_.launch(cuda::rms_norm, cuda_rows(x), cuda_address(weight), epsilon, x.count(), x.cols(), cuda_rows(out),
                  cuda::Rounded());
}

void CudaBackend::rms_norm_before(const Matrix& reader, Rows& x, Vector weight, float epsilon, Rows& out)
{
    products_.norm(x, {weight, epsilon, &reader}, out);
}

void CudaBackend::add_product(Rows& x, const Product& product, Rows& /*branch*/, Rows& sum)
{
    products_.multiply_and_add(x, product, sum);
}

void CudaBackend::add_product_and_norm(Rows& x, const Product& product, Rows& /*branch*/, Rows& sum,
                                       const FollowingNorm& norm, Rows& out)
{
    products_.multiply_add_and_norm(x, product, sum, norm, out);
}

void CudaBackend::gated_products(Rows& x, std::span<const Product> gate_and_up, Gate gate, const Matrix& reader,
                                 Rows& gate_up, Rows& out)
{
    products_.gated_products(x, gate_and_up, gate, reader, gate_up, out);
}

void CudaBackend::layer_norm(Rows& x, Vector weight, float epsilon, Rows& out)
{
    out.set_shape(x.count(), x.cols());
    calls_.launch(cuda::layer_norm, cuda_rows(x), cuda_address(weight), epsilon, x.count(), x.cols(), cuda_rows(out));
}

void CudaBackend::norm_heads(Rows& x, const HeadColumns& from, Vector weight, float epsilon, int to)
{
    x.changed();
    if (from.heads == 1)  // a whole row, which is too long for one warp
        calls_.launch(cuda::rms_norm, cuda_rows(x, from.col), cuda_address(weight), epsilon, x.count(), from.length,
                      cuda_rows(x, to), cuda::Rounded());
    else
        calls_.launch(cuda::norm_heads, cuda_rows(x, from.col), cuda::Heads{from.heads, from.length, from.stride},
                      cuda_address(weight), epsilon, x.count(), cuda_rows(x, to));
}

void CudaBackend::layer_norm_heads(Rows& x, const HeadColumns& at, Vector weights, float epsilon)
{
    x.changed();
    calls_.launch(cuda::layer_norm_heads, cuda_rows(x, at.col), cuda::Heads{at.heads, at.length, at.stride},
                  cuda_address(weights), epsilon, x.count());
}

void CudaBackend::gate_heads(const Rows& gates, const HeadColumns& at, Rows& x)
{
    x.changed();
    calls_.launch(cuda::gate_heads, cuda_rows(gates, at.col), cuda::Heads{at.heads, at.length, at.stride}, x.count(),
                  cuda_rows(x));
}

void CudaBackend::weigh_rows(const Rows& weights, Rows& x)
{
    x.changed();
    calls_.launch(cuda::weigh_rows, cuda_rows(weights), x.count(), x.cols(), cuda_rows(x));
}

void CudaBackend::rope_heads(Rows& x, int col, int heads, int length, const Rotation& rotation)
{
    x.changed();
    const auto order = rotation.neox ? cuda::RopePairs::Halves : cuda::RopePairs::Neighbours;
    calls_.launch(cuda::rope, cuda_rows(x, col), heads, length, cuda_address(rotation.cos), cuda_address(rotation.sin),
                  rotation.pairs, order, x.count());
}

/// Says whether heads are prepared in one kernel. Other norms than those of heads before the rotation, and queries that
/// are projected elsewhere first, take one kernel after another.
static bool prepares_at_once(const HeadPreparation& p)
{
    const bool norms = p.q_norm || p.k_norm || p.v_norm;
    return p.own_kv && (!norms || p.norm == QkNorm::HeadsBeforeRope) && p.heads.projected_q_col() == 0;
}

void CudaBackend::prepare_heads(Rows& qkv, const HeadPreparation& p, int l, const Step& step)
{
    if (!prepares_at_once(p))
        return Backend::prepare_heads(qkv, p, l, step);
    qkv.changed();
    attention_.prepare_heads(qkv, p, l, step);
}

void CudaBackend::project_heads(Rows& x, std::span<const Product> products, Rows& qkv, const HeadPreparation& p, int l,
                                const Step& step)
{
    if (!prepares_at_once(p))
        return Backend::project_heads(x, products, qkv, p, l, step);
    attention_.project_heads(x, products, qkv, p, l, step);
}

void CudaBackend::store_kv(const Rows& qkv, const HeadLayout& heads, int l, const Step& step)
{
    attention_.store_kv(qkv, heads, l, step);
}

void CudaBackend::attend(const Rows& qkv, const AttentionParameters& p, int l, const Step& step, Rows& out)
{
    attention_.attend(qkv, p, l, step, out);
}

void CudaBackend::keep_above(float deviations, int n, Rows& x)
{
    x.changed();
    calls_.launch(cuda::keep_above, deviations, x.count(), n, cuda_rows(x));
}

void CudaBackend::add(const Rows& y, Rows& x)
{
    x.changed();
    calls_.launch(cuda::add, cuda_rows(y), x.count(), x.cols(), cuda_rows(x));
}

void CudaBackend::scale(float factor, Rows& x)
{
    x.changed();
    calls_.launch(cuda::scale, factor, x.count(), x.cols(), cuda_rows(x));
}

void CudaBackend::copy_row(const Rows& from, int row, Rows& to)
{
    to.set_shape(1, from.cols());
    const std::size_t bytes = std::size_t(from.cols()) * sizeof(float);
    calls_.run([&] {
        return calls_.driver().copy_on_device(cuda_address(to.row(0)), cuda_address(from.row(row)), bytes,
                                              calls_.queue());
    });
}

void CudaBackend::copy(const float* from, float* to, std::size_t count)
{
    calls_.run([&] {
        return calls_.driver().copy_on_device(cuda_address(to), cuda_address(from), count * sizeof(float),
                                              calls_.queue());
    });
}

void CudaBackend::soft_cap(float cap, Rows& x)
{
    x.changed();
    calls_.launch(cuda::soft_cap, cap, x.count(), x.cols(), cuda_rows(x));
}

void CudaBackend::multiply_heads(Rows& x, const HeadColumns& from, const Matrix& stack, Rows& out,
                                 const HeadColumns& to)
{
    heads_.multiply(x, from, stack, out, to);
}

void CudaBackend::copy_heads(const Rows& x, const HeadColumns& from, Rows& out, const HeadColumns& to)
{
    heads_.copy(x, from, out, to);
}

void CudaBackend::delta_net(Rows& mixed, const DeltaNetParameters& p, Rows& out)
{
    recurrent_.delta_net(mixed, p, out);
}

void CudaBackend::mamba2(Rows& mixed, const Mamba2Parameters& p, Rows& out)
{
    recurrent_.mamba2(mixed, p, out);
}

void CudaBackend::short_convolution(Rows& mixed, const ShortConvolutionParameters& p, Rows& out)
{
    recurrent_.short_convolution(mixed, p, out);
}

}  // namespace engine
