// How fast a model runs here: prefill and decode at given depths, beside the memory bandwidth of the same run.
#pragma once

#include "engine/engine.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace engine {

struct BenchRequest {
    int prefill_tokens = 512;  // 0: no such test
    int decode_tokens = 128;   // 0: no such test
    std::vector<int> depths = {0};
    int repeats = 5;
};

struct BenchRow {
    std::string test;  // "prefill" or "decode"
    int tokens = 0;
    int depth = 0;  // tokens in the cache before
    double tok_s_median = 0, tok_s_min = 0, tok_s_max = 0;
    double gb_s = 0;             // weight and KV bytes a decode step must read, per second; 0 for prefill
    double bandwidth_share = 0;  // of dram_read_gb_s
};

struct BenchReport {
    std::string model;
    int threads = 0;
    std::string kernels;  // name of the kernel table
    std::string device;   // "cpu"
    double load_ms = 0;
    double dram_read_gb_s = 0;  // with the same threads
    std::int64_t weight_bytes = 0;
    std::int64_t kv_bytes = 0;  // in use at the end
    std::optional<std::int64_t> peak_resident_bytes;
    std::vector<BenchRow> rows;
};

Result<BenchReport> bench(const LoadRequest& load, const BenchRequest& request,
                          const std::function<void(const BenchRow&)>& on_row);

}  // namespace engine
