// Checks a machine: kernels against their reference, goldens where there are some, memory bandwidth; the same for a
// GPU, and small models on it beside the CPU.
#pragma once

#include "engine/result.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace engine {

struct SelftestCheck {
    enum class Outcome { Passed, Failed, Skipped };
    std::string name;
    Outcome outcome = Outcome::Passed;
    std::string detail;  // a figure, or why it failed
};

struct SelftestRequest {
    /// A folder of NAME.gguf, NAME.json, NAME.f32 (logits of a float32 reference); empty: none. With a GPU they are
    /// computed there too.
    std::filesystem::path goldens;
    int threads = 0;                                           // 0: one per physical core
    std::optional<int> cuda;                                   // the GPU to check as well
    std::function<bool(const std::string& name)> wanted = {};  // which checks; empty: all
};

struct SelftestReport {
    int passed = 0, failed = 0, skipped = 0;
    double dram_read_gb_s = 0;
    std::string no_cuda;  // why the GPU that was asked for could not be looked at
    /// Says whether all that was asked for was done, and is right.
    bool ok() const { return failed == 0 && no_cuda.empty(); }
};

SelftestReport selftest(const SelftestRequest& request, const std::function<void(const SelftestCheck&)>& on_check);

}  // namespace engine
