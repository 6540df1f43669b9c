// The decoder's operations on a GPU: kernels queued one after another, without waiting. The host's part in attention
// (policy `merge`) is the CPU's. One per open device; the engine's thread calls it.
//
// What a step needs from the host goes there in one piece when the residual stream enters: the first position, and for
// every layer where its KV blocks are. A call that fails is kept, and what follows it does nothing.
#pragma once

#include "engine/device/vram.h"
#include "engine/exec/cpu_backend.h"
#include "engine/exec/cuda_blas.h"
#include "engine/exec/cuda_experts.h"
#include "engine/exec/cuda_flags.h"
#include "engine/exec/cuda_memory.h"
#include "engine/exec/cuda_recording.h"
#include "kernels/cuda/ops.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace engine {

/// How the CPU's part of a recorded step comes in.
enum class CudaJoining {
    CutGraphs,  // the graph ends there, and the host queues the next one
    Flags,      // one graph, in which device and host wait for each other
};

class CudaBackend final : public Backend
{
public:
    /// Unsupported: the sentence says what of this model no kernel does.
    static Status supports(const Hyperparameters& h, std::span<const KvLayerShape> kv);

    /// Takes all its memory on the device. `max_rows`: tokens of the largest batch; `max_tokens`: of a sequence.
    /// DeviceFull, DeviceLost. Throws std::bad_alloc.
    static Result<std::unique_ptr<CudaBackend>> make(CudaDevice& device, Vram& vram, CpuBackend& cpu,
                                                     const Hyperparameters& h, const KvCache& cache, int max_rows,
                                                     int max_tokens);
    /// Bytes of the device that make() takes.
    static std::int64_t scratch_bytes(const Hyperparameters& h, const KvCache& cache, int max_rows, int max_tokens);
    ~CudaBackend() override;
    CudaBackend(const CudaBackend&) = delete;
    CudaBackend& operator=(const CudaBackend&) = delete;

    /// Between steps. Flags are not tried again where the host was late too often.
    void set_joining(CudaJoining joining);
    /// Between steps: KV blocks are laid out in another way from now on.
    void forget_recordings();
    /// Between steps: takes CudaBlas::bytes() of the device, and lets cuBLAS multiply many rows from now on. Where that
    /// does not work everything stays as it is, and a warning says why.
    void use_blas(const Hyperparameters& h);

    Activations* activations() override { return activations_.get(); }
    void enter(const Step& step, const Activations& host) override;
    void fetch(const Rows& from, Rows& host) override;
    RowLogits fetch_largest(const Rows& logits, int count) override;
    void run_layers(const LayerRange& range, const std::function<void()>& work) override;
    Status take_status() override;
    /// One sentence about what costs speed from now on; empty: nothing new.
    std::string take_warning() { return std::exchange(warning_, {}); }

    void rms_norm(Rows& x, Vector weight, float epsilon, Rows& out) override;
    void norm_heads(Rows& x, int col, int heads, int length, Vector weight, float epsilon) override;
    void rope_heads(Rows& x, int col, int heads, int length, const Rotation& rotation) override;
    void products(Rows& x, std::span<const Product> products, Rows& out) override;
    void gated(Gate gate, const Rows& gate_up, Rows& out) override;
    void add(const Rows& y, Rows& x) override;
    void add_product(Rows& x, const Product& product, Rows& branch, Rows& sum) override;
    void gated_products(Rows& x, std::span<const Product> gate_and_up, Gate gate, Rows& gate_up, Rows& out) override;
    void copy_row(const Rows& from, int row, Rows& to) override;
    void soft_cap(float cap, Rows& x) override;
    void store_kv(const Rows& qkv, const HeadLayout& heads, int l, KvCache& cache, const KvSequence& sequence,
                  int first) override;
    void attend(const Rows& qkv, const AttentionParameters& p, int l, const KvCache& cache, const KvSequence& sequence,
                int first, Rows& out) override;
    void experts(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out) override;

private:
    static constexpr int kFewRows = CudaSizes::kFewRows;

    CudaBackend(CudaDevice& device, Vram& vram, CpuBackend& cpu, const CudaSizes& sizes);
    Status allocate(const Hyperparameters& h);
    /// Does a call unless one has failed before, and keeps what it says.
    template <class Call>
    void run(const Call& call)
    {
        if (failed_ == kernels::cuda::Status::Ok)
            failed_ = call();
    }

    // ---- products (cuda_products.cpp) ----
    static kernels::cuda::Gating gating_of(Gate gate);
    void round_rows(Rows& x);
    kernels::cuda::DevicePtr rest_of(Rows& x) const;  // what rounding x lost; 0 where that is left out
    /// All rows of x times one matrix; x is rounded where its type wants that.
    kernels::cuda::Product product_of(Rows& x, const Matrix& m, Vector bias, const kernels::cuda::Rows& out);
    void multiply(Rows& x, std::span<const Product> products, Rows& out, kernels::cuda::Into into);
    bool multiplies_by_blas(const Rows& x, std::span<const Product> products) const;
    int rows_by_blas(const kernels::cuda::Product& product);

    void fill_block_tables(const Step& step, int rows);
    std::uint64_t* block_table(int l) const;  // in the staging memory
    kernels::cuda::KvBlocks kv_blocks(int l, const KvLayerShape& shape) const;

    // ---- attention (cuda_attention.cpp) ----
    CudaAttending few_of(const CudaAttending& all, int row, int rows) const;
    void attend_few(const CudaAttending& a);
    void attend_many(const CudaAttending& a);
    bool any_on_host(int l, int row, int rows) const;
    void attend_here(const CudaAttending& a);
    void send_queries(const CudaAttending& a);
    void attend_rest(const CudaAttending& a);
    void attend_here_and_there(const CudaAttending& a);
    bool streams(int l) const { return !step_->cache.stream()->blocks_of(l).empty(); }
    void bring_partials(const CudaAttending& a);
    static std::size_t query_bytes(const CudaAttending& a);
    float* host_partials(const CudaAttending& a) const;

    // ---- joins of recorded steps (cuda_joins.cpp) ----
    kernels::cuda::DevicePtr step_number_there() const;
    bool joins_by_flags() const;
    void record_join(const CudaAttending& a);
    void serve(const std::vector<CudaAttending>& joins);
    template <class Flag>
    bool wait_until(const Flag& raised);
    void join_from_now_on(CudaJoining joining);
    void repeat_late_step(const std::function<void()>& work);

    // ---- steps that are done again (cuda_graphs.cpp) ----
    bool can_record() const;
    CudaRecording* recording_of(const LayerRange& range);
    CudaRecording* record(const LayerRange& range, const std::function<void()>& work);
    void replay(const CudaRecording& recording);
    void begin_part();
    void end_part(const CudaAttending* then);
    void make_room_for_recording(const LayerRange& range);

    CudaDevice& device_;
    Vram& vram_;
    CpuBackend& cpu_;
    const kernels::cuda::Driver& driver_;
    const kernels::cuda::Queue queue_;
    const CudaSizes sizes_;
    DevicePtr scratch_ = nullptr;
    std::unique_ptr<CudaArena> arena_;
    std::unique_ptr<Activations> activations_;
    std::unique_ptr<CudaExperts> experts_;  // null: the model has none
    std::unique_ptr<CudaBlas> blas_;        // null: it is not used
    bool tried_blas_ = false;
    // Of the device: (max_rows,) ints: the position of each row, and the number of the step; (layers, max_blocks):
    // addresses of KV blocks, 0 for those on the host; partials of a few rows; what the host attended for them; what is
    // carried from run to run; the search for the largest logits, and what it found: (count,) floats, (count,) ints,
    // and one float.
    std::byte *positions_ = nullptr, *block_tables_ = nullptr, *partials_ = nullptr, *elsewhere_ = nullptr,
              *carried_ = nullptr, *rank_scratch_ = nullptr, *ranked_ = nullptr;
    CudaStaging inputs_;     // positions, block tables, position tables and rows on their way to the device
    CudaStaging rows_;       // rows on their way to the host
    CudaStaging host_part_;  // queries on their way to the host, and their partials on their way back
    kernels::cuda::Event inputs_taken_ = nullptr, queries_there_ = nullptr, graph_done_ = nullptr;
    CudaFlags flags_;
    CudaJoining joining_ = CudaJoining::CutGraphs;
    int step_number_ = 0;  // 0: none
    int late_steps_ = 0;
    std::vector<CudaAttending> joins_;  // of the graph that is being recorded
    std::vector<RankedLogit> largest_;
    const Activations* host_ = nullptr;                       // where this step's rows came from
    const Step* step_ = nullptr;                              // for as long as its layers are computed
    std::vector<std::unique_ptr<CudaRecording>> recordings_;  // the oldest first
    std::vector<CudaRecording::Layer> elsewhere_layers_;      // (layers,) of this step, where it can be recorded
    CudaRecording* recording_ = nullptr;                      // null: what is queued is done
    bool capturing_ = false;
    std::string warning_;
    bool graphs_ = true;  // false once the driver could not make one
    kernels::cuda::Status failed_ = kernels::cuda::Status::Ok;
};

}  // namespace engine
