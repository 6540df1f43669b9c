// MachineRates says how fast one machine is at what a decode step is made of: measured once through the kernels in use,
// kept in the profile, and what predictions are computed from. Unknown is an empty optional, never zero.
#pragma once

#include "engine/engine.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Seconds per byte of reading a set of bytes again and again, by the size of the set: a small one stays in a cache. A
/// larger set is never read faster, so that predictions cannot rise with the context.
class RateCurve
{
public:
    struct Point {
        double set_bytes = 0;
        double bytes_per_s = 0;
    };
    RateCurve() = default;
    /// `points`: at least one, all positive, in any order.
    explicit RateCurve(std::vector<Point> points);

    bool empty() const { return points_.empty(); }
    const std::vector<Point>& points() const { return points_; }
    /// Interpolates between two points by the logarithm of the size; beyond the ends it is as at them.
    double seconds_per_byte(double set_bytes) const;

private:
    std::vector<Point> points_;
};

/// How fast weight rows of `row_length` values are multiplied with one row of activations.
struct ProductRate {
    std::string type;  // "Q4_K"
    int row_length = 0;
    RateCurve curve;  // of weights
    /// Multiplications and additions a second with several rows of activations; empty: that was not measured.
    std::optional<double> prompt_ops_per_s = {};
};

/// How fast `group` query heads attend the KV blocks of the head they share.
struct AttentionRate {
    KvType k_type = KvType::F16, v_type = KvType::F16;
    int head_length = 0;
    int group = 1;
    RateCurve curve;  // of KV
};

/// The rates of a device beside the host.
struct DeviceRates {
    std::string name = {};                             // the GPU and its driver, whose rates they are
    std::optional<double> copy_bytes_per_s = {};       // within its memory: what is read and what is written
    std::optional<double> weights_bytes_per_s = {};    // products of a decode step
    std::optional<double> small_kernels_s = {};        // of a layer, beside its products and what it attends
    std::optional<double> attention_bytes_per_s = {};  // over f16 KV in its memory, or KV of the model's own types
    std::optional<double> attention_q8_0_bytes_per_s = {};
    std::optional<double> to_device_bytes_per_s = {};
    std::optional<double> to_host_bytes_per_s = {};
    /// Bytes a second from memory that is not page-locked, as a mapped file is; empty: that was not measured.
    std::optional<double> unlocked_to_device_bytes_per_s = {};
    /// KV on its way through the ring, block by block from the host's pages; empty: that was not measured.
    std::optional<double> stream_bytes_per_s = {};
    std::optional<double> hand_off_s = {};  // to the CPU and back, for one layer's attention or experts
    /// The same in the middle of a graph, by flags that both wait for; empty: that was not measured, or does not work.
    std::optional<double> flag_hand_off_s = {};
    // Of products of many tokens: multiplications and additions, by our kernels and by cuBLAS; empty: there is none.
    std::optional<double> matmul_ops_per_s = {};
    std::optional<double> blas_ops_per_s = {};

    /// Returns what a step that streams gets of the link.
    std::optional<double> streamed_bytes_per_s() const
    {
        return stream_bytes_per_s ? stream_bytes_per_s : to_device_bytes_per_s;
    }
    bool joins_by_flags() const { return hand_off_s && flag_hand_off_s && *flag_hand_off_s < *hand_off_s; }
    bool multiplies_by_blas() const
    {
        return matmul_ops_per_s && blas_ops_per_s && *blas_ops_per_s > *matmul_ops_per_s;
    }
    /// Returns the time of the faster hand-off.
    std::optional<double> merge_hand_off_s() const { return joins_by_flags() ? flag_hand_off_s : hand_off_s; }
};

struct MachineRates {
    // The machine and the threads that they were measured with; see hold_here().
    std::string cpu;
    std::string kernels;
    int threads = 0;

    std::optional<double> dram_read_bytes_per_s;
    std::optional<double> values_per_s;        // norms, rotations, gates, rounding: activations that they read
    std::optional<double> wake_s;              // dividing one operation among the threads
    std::optional<double> token_s;             // choosing a token, without what each entry of the vocabulary costs
    std::optional<double> choice_s_per_value;  // the same for each entry of the vocabulary
    std::optional<double> copy_start_s;        // giving a copy to the thread that makes it
    std::optional<double> stream_bytes_per_s;  // KV through a ring: one thread copies while the others attend
    std::vector<ProductRate> products;
    std::vector<AttentionRate> attention;
    std::map<std::string, DeviceRates> devices;  // by id: "cuda:0"; an emulated device computes on the host's cores

    /// Returns the rates of the device with this id, with its attention over KV of these types. All are empty where
    /// another device has that id now.
    DeviceRates device_rates(const std::string& id, std::string_view name, KvType k_type, KvType v_type) const;

    /// Returns the seconds to read `bytes` of weights in a step that reads `set_bytes` in all. Empty: the type was not
    /// measured.
    std::optional<double> product_seconds(std::string_view type, int row_length, double bytes, double set_bytes) const;
    /// Returns the seconds for this many multiplications and additions of a prompt; the nearest row length stands for
    /// others. Empty: that was not measured.
    std::optional<double> prompt_seconds(std::string_view type, int row_length, double operations) const;
    /// Does for KV what product_seconds() does for weights. The nearest head length that was measured stands for
    /// others; groups are interpolated.
    std::optional<double> attention_seconds(KvType k_type, KvType v_type, int head_length, int group, double bytes,
                                            double set_bytes) const;
};

/// Measures this machine in 5 to 10 seconds, with this many threads (0: one per physical core). `on_progress` gets the
/// share that is done and returns false to give up (Cancelled).
Result<MachineRates> measure_machine_rates(int threads, const std::function<bool(double)>& on_progress);

/// Measures a GPU in a second or two; its id in MachineRates::devices is "cuda:N". Unsupported: it cannot be used;
/// DeviceFull, DeviceLost.
Result<DeviceRates> measure_cuda_rates(int ordinal);

/// Says whether rates were measured on this processor, with the kernels in use and this many threads (0: one per core).
bool hold_here(const MachineRates& rates, int threads);

/// Writes a small JSON text with a version.
std::string to_json(const MachineRates& rates);
/// Reads what to_json() wrote; BadFile with one sentence for anything else.
Result<MachineRates> parse_machine_rates(std::string_view json);

}  // namespace engine
