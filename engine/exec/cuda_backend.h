// CudaBackend does the decoder's operations on a GPU: kernels queued one after another, without waiting. What works on
// each row by itself it queues here, the rest its parts do. The host's part in attention (policy `merge`) is the CPU's.
// One per open device; the engine's thread calls it.
//
// The first call that fails is kept, and the calls that follow it do nothing.
#pragma once

#include "engine/device/vram.h"
#include "engine/exec/backend.h"
#include "engine/exec/cpu_backend.h"
#include "engine/exec/cuda_attention.h"
#include "engine/exec/cuda_experts.h"
#include "engine/exec/cuda_graphs.h"
#include "engine/exec/cuda_heads.h"
#include "engine/exec/cuda_host_experts.h"
#include "engine/exec/cuda_products.h"
#include "engine/exec/cuda_recurrent.h"
#include "engine/exec/cuda_step_outputs.h"
#include "engine/exec/cuda_streams.h"

#include <memory>
#include <string>

namespace engine {

/// Gives back the memory of the device that a backend computes in.
struct GiveBackScratch {
    Vram* vram;
    std::size_t bytes;
    void operator()(std::byte* memory) const { vram->give_back(Vram::Use::Scratch, memory, bytes); }
};

class CudaBackend final : public Backend
{
public:
    /// Says whether there is a kernel for each part of this model. Unsupported: the sentence says which one has none.
    static Status supports(const Hyperparameters& h, std::span<const KvLayerShape> kv);

    /// Takes all its memory on the device. `max_rows`: tokens of the largest batch; `max_tokens`: of a sequence.
    /// DeviceFull, DeviceLost. Throws std::bad_alloc.
    static Result<std::unique_ptr<CudaBackend>> make(CudaDevice& device, Vram& vram, CpuBackend& cpu,
                                                     const Hyperparameters& h, const KvCache& cache, int max_rows,
                                                     int max_tokens);
    /// Returns the bytes of the device that make() takes.
    static std::int64_t scratch_bytes(const Hyperparameters& h, const KvCache& cache, int max_rows, int max_tokens);
    ~CudaBackend() override;
    CudaBackend(const CudaBackend&) = delete;
    CudaBackend& operator=(const CudaBackend&) = delete;

    // Call these between steps; see the parts.
    void set_joining(CudaJoining joining) { graphs_.set_joining(joining); }
    void forget_recordings() { graphs_.forget(); }
    void use_blas(const Hyperparameters& h) { products_.use_blas(h); }
    /// Says which copies the device has of layer l's experts, which lie on the host; it may have none any more.
    void set_cached_experts(int l, const CudaStepInputs::CachedExperts& cached)
    {
        if (cached == inputs_.cached_experts(l))
            return;
        graphs_.forget();
        inputs_.set_cached_experts(l, cached);
    }
    /// Sets the ring that brings experts for steps of many rows; null: there is none.
    void use(ExpertRing* ring);

    MemorySpace memory_space() const override { return MemorySpace::Device; }
    Activations& activations(Activations&) override { return activations_; }
    void enter(const Step& step, const Activations& host) override { inputs_.send(step, host, activations_); }
    void fetch(const Rows& from, RowRange rows, Rows& host) override { outputs_.fetch(from, rows, host); }
    RowLogits fetch_largest(const Rows& x, int row, int n) override { return outputs_.fetch_largest(x, row, n); }
    void run_layers(const LayerRange& range, const std::function<void()>& work) override
    {
        graphs_.run_layers(range, work);
    }
    Status take_status() override { return calls_.take_status(); }
    /// Returns one sentence about what costs speed from now on; empty: nothing new.
    std::string take_warning() { return calls_.take_warning(); }

    void rms_norm(Rows& x, Vector weight, float epsilon, Rows& out) override;
    void rms_norm_before(const Matrix& reader, Rows& x, Vector weight, float epsilon, Rows& out) override;
    void layer_norm(Rows& x, Vector weight, float epsilon, Rows& out) override;
    void norm_heads(Rows& x, const HeadColumns& from, Vector weight, float epsilon, int to) override;
    void layer_norm_heads(Rows& x, const HeadColumns& at, Vector weights, float epsilon) override;
    void gate_heads(const Rows& gates, const HeadColumns& at, Rows& x) override;
    void weigh_rows(const Rows& weights, Rows& x) override;
    void rope_heads(Rows& x, int col, int heads, int length, const Rotation& rotation) override;
    void keep_above(float deviations, int n, Rows& x) override;
    void add(const Rows& y, Rows& x) override;
    void scale(float factor, Rows& x) override;
    void copy_row(const Rows& from, int row, Rows& to) override;
    void copy(const float* from, float* to, std::size_t count) override;
    void soft_cap(float cap, Rows& x) override;
    void products(Rows& x, std::span<const Product> products, Rows& out) override
    {
        products_.multiply(x, products, out);
    }
    void multiply_heads(Rows& x, const HeadColumns& from, const Matrix& stack, Rows& out,
                        const HeadColumns& to) override;
    void copy_heads(const Rows& x, const HeadColumns& from, Rows& out, const HeadColumns& to) override;
    void gated(Gate gate, const Rows& gate_up, Rows& out) override { products_.gated(gate, gate_up, {}, out); }
    void gated_by(Gate gate, const Rows& x, const Rows& up, int col, Rows& out) override
    {
        products_.gated_by(gate, x, up, col, out);
    }
    void add_product(Rows& x, const Product& product, Rows& branch, Rows& sum) override;
    void add_product_and_norm(Rows& x, const Product& product, Rows& branch, Rows& sum, const FollowingNorm& norm,
                              Rows& out) override;
    void gated_products(Rows& x, std::span<const Product> gate_and_up, Gate gate, const Matrix& reader, Rows& gate_up,
                        Rows& out) override;
    void prepare_heads(Rows& qkv, const HeadPreparation& p, int l, const Step& step) override;
    void project_heads(Rows& x, std::span<const Product> products, Rows& qkv, const HeadPreparation& p, int l,
                       const Step& step) override;
    void store_kv(const Rows& qkv, const HeadLayout& heads, int l, const Step& step) override;
    void attend(const Rows& qkv, const AttentionParameters& p, int l, const Step& step, Rows& out) override;
    void experts(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out) override
    {
        w.experts_on_host ? host_experts_->compute(x, w, p, out) : experts_->compute(x, w, p, out);
    }
    void delta_net(Rows& mixed, const DeltaNetParameters& p, Rows& out) override;
    void mamba2(Rows& mixed, const Mamba2Parameters& p, Rows& out) override;
    void short_convolution(Rows& mixed, const ShortConvolutionParameters& p, Rows& out) override;
    StreamOperations& streams() override { return streams_; }

private:
    void fail_step()
    {
        calls_.run([] { return kernels::cuda::Status::InvalidValue; });
    }

    using Scratch = std::unique_ptr<std::byte, GiveBackScratch>;

    CudaBackend(CudaDevice& device, Vram& vram, CpuBackend& cpu, const Hyperparameters& h, const CudaSizes& sizes,
                Scratch scratch);
    Status allocate(const Hyperparameters& h);

    // Each part uses only those above it.
    const CudaSizes sizes_;
    Scratch scratch_;  // of the device; the parts take from it, and it goes last
    CudaArena arena_;
    CudaCalls calls_;
    Activations activations_;
    CudaStepInputs inputs_;
    CudaStepOutputs outputs_;
    CudaProducts products_;
    CudaHeads heads_;
    CudaRecurrent recurrent_;
    CudaStreams streams_;
    std::unique_ptr<CudaExperts> experts_;  // null: the model has none
    CudaHostPart host_part_;
    CudaJoins joins_;
    CudaRecorder recorder_;
    std::unique_ptr<CudaHostExperts> host_experts_;  // null: the model has none
    CudaAttention attention_;
    CudaGraphs graphs_;
};

}  // namespace engine
