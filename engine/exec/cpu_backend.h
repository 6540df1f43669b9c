// CpuBackend does the decoder's operations on the CPU: what works on each row by itself it does here, the rest its
// parts do. Kernels come from the table in use, and the work is divided among the pool's threads: any division gives
// the same bits (see kernels/cpu.h). One per loaded model; the engine's thread calls it.
#pragma once

#include "engine/exec/backend.h"
#include "engine/exec/cpu_attention.h"
#include "engine/exec/cpu_experts.h"
#include "engine/exec/cpu_products.h"
#include "engine/exec/cpu_recurrent.h"
#include "engine/exec/cpu_streams.h"
#include "engine/exec/thread_pool.h"

#include <memory>

namespace engine {

class CpuBackend final : public Backend
{
public:
    /// Allocates all scratch. `h` outlives it; `max_rows`: tokens of the largest batch. Throws std::bad_alloc.
    CpuBackend(const Hyperparameters& h, int max_rows, int block_tokens, int threads, bool pinned = false);

    /// Call it between steps only. Throws std::bad_alloc or std::system_error, and then goes on as before.
    void set_threads(int threads);
    int threads() const { return pool_->size(); }
    ThreadPool& pool() { return *pool_; }
    std::size_t scratch_bytes() const;
    /// Returns the bytes of the workers' scratch, for a backend made with these numbers; `runs`: after allow_runs().
    static std::size_t worker_bytes(const Hyperparameters& h, int max_rows, int block_tokens, int threads, bool runs);
    /// Allows that the blocks of an attention come in several runs from now on. Throws std::bad_alloc.
    void allow_runs() { attention_.allow_runs(); }

    /// Gives each row `each` rows of the table, one after another. ids: (rows, each)
    void embed(const Matrix& table, std::span<const int> ids, float scale, Rows& out, int each = 1);
    void rms_norm(Rows& x, Vector weight, float epsilon, Rows& out) override;
    void layer_norm(Rows& x, Vector weight, float epsilon, Rows& out) override;
    void norm_heads(Rows& x, const HeadColumns& from, Vector weight, float epsilon, int to) override;
    void layer_norm_heads(Rows& x, const HeadColumns& at, Vector weights, float epsilon) override;
    void gate_heads(const Rows& gates, const HeadColumns& at, Rows& x) override;
    void weigh_rows(const Rows& weights, Rows& x) override;
    void rope_heads(Rows& x, int col, int heads, int length, const Rotation& rotation) override;
    void products(Rows& x, std::span<const Product> products, Rows& out) override
    {
        products_.multiply(x, products, out);
    }
    void multiply_heads(Rows& x, const HeadColumns& from, const Matrix& stack, Rows& out,
                        const HeadColumns& to) override
    {
        products_.multiply_heads(x, from, stack, out, to);
    }
    void copy_heads(const Rows& x, const HeadColumns& from, Rows& out, const HeadColumns& to) override;
    void gated(Gate gate, const Rows& gate_up, Rows& out) override { products_.gated(gate, gate_up, out); }
    void gated_by(Gate gate, const Rows& x, const Rows& up, int col, Rows& out) override
    {
        products_.gated_by(gate, x, up, col, out);
    }
    void keep_above(float deviations, int n, Rows& x) override;
    void add(const Rows& y, Rows& x) override;
    void scale(float factor, Rows& x) override;
    void copy_row(const Rows& from, int row, Rows& to) override;
    void copy(const float* from, float* to, std::size_t count) override;
    void soft_cap(float cap, Rows& x) override;
    void store_kv(const Rows& qkv, const HeadLayout& heads, int l, const Step& step) override
    {
        attention_.store_kv(qkv, heads, l, step);
    }
    void attend(const Rows& qkv, const AttentionParameters& p, int l, const Step& step, Rows& out) override
    {
        attention_.attend(qkv, p, l, step, out);
    }
    void experts(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out) override
    {
        experts_->compute(x, w, p, out);
    }
    /// Computes the part of a mixture of experts that another device leaves to the host.
    void rest_of_experts(Rows& x, const LayerWeights& w, const ExpertParameters& p, const ChosenExperts& chosen,
                         Rows& out)
    {
        experts_->compute_rest(x, w, p, chosen, out);
    }
    void delta_net(Rows& mixed, const DeltaNetParameters& p, Rows& out) override
    {
        recurrent_.delta_net(mixed, p, out);
    }
    void mamba2(Rows& mixed, const Mamba2Parameters& p, Rows& out) override { recurrent_.mamba2(mixed, p, out); }
    void short_convolution(Rows& mixed, const ShortConvolutionParameters& p, Rows& out) override
    {
        recurrent_.short_convolution(mixed, p, out);
    }
    StreamOperations& streams() override { return streams_; }
    CpuStreams& cpu_streams() { return streams_; }

    /// Call it between steps. Writes the keys and values of one layer's block, of all KV heads, in other types.
    void rewrite_kv(const KvLayerShape& from, const std::byte* old, const KvLayerShape& to, std::byte* block)
    {
        attention_.rewrite_kv(from, old, to, block);
    }

    /// Attends, for one row of a layer that a device computes, those blocks that lie on the host. q: (heads,
    /// key_length) of token `position`
    void attend_host_blocks(const float* q, float q_scale, const AttentionParameters& p, int l, const Step& step,
                            int position, const CpuAttention::Partials& to)
    {
        attention_.attend_host_blocks(q, q_scale, p, l, step, position, to);
    }

private:
    const Hyperparameters& h_;
    const kernels::CpuKernels& kernels_;
    const int max_rows_, block_tokens_;
    const bool pinned_;  // threads, to cores
    std::unique_ptr<ThreadPool> pool_;
    CpuAttention attention_;
    CpuProducts products_;
    CpuRecurrent recurrent_;
    CpuStreams streams_;
    std::unique_ptr<CpuExperts> experts_;  // null: the model has none
};

}  // namespace engine
