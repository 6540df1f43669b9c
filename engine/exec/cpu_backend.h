// The decoder's operations on the CPU: kernels from the table in use, work divided among the pool's threads. Any
// division gives the same bits (see kernels/cpu.h). One per loaded model; the engine's thread calls it.
#pragma once

#include "engine/exec/backend.h"
#include "engine/exec/thread_pool.h"
#include "engine/metrics/step_clock.h"

#include <vector>

namespace engine {

class CpuBackend final : public Backend
{
public:
    /// Allocates all scratch. `h` outlives it; `max_rows`: tokens of the largest batch. Throws std::bad_alloc.
    CpuBackend(const Hyperparameters& h, int max_rows, int block_tokens, int threads, bool pinned = false);

    /// Between steps only. Throws std::bad_alloc or std::system_error, and then goes on as before.
    void set_threads(int threads);
    int threads() const { return pool_->size(); }
    ThreadPool& pool() { return *pool_; }
    /// Where the time of the steps goes, also of what another backend computes in them.
    StepClock& clock() { return clock_; }
    std::size_t scratch_bytes() const;
    /// What the workers compute in, for a backend made with these numbers; `runs`: after allow_runs().
    static std::size_t worker_bytes(const Hyperparameters& h, int max_rows, int block_tokens, int threads, bool runs);
    /// Whether so many multiplications are worth waking the workers for.
    static constexpr std::int64_t kWorthSharing = 1 << 17;
    static bool sharing_pays(std::int64_t products) { return products >= kWorthSharing; }
    /// From now on the blocks of an attention may come in several runs. Throws std::bad_alloc.
    void allow_runs();

    void embed(const Matrix& table, std::span<const int> ids, float scale, Rows& out);
    void rms_norm(Rows& x, Vector weight, float epsilon, Rows& out) override;
    void norm_heads(Rows& x, int col, int heads, int length, Vector weight, float epsilon) override;
    void rope_heads(Rows& x, int col, int heads, int length, const Rotation& rotation) override;
    void products(Rows& x, std::span<const Product> products, Rows& out) override;
    void gated(Gate gate, const Rows& gate_up, Rows& out) override;
    void add(const Rows& y, Rows& x) override;
    void copy_row(const Rows& from, int row, Rows& to) override;
    void soft_cap(float cap, Rows& x) override;
    void store_kv(const Rows& qkv, const HeadLayout& heads, int l, KvCache& cache, const KvSequence& sequence,
                  int first) override;
    void attend(const Rows& qkv, const AttentionParameters& p, int l, const KvCache& cache, const KvSequence& sequence,
                int first, Rows& out) override;
    void experts(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out) override;

    /// Between steps: the blocks of one layer, all KV heads, with the same keys and values in other types.
    void rewrite_kv(const KvLayerShape& from, const std::byte* old, const KvLayerShape& to, std::byte* block);

    /// Of one row's attention, what lies on the host of a layer that a device computes. q: (heads, key_length) of token
    /// `position`; partial: [max (heads,), sum (heads,), out (heads, value_length)] of those blocks together.
    void attend_host_blocks(const float* q, float q_scale, const AttentionParameters& p, int l, const KvCache& cache,
                            const KvSequence& sequence, int position, float* partial);

private:
    // ---- attention (cpu_attention.cpp) ----
    struct AttentionScratch {
        AlignedArray<float> q;        // (kTileRows, group, key_length), scaled
        AlignedArray<float> scores;   // (group, block_tokens)
        AlignedArray<float> partial;  // (group, 2 + value_length): max, sum, then out
        AlignedArray<float> sums;     // (kTileRows, group, 2 + value_length), merged so far
    };
    struct AttendTile;
    static void take_queries(const AttendTile& tile, AttentionScratch& scratch);
    void attend_run(const AttendTile& tile, AttentionScratch& scratch, float* sums) const;
    static void clear_sums(const AttendTile& tile, float* sums);
    static void finish_rows(const AttendTile& tile, const float* sums, Rows& to);
    bool next_run(KvBlocks& blocks);
    std::size_t tile_sums() const;  // floats that the sums of one tile take
    static std::size_t attention_bytes(const Hyperparameters& h, int max_rows, int block_tokens, int threads,
                                       bool runs);
    std::vector<AttentionScratch> attention_scratch(int threads) const;

    // ---- experts (cpu_experts.cpp) ----
    struct Chosen {  // one (row, slot) pair, sorted by expert
        int row = 0;
        int slot = 0;
    };
    struct ExpertRange {
        int expert = 0;
        int first = 0, count = 0;  // of the sorted pairs
    };
    void route(Rows& x, const LayerWeights& w, const ExpertParameters& p);
    void sort_by_expert(int rows, const ExpertParameters& p);
    void expert_products(Rows& x, const Matrix& stack, Vector bias, Rows& out, int out_col);

    // ---- products (cpu_products.cpp) ----
    struct ProductScratch {
        AlignedArray<float> rest;  // (widest row,) what rounding lost of a row
        AlignedArray<float> sums;  // (kRestTokens, kMaxGrain) products of that
    };
    std::vector<ProductScratch> product_scratch(int threads) const;
    static int widest_row(const Hyperparameters& h);  // that is rounded
    static std::size_t product_bytes(const Hyperparameters& h, int threads);
    void round_rows(Rows& x);
    void round_rest(Rows& x, int row, ProductScratch& scratch) const;
    using MatMulKernel = void (*)(const kernels::MatMul&);
    void add_rest(MatMulKernel multiply, const kernels::MatMul& args, Rows& x, int first_row,
                  ProductScratch& scratch) const;
    int row_grain(int rows, int tokens) const;
    void run_product(const Product& product, Rows& x, int first_row, int tokens, int begin, int end, Rows& out,
                     int worker);

    const Hyperparameters& h_;
    const kernels::CpuKernels& kernels_;
    bool pinned_;  // threads, to cores
    std::unique_ptr<ThreadPool> pool_;
    StepClock clock_;
    int block_tokens_;
    int max_rows_;
    int max_heads_ = 0, max_kv_heads_ = 0, max_group_ = 0, key_length_ = 0, value_length_ = 0;
    // A router decides by comparing: an error of half a percent, nothing to other models, sends a token to another
    // expert. Models with experts therefore round activations to 16 bits, as two parts of 8.
    bool sixteen_bits_ = false;
    int widest_row_ = 0;
    std::vector<AttentionScratch> attention_;  // (threads,)
    AlignedArray<float> run_sums_;             // (tiles, kv_heads, tile_sums()) of an attention in several runs
    std::vector<ProductScratch> product_;      // (threads,)

    Rows router_logits_;                // (rows, experts)
    Rows expert_in_;                    // (rows * used, dim), sorted by expert
    Rows expert_gate_up_;               // (rows * used, 2 expert_ffn)
    Rows expert_hidden_;                // (rows * used, expert_ffn)
    Rows expert_out_;                   // (rows * used, dim)
    std::vector<int> chosen_expert_;    // (rows, used), best first
    std::vector<float> chosen_weight_;  // (rows, used)
    std::vector<int> sorted_position_;  // (rows, used) where each pair went
    std::vector<Chosen> sorted_;        // (rows * used,)
    std::vector<int> expert_count_;     // (experts,)
    std::vector<ExpertRange> active_experts_;
};

}  // namespace engine
