// Measures how fast a model runs here: prefill and decode at given depths, beside the memory bandwidth of the same run.
#pragma once

#include "engine/engine.h"
#include "engine/machine_rates.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct BenchRequest {
    int prefill_tokens = 512;  // 0: no such test
    int decode_tokens = 128;   // 0: no such test
    std::vector<int> depths = {0};
    // There is a decode test for each pair of a number of conversations and a number of rows, whose product is 16 at
    // most.
    std::vector<int> conversations = {1};  // that decode at once
    std::vector<int> step_rows = {1};      // rows of each conversation in a step; more than one: what drafts cost
    int repeats = 5;
    bool within_context = false;  // refuse what is longer than the context the model was made for

    int most_tokens() const;  // that a test adds to a depth
};

struct BenchRow {
    std::string test;  // "prefill" or "decode"
    int tokens = 0;
    int depth = 0;  // tokens in the cache before
    int conversations = 1;
    int step_rows = 1;                                      // of each conversation in a decode step; tok_s counts all
    double tok_s_median = 0, tok_s_min = 0, tok_s_max = 0;  // of all conversations together
    double gb_s = 0;             // weight and KV bytes a decode step must read, per second; 0 for prefill
    double bandwidth_share = 0;  // of dram_read_gb_s
    /// 99 of 100 decode steps of the runs that count took no longer: each conversation's time for a token.
    std::optional<double> p99_ms = {};
    /// Time of computing the `depth` tokens of all conversations, which is done once; empty: depth is 0.
    std::optional<double> depth_ms = {};
    /// The most that was held of the device since the model was loaded; empty: there is no device.
    std::optional<std::int64_t> device_peak_bytes = {};
    /// The most that this process held of RAM between the runs, mapped file pages and an emulated device included.
    std::optional<std::int64_t> host_peak_bytes = {};
    /// Bytes of the device that copies of experts took at the end; and how often steps of the runs that count read
    /// experts that lie in RAM, with a copy on the device and without. Empty: there were no copies.
    std::optional<std::int64_t> expert_cache_bytes = {}, expert_hits = {}, expert_misses = {};
};

struct BenchReport {
    std::string model;
    int threads = 0;
    std::string kernels;                              // name of the kernel table
    std::string device;                               // "cpu"
    std::optional<KvPolicy> kv_policy;                // empty: all is computed on the host
    std::optional<std::int64_t> device_budget_bytes;  // likewise
    double load_ms = 0;
    double dram_read_gb_s = 0;  // with the same threads
    /// Bytes that a copy within a GPU's memory reads and writes in a second; empty: there is no GPU.
    std::optional<double> device_copy_gb_s;
    int device_layers = 0;
    std::int64_t weight_bytes = 0;
    std::int64_t kv_bytes = 0;     // in use at the end
    std::int64_t state_bytes = 0;  // of recurrent layers, checkpoints included; the same
    std::optional<std::int64_t> peak_resident_bytes;
    std::vector<BenchRow> rows;
};

Result<BenchReport> bench(const LoadRequest& load, const BenchRequest& request,
                          const std::function<void(const BenchRow&)>& on_row);

// ---- single kernels ----

/// One kernel by itself, of the table in use, on all threads.
struct KernelRow {
    std::string kernel;      // "Q4_K": products of that type; "attention-q8_0"; "linear-attention"
    double cache_gb_s = 0;   // of weights or KV, 1 MiB of them again and again; of states what is read and written
    double memory_gb_s = 0;  // the same of more than any cache holds
    /// Products of a prompt of 512 tokens: 1e9 multiplications and additions a second.
    std::optional<double> prompt_gop_s = {};
    double dram_read_gb_s = 0;  // measured right after it, since other programs take a varying share
};

struct KernelReport {
    std::string kernels;
    int threads = 0;
    std::vector<KernelRow> rows;
};

/// Measures the kernel of this name, or every kernel for "all". threads: 0: as many as are worth it. BadRequest;
/// NotFound; NoMemory.
Result<KernelReport> bench_kernel(std::string_view name, int threads);

// ---- memory pressure: one conversation that grows past a device's memory ----

struct PressureRequest {
    int most_tokens = 4096;
    int every_tokens = 512;
    int decode_tokens = 32;                  // measured at each row
    std::optional<MachineRates> rates = {};  // predictions come from these; empty: measured before the model is loaded
};

struct PressureRow {
    int context_tokens = 0;
    double tok_s = 0;  // decode, median of the tokens measured
    /// Computed before anything was observed, from the rates alone; empty: a rate is not known.
    std::optional<double> predicted_tok_s;
    /// The same with what the rows before have taught; empty at the first.
    std::optional<double> corrected_tok_s;
    std::int64_t vram_used_bytes = 0;
    std::int64_t vram_ahead_bytes = 0;  // of them: taken for KV to come, which no plan counts
    std::int64_t vram_budget_bytes = 0;
    int blocks_device = 0;
    int blocks_host = 0;
    std::int64_t link_bytes_per_token = 0;              // to the device, in decode
    std::int64_t attended_on_host_bytes_per_token = 0;  // KV of device layers
    int offloads = 0;                                   // block columns that left since the row before
    int fetches = 0;
};

struct PressureReport {
    std::string model;
    std::string device;
    std::string kernels;
    int threads = 0;
    int device_layers = 0;
    double dram_read_gb_s = 0;
    std::optional<int> spill_tokens;               // predicted: tokens before the first block leaves
    std::optional<double> median_error;            // of |predicted / observed - 1| over the rows
    std::optional<double> corrected_median_error;  // the same of the corrected predictions
    std::vector<PressureRow> rows;
};

/// Measures a row every `every_tokens` tokens, up to `most_tokens`. Where the context is full before (`resident`), the
/// report holds what was measured until then.
Result<PressureReport> bench_pressure(const LoadRequest& load, const PressureRequest& request,
                                      const std::function<void(const PressureRow&)>& on_row);

}  // namespace engine
